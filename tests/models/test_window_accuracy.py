"""A model with a window follows a stream whose words change, with the default schedule."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from support.models import ALL_MODELS, COLUMNS, make_model, matrix
from support.profiles import also_in_soak

WINDOW = 500


def words(draw: random.Random, part: int, label: str) -> dict[str, int]:
    """Return a message: words of all messages, and words of its label in this part of a stream."""
    common = [f"common{draw.randrange(60)}" for _ in range(5)]
    own = [f"part{part}{label}{draw.randrange(30)}" for _ in range(draw.randrange(3, 7))]
    noise = [f"part{part}{draw.choice(['ham', 'spam'])}{draw.randrange(30)}"]
    return dict.fromkeys(common + own + noise, 1)


def row(draw: random.Random, part: int, label: str) -> dict[str, Any]:
    """Return a row: numbers and categories whose means change with the part of a stream."""
    side = 1.0 if label == "ham" else -1.0
    return {
        "sure": draw.gauss(side * (-1) ** part, 0.8),
        "category": f"part{part}{label if draw.random() < 0.8 else 'both'}",
        "noise": draw.gauss(0.0, 1.0),
    }


def stream(columns: bool, messages: int, every: int) -> Iterator[tuple[Any, str]]:
    draw = random.Random(5)
    for at in range(messages):
        label = draw.choice(["ham", "spam"])
        yield (row if columns else words)(draw, at // every, label), label


def accuracy(model: Any, messages: int, every: int) -> float:
    """Return the share of correct predictions after the first part, each before it is learned."""
    correct = []
    for x, label in stream(model.reads_columns, messages, every):
        correct.append(model.predict_one(x) == label)
        model.learn_one(x, label)
    return sum(correct[every:]) / len(correct[every:])


@pytest.mark.parametrize(("messages", "every"), also_in_soak([(1_400, 700)], [(5_000, 1_000)]))
@matrix((*ALL_MODELS, *COLUMNS))
def test_a_window_is_as_accurate_as_with_frequent_refreshes(
    name: str, messages: int, every: int
) -> None:
    usual = accuracy(make_model(name, window_size=WINDOW), messages, every)
    often = accuracy(make_model(name, window_size=WINDOW, refresh_every=50), messages, every)
    assert often > 0.75
    assert round(often - usual, 9) <= 0.01
