"""Messages, labels, weights and batches that are refused, and what the refusal says."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from streamnb.errors import InputError, NotLearnedError
from support.batches import LABELS, TEXTS, learned, new
from support.models import structures

# --- refusals ------------------------------------------------------------------------------------

BAD_COUNTS = {
    "negative": (-1, "-1"),
    "NaN": (math.nan, "nan"),
    "infinite": (math.inf, "inf"),
    "text": ("two", "two|str"),
    "None": (None, "None"),
    "list": ([1], "list"),
    "complex": (1j, "complex|1j"),
    "huge": (10**400, "10*|huge|large|range|finite"),
}


@pytest.mark.parametrize(("count", "said"), BAD_COUNTS.values(), ids=BAD_COUNTS)
@structures()
def test_bad_counts_name_the_word_and_what_was_given(name: str, count: Any, said: str) -> None:
    model = learned(name)
    before = model.to_bytes()
    for call in (
        lambda: model.learn_one({"fine": 1, "suspicious": count}, "ham"),
        lambda: model.predict_one({"fine": 1, "suspicious": count}),
        lambda: model.predict_proba_one({"suspicious": count}),
        lambda: model.explain_one({"suspicious": count}),
        lambda: model.unlearn_one({"suspicious": count}, "ham"),
        lambda: model.learn_many([{"fine": 1}, {"suspicious": count}], ["new", "ham"]),
        lambda: model.predict_many([{"fine": 1}, {"suspicious": count}]),
    ):
        with pytest.raises(InputError, match=r"suspicious") as error:
            call()
        assert pytest.raises(InputError, match=f"(?i){said}").matches(error.value)
        assert model.to_bytes() == before


@pytest.mark.parametrize("count", [Decimal("1.5"), Fraction(3, 2)], ids=repr)
def test_exact_numbers_are_counts_or_refused(count: Any) -> None:
    model, plain = new("MNB"), new("MNB")
    plain.learn_one({"a": 1.5}, "ham")
    try:
        model.learn_one({"a": count}, "ham")
    except InputError:
        assert model.n_documents == 0
    else:
        assert model.to_bytes() == plain.to_bytes()


@pytest.mark.parametrize(
    "x", [None, 3, 2.5, b"bytes", object(), {"a", "b"}, ["a", "b"]], ids=lambda x: type(x).__name__
)
@structures()
def test_wrong_messages_say_what_was_given_and_what_is_allowed(name: str, x: Any) -> None:
    model = learned(name)
    before = model.to_bytes()
    for call in (
        lambda: model.learn_one(x, "ham"),
        lambda: model.predict_one(x),
        lambda: model.predict_proba_one(x),
        lambda: model.joint_log_likelihood_one(x),
        lambda: model.explain_one(x),
        lambda: model.learn_many(["fine", x], ["ham", "ham"]),
        lambda: model.predict_many(["fine", x]),
    ):
        with pytest.raises(InputError, match=type(x).__name__) as error:
            call()
        assert pytest.raises(InputError, match=r"(?i)str|text").matches(error.value)
        assert pytest.raises(InputError, match=r"(?i)mapping|dict").matches(error.value)
        assert model.to_bytes() == before


@pytest.mark.parametrize(
    "weight",
    [-1, math.nan, math.inf, -math.inf, None, "1", [1.0], 10**400],
    ids=["-1", "NaN", "inf", "-inf", "None", "text", "list", "huge"],
)
@structures()
def test_bad_weights(name: str, weight: Any) -> None:
    model = learned(name)
    before = model.to_bytes()
    for call in (model.learn_one, model.unlearn_one):
        with pytest.raises(InputError, match=r"(?i)weight"):
            call(TEXTS[0], LABELS[0], weight)
        assert model.to_bytes() == before


@pytest.mark.parametrize("label", [[], {}, {"ham"}, ([],)], ids=repr)
@structures()
def test_labels_that_cannot_be_labels(name: str, label: Any) -> None:
    model = learned(name)
    before = model.to_bytes()
    with pytest.raises(InputError, match=r"(?i)label"):
        model.learn_one("fine", label)
    with pytest.raises(InputError, match=r"(?i)label"):
        model.learn_many(["fine", "fine"], ["ham", label])
    assert model.to_bytes() == before


@structures()
def test_not_a_number_as_label_is_no_new_class_every_time(name: str) -> None:
    """NaN differs from itself: learned as it is, each missing label would become a class."""
    model = new(name)
    try:
        for _ in range(3):
            model.learn_one("a", float("nan"))
    except InputError:
        assert model.classes_ == []
    else:
        assert len(model.classes_) == 1


@structures()
def test_labels_that_are_no_sequence(name: str) -> None:
    """One text is a sequence of letters, and no list of labels."""
    model = learned(name)
    before = model.to_bytes()
    for y in (None, 3, "abcdef"):
        with pytest.raises(InputError, match=r"(?i)labels"):
            model.learn_many(TEXTS, y)
        assert model.to_bytes() == before


def test_unlearning_what_was_not_learned() -> None:
    model = learned()
    before = model.to_bytes()
    for x, y, w in (
        ("never seen", "ham", 1.0),
        (TEXTS[0], "no such class", 1.0),
        (TEXTS[0], "ham", 1.0),
        (TEXTS[0], "spam", 50.0),
    ):
        with pytest.raises(NotLearnedError):
            model.unlearn_one(x, y, w)
        assert model.to_bytes() == before
    with pytest.raises(NotLearnedError):
        new("MNB").unlearn_one("a", "ham")


@structures()
def test_merging_what_does_not_fit(name: str) -> None:
    model = learned(name)
    before = model.to_bytes()
    other = "CNB" if name == "MNB" else "MNB"
    for stranger in (learned(other), None, "model", 3):
        with pytest.raises(InputError, match=name):
            model.merge(stranger)
    assert model.to_bytes() == before
