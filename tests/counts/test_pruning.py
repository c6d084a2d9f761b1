"""Pruning in small steps: the words of the rule at every prefix, and never many at a time."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

import pytest

from references.bounds import GROUP, BoundedCounts
from streamnb import HMNB, MNB, NaiveBayes

LABELS = ("ham", "spam", "work")


def messages(n: int, seed: int, known: int = 300, new: int = 2) -> Iterator[tuple[list[str], str]]:
    """Messages of Zipf-distributed words, each with some new ones, including long words."""
    draw = random.Random(seed)
    for i in range(n):
        words = [f"w{int(known ** draw.random())}" for _ in range(draw.randrange(8))]
        words += [f"new-{seed}-{i}-{k}" + "x" * draw.randrange(20) for k in range(new)]
        yield words, draw.choice(LABELS)


def cells(model: NaiveBayes) -> dict[str, dict[str, tuple[float, float]]]:
    """The counts of a model by word and label, in the form of the reference."""
    counts = model.counts()
    names = model._labels.names
    documents, tokens = counts.documents.tocoo(), counts.tokens.toarray()
    words = model._store.words()
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for word, label, value in zip(documents.row, documents.col, documents.data, strict=True):
        cell = (float(value), float(tokens[word, label]))
        found.setdefault(words[word], {})[str(names[label])] = cell
    return found


def make(max_features: int, index_size: int = 0) -> NaiveBayes:
    if index_size:
        return HMNB(max_features=max_features, index_size=index_size, tokenizer=str.split)
    return MNB(max_features=max_features, tokenizer=str.split)


@pytest.mark.parametrize("max_features", [1, 40, 200, 700])
@pytest.mark.parametrize("index_size", [0, 30])
def test_words_are_pruned_as_the_rule_says(max_features: int, index_size: int) -> None:
    model, reference = make(max_features, index_size), BoundedCounts(max_features)
    for i, (words, label) in enumerate(messages(300, seed=max_features)):
        model.learn_one(" ".join(words), label)
        reference.learn(words, label)
        assert model.n_words == len(reference.cells) <= max_features
        if i % 10 == 0 or i > 290:
            assert cells(model) == reference.cells


def test_a_saved_model_prunes_as_if_it_had_never_been_saved() -> None:
    # Save before pruning, while groups are linked, and after.
    stream = list(messages(500, seed=5))
    whole = make(400)
    saved = {}
    for i, (words, label) in enumerate(stream):
        if i % 60 == 20:
            saved[i] = (whole.to_bytes(), copy.deepcopy(whole))
        whole.learn_one(" ".join(words), label)
    for i, (data, copied) in saved.items():
        for other in (MNB.from_bytes(data, tokenizer=str.split), copied):
            for words, label in stream[i:]:
                other.learn_one(" ".join(words), label)
            assert other.to_bytes() == whole.to_bytes()


def test_merging_and_unlearning_prune_by_the_same_rule() -> None:
    one, two, reference = make(200), make(10_000), BoundedCounts(200)
    theirs = BoundedCounts(10_000)
    for words, label in messages(150, seed=1):
        one.learn_one(" ".join(words), label)
        reference.learn(words, label)
    for words, label in messages(250, seed=2):
        two.learn_one(" ".join(words), label)
        theirs.learn(words, label)
    one.merge(two)
    reference.merge(theirs)
    assert cells(one) == reference.cells
    # The remaining words of pruned messages are removed, and pruned words may return.
    for words, label in messages(150, seed=1):
        one.unlearn_one(" ".join(words), label)
    for words, label in messages(250, seed=2):
        one.unlearn_one(" ".join(words), label)
    assert (one.n_words, one.n_documents, one.classes_) == (0, 0, [])
    for words, label in messages(300, seed=3):
        one.learn_one(" ".join(words), label)
        assert one.n_words <= 200


def test_no_message_makes_many_words_go() -> None:
    # The cost of a learn is proportional to its change: at most the quarter of a group.
    model = make(20_000)
    before = 0
    steps = []
    for words, label in messages(16_000, seed=9, known=5_000):
        model.learn_one(" ".join(words), label)
        steps.append(before + 2 - model.n_words)
        before = model.n_words
    assert model.n_words > 20_000 - GROUP
    assert max(steps) <= 2 * GROUP


def test_words_that_come_back_stay_and_new_ones_get_their_chance() -> None:
    model = make(2_000)
    for words, label in messages(5_000, seed=11, known=1_000, new=3):
        model.learn_one(" ".join(words), label)
    known = {f"w{i}" for i in range(1, 60)}
    assert known <= cells(model).keys()
    # A new topic: its words occur once in forty messages, and the vocabulary is full.
    draw = random.Random(12)
    topic = [f"topic{i}" for i in range(40)]
    for words, label in messages(2_000, seed=13, known=1_000, new=3):
        model.learn_one(" ".join([*words, draw.choice(topic)]), label)
    assert len(cells(model).keys() & set(topic)) == 40
