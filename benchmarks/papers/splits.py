"""Ways to split a collection: WEKA's folds, random samples, and the whole table.

Most published figures come from WEKA's Experimenter. In run r it shuffles the documents with Java's
random numbers, seeded with r, and stratifies them. The same folds leave no sampling error between a
measured figure and a published one.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from streamnb.errors import InputError

Indices = npt.NDArray[np.intp]
Split = list[tuple[Indices, Indices]]
"""Pairs of the indices to learn and the indices to test."""

_MASK = (1 << 48) - 1


class JavaRandom:
    """The linear congruential generator of `java.util.Random`.

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.next_int(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & _MASK

    def _next_31_bits(self) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & _MASK
        return self._state >> 17

    def next_int(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1, as Java's `nextInt(bound)` does."""
        bits = self._next_31_bits()
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        # Java rejects the incomplete last part of [0, 2^31) through an integer overflow.
        while bits - bits % bound + bound - 1 >= 1 << 31:
            bits = self._next_31_bits()
        return bits % bound


def weka_folds(labels: Sequence[Hashable], n_folds: int = 10, seed: int = 1) -> Split:
    """Return WEKA's stratified folds (`randomize`, `stratify`, `trainCV`, `testCV`).

    Raises
    ------
    InputError
        The number of folds is not between 2 and the number of documents.

    Examples
    --------
    >>> for learned, tested in weka_folds(["a", "a", "a", "b", "b", "b"], n_folds=3):
    ...     print(sorted(tested.tolist()))
    [1, 4]
    [2, 5]
    [0, 3]

    References
    ----------
    `Instances.java` and `CrossValidationResultProducer.java` of WEKA 3.
    """
    n = len(labels)
    if not 2 <= n_folds <= n:
        raise InputError(f"{n_folds} folds of {n} documents: need 2 to {n}")
    order = _stratified(_shuffled(n, seed), labels, n_folds)
    size, larger = divmod(n, n_folds)
    folds = []
    start = 0
    for fold in range(n_folds):
        end = start + size + (fold < larger)
        folds.append((np.concatenate([order[:start], order[end:]]), order[start:end]))
        start = end
    return folds


def _shuffled(n: int, seed: int) -> list[int]:
    random = JavaRandom(seed)
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = random.next_int(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _stratified(order: list[int], labels: Sequence[Hashable], n_folds: int) -> Indices:
    n = len(order)
    index = 1
    while index < n:
        label = labels[order[index - 1]]
        # As in WEKA, the swaps also change the order within later classes.
        for other in range(index, n):
            if labels[order[other]] == label:
                order[index], order[other] = order[other], order[index]
                index += 1
        index += 1
    return np.array([i for start in range(n_folds) for i in order[start::n_folds]], dtype=np.intp)


@dataclass(frozen=True)
class CrossValidation:
    """Stratified folds: each is tested by a model that learned all others."""

    note: str = "WEKA's folds"

    def split(self, labels: Sequence[Hashable], n: int, seed: int) -> Split:
        """Return n folds."""
        return weka_folds(labels, n, seed)

    def test_ratio(self, n: int) -> float:
        """Return the number of tested documents for each learned one."""
        return 1 / (n - 1)

    def title(self, n: int) -> str:
        """Describe one run."""
        return f"{n}-fold cross-validation"


@dataclass(frozen=True)
class RandomSamples:
    """Stratified random samples: a model learns one and is tested on all other documents.

    Attributes
    ----------
    share
        Share of each class to learn, in (0, 1); at least one document.
    tests_learned
        Whether to test on the learned documents instead of all others.
    """

    share: float
    note: str = "stratified samples"
    tests_learned: bool = False

    def split(self, labels: Sequence[Hashable], n: int, seed: int) -> Split:
        """Return n independent samples.

        Examples
        --------
        >>> ((learned, tested),) = RandomSamples(0.1).split(["a"] * 40 + ["b"] * 20, 1, seed=1)
        >>> [sum(learned < 40).item(), sum(learned >= 40).item()], len(tested)
        ([4, 2], 54)
        """
        draw = random.Random(seed)
        by_class = defaultdict(list)
        for i, label in enumerate(labels):
            by_class[label].append(i)
        samples = []
        for _ in range(n):
            learned = np.zeros(len(labels), dtype=bool)
            for indices in by_class.values():
                learned[draw.sample(indices, max(1, round(self.share * len(indices))))] = True
            tested = learned if self.tests_learned else ~learned
            samples.append((np.flatnonzero(learned), np.flatnonzero(tested)))
        return samples

    def test_ratio(self, n: int) -> float:
        """Return the number of tested documents for each learned one."""
        return 1.0 if self.tests_learned else (1 - self.share) / self.share

    def title(self, n: int) -> str:
        """Describe one run."""
        tested = " and tested" if self.tests_learned else ""
        return f"{n} random trials, {100 * self.share:g} % of the documents learned{tested}"


@dataclass(frozen=True)
class WholeTable:
    """Learn and test all documents."""

    note: str = "accuracy on the learned rows"

    def split(self, labels: Sequence[Hashable], n: int, seed: int) -> Split:
        """Return all documents twice."""
        every = np.arange(len(labels))
        return [(every, every)]

    def test_ratio(self, n: int) -> float:
        """Return the number of tested documents for each learned one."""
        return 1.0

    def title(self, n: int) -> str:
        """Describe one run."""
        return "one fit to all rows"


Protocol = CrossValidation | RandomSamples | WholeTable
