"""One half-life for all of OnlineNB: corrections, biases, shares, calibration and wrong labels."""

from __future__ import annotations

import random
from typing import Any

import pytest

from references.balance import BalanceReference
from references.forgetting import Forgetting
from references.online_weights import CalibrationReference, rounded
from streamnb import NaiveBayes, OnlineNB
from support.models import make_model, make_reference
from support.profiles import also_in_soak
from support.streams import (
    assert_same_scores,
    count_wrong,
    learned,
    sms_stream,
    swapping,
    synthetic_stream,
)

STREAMS = {"two classes": sms_stream()[:80], "three classes": synthetic_stream(weighted=True)}
KINDS: dict[str, dict[str, Any]] = {
    "one head": {},
    "multiplicative": {"correction": "multiplicative"},
    "two heads": {"heads": "two"},
    "three heads": {"heads": "three"},
}
OTHER = {"ham": "spam", "spam": "ham"}


def both(half_life: float, **parameters: Any) -> tuple[Any, Forgetting]:
    """A model that takes steps from the first message on, and its reference."""
    parameters = {"warm_up": 0, **parameters}
    model = make_model("OnlineNB", half_life=half_life, **parameters)
    return model, Forgetting(make_reference("OnlineNB", **parameters), half_life=half_life)


@pytest.mark.parametrize("half_life", also_in_soak([12.0], [0.7, 300.0]))
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_reference_at_every_prefix(kind: str, stream: str, half_life: float) -> None:
    model, reference = both(half_life, **KINDS[kind])
    for n, (x, y, w) in enumerate(STREAMS[stream]):
        scores = model.joint_log_likelihood_one(x)
        assert_same_scores(scores, reference.joint_log_likelihood(x), n)
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    assert all(any(head.sums.values()) for head in reference.reference.heads())


@pytest.mark.parametrize("wanted", also_in_soak([30], [100]))
def test_wrong_labels_are_forgotten_as_by_the_reference(wanted: int) -> None:
    """Until so many messages were learned while labels are thought to be wrong."""
    rng, corrected = random.Random(3), 0
    model, reference = both(150.0)
    for n, (x, y, _) in enumerate(sms_stream() * 2):
        label = OTHER[y] if n > 60 and rng.random() < 0.3 else y
        if n % 8 == 0:
            scores = model.joint_log_likelihood_one(x)
            assert_same_scores(scores, reference.joint_log_likelihood(x), n)
        model.learn_one(x, label)
        reference.learn(x, label)
        corrected += bool(reference.reference.flips)
        if corrected > wanted:
            return
    pytest.fail(f"labels were thought to be wrong after {corrected} messages only")


@pytest.mark.parametrize("half_life", also_in_soak([3.0], [20.0]))
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_taken_back_by_the_weight_that_is_left(kind: str, half_life: float) -> None:
    model, reference = both(half_life, **KINDS[kind])
    stream = sms_stream()[:60]
    for x, y, w in stream:
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    for age in (0, 7, 30, 3, 12):
        x, y, w = stream[-1 - age]
        left = w * 2.0 ** (-age / half_life)
        steps = len(reference.reference.steps)
        model.unlearn_one(x, y, left)
        reference.reference.unlearn(x, y, left)
        assert len(reference.reference.steps) <= steps
        for n, (query, _, _) in enumerate(stream[::6]):
            scores = model.joint_log_likelihood_one(query)
            assert_same_scores(scores, reference.reference.scores(query), (age, n))
        assert NaiveBayes.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    assert len(reference.reference.steps) < 60


@pytest.mark.parametrize("kind", KINDS)
def test_models_merge_as_their_references(kind: str) -> None:
    parts = sms_stream()[:70], sms_stream()[70:100]
    models, references = zip(*(both(9.0, **KINDS[kind]) for _ in parts), strict=True)
    for part, model, reference in zip(parts, models, references, strict=True):
        for x, y, w in part:
            model.learn_one(x, y, w)
            reference.learn(x, y, w)
    model, reference = models[0], references[0].reference
    model.merge(models[1])
    reference.merge(references[1].reference)
    for n, (x, _, _) in enumerate(sms_stream()[:100:7]):
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), n)
    empty = both(9.0, **KINDS[kind])[0]
    empty.merge(models[1])
    for n, (x, _, _) in enumerate(sms_stream()[:100:7]):
        assert_same_scores(*(m.joint_log_likelihood_one(x) for m in (empty, models[1])), n)


def test_clocks_of_merged_models_agree() -> None:
    """Corrections of the older model decay until the time of the younger one, in either order."""

    def part(messages: Any, begin: float) -> Any:
        model = make_model("OnlineNB", half_life="1h", warm_up=0)
        for n, (x, y, w) in enumerate(messages):
            model.learn_one(x, y, w, time=begin + 60 * n)
        return model

    old, young = sms_stream()[:60], sms_stream()[60:90]
    later = 1e9 + 4 * 3_600
    forwards, backwards = part(old, 1e9), part(young, later)
    alone = NaiveBayes.from_bytes(backwards.to_bytes())
    backwards.merge(part(old, 1e9))
    forwards.merge(alone)
    together = part(old, later - 60 * len(old))
    together.merge(alone)
    nearer = []
    for n, (x, _, _) in enumerate(sms_stream()[90:120]):
        scores = [m.joint_log_likelihood_one(x) for m in (forwards, backwards, alone, together)]
        assert_same_scores(scores[0], scores[1], n)
        distance = [abs(scores[i]["spam"] - scores[2]["spam"]) for i in (0, 3)]
        nearer.append(distance[0] < distance[1])
    # The older the merged part, the less it changes.
    assert sum(nearer) > 15


def test_calibration_is_forgotten_as_by_the_reference() -> None:
    half_life = 25.0
    left = 2.0 ** (-1 / half_life)
    model = make_model("OnlineNB", half_life=half_life, warm_up=0, estimate_noise=False)
    reference, balance = CalibrationReference(), BalanceReference()
    classes: dict[str, float] = {}
    for n, (x, y, _) in enumerate(sms_stream()):
        scores = model.joint_log_likelihood_one(x)
        if len(scores) == 2:
            p = reference.probability(scores["spam"])
            assert model.predict_proba_one(x)["spam"] == pytest.approx(p, abs=1e-9), n
            score = rounded(scores["spam"], 2.0**-20)
            factor, exponent = balance.learn(y, classes)
            p = reference.probability(score)
            weight = factor * (p if y == "spam" else 1 - p) ** exponent
            reference.learn(score, y == "spam", weight=weight)
            h00, h01, h11 = reference.h
            reference.h = 10 + left * (h00 - 10), left * h01, 10 + left * (h11 - 10)
        model.learn_one(x, y)
        classes = {label: left * count for label, count in classes.items()}
        classes[y] = classes.get(y, 0.0) + 1
    assert abs(reference.k - 1) > 0.01


def test_a_half_life_without_end_forgets_nothing() -> None:
    stream = synthetic_stream(120)
    endless, kept = (make_model("OnlineNB", half_life=h, warm_up=0) for h in (1e13, None))
    for n, (x, y, w) in enumerate(stream):
        scores = (m.joint_log_likelihood_one(x) for m in (endless, kept))
        assert_same_scores(*scores, n)
        for model in (endless, kept):
            model.learn_one(x, y, w)


def test_learning_again_from_the_log_gives_equal_bytes() -> None:
    """Whatever is saved, restored and predicted in between. Counts are divided on the way."""
    stream = sms_stream()
    once = learned(make_model("OnlineNB", half_life=0.7, heads="two", warm_up=0), stream)
    often = make_model("OnlineNB", half_life=0.7, heads="two", warm_up=0)
    for start in range(0, len(stream), 25):
        often = NaiveBayes.from_bytes(often.to_bytes())
        for x, y, w in stream[start : start + 25]:
            often.predict_one(x)
            often.learn_one(x, y, w)
    assert once.to_bytes() == often.to_bytes()


@pytest.mark.parametrize("heads", ["one", "two"])
def test_recovery_does_not_depend_on_the_length_before(heads: str) -> None:
    """Labels are exchanged after 500 and after 20,000 messages."""
    errors = {}
    for length in (500, 20_000):
        model = OnlineNB(half_life=100, heads=heads)
        stream = swapping((length, 1_500))
        for x, y in stream[:length]:
            model.learn_one(x, y)
        errors[length] = count_wrong(model, stream[length : length + 250])
        after = count_wrong(model, stream[length + 250 :])
        # A tenth of the labels are wrong.
        assert after < 0.13 * 1_250
    assert errors[20_000] < 125
