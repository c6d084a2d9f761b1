"""The papers' tests: a t-test over folds, and the Wilcoxon signed-rank test over collections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from streamnb.errors import InputError

# For this many collections the distribution of the ranks is enumerated, ties included; above, the
# normal approximation is accurate.
_EXACT = 50


class TTest(NamedTuple):
    """Result of a two-tailed paired t-test.

    Attributes
    ----------
    difference
        Mean of first minus second.
    t, p
        The statistic and its two-tailed probability; t is infinite if all differences are equal
        and not zero.
    """

    difference: float
    t: float
    p: float

    def mark(self, level: float = 0.05) -> str:
        """Return `">"` (first significantly better), `"<"` (worse) or `"="`."""
        if self.p > level or self.difference == 0:
            return "="
        return ">" if self.difference > 0 else "<"


def paired_t_test(
    first: Sequence[float], second: Sequence[float], test_train_ratio: float = 0.0
) -> TTest:
    """Compare two models on the same folds with the corrected resampled t-test.

    The folds of repeated cross-validation share most of their documents. Their differences are
    not independent, and the plain test finds too many significant ones. WEKA's Experimenter
    therefore uses the variance (1 / J + n2 / n1) σ² of the mean of J differences. On the folds of
    the HMNB paper this gives the published marks; the plain test does not.

    Parameters
    ----------
    first, second
        One figure for each fold, at least 2, in the same order.
    test_train_ratio
        Tested / learned documents of a fold (n2 / n1), which is 1 / (k - 1) for k folds; 0 gives
        the plain paired test.

    Raises
    ------
    InputError
        Different lengths, or fewer than 2 folds.

    Examples
    --------
    >>> test = paired_t_test([90.0, 92.0, 91.0, 93.0], [89.0, 90.0, 90.0, 90.0], 1 / 3)
    >>> test.difference, round(test.t, 4), round(test.p, 4)
    (1.75, 2.3932, 0.0965)

    References
    ----------
    C. Nadeau, Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003,
    Section 3.
    """
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    n = len(differences)
    if len(first) != len(second) or n < 2:
        raise InputError(f"{len(first)} and {len(second)} folds: need equal numbers of 2 or more")
    mean = float(differences.mean())
    error = math.sqrt(1 / n + test_train_ratio) * float(differences.std(ddof=1))
    if error == 0:
        return TTest(mean, math.copysign(math.inf, mean) if mean else 0.0, 0.0 if mean else 1.0)
    t = mean / error
    return TTest(mean, t, float(2 * stats.t.sf(abs(t), n - 1)))


class Wilcoxon(NamedTuple):
    """Result of a two-tailed Wilcoxon signed-rank test.

    Attributes
    ----------
    n
        Number of collections.
    positive, negative
        Sums of the ranks where the first model is better (R+) and where it is worse (R-). Equal
        figures add half of their rank to each sum.
    p
        Two-tailed probability; 1 if all figures are equal.
    """

    n: int
    positive: float
    negative: float
    p: float


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> Wilcoxon:
    """Compare two models over collections by the ranks of their differences.

    Parameters
    ----------
    first, second
        One figure for each collection, in the same order. Differences are rounded to 1e-9, so
        that differences that are printed alike share their rank. With fewer than 6 collections no
        result is significant at 0.05.

    Raises
    ------
    InputError
        Different lengths.

    Examples
    --------
    >>> wilcoxon([85.1, 90.2, 80.0, 77.5, 91.3, 88.0], [84.0, 89.9, 78.1, 77.1, 90.6, 87.5])
    Wilcoxon(n=6, positive=21.0, negative=0.0, p=0.03125)

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006,
    Section 3.1.3.
    """
    if len(first) != len(second):
        raise InputError(f"{len(first)} and {len(second)} collections: need equal numbers")
    differences = np.round(np.asarray(first, dtype=float) - np.asarray(second, dtype=float), 9)
    ranks = stats.rankdata(np.abs(differences))
    shared = float(ranks[differences == 0].sum()) / 2
    positive = float(ranks[differences > 0].sum()) + shared
    negative = float(ranks[differences < 0].sum()) + shared
    if not np.any(differences):
        p = 1.0
    elif len(differences) <= _EXACT:
        p = _exact_p(ranks[differences != 0], min(positive, negative) - shared)
    else:
        p = float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)
    return Wilcoxon(len(differences), positive, negative, p)


def _exact_p(ranks: npt.NDArray[np.float64], smaller: float) -> float:
    """Return the two-tailed probability of a rank sum of at most `smaller` under random signs."""
    doubled = np.rint(2 * ranks).astype(int)  # ranks of ties are halves
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, float(2 * ways[: round(2 * smaller) + 1].sum() / ways.sum()))
