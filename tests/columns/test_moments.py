"""Means and variances of numbers, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb.columns.moments import Moments, NumberTable

# --- moments --------------------------------------------------------------------------------------

numbers = st.lists(
    st.tuples(st.floats(-1e9, 1e9), st.sampled_from([1.0, 0.5, 2.0, 0.1])), min_size=1, max_size=8
)


@given(sample=numbers, order=st.randoms(use_true_random=False))
def test_moments_are_exact(sample: list[tuple[float, float]], order: Any) -> None:
    moments = Moments()
    for x, w in sample:
        moments = moments.plus(x, w)
    n = sum(Fraction(w) for _, w in sample)
    mean = sum(Fraction(w) * Fraction(x) for x, w in sample) / n
    assert moments.mean == float(mean)
    spread = sum(Fraction(w) * (Fraction(x) - mean) ** 2 for x, w in sample)
    expected = math.sqrt(spread / (n - 1)) if n > 1 else 1.0
    assert moments.deviation == pytest.approx(expected or 1.0, rel=1e-12)
    assert moments.is_possible()
    again = Moments()
    for x, w in order.sample(sample, len(sample)):
        again = again.plus(x, w)
    assert again == moments
    for x, w in sample:
        again = again.minus(Moments().plus(x, w))
    assert again == Moments()


def test_moments_of_numbers_far_from_zero_keep_their_spread() -> None:
    moments = Moments()
    for x in (1e15 + 1, 1e15 + 2, 1e15 + 3):
        moments = moments.plus(x, 1.0)
    assert (moments.mean, moments.deviation) == (1e15 + 2, 1.0)
    assert not moments.minus(Moments().plus(0.0, 1.0)).minus(Moments().plus(9.0, 1.0)).is_possible()


def test_a_class_without_numbers_has_those_of_all() -> None:
    table = NumberTable(10)
    table.learn({"size": 1.0}, 0, 1.0)
    table.learn({"size": 3.0}, 1, 1.0)
    normals = table.normals("size", [0, 1, 2])
    assert normals is not None
    assert [round(mean, 9) for mean, _, _ in normals] == [1.0, 3.0, 2.0]
    assert table.normals("other", [0]) is None
