"""The area under the ROC curve as the exact rank statistic of scores, and what a score is.

River's own `ROCAUC` is a histogram of probabilities, which cannot tell apart the many that saturate
at 0 and 1. Here scores are log odds, and all of them are kept up to a bound.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

__all__ = ["RocAuc", "RocPoint", "log_odds", "roc_auc"]

Floats = npt.NDArray[np.float64]

_HISTOGRAM_BITS = 18
_BATCH = 1 << 16
_POINTS = 200  # of a curve, at most


class RocPoint(NamedTuple):
    """What one threshold would have done.

    Attributes
    ----------
    lost
        The share of the negative messages called positive: of ham that was lost, in [0, 1].
    missed
        The share of the positive messages not called so: of spam let through, in [0, 1].
    """

    lost: float
    missed: float


def log_odds(log_likelihoods: Mapping[Hashable, float], positive: Hashable) -> float:
    """Log odds of one label against all the others, from joint log likelihoods.

    Parameters
    ----------
    log_likelihoods
        Joint log likelihood of each class, in nats.
    positive
        The label whose odds are asked. A class that is missing has the probability 0.

    Returns
    -------
    The log odds in nats; infinite where one side is impossible, 0 where both are.

    Examples
    --------
    >>> log_odds({"ham": -7.0, "spam": -5.0}, "spam")
    2.0
    >>> log_odds({"ham": -7.0}, "spam")
    -inf
    """
    for_positive = log_likelihoods.get(positive, -math.inf)
    others = [value for label, value in log_likelihoods.items() if label != positive]
    against = max(others, default=-math.inf)
    if len(others) > 1 and math.isfinite(against):
        against += math.log(math.fsum(math.exp(value - against) for value in others))
    difference = for_positive - against
    return 0.0 if math.isnan(difference) else difference


def _pairs_won(positives: Floats, negatives: Floats) -> float:
    """Count pairs in which the positive scores higher; a tie counts one half.

    Both arrays are sorted. The shorter one is looked up in the longer one.
    """
    if positives.size <= negatives.size:
        below = np.searchsorted(negatives, positives, "left").sum(dtype=np.int64)
        upto = np.searchsorted(negatives, positives, "right").sum(dtype=np.int64)
        return (int(below) + int(upto)) / 2
    return positives.size * negatives.size - _pairs_won(negatives, positives)


def _merged(left: Floats, right: Floats) -> Floats:
    # The stable sort of numpy merges two sorted runs in linear time.
    return np.sort(np.concatenate((left, right)), kind="stable")


def roc_auc(positives: Iterable[float], negatives: Iterable[float]) -> float | None:
    """Area under the ROC curve as the exact rank statistic, ties counted one half.

    Parameters
    ----------
    positives
        Scores of the messages of the positive class; infinite ones are allowed.
    negatives
        Scores of all other messages.

    Returns
    -------
    The area, in [0, 1]; None while one of the sides is empty.

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
    if not over.size or not under.size:
        return None
    return _pairs_won(over, under) / (over.size * under.size)


class RocAuc:
    """Area under the ROC curve of a growing stream of scores, in bounded memory.

    Up to `max_scores` scores are kept (8 bytes each) and the area is exact. Beyond that they are
    poured into a histogram whose buckets follow the bits of a 32-bit float (sign, exponent and the
    first 9 bits of the fraction), so that two scores share a bucket only when they differ by less
    than 0.2 %. Pairs within a bucket count one half, as ties do; `error_bound` is then the most
    by which the area can be off.

    Parameters
    ----------
    max_scores
        How many scores to keep exactly; at least 0.

    Examples
    --------
    >>> area = RocAuc()
    >>> for positive, score in [(True, 2.0), (False, -1.0), (True, -1.0)]:
    ...     area.add(positive, score)
    >>> area.get(), area.error_bound()
    (0.75, 0.0)
    """

    def __init__(self, max_scores: int = 1_000_000) -> None:
        self.max_scores = max_scores
        self._new = (array("d"), array("d"))
        self._sorted: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
        self._histogram: npt.NDArray[np.int64] | None = None
        self._won = 0.0

    def add(self, positive: bool, score: float) -> None:
        """Count the score of one message of the positive class or of another."""
        new = self._new[positive]
        new.append(score)
        if len(new) >= _BATCH:
            self._absorb()

    def get(self) -> float | None:
        """Return the area, in [0, 1], or None while one of the sides is empty."""
        self._absorb()
        if self._histogram is None:
            under, over = self._sorted
            pairs = under.size * over.size
            return self._won / pairs if pairs else None
        under_counts, over_counts = self._histogram
        pairs = int(under_counts.sum()) * int(over_counts.sum())
        below = np.cumsum(under_counts) - under_counts / 2
        return float(over_counts @ below) / pairs if pairs else None

    def error_bound(self) -> float:
        """Return the most by which the area can be off: 0 while all scores are kept."""
        self._absorb()
        if self._histogram is None:
            return 0.0
        under, over = self._histogram.astype(np.float64)
        pairs = under.sum() * over.sum()
        return float(under @ over) / 2 / float(pairs) if pairs else 0.0

    def curve(self, mirrored: bool = False) -> list[RocPoint]:
        """Return the ROC curve as thresholds from the strictest on: at most some 200 points.

        They lie close where few negatives are lost, which is the region that matters: the shares
        lost grow by a constant factor.

        Parameters
        ----------
        mirrored
            Whether the other class is the positive one, its scores these with the sign changed.

        Returns
        -------
        The points, `lost` rising and `missed` falling to 0; none while one of the sides is empty.

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
        under, over = self._counts()
        if mirrored:
            under, over = over[::-1], under[::-1]
        negatives, positives = int(under.sum()), int(over.sum())
        if not negatives or not positives:
            return []
        # A threshold at each value: what lies at it and above is called positive.
        lost = np.concatenate(([0], np.cumsum(under[::-1])))
        missed = positives - np.concatenate(([0], np.cumsum(over[::-1])))
        grid = np.unique(np.geomspace(1, negatives, _POINTS).astype(np.int64))
        # The most that may be lost, and the loosest threshold within it.
        places = np.searchsorted(lost, np.concatenate(([0], grid)), "right") - 1
        points = [RocPoint(lost[at] / negatives, missed[at] / positives) for at in places]
        kept = [RocPoint(float(points[0].lost), float(points[0].missed))]
        for point in points[1:]:
            if point.missed < kept[-1].missed:
                kept.append(RocPoint(float(point.lost), float(point.missed)))
        return kept

    def _counts(self) -> npt.NDArray[np.int64]:
        """Return how many negatives and positives there are of each value, in ascending order."""
        if self._histogram is not None:
            return self._histogram
        values = np.unique(np.concatenate(self._sorted))
        places = (np.searchsorted(values, scores) for scores in self._sorted)
        return np.stack([np.bincount(place, minlength=values.size) for place in places])

    def _absorb(self) -> None:
        if not any(self._new):
            return
        # A score of -0.0 would get another bucket than 0.0: adding zero makes them one.
        new_under, new_over = (np.sort(np.array(new) + 0.0) for new in self._new)
        self._new = (array("d"), array("d"))
        if self._histogram is None:
            under, over = self._sorted
            self._won += (
                _pairs_won(new_over, under)
                + _pairs_won(over, new_under)
                + _pairs_won(new_over, new_under)
            )
            self._sorted = (_merged(under, new_under), _merged(over, new_over))
            if self._sorted[0].size + self._sorted[1].size <= self.max_scores:
                return
            new_under, new_over = self._sorted
            self._sorted = (np.empty(0), np.empty(0))
            self._histogram = np.zeros((2, 1 << _HISTOGRAM_BITS), dtype=np.int64)
        for counts, scores in zip(self._histogram, (new_under, new_over), strict=True):
            counts += np.bincount(_bucket(scores), minlength=counts.size)


def _bucket(scores: Floats) -> npt.NDArray[np.int64]:
    """Return the bucket of each score: its leading bits, mapped so that they keep the order."""
    with np.errstate(over="ignore", under="ignore"):
        bits = scores.astype(np.float32).view(np.uint32)
    negative = bits >> 31 == 1
    ordered = np.where(negative, ~bits, bits | np.uint32(1 << 31))
    return (ordered >> np.uint32(32 - _HISTOGRAM_BITS)).astype(np.int64)
