"""Slow literal term weightings, which the references apply to word counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from references.documents import Document

TERM_WEIGHTINGS = ("counts", "presence", "log", "unit", "presence-unit", "log-unit")

# Resolution of values; a present word has at least one step.
STEP = 2.0**-20


def weigh(counts: Mapping[Any, float], term_weighting: str, step: float = STEP) -> dict[Any, float]:
    """Return the weighted values of a message's words; words with count 0 are absent."""
    values = {word: float(count) for word, count in counts.items() if count > 0}
    if term_weighting.startswith("presence"):
        values = dict.fromkeys(values, 1.0)
    if term_weighting.startswith("log"):
        values = {word: rounded(math.log(1 + count), step) for word, count in values.items()}
    if term_weighting.endswith("unit"):
        length = math.hypot(*values.values())
        values = {word: rounded(value / length, step) for word, value in values.items()}
    return values


def rounded(value: float, step: float) -> float:
    """Return the nearest multiple of a step, at least one; with step 0 the value itself."""
    return max(round(value / step), 1) * step if step else value


def weigh_stream(stream: list[Document], term_weighting: str) -> list[Document]:
    """Return messages with a term weighting applied."""
    return [(weigh(counts, term_weighting), label, weight) for counts, label, weight in stream]
