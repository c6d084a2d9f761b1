"""Significance tests, compared with scipy and with hand-computed values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.papers.experiment import read_table
from benchmarks.papers.significance import paired_t_test, wilcoxon
from streamnb.errors import InputError


@given(
    first=st.lists(st.integers(0, 100), min_size=3, max_size=30),
    shift=st.lists(st.integers(-9, 9), min_size=3, max_size=30),
)
def test_plain_t_test_equals_scipy(first: list[int], shift: list[int]) -> None:
    n = min(len(first), len(shift))
    one = np.array(first[:n], dtype=float)
    other = one + np.array(shift[:n])
    ours = paired_t_test(one.tolist(), other.tolist())
    if len(set(shift[:n])) == 1:
        assert ours.p == (1.0 if shift[0] == 0 else 0.0)
        return
    theirs = stats.ttest_rel(one, other)
    assert ours.t == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)


def test_corrected_t_test_equals_hand_computed_values() -> None:
    # Differences 1, 2, 3: mean 2, sample variance 1; error sqrt(1/3 + 1/2), 2 degrees of freedom.
    test = paired_t_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], test_train_ratio=0.5)
    assert test.t == pytest.approx(2 / np.sqrt(5 / 6))
    # For 2 degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2).
    assert test.p == pytest.approx(1 - test.t / np.sqrt(2 + test.t**2))
    assert test.mark(0.2) == ">"
    assert test.mark(0.05) == "="
    assert paired_t_test([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.5).mark(0.2) == "<"


def test_t_test_accepts_equal_differences() -> None:
    assert paired_t_test([1.0, 2.0], [1.0, 2.0]).mark() == "="
    assert paired_t_test([2.0, 3.0], [1.0, 2.0]).mark() == ">"
    assert paired_t_test([1.0, 2.0], [2.0, 3.0]).mark() == "<"
    with pytest.raises(InputError):
        paired_t_test([1.0], [2.0])
    with pytest.raises(InputError):
        paired_t_test([1.0, 2.0], [2.0])


def column(table: str, name: str) -> list[float]:
    published = read_table(table)
    return [row[published.columns.index(name)] for row in published.rows.values()]


@pytest.mark.parametrize(
    ("table", "other", "significant"),
    [
        # The first rows of Tables 5, 6 and 7.
        *(("hmnb-table2", other, True) for other in read_table("hmnb-table2").columns[1:]),
        *(("hmnb-table3", name, name != "DWCNB") for name in read_table("hmnb-table3").columns[1:]),
    ],
)
def test_wilcoxon_gives_the_published_significance(
    table: str, other: str, significant: bool
) -> None:
    ranks = wilcoxon(column(table, read_table(table).columns[0]), column(table, other))
    assert ranks.n == 11
    assert ranks.positive + ranks.negative == 66
    # The paper's rule for 11 collections at 0.05.
    assert (min(ranks.positive, ranks.negative) <= 11) == significant


def test_wilcoxon_equals_hand_computed_ranks() -> None:
    ranks = wilcoxon([10, 20, 30, 40, 50, 60.0], [11, 18, 27, 36, 45, 60.0])
    # Differences -1, 2, 3, 4, 5, 0: the zero has rank 1 and adds half of it to each sum.
    assert (ranks.positive, ranks.negative) == (3 + 4 + 5 + 6 + 0.5, 2 + 0.5)
    assert wilcoxon([1.0, 2.0], [1.0, 2.0]).p == 1.0
    assert wilcoxon(range(1, 8), [0] * 7).p == pytest.approx(2 / 2**7)
    # 0.3 - 0.2 and 0.2 - 0.1 are the same difference as printed.
    assert wilcoxon([0.3, 0.2], [0.2, 0.3]).positive == 1.5
    with pytest.raises(InputError):
        wilcoxon([1.0], [])


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=8))
def test_wilcoxon_equals_scipy_exactly_for_few_collections(differences: list[int]) -> None:
    ours = wilcoxon(differences, [0] * len(differences))
    if not any(differences):
        assert ours.p == 1.0
        return
    every = stats.PermutationMethod(n_resamples=np.inf)
    theirs = stats.wilcoxon(differences, zero_method="zsplit", method=every)
    assert min(ours.positive, ours.negative) == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue)


def test_wilcoxon_approximates_for_many_collections() -> None:
    ranks = wilcoxon(list(range(60)), [29.5] * 60)
    assert ranks.p == pytest.approx(stats.wilcoxon(np.arange(60) - 29.5).pvalue)
