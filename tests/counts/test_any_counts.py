"""Many classes and weights of every size are counted like in dictionaries.

Other tests have two or three classes and small counts, like streams of mail. Such a cell is packed
into eight bytes, and a few cells form a block: here counts exceed each of these limits.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb import BNB, MNB, OVA, Tokenizer
from support.counted import Counted, counted_by
from support.drawn.messages import refreshed_bytes
from support.models import ALL_MODELS, EXACT, INDEPENDENT, ROWS, make_model, structures
from support.profiles import examples

# A word that occurs 300 times in a message of weight 3,000 still fits a packed cell; in two such
# messages its tokens do not fit, but their documents do.
WHOLE = [1, 2, 255, 256, 3_000, 65_535, 65_536, 2**20 - 1, 2**20, 2**32 - 1, 2**32, 0.5]
WEIGHTS = [*WHOLE, 1e-3]
# A word of up to 15 bytes is its own key; longer words are stored separately.
WORDS = ["free", "éé", "of-15-bytes-abc", "of-16-bytes-abcd", "long" * 60, "w1", "w2", "w3", "w4"]
# Bytes that justify two threads for a batch.
WORTH = 1 << 17
FILLER = " " * 20_000

Batch = tuple[float, list[str], list[str]]


def batches_of(
    seed: int, classes: int, weights: list[float], size: int = 24, filler: str = ""
) -> list[Batch]:
    """Return a batch for each weight: frequent words in all classes, one in two of them."""
    rng = random.Random(seed)
    made = []
    for weight in weights:
        labels = [f"label {rng.randrange(classes):02}" for _ in range(size)]
        texts = []
        for label in labels:
            words = rng.choices(WORDS, k=rng.choice([0, 1, 3, 6]))
            words += [f"of-{(int(label[6:]) + rng.randrange(2)) // 2}"] * rng.choice([0, 1, 300])
            texts.append(" ".join(words) + filler)
        made.append((weight, texts, labels))
    return made


def counted(batches: list[Batch], presence: bool = False) -> Counted:
    made = Counted(presence)
    for weight, texts, labels in batches:
        for text, label in zip(texts, labels, strict=True):
            made.learn(text, label, weight)
    return made


def learned(model: Any, batches: list[Batch], one_by_one: bool = False) -> Any:
    for weight, texts, labels in batches:
        if one_by_one:
            for text, label in zip(texts, labels, strict=True):
                model.learn_one(text, label, weight)
        else:
            model.learn_many(texts, labels, weight)
    return model


READ = Tokenizer(strip_accents=False)


def new(name: str, **parameters: Any) -> Any:
    return make_model(name, tokenizer=READ, **parameters)


def drawing(weights: Sequence[float], least: int, most: int) -> Any:
    """Draw the input of batches: a seed, a number of classes, and that many weights."""
    return given(
        seed=st.integers(0, 2**32),
        classes=st.integers(2, 40),
        weights=st.lists(st.sampled_from(weights), min_size=least, max_size=most),
    )


drawn = drawing(WEIGHTS, 1, 4)
# Models that reread past messages.
SMALL = {name: 5 for name, row in ROWS.items() if row.indexed}


@structures(ALL_MODELS)
@examples(40)
@drawn
def test_each_way_of_learning_counts_alike(
    name: str, seed: int, classes: int, weights: list[float]
) -> None:
    batches = batches_of(seed, classes, weights, SMALL.get(name, 24))
    expected = counted(batches, presence=ROWS[name].corrected)
    one = learned(new(name), batches, one_by_one=True)
    many = learned(new(name), batches)
    again = type(one).from_bytes(one.to_bytes())
    assert again.to_bytes() == one.to_bytes()
    for model in (one, many, again):
        assert counted_by(model) == (expected.cells, expected.totals)
    more = batches_of(seed + 1, classes, [1.0], 4)
    assert learned(again, more).to_bytes() == learned(one, more).to_bytes()


@pytest.mark.parametrize("make", [MNB, BNB, OVA])
@examples(80)
@drawn
def test_threads_count_as_one_does(
    make: Any, seed: int, classes: int, weights: list[float]
) -> None:
    batches = batches_of(seed, classes, weights, filler=FILLER)
    assert min(sum(map(len, texts)) for _, texts, _ in batches) > 3 * WORTH
    one, many = learned(make(tokenizer=READ), batches), make(tokenizer=READ, n_jobs=3)
    learned(many, batches)
    expected = counted(batches)
    assert counted_by(many) == (expected.cells, expected.totals)
    assert many.to_bytes() == one.to_bytes()


@structures(EXACT)
@examples(40)
@drawing(WHOLE, 1, 3)
def test_what_is_merged_or_taken_back_leaves_the_same_counts(
    name: str, seed: int, classes: int, weights: list[float]
) -> None:
    """Sums of integers and halves are exact in any order."""
    size = SMALL.get(name, 24)
    batches = batches_of(seed, classes, weights, size)
    whole = learned(new(name), batches)
    pieces = [learned(new(name), [batch]) for batch in batches]
    merged = pieces[0]
    for piece in pieces[1:]:
        merged.merge(piece)
    expected = counted(batches)
    assert counted_by(merged) == counted_by(whole) == (expected.cells, expected.totals)
    others = batches_of(seed + 1, classes, weights, size)
    learned(whole, others)
    for weight, texts, labels in reversed(others):
        for text, label in reversed(list(zip(texts, labels, strict=True))):
            whole.unlearn_one(text, label, weight)
    assert counted_by(whole) == (expected.cells, expected.totals)
    assert refreshed_bytes(whole) == refreshed_bytes(merged)
    learned(whole, others)
    whole.subtract(learned(new(name), others))
    assert counted_by(whole) == (expected.cells, expected.totals)
    assert refreshed_bytes(whole) == refreshed_bytes(merged)


@pytest.mark.parametrize("name", ["MNB", pytest.param("HMNB", marks=pytest.mark.soak)])
def test_a_message_of_more_words_than_two_bytes_count(name: str) -> None:
    first, other = ([f"{stem}{n}" for n in range(70_000)] for stem in ("w1", "w2"))
    both = first[40_000:] + other[:40_000] + ["often"] * 70_000
    texts = [" ".join(words) for words in (first, other, both)]
    labels = ["label 01", "label 02", "label 03"]
    # A message adds at most a sixteenth of the bound.
    model, expected = new(name, max_features=2**21), counted([(255.0, texts, labels)])
    model.learn_many(texts, labels, 255.0)
    assert (counted_by(model) == (expected.cells, expected.totals)) is True  # a diff takes minutes
    again = type(model).from_bytes(model.to_bytes())
    for text, label in zip(texts[:2], labels, strict=False):
        again.unlearn_one(text, label, 255.0)
        expected.unlearn(text, label, 255.0)
    assert (counted_by(again) == (expected.cells, expected.totals)) is True


# --- words and labels that go and come back -------------------------------------------------------


def taken_back(model: Any, expected: Counted, learned: list[tuple[str, str, float]]) -> None:
    for text, label, weight in learned:
        model.unlearn_one(text, label, weight)
        expected.unlearn(text, label, weight)


@structures([*INDEPENDENT, "HMNB", "SECNB", "TWCNB"])
@examples(80)
@drawing(WHOLE, 4, 8)
def test_what_went_comes_back_with_nothing_of_before(
    name: str, seed: int, classes: int, weights: list[float]
) -> None:
    """Messages, whole labels and words are forgotten between batches; ids are reused."""
    rng = random.Random(seed)
    model, expected = new(name), Counted()
    known: list[tuple[str, str, float]] = []
    for weight, texts, labels in batches_of(seed, classes, weights, size=12):
        model.learn_many(texts, labels, weight)
        for text, label in zip(texts, labels, strict=True):
            expected.learn(text, label, weight)
            known.append((text, label, weight))
        what = rng.choice(["messages", "label", "words", "copy", "bytes"])
        if what == "words":
            words = {word for word, _ in expected.cells}
            model._store.prune(rng.randrange(len(words) + 1))
            expected.forget(words - {word for word, _ in counted_by(model)[0]})
            known = []  # what is left of a message is not what was learned
        elif what == "copy":
            model = copy.deepcopy(model)
        elif what == "bytes":
            model = type(model).from_bytes(model.to_bytes())
        else:
            label = rng.choice(labels)
            gone = [m for m in known if rng.random() < 0.5 or (what == "label" and m[1] == label)]
            taken_back(model, expected, gone)
            known = [m for m in known if m not in gone]
        assert counted_by(model) == (expected.cells, expected.totals)


# --- forgetting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["MNB", "BNB", "OnlineNB"])
@pytest.mark.parametrize("half_life", [0.4, 7.0])
@examples(40)
@drawn
def test_counts_of_many_classes_fade(
    name: str, half_life: float, seed: int, classes: int, weights: list[float]
) -> None:
    """Counts decay with each message, beyond several divisions of all counts."""
    batches = batches_of(seed, classes, weights * 2, size=40)
    presence = ROWS[name].corrected
    left = 2 ** (-1 / half_life)
    model, expected = learned(new(name, half_life=half_life), batches), Counted(presence)
    for weight, texts, labels in batches:
        for text, label in zip(texts, labels, strict=True):
            expected.scale(left)
            expected.learn(text, label, weight)
    check_shares(model, expected)
    check_shares(type(model).from_bytes(model.to_bytes()), expected)


def check_shares(model: Any, expected: Counted) -> None:
    """A model that forgets counts in its own unit."""
    cells, totals = counted_by(model)
    unit = sum(documents for _, documents in totals.values())
    whole = sum(documents for _, documents in expected.totals.values())
    assert cells.keys() == expected.cells.keys()
    for key, found in cells.items():
        wanted = [count / whole for count in expected.cells[key]]
        assert [count / unit for count in found] == pytest.approx(wanted, rel=1e-9, abs=1e-60)
    for label, found in totals.items():
        wanted = [count / whole for count in expected.totals[label]]
        assert [count / unit for count in found] == pytest.approx(wanted, rel=1e-9, abs=1e-60)


@pytest.mark.parametrize("name", ["MNB", "BNB", "HMNB", "TWCNB"])
@pytest.mark.parametrize("window", [1, 3, 30])
@examples(80)
@drawing(WHOLE, 2, 4)
def test_a_window_has_the_counts_of_the_last_messages(
    name: str, window: int, seed: int, classes: int, weights: list[float]
) -> None:
    """Labels disappear with their last message and return."""
    batches = batches_of(seed, classes, weights, size=20)
    model = new(name, window_size=window)
    messages: list[tuple[str, str, float]] = []
    for weight, texts, labels in batches:
        model.learn_many(texts, labels, weight)
        messages += [(text, label, weight) for text, label in zip(texts, labels, strict=True)]
        expected = Counted()
        for message in messages[-window:]:
            expected.learn(*message)
        assert counted_by(model) == (expected.cells, expected.totals)
        assert set(model.classes_) == set(expected.totals)
