"""Batches equal one by one, and the order of messages, classes and words does not matter."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from support.models import (
    ALL_MODELS,
    INDEXED,
    RATIOS,
    ROWS,
    make_model,
    matrix,
    structures,
)
from support.rows import stream as table_rows
from support.streams import TOLERANCE, assert_same_scores, synthetic_stream


@matrix(ALL_MODELS)
def test_batches_equal_one_by_one(name: str) -> None:
    stream = synthetic_stream(150)
    messages = [counts for counts, _, _ in stream]
    labels = [label for _, label, _ in stream]
    one, many = (make_model(name, refresh_every=1) for _ in range(2))
    for start in range(0, 120, 30):
        for counts, label in zip(
            messages[start : start + 30], labels[start : start + 30], strict=True
        ):
            one.learn_one(counts, label)
        many.learn_many(messages[start : start + 30], labels[start : start + 30])
        scores = many.joint_log_likelihood_many(messages[120:])
        assert scores.shape == (30, len(many.classes_))
        assert one.classes_ == many.classes_
        expected = [
            [one.joint_log_likelihood_one(x)[label] for label in one.classes_]
            for x in messages[120:]
        ]
        np.testing.assert_allclose(scores, expected, rtol=0, atol=TOLERANCE)
        assert many.predict_many(messages[120:]) == [one.predict_one(x) for x in messages[120:]]
        for got, x in zip(many.predict_proba_many(messages[120:]), messages[120:], strict=True):
            assert got == pytest.approx(one.predict_proba_one(x), abs=TOLERANCE)
        assert_same_predictions(many, messages[120:])
    assert one.to_bytes() == many.to_bytes()


def assert_same_predictions(model: Any, messages: list[Any]) -> None:
    """A batch has the same predictions as its single messages."""
    labels, scores, shares = zip(*model.predictions_many(messages), strict=True)
    assert list(labels) == [model.predict_one(x) for x in messages]
    for x, got, share in zip(messages, scores, shares, strict=True):
        assert got == pytest.approx(model.joint_log_likelihood_one(x), abs=TOLERANCE)
        assert share == pytest.approx(model.predict_proba_one(x), abs=TOLERANCE)


@pytest.mark.parametrize("refresh_every", [1, 7, 0.1, 0.5], ids=str)
@structures([*INDEXED, RATIOS])
def test_batches_equal_one_by_one_on_any_schedule(name: str, refresh_every: float) -> None:
    """Where a batch starts and ends does not move the refreshes."""
    stream = synthetic_stream(120)
    messages = [counts for counts, _, _ in stream]
    labels = [label for _, label, _ in stream]
    one, many = (make_model(name, refresh_every=refresh_every) for _ in range(2))
    for counts, label, _ in stream:
        one.learn_one(counts, label)
    for start in (0, 1, 18, 77):
        stop = {0: 1, 1: 18, 18: 77, 77: 120}[start]
        many.learn_many(messages[start:stop], labels[start:stop])
    for x in messages[::5]:
        assert_same_scores(
            many.joint_log_likelihood_one(x), one.joint_log_likelihood_one(x), refresh_every
        )


def batched() -> list[Any]:
    """Return models with weights, schedules and bounds that suit them."""
    bounds: list[dict[str, Any]] = [{}, {"index_size": 30}, {"index_size": 3}, {"max_features": 20}]
    windows: list[dict[str, Any]] = [{"window_size": 40}, {"window_size": 7}]
    texts = itertools.product(["HMNB", "PHNB", "HONB", "GRWMNB"], [1.0, 0.1, 2.0**31], bounds)
    in_windows = itertools.product(["HMNB", "PHNB", "GRWMNB", "ENB"], [0.375, 2.0**31], windows)
    rows = itertools.product(["ENB"], [1.0, 0.1], bounds[:3])
    return [
        pytest.param(*case, refresh_every, id=f"{case}-{refresh_every}")
        for case in (*texts, *in_windows, *rows)
        for refresh_every in (3, 0.1)
    ]


@pytest.mark.parametrize(("name", "weight", "options", "refresh_every"), batched())
def test_a_batch_refreshes_at_its_last_due_messages_only(
    name: str, weight: float, options: dict[str, Any], refresh_every: float
) -> None:
    rows = ROWS[name].columns
    stream = table_rows(50, "abc", weighted=False) if rows else synthetic_stream(110)
    messages, labels = [x for x, _, _ in stream], [label for _, label, _ in stream]
    one, many = (make_model(name, refresh_every=refresh_every, **options) for _ in range(2))
    refreshes = []
    for statistic in many._statistics:
        replaced = statistic.refresh
        note = refreshes.append

        def refresh(*given: Any, replaced: Any = replaced, note: Any = note) -> None:
            note(given)
            replaced(*given)

        object.__setattr__(statistic, "refresh", refresh)
    for start, stop in itertools.pairwise((0, 1, 31, 32, 110)):
        for x, label in zip(messages[start:stop], labels[start:stop], strict=True):
            one.learn_one(x, label, weight)
        refreshes.clear()
        many.learn_many(messages[start:stop], labels[start:stop], weight)
        if weight in (1.0, 0.375):  # else sums of weights are rounded
            # The last refresh but one is in use until the last one takes effect, if it waits.
            most = 2 if all(statistic.may_wait for statistic in many._statistics) else 1
            assert len(refreshes) <= most * len(many._statistics)
        assert many.to_bytes() == one.to_bytes()


@structures(ALL_MODELS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("known", ["", "c"])
def test_labels_that_come_with_a_batch_break_ties_from_its_first_messages(
    name: str, known: str, seed: int
) -> None:
    """Of equal scores the first label in order is the highest, not the one that came first."""
    rng = random.Random(seed)
    messages, labels = [{"free": 1}] * 40, rng.choices("dcba", k=40)
    one, many = make_model(name), make_model(name)
    for model in (one, many):
        for label in known:
            model.learn_one({"noon": 1}, label)
    for message, label in zip(messages, labels, strict=True):
        one.learn_one(message, label)
    many.learn_many(messages, labels)
    assert many.to_bytes() == one.to_bytes()


@matrix(ALL_MODELS)
def test_order_of_messages_classes_and_words_does_not_matter(name: str) -> None:
    stream = synthetic_stream()
    rng = random.Random(3)
    straight, shuffled = (make_model(name, refresh_every=1) for _ in range(2))
    for counts, label, weight in stream:
        straight.learn_one(counts, label, weight)
    # Steps depend on the order of messages; no model depends on the order of words.
    order = stream if ROWS[name].corrected else rng.sample(stream, len(stream))
    for counts, label, weight in order:
        keys = rng.sample(list(counts), len(counts))
        shuffled.learn_one({word: counts[word] for word in keys}, label, weight)
    assert straight.classes_ == shuffled.classes_ == sorted(straight.classes_)
    for counts, _, _ in stream:
        keys = rng.sample(list(counts), len(counts))
        assert_same_scores(
            shuffled.joint_log_likelihood_one({word: counts[word] for word in keys}),
            straight.joint_log_likelihood_one(counts),
            counts,
        )
