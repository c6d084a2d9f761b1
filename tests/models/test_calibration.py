"""Probabilities calibrated along the stream equal the slow reference, and decide."""

from __future__ import annotations

import math
from typing import Any

import pytest

from references.online_weights import CalibrationReference, rounded, sigmoid
from support.models import make_model
from support.streams import learned, sms_stream, synthetic_stream

STREAM = synthetic_stream(120)
STEP = 2.0**-20


def make(**parameters: Any) -> Any:
    return make_model("OnlineNB", **{"warm_up": 0, **parameters})


def test_two_classes_are_calibrated_as_the_reference() -> None:
    """At every message: P of the class that sorts last, and the label of the higher P."""
    model, reference = make(), CalibrationReference()
    for n, (x, y, _) in enumerate(sms_stream()):
        scores = model.joint_log_likelihood_one(x)
        if len(scores) == 2:
            p = reference.probability(scores["spam"])
            proba = model.predict_proba_one(x)
            assert proba["spam"] == pytest.approx(p, abs=1e-9), n
            assert proba["spam"] + proba["ham"] == pytest.approx(1, abs=1e-15)
            assert model.predict_one(x) == max(sorted(proba), key=proba.__getitem__)
            reference.learn(rounded(scores["spam"], STEP), y == "spam")
        model.learn_one(x, y)
    assert reference.k != 1


def test_more_classes_are_calibrated_by_the_highest() -> None:
    """P of the class with the highest score, from the log odds of its share of the soft maximum."""
    model, reference = make(), CalibrationReference()
    calibrated = 0
    for n, (x, y, _) in enumerate(STREAM):
        scores = model.joint_log_likelihood_one(x)
        if len(scores) > 2:
            top = max(scores, key=lambda label: scores[label])
            others = [score for label, score in scores.items() if label != top]
            rest = max(others) + math.log(sum(math.exp(s - max(others)) for s in others))
            odds = scores[top] - rest
            proba = model.predict_proba_one(x)
            p = reference.probability(odds)
            shares = [math.exp(score - rest) for score in others]
            # It stays the highest, and the others keep their shares of the rest.
            expected = max(p, max(shares) / (1 + max(shares)))
            assert proba[top] == pytest.approx(expected, abs=1e-9), n
            assert model.predict_one(x) == top
            assert sum(proba.values()) == pytest.approx(1)
            reference.learn(rounded(odds, STEP), y == top)
            calibrated += 1
        model.learn_one(x, y)
    assert calibrated > 50
    assert reference.a != 0


def test_without_calibration() -> None:
    model = learned(make(calibrated=False), [d for d in STREAM if d[1] != "c"])
    for x, _, _ in STREAM[::5]:
        score = model.joint_log_likelihood_one(x)["b"]
        assert model.predict_proba_one(x)["b"] == pytest.approx(sigmoid(score), abs=1e-12)
    assert_many_as_one(model)


def assert_many_as_one(model: Any) -> None:
    X = [x for x, _, _ in STREAM[:30]]
    assert model.predict_many(X) == [model.predict_one(x) for x in X]
    for many, x in zip(model.predict_proba_many(X), X, strict=True):
        assert many == pytest.approx(model.predict_proba_one(x), abs=1e-12)


@pytest.mark.parametrize("threshold", [None, 0.3, 0.9, "auto"])
def test_thresholds_are_of_calibrated_probabilities(threshold: Any) -> None:
    model = make(threshold=threshold, cost_ratio=3.0)
    for x, y, w in STREAM:
        if y == "c":
            continue
        if len(model.classes_) == 2 and threshold != "auto":
            above = model.predict_proba_one(x)["b"] > (threshold or 0.5)
            assert model.predict_one(x) == ("b" if above else "a")
        model.learn_one(x, y, w)
    assert_many_as_one(model)
