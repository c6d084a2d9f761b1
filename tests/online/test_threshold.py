"""Decision thresholds, given and learned along the stream."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb.errors import InputError
from streamnb.model.threshold import LearnedThreshold
from support.batches import LABELS, QUERY, TEXTS, new
from support.models import structures
from support.streams import synthetic_stream

# --- threshold ------------------------------------------------------------------------------------


@cache
def two_classes(n: int = 120) -> list[tuple[dict[Any, Any], str]]:
    names = {"a": "ham", "b": "spam"}
    return [(x, names[str(y)]) for x, y, _ in synthetic_stream(n) if y != "c"]  # type: ignore[misc]


def on_two_classes(name: str = "MNB", **parameters: Any) -> Any:
    model = new(name, **parameters)
    for x, y in two_classes():
        model.learn_one(x, y)
    return model


@cache
def plain_on_two_classes(name: str) -> Any:
    """Return the model without a threshold; it is only asked."""
    return on_two_classes(name)


@pytest.mark.parametrize(
    "threshold",
    [0.3, 0.5, 0.999, *(pytest.param(p, marks=pytest.mark.soak) for p in (0.01, 0.9))],
)
@structures()
def test_threshold_cuts_the_probability_of_the_positive_class(name: str, threshold: float) -> None:
    model = on_two_classes(name, threshold=threshold)
    plain = plain_on_two_classes(name)
    queries = [x for x, _ in two_classes()]
    for x in queries:
        p = model.predict_proba_one(x)["spam"]
        assert p == plain.predict_proba_one(x)["spam"]
        if abs(p - threshold) > 1e-9:
            assert model.predict_one(x) == ("spam" if p > threshold else "ham")
    assert model.predict_many(queries) == [model.predict_one(x) for x in queries]
    if threshold == 0.5:
        assert model.predict_many(queries) == plain.predict_many(queries)


def test_a_probability_at_the_threshold_is_not_above_it() -> None:
    model = new("MNB", threshold=0.5)
    model.learn_many(["win cash", "win cash"], ["ham", "spam"])
    assert model.predict_proba_one("win") == {"ham": 0.5, "spam": 0.5}
    assert model.predict_one("win") == "ham"
    assert model.predict_many(["win"]) == ["ham"]


def test_positive_names_the_class_that_is_cut() -> None:
    model = on_two_classes(threshold=0.9, pos_label="ham")
    for x, _ in two_classes():
        p = model.predict_proba_one(x)["ham"]
        assert model.predict_one(x) == ("ham" if p > 0.9 else "spam")


@pytest.mark.parametrize("threshold", [0.9, "auto"])
@structures()
def test_threshold_with_fewer_or_more_than_two_classes(name: str, threshold: Any) -> None:
    """None or one class: there is nothing to cut. With three, the model learns and says so."""
    model, plain = new(name, threshold=threshold), new(name)
    assert model.predict_one({"a": 1}) is None
    for n, (x, y, w) in enumerate(synthetic_stream(60)):
        if len(plain.classes_) < 2:
            assert model.predict_one(x) == plain.predict_one(x), n
        model.learn_one(x, y, w)
        plain.learn_one(x, y, w)
    assert len(model.classes_) == 3
    for call in (lambda: model.predict_one({"w1": 1}), lambda: model.predict_many([{"w1": 1}])):
        with pytest.raises(InputError, match="3"):
            call()
    assert model.predict_proba_one({"w1": 1}) == plain.predict_proba_one({"w1": 1})
    assert model.joint_log_likelihood_one({"w1": 1}) == plain.joint_log_likelihood_one({"w1": 1})


def test_positive_that_is_no_label_is_named() -> None:
    model = new("MNB", threshold=0.5, pos_label="Spam")
    model.learn_many(TEXTS[:2], LABELS[:2])
    with pytest.raises(InputError, match="'Spam'"):
        model.predict_one(QUERY)


def prequential_errors(model: Any, stream: list[tuple[Any, str]]) -> tuple[int, int]:
    """Return how many ham were lost and how many spam let through, predicting before learning."""
    lost = passed = 0
    for x, y in stream:
        decision = model.predict_one(x)
        lost += decision == "spam" and y == "ham"
        passed += decision == "ham" and y == "spam"
        model.learn_one(x, y)
    return lost, passed


def skewed_stream(n: int = 1500) -> list[tuple[dict[str, int], str]]:
    """Return messages whose words repeat one another, so that the even cut is a bad one.

    Ham says one thing in short; spam says it in many words, each of which counts as evidence.
    """
    rng = np.random.default_rng(5)
    stream = []
    for _ in range(n):
        spam = rng.random() < 0.15
        loud = rng.random() < (0.9 if spam else 0.12)
        x = {f"loud{i}": 1 for i in range(6)} if loud else {}
        x |= {f"w{int(i)}": 1 for i in rng.integers(0, 30, 3)}
        if spam and rng.random() < 0.8:
            x["spammy"] = 1
        stream.append((x, "spam" if spam else "ham"))
    return stream


@pytest.mark.parametrize("cost_ratio", [0.1, 1.0, 5.0, 25.0])
@pytest.mark.parametrize("name", ["MNB", "HMNB", "CNB"])
def test_auto_threshold_is_cheaper_than_the_even_one(name: str, cost_ratio: float) -> None:
    """The cost is lost ham times the ratio plus spam let through, in the second half."""
    stream = skewed_stream()
    half = len(stream) // 2

    def cost(**parameters: Any) -> float:
        model = getattr(streamnb, name)(cost_ratio=cost_ratio, **parameters)
        prequential_errors(model, stream[:half])
        lost, passed = prequential_errors(model, stream[half:])
        return cost_ratio * lost + passed

    even, auto = cost(threshold=0.5), cost(threshold="auto")
    # A learned cut may cost a little where the even one is right, never much.
    assert auto <= 1.05 * even + 2 * max(cost_ratio, 1)


@structures()
def test_cost_ratio_moves_errors_from_one_side_to_the_other(name: str) -> None:
    lost, passed = zip(
        *(
            prequential_errors(
                getattr(streamnb, name)(threshold="auto", cost_ratio=ratio), skewed_stream()
            )
            for ratio in (0.02, 1.0, 50.0)
        ),
        strict=True,
    )
    assert lost[0] > lost[2]
    assert passed[0] < passed[2]
    assert lost[0] >= lost[1] >= lost[2]
    assert passed[0] <= passed[1] <= passed[2]


@structures()
def test_auto_threshold_in_batches(name: str) -> None:
    """The scores of a batch are those before it, and the cut found is deterministic."""
    stream = two_classes()
    models = []
    for _ in range(2):
        model = getattr(streamnb, name)(threshold="auto")
        for start in range(0, len(stream), 40):
            batch = stream[start : start + 40]
            model.learn_many([x for x, _ in batch], [y for _, y in batch])
        models.append(model)
    assert models[0].to_bytes() == models[1].to_bytes()
    queries = [x for x, _ in stream]
    assert models[0].predict_many(queries) == [models[0].predict_one(x) for x in queries]
    assert set(models[0].predict_many(queries)) == {"ham", "spam"}


@pytest.mark.parametrize("cost_ratio", [0.2, 1.0, 10.0])
def test_auto_follows_from_calibrated_probabilities(cost_ratio: float) -> None:
    model = new("OnlineNB", threshold="auto", cost_ratio=cost_ratio)
    assert model.calibrated_
    cut = cost_ratio / (1 + cost_ratio)
    for x, y in skewed_stream(400):
        p = model.predict_proba_one(x).get("spam", 0.0)
        if len(model.classes_) == 2 and abs(p - cut) > 1e-9:
            assert model.predict_one(x) == ("spam" if p > cut else "ham")
        model.learn_one(x, y)
    assert model.threshold_ == pytest.approx(math.log(cost_ratio))
    assert not new("OnlineNB", calibrated=False).calibrated_
    assert not new("MNB").calibrated_
    plain = new("OnlineNB", threshold="auto", calibrated=False)
    plain.learn_many([x for x, _ in skewed_stream(400)], [y for _, y in skewed_stream(400)])
    assert plain.threshold_ != 0.0  # a record of scores that mean no probabilities


def test_a_learned_cut_forgets_early_mistakes() -> None:
    """After each 4,096 messages a record counts half: slowly, on lists of all scores."""
    threshold = LearnedThreshold(cost_ratio=3.0)
    rng, kept, total = np.random.default_rng(8), [], 0.0
    for n in range(20_000):
        pos_label = bool(rng.random() < 0.5)
        # The even cut is 40 at first, and -40 in the end.
        middle = 40.0 if n < 8_000 else -40.0
        odds = middle + (3.0 if pos_label else -3.0) + rng.normal()
        threshold.record(odds, pos_label)
        kept.append([odds, pos_label, 1.0])
        total += 1.0
        if total >= 4096:
            total /= 2
            for each in kept:
                each[2] /= 2
        if n in (7_999, 9_000, 13_000, 19_999):
            again = LearnedThreshold(cost_ratio=3.0)
            for odds, pos_label, weight in kept:
                again.record(odds, pos_label, weight)
            assert np.array_equal(again.scores, threshold.scores)
            assert again.log_odds_threshold == threshold.log_odds_threshold
            restored = LearnedThreshold(cost_ratio=3.0)
            restored.restore(threshold.state())
            assert restored.state() == threshold.state()
            assert restored.log_odds_threshold == threshold.log_odds_threshold
    assert -43 < threshold.log_odds_threshold < -37
    threshold.merge(threshold)
    assert threshold.scores.sum() < 4096


def test_a_positive_label_that_is_none_of_the_two_is_refused_before_learning() -> None:
    model = new("MNB", threshold="auto", pos_label="neither")
    model.learn_one("a b", "ham")
    model.learn_one("c d", "spam")
    before = model.to_bytes()
    with pytest.raises(InputError, match="neither"):
        model.learn_one("e f", "ham")
    assert model.to_bytes() == before
