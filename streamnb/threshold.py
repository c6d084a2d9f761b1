"""The decision threshold between two classes: set by the user, or learned from the stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamnb.errors import InputError

# Log odds are kept in bins that are even on an asinh scale: 1/64 wide near 0, 1.6 % of the value
# far out, up to ±4 million. Two arrays of 2,048 numbers hold the record of an endless stream.
_BINS_EACH_SIDE = 1024
_BINS_PER_UNIT = 64


def parse_threshold(threshold: Any, cost_ratio: Any) -> DecisionThreshold | None:
    """Return the threshold that the parameters of a model describe.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    if isinstance(cost_ratio, bool) or not isinstance(cost_ratio, (int, float)):
        raise InputError(f"cost_ratio must be a number, not {cost_ratio!r}")
    if not (cost_ratio > 0 and math.isfinite(cost_ratio)):
        raise InputError(f"cost_ratio must be a number above 0, not {cost_ratio!r}")
    if threshold is None:
        return None
    if threshold == "auto":
        return LearnedThreshold(cost_ratio)
    if isinstance(threshold, (int, float)) and 0 < threshold < 1:
        return DecisionThreshold(math.log(threshold) - math.log1p(-threshold))
    raise InputError(
        f"threshold must be None, a probability between 0 and 1, or 'auto', not {threshold!r}"
    )


class DecisionThreshold:
    """A fixed cut in the log odds of the positive class.

    Parameters
    ----------
    cut
        A message is positive when its log odds are above this.
    """

    def __init__(self, cut: float) -> None:
        self.cut = cut


class LearnedThreshold(DecisionThreshold):
    """The cut that would have cost least so far, over the scores before each message was learned.

    Parameters
    ----------
    cost_ratio
        What one lost negative costs, in units of one positive let through.

    Examples
    --------
    >>> threshold = LearnedThreshold(cost_ratio=1)
    >>> threshold.cut
    0.0
    >>> for log_odds, positive in [(3, False), (5, True), (2.5, False), (4.6, True)]:
    ...     threshold.record(log_odds, positive)
    >>> 3 <= threshold.cut < 4.6
    True
    """

    def __init__(self, cost_ratio: float) -> None:
        self.cost_ratio = cost_ratio
        self.scores = np.zeros((2, 2 * _BINS_EACH_SIDE))
        self._cut: float | None = 0.0

    def record(self, log_odds: float, positive: bool, weight: float = 1.0) -> None:
        """Note the score that a message had before its label was known."""
        place = math.asinh(min(max(log_odds, -1e18), 1e18)) * _BINS_PER_UNIT
        # Bin k holds (edge k, edge k+1]: log odds equal to a cut are not above it.
        position = min(max(math.ceil(place) - 1, -_BINS_EACH_SIDE), _BINS_EACH_SIDE - 1)
        self.scores[int(positive), position + _BINS_EACH_SIDE] += weight
        self._cut = None

    @property
    def cut(self) -> float:
        """The cheapest cut so far; of several, the one nearest to even odds."""
        if self._cut is None:
            negatives, positives = self.scores
            let_through = np.concatenate([[0.0], np.cumsum(positives)])
            lost = np.concatenate([[0.0], np.cumsum(negatives)])
            cost = let_through + self.cost_ratio * (lost[-1] - lost)
            edges = np.flatnonzero(cost <= cost.min() * (1 + 1e-12)) - _BINS_EACH_SIDE
            nearest = int(edges[np.argmin(np.abs(edges))])
            self._cut = math.sinh(nearest / _BINS_PER_UNIT)
        return self._cut

    @cut.setter
    def cut(self, cut: float) -> None:
        self._cut = cut

    def state(self) -> list[list[float]]:
        """Return the record as (class, bin, weight) triples."""
        return [
            [int(row), int(column), float(self.scores[row, column])]
            for row, column in np.argwhere(self.scores)
        ]

    def restore(self, state: list[list[float]]) -> None:
        """Take a record that `state` returned."""
        self.scores[:] = 0.0
        for row, column, weight in state:
            self.scores[int(row), int(column)] = weight
        self._cut = None

    def merge(self, other: LearnedThreshold) -> None:
        """Add another record."""
        self.scores += other.scores
        self._cut = None
