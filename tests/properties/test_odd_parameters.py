"""Arrays, numbers of hundreds of digits and lone surrogates: each is refused as an `InputError`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from streamnb import MNB, ComposedNB, OnlineNB, Tokenizer
from streamnb.errors import InputError, shown

ODD = [np.array([0.5, 0.5]), [0.5], "\ud800", -(10**400), -(10**5000)]
LARGE = [10**400, 10**5000]


NAMES = ["alpha", "prior", "unseen", "vocabulary_size", "tokenizer", "refresh_every", "threshold"]
NAMES += ["cost_ratio", "max_words", "max_documents", "max_pairs", "form"]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_models(name: str) -> None:
    for value in ODD:
        with pytest.raises(InputError, match=name):
            MNB(**{name: value})
    for value in LARGE:
        if name in ("alpha", "cost_ratio", "threshold", "prior", "unseen", "tokenizer", "form"):
            with pytest.raises(InputError, match=name):
                MNB(**{name: value})
        else:
            MNB(**{name: value}).learn_one("a b", "ham")


@pytest.mark.parametrize("name", ["nb_scale", "learning_rate", "margin", "forgetting_factor"])
def test_parameters_of_parts(name: str) -> None:
    for value in [*ODD, *LARGE]:
        with pytest.raises(InputError, match=name):
            OnlineNB(**{name: value})


def test_parameters_of_tokenizers() -> None:
    for name in ("words", "max_tokens", "max_bytes", "analyzer", "boundaries", "fields"):
        for value in ODD:
            with pytest.raises(InputError, match=name):
                Tokenizer(**{name: value})


def test_a_positive_label_that_is_none() -> None:
    with pytest.raises(InputError, match="hashable"):
        MNB(threshold=0.5, positive=np.array([1, 2]))
    model = MNB(threshold=0.5, positive=np.int64(1))
    model.learn_many(["aa", "bb"], [0, 1])
    assert model.predict_many(["aa", "bb"]) == [0, 1]


def test_weights_labels_and_words() -> None:
    model = MNB()
    for w in (np.array([1.0, 2.0]), 10**400, "\ud800", None):
        with pytest.raises(InputError, match="weight"):
            model.learn_one("a", "ham", w)
        with pytest.raises(InputError, match="weight"):
            model.learn_many(["a"], ["ham"], w)
    with pytest.raises(InputError, match="hashable"):
        model.learn_many(["a"], [np.array([1, 2])])
    for x in ({"a": 10**5000}, {10**5000: 1}, 10**5000, [10**5000], {"\ud800": 1}):
        with pytest.raises(InputError):
            model.learn_one(x, "ham")
        with pytest.raises(InputError):
            model.learn_many([x], ["ham"])
    with pytest.raises(InputError, match="vocabulary must be the list of words, not 3"):
        model.learn_many(np.array([[1, 2]]), ["ham"], vocabulary=3)
    assert model.n_documents == 0
    model.learn_one("a", 10**5000)
    with pytest.raises(InputError, match="model file can't hold a label"):
        model.to_bytes()


def test_what_no_part_of_a_composition_has_is_refused() -> None:
    other: dict[str, Any] = {"factor": 0.2, "bag_threshold": 0.5, "bins": 7, "values": {"a": 2}}
    other |= {"max_links": 9, "rounds": 3}
    for name, value in other.items():
        with pytest.raises(InputError, match=name):
            ComposedNB(**{name: value})
    # Those of NaiveBayes are every composition's, and the axes name its parts.
    known = {field.name for field in dataclasses.fields(ComposedNB)}
    common = {field.name for field in dataclasses.fields(MNB)}
    axes = {"event", "dependence", "estimate", "weights", "document_weights", "neighbourhood"}
    mine = known - common - axes
    for name in sorted(mine - set(other)):
        field = next(f for f in dataclasses.fields(ComposedNB) if f.name == name)
        value = (not field.default) if isinstance(field.default, bool) else 3
        with pytest.raises(InputError, match=name):
            ComposedNB(**{name: value})


def test_values_are_shown_short() -> None:
    assert shown("x" * 200) == "'" + "x" * 76 + "..."
    assert shown(10**5000) == "an int that is too long to show"
