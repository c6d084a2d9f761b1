"""Other filters, with which OnlineNB is compared."""

from __future__ import annotations

import math
import random
import shutil
from typing import Any

import pytest

from benchmarks.peers import filters
from streamnb import evaluation
from streamnb.errors import InputError, MissingDependencyError

WORDS = {
    "ham": ["see", "you", "at", "noon", "home"],
    "spam": ["win", "cash", "now", "claim", "prize"],
    "news": ["vote", "party", "goal", "match", "rain"],
}


def stream(n: int, labels: tuple[str, ...]) -> list[tuple[str, str]]:
    rng = random.Random(4)
    chosen = [rng.choice(labels) for _ in range(n)]
    return [(" ".join(rng.choice(WORDS[label]) for _ in range(4)), label) for label in chosen]


def slow_logistic(messages: list[tuple[str, str]], rate: float) -> list[dict[str, float]]:
    """Return the predicted shares of a dictionary implementation, before each message."""
    weights: dict[str, dict[bytes, float]] = {}
    predicted = []

    def shares(grams: set[bytes]) -> dict[str, float]:
        odds = {
            each: sum(table.get(gram, 0.0) for gram in grams) / math.sqrt(len(grams))
            for each, table in weights.items()
        }
        if len(odds) == 2:
            first, second = odds
            odds[first] = -odds[second]
        return {each: 1 / (1 + math.exp(-value)) for each, value in odds.items()}

    for text, label in messages:
        read = text.encode()[:3000]
        grams = {read[place : place + 4] for place in range(len(read) - 3)}
        predicted.append(shares(grams))
        weights.setdefault(label, {})
        for each, share in shares(grams).items():
            for gram in grams:
                step = rate * ((each == label) - share) / math.sqrt(len(grams))
                weights[each][gram] = weights[each].get(gram, 0.0) + step
    return predicted


def test_logistic_regression_equals_the_slow_reference() -> None:
    messages = stream(80, ("ham", "spam", "news"))
    model = filters.CharacterLogistic(rate=2.0, bits=24)
    for (text, label), expected in zip(messages, slow_logistic(messages, 2.0), strict=True):
        found = model.predict_proba_one(text)
        assert found.keys() == expected.keys()
        total = sum(expected.values())
        for each, share in expected.items():
            assert found[each] == pytest.approx(share / total, abs=1e-5)
        model.learn_one(text, label)


@pytest.mark.parametrize(
    ("factory", "options", "labels"),
    [
        (filters.CharacterLogistic, {}, ("ham", "spam")),
        (filters.CharacterLogistic, {}, ("ham", "spam", "news")),
        (filters.VowpalWabbit, {}, ("ham", "spam")),
        (filters.VowpalWabbit, {"classes": 3}, ("ham", "spam", "news")),
        pytest.param(filters.Bogofilter, {}, ("ham", "spam"), marks=pytest.mark.soak),
    ],
)
def test_filters_learn(factory: Any, options: dict[str, int], labels: tuple[str, ...]) -> None:
    if factory is filters.VowpalWabbit:
        pytest.importorskip("vowpalwabbit")
    if factory is filters.Bogofilter and shutil.which("bogofilter") is None:
        pytest.skip("bogofilter is not installed")
    model = factory(**options)
    (result,) = evaluation.prequential(model, stream(200, labels), calibration_skip=50).values()
    assert result.windowed.accuracy is not None
    assert result.windowed.accuracy > 0.8
    assert result.cumulative.calibration_error is not None
    assert result.cumulative.log_loss is not None
    if len(labels) == 2:
        assert result.cumulative.roc_auc > 0.9  # type: ignore[operator]


def test_filters_refuse_invalid_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"rate": 0.0}, {"first": 3}, {"bits": 40}):
        with pytest.raises(InputError, match="must be"):
            filters.CharacterLogistic(**wrong)  # type: ignore[arg-type]
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingDependencyError, match="apt-get install bogofilter"):
        filters.Bogofilter()
    pytest.importorskip("vowpalwabbit")
    with pytest.raises(InputError, match="classes is 1"):
        filters.VowpalWabbit(classes=1)
    model = filters.VowpalWabbit()
    for label in ("ham", "spam"):
        model.learn_one("x", label)
    with pytest.raises(InputError, match="one label more"):
        model.learn_one("x", "news")
