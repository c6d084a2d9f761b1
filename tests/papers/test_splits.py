"""Splits of collections: WEKA's folds, and random samples."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers.splits import JavaRandom, RandomSamples, weka_folds
from streamnb.errors import InputError


def test_java_random_equals_java() -> None:
    # new java.util.Random(42).nextInt(10), then powers of two and large bounds.
    random = JavaRandom(42)
    assert [random.next_int(10) for _ in range(10)] == [0, 3, 8, 4, 0, 5, 5, 8, 9, 3]
    random = JavaRandom(0)
    assert [random.next_int(2**31 - 1) for _ in range(2)] == [1569741360, 1785505948]
    # Java rejects nearly half of the numbers at this bound.
    assert all(0 <= random.next_int(2**30 + 1) <= 2**30 for _ in range(100))


@given(
    labels=st.lists(st.integers(0, 4), min_size=12, max_size=80),
    n_folds=st.integers(2, 10),
    seed=st.integers(-5, 2**50),
)
def test_folds_are_stratified_partitions(labels: list[int], n_folds: int, seed: int) -> None:
    folds = weka_folds(labels, n_folds, seed)
    everything = sorted(row for _, tested in folds for row in tested.tolist())
    assert everything == list(range(len(labels)))
    sizes = {len(tested) for _, tested in folds}
    assert max(sizes) - min(sizes) <= 1
    for learned, tested in folds:
        assert sorted([*learned.tolist(), *tested.tolist()]) == everything
    for label in set(labels):
        per_fold = [sum(labels[row] == label for row in tested) for _, tested in folds]
        # A fold is a contiguous share of the stratified order, so a class may lose one at each end.
        assert max(per_fold) - min(per_fold) <= 2


@pytest.mark.parametrize("n_folds", [0, 1, 4])
def test_folds_need_between_two_and_all_documents(n_folds: int) -> None:
    with pytest.raises(InputError, match="need 2 to 3"):
        weka_folds(["a", "b", "c"], n_folds)


def test_random_samples_are_stratified_and_independent() -> None:
    labels = ["a"] * 100 + ["b"] * 40 + ["c"] * 3
    trials = RandomSamples(0.05).split(labels, 8, seed=1)
    assert len({tuple(learned) for learned, _ in trials}) == 8
    for learned, tested in trials:
        assert sorted([*learned, *tested]) == list(range(len(labels)))
        assert Counter(labels[row] for row in learned) == {"a": 5, "b": 2, "c": 1}
    again = RandomSamples(0.05).split(labels, 8, seed=1)
    assert all((one[0] == other[0]).all() for one, other in zip(trials, again, strict=True))
