"""Probabilities calibrated along the stream equal the slow reference, and decide."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest

from references.balance import BalanceReference
from references.label_noise import Flips, LabelNoiseReference, sigmoid
from references.online_weights import (
    CalibrationReference,
    OnlineWeightsReference,
    damped,
    highest,
    present,
    rounded,
    unit,
)
from support.models import make_model
from support.streams import learned, sms_stream, synthetic_stream

STREAM = synthetic_stream(120)
STEP = 2.0**-20


def make(**parameters: Any) -> Any:
    return make_model("OnlineNB", **{"warm_up": 0, **parameters})


@pytest.mark.parametrize("flipped", [0.0, 0.2, 0.5])
def test_two_classes_are_calibrated_as_the_reference(flipped: float) -> None:
    """At every message: P of the class that sorts last, and the label of the higher P.

    If labels are corrected and the scores predict them worse than the shares of the classes, P is
    the share.
    """
    model, reference, noise = make(), CalibrationReference(), LabelNoiseReference()
    learned: list[str] = []
    documents: Counter[str] = Counter()
    balance, classes = BalanceReference(), Counter[str]()
    by_shares = corrected = 0
    for n, (x, y) in enumerate(flipped_stream(flipped)):
        scores = model.joint_log_likelihood_one(x)
        if len(scores) == 2:
            p = reference.probability(scores["spam"])
            flips = noise.rates().get("spam", Flips())
            share = learned.count("spam") / n
            proba = model.predict_proba_one(x)
            worse = bool(noise.rates()) and noise.excess_loss > -1
            assert proba["spam"] == pytest.approx(share if worse else p, abs=1e-9), n
            assert proba["spam"] + proba["ham"] == pytest.approx(1, abs=1e-15)
            assert model.predict_one(x) == max(sorted(proba), key=proba.__getitem__)
            by_shares, corrected = by_shares + worse, corrected + (flips != Flips())
            score = rounded(scores["spam"], STEP)
            labelled = flips.labelled(reference.a + reference.k * score)
            losses = [p if y == "spam" else 1 - p for p in (labelled, share)]
            factor, exponent = balance.learn(y, classes)
            noise.learn_loss(-math.log(losses[0]), -math.log(losses[1]), factor)
            p = reference.probability(score)
            weight = factor * (p if y == "spam" else 1 - p) ** exponent
            reference.learn(score, y == "spam", flips, weight)
            best, margin = highest(scores)
            noise.learn(best, rounded(margin, STEP), y, shares(x, documents))
        model.learn_one(x, y)
        documents.update(present(x))
        classes[y] += 1
        learned.append(y)
    assert reference.k != 1
    assert corrected >= (200 if flipped else 0), corrected
    assert by_shares >= (100 if flipped == 0.5 else 0), by_shares


def shares(x: Any, documents: Counter[str]) -> dict[str, float]:
    """Return u_i of the words, from the number of learned documents of each."""
    return unit(damped({word: documents[word] for word in present(x)}, 0.1))


def flipped_stream(share: float) -> list[tuple[Any, str]]:
    """Return real messages, some with the other label."""
    rng = random.Random(3)
    other = {"ham": "spam", "spam": "ham"}
    return [(x, other[y] if rng.random() < share else y) for x, y, _ in sms_stream()]


def test_more_classes_are_calibrated_by_the_highest() -> None:
    """P of the class with the highest score, from the log odds of its share of the soft maximum."""
    model, reference, noise = make(), CalibrationReference(), LabelNoiseReference()
    calibrated = 0
    known: set[str] = set()
    documents: Counter[str] = Counter()
    balance, classes = BalanceReference(), Counter[str]()
    for n, (x, y, _) in enumerate(STREAM):
        scores = model.joint_log_likelihood_one(x)
        factor = balance.learn(y, classes)[0] if len(scores) > 1 else 1.0
        if len(scores) > 2:
            top = max(scores, key=lambda label: scores[label])
            others = [score for label, score in scores.items() if label != top]
            rest = max(others) + math.log(sum(math.exp(s - max(others)) for s in others))
            odds = scores[top] - rest
            proba = model.predict_proba_one(x)
            p = reference.probability(odds)
            of_others = [math.exp(score - rest) for score in others]
            # It stays the highest, and the others keep their shares of the rest.
            expected = max(p, max(of_others) / (1 + max(of_others)))
            assert proba[top] == pytest.approx(expected, abs=1e-9), n
            assert model.predict_one(x) == top
            assert sum(proba.values()) == pytest.approx(1)
            flips = noise.rates().get(top, Flips())
            reference.learn(rounded(odds, STEP), y == top, flips, factor)
            calibrated += 1
        if len(scores) > 1 and y in known:
            best, margin = highest(scores)
            noise.learn(best, rounded(margin, STEP), y, shares(x, documents))
        known.add(y)
        model.learn_one(x, y)
        documents.update(present(x))
        classes[y] += 1
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


def test_a_change_of_labels_is_no_noise() -> None:
    """The words of a message predict its contradiction, and labels count in full."""
    model, reference = make(), OnlineWeightsReference(warm_up=0)
    rng = random.Random(5)
    gains, corrected = [], []
    for n in range(240):
        topic = rng.randrange(4)
        words = [f"{topic} {rng.randrange(100)}" for _ in range(6)]
        x = dict.fromkeys([*words, f"any {rng.randrange(9)}"], 1)
        y = "yes" if topic in ((0, 1) if n < 120 else (0, 2)) else "no"
        model.learn_one(x, y)
        reference.learn(x, y)
        assert model.joint_log_likelihood_one(x) == pytest.approx(reference.scores(x), abs=1e-9), n
        gains.append(reference.noise.gain)
        corrected.append(bool(reference.flips))
    assert max(gains[:120]) < 1
    assert max(gains) > 2
    assert sum(corrected) > 20
    assert not corrected[gains.index(max(gains))]
