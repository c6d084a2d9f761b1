"""The papers' tests: a t-test over folds, and the Wilcoxon signed-rank test over collections."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streamnb.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["TTest", "Wilcoxon", "paired_t_test", "wilcoxon"]


# Up to so many collections the ranks' distribution is counted out, ties included, which takes scipy
# seconds; beyond, it is near enough to normal.
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
    """Compare two models on the same folds.

    The folds of repeated cross-validation share most of their documents, so their differences
    are not independent and the plain test finds far too many significant ones. The corrected
    resampled test, which is the default of WEKA's Experimenter, adds the ratio of tested to
    learned documents to 1 / (number of folds) in the variance of the mean difference. On the folds
    of the HMNB paper it gives the marks that the paper prints, which the plain test does not.

    Parameters
    ----------
    first, second
        One figure a fold, at least 2, in the same order of runs and folds.
    test_train_ratio
        Tested / learned documents of a fold, which for k folds is 1 / (k - 1); 0 gives the plain
        paired test.

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
    Section 3: the variance is (1 / J + n2 / n1) times the sample variance.
    """
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    n = len(differences)
    if len(first) != len(second) or n < 2:
        raise InputError(f"{len(first)} and {len(second)} folds: need equal numbers of 2 or more")
    mean = float(differences.mean())
    error = math.sqrt(1 / n + test_train_ratio) * float(differences.std(ddof=1))
    if error == 0:
        return TTest(mean, math.copysign(math.inf, mean) if mean else 0.0, 0.0 if mean else 1.0)
    from scipy import stats

    t = mean / error
    return TTest(mean, t, float(2 * stats.t.sf(abs(t), n - 1)))


class Wilcoxon(NamedTuple):
    """Result of a two-tailed Wilcoxon signed-rank test.

    Attributes
    ----------
    n
        Number of collections.
    pos_label, negative
        Sums of the ranks where the first model is better (R+) and where it is worse (R-); the
        ranks of equal figures are shared between both.
    p
        Two-tailed probability; 1 where there is nothing to compare.
    """

    n: int
    pos_label: float
    negative: float
    p: float


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> Wilcoxon:
    """Compare two models over collections by the ranks of their differences.

    Parameters
    ----------
    first, second
        One figure a collection, in the same order. Differences are rounded to 1e-9, so that two
        which are printed alike share their rank. With fewer than 6 collections no result is
        significant at 0.05.

    Raises
    ------
    InputError
        Different lengths.

    Examples
    --------
    >>> wilcoxon([85.1, 90.2, 80.0, 77.5, 91.3, 88.0], [84.0, 89.9, 78.1, 77.1, 90.6, 87.5])
    Wilcoxon(n=6, pos_label=21.0, negative=0.0, p=0.03125)

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006,
    Section 3.1.3.
    """
    from scipy import stats

    if len(first) != len(second):
        raise InputError(f"{len(first)} and {len(second)} collections: need equal numbers")
    differences = np.round(np.asarray(first, dtype=float) - np.asarray(second, dtype=float), 9)
    ranks = stats.rankdata(np.abs(differences))
    shared = float(ranks[differences == 0].sum()) / 2
    pos_label = float(ranks[differences > 0].sum()) + shared
    negative = float(ranks[differences < 0].sum()) + shared
    if not np.any(differences):
        p = 1.0
    elif len(differences) <= _EXACT:
        p = _exact_p(ranks[differences != 0], min(pos_label, negative) - shared)
    else:
        p = float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)
    return Wilcoxon(len(differences), pos_label, negative, p)


def _exact_p(ranks: npt.NDArray[np.float64], smaller: float) -> float:
    """Return the share of all signs of the ranks whose smaller sum is as small, tails together."""
    doubled = np.rint(2 * ranks).astype(int)  # ranks of ties are halves
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, float(2 * ways[: round(2 * smaller) + 1].sum() / ways.sum()))
