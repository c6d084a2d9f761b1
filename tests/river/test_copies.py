"""Clones, copies and pickles of models."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from support.estimators import ESTIMATORS
from support.models import ROUNDED, structures
from support.streams import synthetic_stream

if TYPE_CHECKING:
    from collections.abc import Callable


def learned(name: str, n: int = 60) -> Any:
    model = ESTIMATORS[name].clone()
    for counts, label, weight in synthetic_stream(n):
        model.learn_one(counts, label, weight)
    return model


@structures(ESTIMATORS)
def test_clone_is_untrained_and_keeps_parameters(name: str) -> None:
    model = learned(name)
    clone = model.clone()
    assert clone.predict_one({"w1": 1}) is None
    assert clone.predict_proba_one({"w1": 1}) == {}
    assert clone._get_params() == model._get_params()
    other = model.clone({"alpha": 0.25, "oov": "skip"})
    assert (other.alpha, other.oov) == (0.25, "skip")
    clone.learn_one({"w1": 1}, "a")
    assert model.to_bytes() == learned(name).to_bytes()


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@structures(ESTIMATORS)
def test_copies_continue_alike_and_apart(name: str, copier: Callable[[Any], Any]) -> None:
    model = learned(name)
    twin = copier(model)
    assert twin.to_bytes() == model.to_bytes()
    rest = synthetic_stream(110)[60:]
    for counts, label, weight in rest:
        expected = model.joint_log_likelihood_one(counts)
        if name in ROUNDED:
            expected = pytest.approx(expected, rel=1e-12)
        assert twin.joint_log_likelihood_one(counts) == expected
        assert twin.predict_one(counts) == model.predict_one(counts)
        model.learn_one(counts, label, weight)
        twin.learn_one(counts, label, weight)
    assert twin.to_bytes() == model.to_bytes()
    twin.learn_one({"only the twin": 1}, "d")
    assert "d" not in model.classes_
    assert "d" in twin.classes_


@structures(ESTIMATORS)
def test_pickle_bytes_are_determined_by_the_state(name: str) -> None:
    model = learned(name)
    once = pickle.dumps(model)
    model.predict_proba_one({"w1": 2, "new": 1})
    model.explain_one({"w1": 2, "new": 1})
    assert pickle.dumps(model) == once
    assert pickle.dumps(learned(name)) == once
    again = pickle.dumps(pickle.loads(once))
    assert pickle.dumps(pickle.loads(again)) == again
