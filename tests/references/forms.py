"""Slow literal forms of documents: what the references take in place of word counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from references.documents import Document

FORMS = ("counts", "presence", "log", "unit", "presence-unit", "log-unit")

# Values are told apart this finely, and a word that is there never has none.
STEP = 2.0**-20


def formed(
    counts: Mapping[Any, float], term_weighting: str, step: float = STEP
) -> dict[Any, float]:
    """Return the values of a message's words in a form; words with a count of 0 are not there."""
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
    """Return the nearest multiple of a step, at least one; with a step of 0 the value itself."""
    return max(round(value / step), 1) * step if step else value


def formed_stream(stream: list[Document], term_weighting: str) -> list[Document]:
    """Return messages in a form."""
    return [(formed(counts, term_weighting), label, weight) for counts, label, weight in stream]
