"""Pruning in small steps: the words of the rule at every prefix, and never many at a time."""

from __future__ import annotations

import copy
import random
import statistics
import time
from collections.abc import Iterator

import pytest

from references.bounds import GROUP, BoundedCounts, siphash
from streamnb import HMNB, MNB, NaiveBayes, OnlineNB, Tokenizer
from streamnb.errors import InputError

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


KEY = bytes(range(16))


def make(max_features: int, index_size: int = 0, key: bytes | None = None) -> NaiveBayes:
    model: NaiveBayes = MNB(max_features=max_features, tokenizer=str.split)
    if index_size:
        model = HMNB(max_features=max_features, index_size=index_size, tokenizer=str.split)
    if key is not None:
        model.set_pruning_key(key)
    return model


@pytest.mark.parametrize("max_features", [1, 40, 200, 700])
@pytest.mark.parametrize("index_size", [0, 30])
def test_words_are_pruned_as_the_rule_says(max_features: int, index_size: int) -> None:
    model, reference = make(max_features, index_size, KEY), BoundedCounts(max_features, KEY)
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


def test_the_key_decides_which_words_of_equal_frequency_stay() -> None:
    names = [f"w{i}" for i in range(100)]
    kept = {}
    for key in (bytes(16), KEY, b"0123456789abcdef"):
        model, reference = make(50, key=key), BoundedCounts(50, key)
        for name in names:
            model.learn_one(name, "ham")
            reference.learn([name], "ham")
        kept[key] = frozenset(cells(model))
        assert kept[key] == reference.cells.keys()
    assert len(set(kept.values())) == 3


def test_words_chosen_for_one_group_displace_no_other_words() -> None:
    # An attacker knows the source, but not the secret of a filter: words for one group of the
    # public key once displaced all others.
    most, known = 10 * GROUP, {f"w{i}" for i in range(200)}
    names = [f"x{i}" for i in range(15_000)]
    chosen = [name for name in names if siphash(bytes(16), name.encode()) % 10 == 0]
    left = {}
    for key in (bytes(16), KEY):
        model = make(most, key=key)
        for label in LABELS:
            model.learn_one(" ".join(known), label)
        for start in range(0, len(chosen), 100):
            model.learn_one(" ".join(chosen[start : start + 100]), "spam")
        assert model.n_words <= most
        left[key] = known & cells(model).keys()
    assert left[KEY] == known
    assert len(left[bytes(16)]) < len(known) / 2


def test_a_message_adds_a_share_of_the_bound() -> None:
    for max_features, index_size in ((1_500, 0), (1_500, 5), (32_000, 0)):
        model, reference = make(max_features, index_size), BoundedCounts(max_features)
        for start in (0, 500, 4_000, 4_000):
            words = [f"{'long-word-' * (i % 2)}{i}" for i in range(start, start + 3_000)]
            model.learn_one(" ".join([*words, *words[:10]]), "spam")
            reference.learn([*words, *words[:10]], "spam")
            assert cells(model) == reference.cells
        assert model.left_out_words_["refused"] >= 2_000
        if not index_size:
            # The message left words that others have not: they are removed.
            before = model.n_words
            model.unlearn_one(" ".join(words), "spam")
            assert model.n_words <= before


def test_online_models_refuse_words_too() -> None:
    model = OnlineNB(max_features=2_000, tokenizer=Tokenizer())
    model.learn_one("see you", "ham")
    model.learn_one(" ".join(f"w{i}" for i in range(3_000)), "spam")
    assert model.n_words == 2 + 1_024
    assert model.left_out_words_ == {"pruned": 0, "refused": 3_000 - 1_024}


def test_a_prediction_does_not_lift_the_bound_on_new_words() -> None:
    asked, silent = (OnlineNB(max_features=2_000, tokenizer=Tokenizer()) for _ in range(2))
    for text, label in [("see you", "ham"), (" ".join(f"w{i}" for i in range(3_000)), "spam")] * 2:
        asked.predict_proba_one(text)
        for model in (asked, silent):
            model.learn_one(text, label)
    assert asked.left_out_words_ == silent.left_out_words_
    assert silent.left_out_words_["refused"] >= 1_976
    assert asked.to_bytes() == silent.to_bytes()


def test_a_key_is_kept_copied_and_merged() -> None:
    model = make(400, key=KEY)
    plain = make(400)
    for words, label in messages(20, seed=1):
        model.learn_one(" ".join(words), label)
        plain.learn_one(" ".join(words), label)
    empty = make(400)
    empty.merge(model)
    loaded = MNB.from_bytes(model.to_bytes(), tokenizer=str.split)
    copies = [copy.deepcopy(model), loaded, empty]
    for words, label in messages(300, seed=5):
        for each in (model, plain, *copies):
            each.learn_one(" ".join(words), label)
    assert {each.to_bytes() for each in copies} == {model.to_bytes()}
    assert cells(plain).keys() != cells(model).keys()
    assert "0123" not in repr(model)


def test_a_later_key_counts_from_half_of_the_bound() -> None:
    early, later, none = make(400, key=KEY), make(400), make(400)
    later.set_pruning_key(KEY, later=True)
    stream = list(messages(300, seed=5))
    for n, (words, label) in enumerate(stream):
        for model in (early, later, none):
            model.learn_one(" ".join(words), label)
        if later.n_words <= 200:
            assert later.to_bytes() == none.to_bytes()
        elif n % 50 == 0:
            assert later.to_bytes() == early.to_bytes()
    assert later.to_bytes() == early.to_bytes() != none.to_bytes()
    # A restored model is offered the key again, and a model with a key keeps it.
    again = MNB.from_bytes(none.to_bytes(), tokenizer=str.split)
    again.set_pruning_key(KEY, later=True)
    early.set_pruning_key(bytes(15) + b"x", later=True)
    assert early.to_bytes() == later.to_bytes()
    for words, label in messages(100, seed=6):
        again.learn_one(" ".join(words), label)
    assert again._store.pruning_key == KEY


@pytest.mark.parametrize("key", [b"", bytes(15), bytes(17), "0123456789abcdef", 5])
def test_a_wrong_key_is_refused(key: object) -> None:
    with pytest.raises(InputError, match="16 bytes"):
        make(5).set_pruning_key(key)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("model", [MNB(max_features=200_000), OnlineNB(max_features=200_000)])
def test_taking_a_giant_message_back_costs_what_learning_it_costs(model: MNB | OnlineNB) -> None:
    # Words were once removed from chains: a correction took 3,000 times as long as its message.
    for number in range(400):
        words = (f"w{number * number * place}" for place in range(500))
        model.learn_one(" ".join(words), ("ham", "spam")[number % 2])
    ratios = []
    for round_ in range(5):
        text = " ".join(f"x{round_}y{place}" for place in range(25_000))
        began = time.process_time()
        model.learn_one(text, "ham")
        learned = time.process_time()
        model.unlearn_one(text, "ham")
        ratios.append((time.process_time() - learned) / (learned - began))
    assert statistics.median(ratios) < 5


def test_a_correction_costs_the_same_in_a_large_model() -> None:
    """Some tokens are in every message: their count was once compared with that of every word."""

    def corrected(n_messages: int) -> float:
        """Return the processor time of an unlearned message, the fastest of several."""
        draw, model = random.Random(5), OnlineNB()
        for number in range(n_messages):
            words = " ".join(f"{draw.getrandbits(40):x}" for _ in range(30))
            model.learn_one(words, ("ham", "spam")[number % 2])
        seconds = []
        for _ in range(10):
            model.learn_one("see you at noon", "ham")
            began = time.process_time()
            model.unlearn_one("see you at noon", "ham")
            seconds.append(time.process_time() - began)
        return min(seconds)

    assert corrected(4_000) < 8 * corrected(100)  # once 40 times


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
