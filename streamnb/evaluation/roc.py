"""Scores, and the area under the ROC curve as their exact rank statistic.

River's `ROCAUC` is a histogram of probabilities, which cannot distinguish probabilities that
saturate at 0 or 1. Here scores are log odds, and all scores are kept.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_POINTS = 200  # of a curve, at most


class RocPoint(NamedTuple):
    """Error rates of one threshold.

    Attributes
    ----------
    lost
        False-positive rate: share of negative messages (ham) above the threshold, in [0, 1].
    missed
        False-negative rate: share of positive messages (spam) below the threshold, in [0, 1].
    """

    lost: float
    missed: float


def log_odds(log_likelihoods: Mapping[Hashable, float], positive: Hashable) -> float:
    """Return the log odds of one label against all others, from joint log likelihoods.

    Parameters
    ----------
    log_likelihoods
        Joint log likelihood of each class, in nats.
    positive
        The label. A missing class has probability 0.

    Returns
    -------
    The log odds in nats; infinite if one side is impossible, 0 if both are.

    Examples
    --------
    >>> log_odds({"ham": -7.0, "spam": -5.0}, "spam")
    2.0
    >>> log_odds({"ham": -7.0}, "spam")
    -inf
    """
    for_positive = log_likelihoods.get(positive, -math.inf)
    others = [value for label, value in log_likelihoods.items() if label != positive]
    against = others[0] if len(others) == 1 else max(others, default=-math.inf)
    if len(others) > 1 and math.isfinite(against):
        against += math.log(math.fsum(math.exp(value - against) for value in others))
    difference = for_positive - against
    return 0.0 if math.isnan(difference) else difference


def _pairs_won(positives: Floats, negatives: Floats) -> float:
    """Count the pairs in which the positive has the higher score; a tie counts one half.

    Both arrays are sorted. A binary search finds each value of the shorter array in the longer one.
    """
    if positives.size <= negatives.size:
        below = np.searchsorted(negatives, positives, "left").sum(dtype=np.int64)
        upto = np.searchsorted(negatives, positives, "right").sum(dtype=np.int64)
        return (int(below) + int(upto)) / 2
    return positives.size * negatives.size - _pairs_won(negatives, positives)


def _area(positives: Floats, negatives: Floats) -> float | None:
    pairs = positives.size * negatives.size
    return _pairs_won(positives, negatives) / pairs if pairs else None


def roc_auc(positives: Iterable[float], negatives: Iterable[float]) -> float | None:
    """Return the area under the ROC curve as the exact rank statistic; ties count one half.

    Parameters
    ----------
    positives
        Scores of the messages of the positive class; may be infinite.
    negatives
        Scores of all other messages.

    Returns
    -------
    The area, in [0, 1]; None if a side is empty.

    Examples
    --------
    >>> roc_auc([0.9, 0.4], [0.4, 0.1])
    0.875

    References
    ----------
    J. A. Hanley and B. J. McNeil (1982). The meaning and use of the area under a receiver
    operating characteristic (ROC) curve. Radiology 143(1).
    """
    over = np.sort(np.fromiter(positives, dtype=np.float64))
    under = np.sort(np.fromiter(negatives, dtype=np.float64))
    return _area(over, under)


class RocAuc:
    """Area under the ROC curve of a growing stream of scores, which take 8 bytes each.

    Examples
    --------
    >>> area = RocAuc()
    >>> for positive, score in [(True, 2.0), (False, -1.0), (True, -1.0)]:
    ...     area.add(positive, score)
    >>> area.get()
    0.75
    """

    def __init__(self) -> None:
        self._new = (array("d"), array("d"))
        self._sorted: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    def add(self, positive: bool, score: float) -> None:
        """Add the score of one message."""
        self._new[positive].append(score)

    def get(self) -> float | None:
        """Return the area, in [0, 1]; None if a side is empty."""
        self._absorb()
        under, over = self._sorted
        return _area(over, under)

    def curve(self, mirrored: bool = False) -> list[RocPoint]:
        """Return the ROC curve from the strictest threshold on, with at most about 200 points.

        The false-positive rates of the points grow by a constant factor, because low rates matter
        most.

        Parameters
        ----------
        mirrored
            Whether the other class is positive, with the negated scores.

        Returns
        -------
        The points, with `lost` rising and `missed` falling to 0; empty if a side is empty.

        Examples
        --------
        >>> area = RocAuc()
        >>> for positive, score in [(True, 2.0), (False, -1.0), (True, -1.0), (False, -2.0)]:
        ...     area.add(positive, score)
        >>> area.curve()
        [RocPoint(lost=0.0, missed=0.5), RocPoint(lost=0.5, missed=0.0)]
        >>> area.curve(mirrored=True)
        [RocPoint(lost=0.0, missed=0.5), RocPoint(lost=0.5, missed=0.0)]
        """
        self._absorb()
        values = np.unique(np.concatenate(self._sorted))
        under, over = (
            np.bincount(np.searchsorted(values, scores), minlength=values.size)
            for scores in self._sorted
        )
        if mirrored:
            under, over = over[::-1], under[::-1]
        negatives, positives = int(under.sum()), int(over.sum())
        if not negatives or not positives:
            return []
        # One threshold at each value: scores at or above it are positive.
        lost = np.concatenate(([0], np.cumsum(under[::-1])))
        missed = positives - np.concatenate(([0], np.cumsum(over[::-1])))
        grid = np.unique(np.geomspace(1, negatives, _POINTS).astype(np.int64))
        # For each maximum false-positive rate, the lowest threshold that respects it.
        places = np.searchsorted(lost, np.concatenate(([0], grid)), "right") - 1
        places = places[np.diff(missed[places], prepend=positives + 1) < 0]
        rates = lost[places] / negatives, missed[places] / positives
        return list(map(RocPoint, *(rate.tolist() for rate in rates)))

    def _absorb(self) -> None:
        # Numpy's stable sort merges sorted runs in linear time.
        sides = zip(self._sorted, map(np.sort, self._new), strict=True)
        under, over = (np.sort(np.concatenate(side), kind="stable") for side in sides)
        self._sorted, self._new = (under, over), (array("d"), array("d"))
