"""The decision threshold between two classes: set by the user, or learned from the stream."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.online.tuning import Judgement
from streamnb.statistics.store import AnyStore
from streamnb.text.labels import Label, Labels, check_label

# Log odds are kept in bins that are even on an asinh scale: 1/64 wide near 0, 1.6 % of the value
# far out, up to ±4 million. With a quarter of the bins, the cuts learned on the SMS collection for
# cost_ratio=10 cost 8 % more.
_BINS_EACH_SIDE = 1024
_BINS_PER_UNIT = 64


# When a record weighs this much, all of it counts half from then on: a cut follows the last two to
# four thousand messages, and what a model that knew little got wrong is forgotten. The halves of
# whole numbers are exact.
_FULL = 4096.0


def parse_threshold(
    threshold: Any, pos_label: Any, cost_ratio: Any, calibrated: bool = False
) -> DecisionThreshold | None:
    """Return the threshold that the parameters of a model describe.

    Parameters
    ----------
    threshold, pos_label, cost_ratio
        As the model was given them.
    calibrated
        Whether its probabilities are calibrated. The cheapest cut then follows from the cost: a
        message is better called positive where P(positive) is above cost_ratio · P(negative).

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    if isinstance(cost_ratio, bool) or not isinstance(cost_ratio, (int, float)):
        raise InputError(f"cost_ratio must be a number, not {shown(cost_ratio)}")
    if not 0 < cost_ratio <= sys.float_info.max:
        raise InputError(f"cost_ratio must be a number above 0, not {shown(cost_ratio)}")
    if pos_label is not None:
        pos_label = check_label(pos_label)
    if threshold is None:
        return None
    automatic = isinstance(threshold, str) and threshold == "auto"
    if automatic and calibrated:
        return DecisionThreshold(math.log(cost_ratio), pos_label)
    if automatic:
        return LearnedThreshold(cost_ratio, pos_label)
    if isinstance(threshold, (int, float)) and 0 < threshold < 1:
        return DecisionThreshold(math.log(threshold) - math.log1p(-threshold), pos_label)
    raise InputError(
        f"threshold must be None, a probability between 0 and 1, or 'auto', not {shown(threshold)}"
    )


class DecisionThreshold:
    """A fixed cut in the log odds of the positive class.

    Parameters
    ----------
    cut
        A message is positive when its log odds are above this.
    pos_label
        The label of the positive class; None is the last in sorted order.

    Examples
    --------
    >>> threshold = DecisionThreshold(cut=2.0)
    >>> threshold.log_odds(["ham", "spam"], [-5.0, -4.0])
    1.0
    >>> threshold.decide(["ham", "spam"], [-5.0, -4.0])
    'ham'
    """

    def __init__(self, cut: float, pos_label: Label = None) -> None:
        self.cut = cut
        self.pos_label = pos_label

    @property
    def tuning(self) -> LearnedThreshold | None:
        """The cut as something that is tuned along the stream; None where it is fixed."""
        return None

    def positive_place(self, labels: Sequence[Label]) -> int:
        """Return which of two labels is the positive one.

        Raises
        ------
        InputError
            If there are not two, or the positive label is neither.
        """
        if len(labels) != 2:
            raise InputError(
                f"threshold decides between two classes, and there are {len(labels)}: {labels!r}"
            )
        if self.pos_label is None:
            return 1
        if self.pos_label not in labels:
            raise InputError(
                f"pos_label must be one of the labels {labels!r}, not {shown(self.pos_label)}"
            )
        return labels.index(self.pos_label)

    def log_odds(self, labels: Sequence[Label], scores: Sequence[float]) -> float:
        """Return the log odds of the positive class, from the score of each label."""
        pos_label = self.positive_place(labels)
        mine, other = scores[pos_label], scores[1 - pos_label]
        # Two infinite scores that are equal speak for neither.
        return 0.0 if mine == other else mine - other

    def decide(self, labels: Sequence[Label], scores: Sequence[float]) -> Label:
        """Return the label that the cut decides for."""
        pos_label = self.positive_place(labels)
        above = self.log_odds(labels, scores) > self.cut
        return labels[pos_label if above else 1 - pos_label]


class LearnedThreshold(DecisionThreshold):
    """The cut that would have cost least of late, over the scores before each message was learned.

    The record forgets: whenever it weighs 4,096 messages all of it counts half.

    Parameters
    ----------
    cost_ratio
        What one lost negative costs, in units of one positive let through.
    pos_label
        The label of the positive class; None is the last in sorted order.

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

    name = "threshold"
    _cut: float | None  # None after a record, until somebody asks

    def __init__(self, cost_ratio: float, pos_label: Label = None) -> None:
        super().__init__(0.0, pos_label)
        self.cost_ratio = cost_ratio
        self.scores = np.zeros((2, 2 * _BINS_EACH_SIDE))
        self._cost = np.zeros(2 * _BINS_EACH_SIDE + 1)
        self._weight = 0.0

    @property
    def tuning(self) -> LearnedThreshold:
        """The cut, which is tuned."""
        return self

    def judge(
        self, store: AnyStore, scoring: _core.Scoring, labels: Labels, x: Any, y: Label
    ) -> Judgement | None:
        """Score a message that is about to be learned, where there are two classes."""
        if len(labels.order) != 2:
            return None
        names = [label for label, _ in labels.order]
        pos_label = names[self.positive_place(names)]
        scores = store.probable_scores(x, scoring)
        log_odds = self.log_odds(names, [scores[class_id] for _, class_id in labels.order])
        return functools.partial(self.record, log_odds, y == pos_label)

    def record(self, log_odds: float, positive: bool, weight: float = 1.0) -> None:
        """Note the score that a message had before its label was known."""
        scaled = math.asinh(min(max(log_odds, -1e18), 1e18)) * _BINS_PER_UNIT
        # Bin k holds (edge k, edge k+1]: log odds equal to a cut are not above it.
        position = min(max(math.ceil(scaled) - 1, -_BINS_EACH_SIDE), _BINS_EACH_SIDE - 1)
        place = position + _BINS_EACH_SIDE
        self.scores[int(positive), place] += weight
        # What each cut would have cost so far: a positive is let through by the cuts at or above
        # its score, a negative is lost by those below.
        if positive:
            self._cost[place + 1 :] += weight
        else:
            self._cost[: place + 1] += weight * self.cost_ratio
        self._cut = None
        self._weight += weight
        if self._weight >= _FULL:
            self._add_up()

    @property
    def cut(self) -> float:
        """The cheapest cut of late; of several, the one nearest to even odds."""
        if self._cut is None:
            cost = self._cost
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
        self._add_up()

    def merge(self, other: LearnedThreshold) -> None:
        """Add another record."""
        self.scores += other.scores
        self._add_up()

    def _add_up(self) -> None:
        """Forget where the record is full; compute from it what each cut would have cost."""
        self._weight = float(self.scores.sum())
        while self._weight >= _FULL:
            self.scores /= 2
            self._weight /= 2
        negatives, positives = self.scores
        self._cost[0] = 0.0
        np.cumsum(positives, out=self._cost[1:])
        self._cost[:-1] += self.cost_ratio * np.cumsum(negatives[::-1])[::-1]
        self._cut = None
