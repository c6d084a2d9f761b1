"""The scores of labelled messages: a bound on the ham that is lost, and the area under the ROC."""

from __future__ import annotations

import math

__all__ = ["HamBound"]

# Scores are kept in bins that are even on an asinh scale: a step of 2 % of the score, and of
# 0.0003 nats a word near 0.
_BINS_PER_UNIT = 50
_NEAR_ZERO = 0.015


def _bin(score: float) -> int:
    scaled = math.asinh(min(max(score, -1e9), 1e9) / _NEAR_ZERO) * _BINS_PER_UNIT
    return math.ceil(scaled)


_LAST_BIN = _bin(math.inf)


class HamBound:
    """A cut that few enough of the past's negative messages lie above.

    Scores are those that messages had when they were decided on, so each message is judged by
    what was known before it. The record is a sum over messages: their order does not matter.

    Parameters
    ----------
    target
        The share of negative messages (ham) that may be lost, in (0, 1); None only keeps the
        record.

    Examples
    --------
    >>> bound = HamBound(target=0.2)
    >>> bound.cut                       # nothing is known of ham yet
    0.0
    >>> for score in (-3.0, -2.0, 0.5, -1.0, 2.0):
    ...     bound.record(score, positive=False)
    >>> 0.5 <= bound.cut < 0.52         # one of five may be lost, and it is the one at 2.0
    True
    """

    def __init__(self, target: float | None = None) -> None:
        self.target = target
        self._bins: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._cut: float | None = 0.0

    def record(self, score: float, positive: bool, times: int = 1) -> None:
        """Note the score that a message had before its label was known; -1 times takes it back."""
        counts, place = self._bins[positive], _bin(score)
        counts[place] = counts.get(place, 0) + times
        if not counts[place]:
            del counts[place]
        self._cut = None

    @property
    def cut(self) -> float:
        """Scores above it may be positive; never below 0."""
        if self._cut is None:
            self._cut = self._find()
        return self._cut

    def _find(self) -> float:
        if self.target is None:
            return 0.0
        negatives = self._bins[False]
        room = math.floor(self.target * sum(negatives.values()))
        for place in sorted(negatives, reverse=True):
            room -= negatives[place]
            if room < 0:
                # The upper edge of this bin: nothing in it is above.
                return max(0.0, _NEAR_ZERO * math.sinh(place / _BINS_PER_UNIT))
        return 0.0

    def area(self) -> float | None:
        """Return the area under the ROC curve, ties and equal bins counted one half."""
        negatives, positives = self._bins
        pairs = sum(negatives.values()) * sum(positives.values())
        below, won = 0, 0.0
        for place in sorted(negatives.keys() | positives.keys()):
            here = negatives.get(place, 0)
            won += positives.get(place, 0) * (below + here / 2)
            below += here
        return won / pairs if pairs else None

    def to_json(self) -> list[list[list[int]]]:
        """Return the record."""
        return [sorted(map(list, counts.items())) for counts in self._bins]

    def restore(self, state: list[list[list[int]]]) -> None:
        """Take a record that `to_json` returned.

        Raises
        ------
        ValueError, TypeError
            If it is something else.
        """
        negatives, positives = state
        for place, count in (*negatives, *positives):
            if not isinstance(place, int) or not isinstance(count, int) or abs(place) > _LAST_BIN:
                raise TypeError("bins of scores must be whole numbers, within the scale")
        self._bins = (dict(map(tuple, negatives)), dict(map(tuple, positives)))  # type: ignore[arg-type]
        self._cut = None
