"""Decision thresholds between two classes: fixed, learned from the stream, or two cutoffs."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.headers import read_number, read_whole
from streamnb.model.hooks import PendingUpdate, Tuning
from streamnb.parameters import check_above_zero
from streamnb.text.labels import L, Label, Labels, check_label

UNSURE = "unsure"
Answer = Literal["positive", "negative", "unsure"]

# Log odds are binned evenly on an asinh scale: 1/64 wide near 0, 1.6 % of the value far out, up to
# ±4 million. With a quarter of the bins, thresholds learned on the SMS collection for cost_ratio=10
# cost 8 % more.
_BINS_EACH_SIDE = 1024
_BINS_PER_UNIT = 64

# A record is halved when it reaches this weight. So a threshold follows the last two to four
# thousand messages and forgets early errors of the model. Halves of whole numbers are exact.
_FULL = 4096.0


def parse_threshold(
    threshold: Any, pos_label: Any, cost_ratio: Any, calibrated: bool = False
) -> DecisionThreshold | None:
    """Return the threshold that the parameters of a model describe.

    If its probabilities are calibrated, the best threshold follows from the cost: a message is
    positive if P(positive) is above cost_ratio · P(negative).
    """
    cost_ratio = check_above_zero("cost_ratio", cost_ratio)
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
    """A fixed threshold on the log odds of the positive class; None is the last label in order.

    Examples
    --------
    >>> threshold = DecisionThreshold(log_odds_threshold=2.0)
    >>> threshold.log_odds(["ham", "spam"], [-5.0, -4.0])
    1.0
    >>> threshold.decide(["ham", "spam"], [-5.0, -4.0])
    'ham'
    """

    def __init__(self, log_odds_threshold: float, pos_label: Label = None) -> None:
        self.log_odds_threshold = log_odds_threshold
        self.pos_label = pos_label

    def positive_place(self, labels: Sequence[Label]) -> int:
        """Return the index of the positive one of two labels."""
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
        # Two equal infinite scores have odds of 1.
        return 0.0 if mine == other else mine - other

    def decide(self, labels: Sequence[L], scores: Sequence[float]) -> L:
        """Return the label that the threshold decides for."""
        pos_label = self.positive_place(labels)
        above = self.log_odds(labels, scores) > self.log_odds_threshold
        return labels[pos_label if above else 1 - pos_label]


class LearnedThreshold(DecisionThreshold, Tuning):
    """The threshold with the lowest recent cost, from the score of each message before learning.

    The record forgets: it is halved whenever its weight reaches 4,096 messages. `cost_ratio` is the
    cost of a false positive, in units of a false negative.

    Examples
    --------
    >>> threshold = LearnedThreshold(cost_ratio=1)
    >>> threshold.log_odds_threshold
    0.0
    >>> for log_odds, positive in [(3, False), (5, True), (2.5, False), (4.6, True)]:
    ...     threshold.record(log_odds, positive)
    >>> 3 <= threshold.log_odds_threshold < 4.6
    True
    """

    scores: np.ndarray[Any, np.dtype[np.float64]]

    name = "threshold"
    _best: float | None  # None after a record, until the next read

    def __init__(self, cost_ratio: float, pos_label: Label = None) -> None:
        super().__init__(0.0, pos_label)
        self.cost_ratio = cost_ratio
        self.scores = np.zeros((2, 2 * _BINS_EACH_SIDE))
        self._weight = 0.0

    def judge(
        self, store: Any, scoring: _core.ScoringConfig, labels: Labels, x: Any, y: Label
    ) -> PendingUpdate | None:
        """Score a message that is about to be learned, if there are two classes."""
        if len(labels.order) != 2:
            return None
        names = [label for label, _ in labels.order]
        pos_label = names[self.positive_place(names)]
        scores = store.scores(x, scoring, True)
        log_odds = self.log_odds(names, [scores[class_id] for _, class_id in labels.order])
        return functools.partial(self.record, log_odds, y == pos_label)

    def record(self, log_odds: float, positive: bool, weight: float = 1.0) -> None:
        """Record the score that a message had before it was learned."""
        scaled = math.asinh(min(max(log_odds, -1e18), 1e18)) * _BINS_PER_UNIT
        # Bin k is (edge k, edge k+1]: log odds equal to a threshold are not above it.
        position = min(max(math.ceil(scaled) - 1, -_BINS_EACH_SIDE), _BINS_EACH_SIDE - 1)
        self.scores[int(positive), position + _BINS_EACH_SIDE] += weight
        self._weight += weight
        self._changed()

    @property
    def log_odds_threshold(self) -> float:
        """The threshold with the lowest recent cost; on a tie, the nearest to even odds."""
        if self._best is None:
            # Thresholds at or above a score miss a positive; those below report a false positive.
            negatives, positives = self.scores
            cost = np.append(0.0, np.cumsum(positives))
            cost[:-1] += self.cost_ratio * np.cumsum(negatives[::-1])[::-1]
            edges = np.flatnonzero(cost <= cost.min() * (1 + 1e-12)) - _BINS_EACH_SIDE
            nearest = int(edges[np.argmin(np.abs(edges))])
            self._best = math.sinh(nearest / _BINS_PER_UNIT)
        return self._best

    @log_odds_threshold.setter
    def log_odds_threshold(self, value: float) -> None:
        self._best = value

    def state(self) -> list[list[float]]:
        """Return the record as (class, bin, weight) triples."""
        return [
            [int(row), int(column), float(self.scores[row, column])]
            for row, column in np.argwhere(self.scores)
        ]

    def restore(self, state: list[list[float]]) -> None:
        """Restore the record that `state` returned."""
        self.scores[:] = 0.0
        for row, column, weight in state:
            place = (
                read_whole("a class of the threshold's record", row, most=1),
                read_whole("a bin of the threshold's record", column, most=2 * _BINS_EACH_SIDE - 1),
            )
            # Files contain no bin of weight 0.
            self.scores[place] = read_number("a weight", weight, least=5e-324, most=_FULL)
        self._weight = float(self.scores.sum())
        self._changed()

    def merge(self, other: LearnedThreshold) -> None:
        """Add another record."""
        self.scores += other.scores
        self._weight += other._weight
        self._changed()

    def _changed(self) -> None:
        """Halve a full record; the threshold is computed at the next read."""
        while self._weight >= _FULL:
            self.scores /= 2
            self._weight /= 2
        self._best = None


@dataclasses.dataclass(frozen=True, slots=True)
class Cutoffs:
    """Two cutoffs on the probability of the positive class, as in bogofilter and SpamBayes.

    Parameters
    ----------
    ham
        At or below this probability the answer is negative. 0 means that every probability below
        `spam` is negative and no answer is unsure.
    spam
        At or above this probability the answer is positive; above `ham`, and at most 1.

    Raises
    ------
    InputError
        If the cutoffs are not in this order.

    Examples
    --------
    >>> cutoffs = Cutoffs(ham=0.2, spam=0.9)
    >>> [cutoffs.answer(probability) for probability in (0.1, 0.2, 0.5, 0.9)]
    ['negative', 'negative', 'unsure', 'positive']
    >>> Cutoffs(spam=0.9).answer(0.5)
    'negative'
    """

    ham: float = 0.0
    spam: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.ham < self.spam <= 1:
            raise InputError(
                f"ham_cutoff is {self.ham:g} and spam_cutoff {self.spam:g}: they must be "
                f"probabilities, ham_cutoff the lower one"
            )

    def answer(self, probability: float) -> Answer:
        """Return the answer for a probability of the positive class."""
        if probability >= self.spam:
            return "positive"
        return "unsure" if self.ham and probability > self.ham else "negative"
