"""How collections are split: cross-validation folds equal to WEKA's, and small random samples.

Most papers' figures were made by WEKA's Experimenter: in run r the documents are shuffled with
Java's random numbers seeded by r, then stratified. Making the same folds from the same documents
in the same order leaves no sampling error between a measured figure and a published one.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from streamnb.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = ["WEKA", "CrossValidation", "JavaRandom", "RandomSamples", "random_samples", "weka_folds"]

Indices = npt.NDArray[np.intp]

_MASK = (1 << 48) - 1


class JavaRandom:
    """The linear congruential generator of `java.util.Random`.

    Parameters
    ----------
    seed
        Any integer; its low 48 bits count.

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
        """Return a number from 0 to `bound` - 1, as Java's `nextInt(bound)` does.

        Parameters
        ----------
        bound
            From 1 to 2³¹ - 1.
        """
        bits = self._next_31_bits()
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        # Java rejects the incomplete last stretch of [0, 2^31), by an int overflow.
        while bits - bits % bound + bound - 1 >= 1 << 31:
            bits = self._next_31_bits()
        return bits % bound


def weka_folds(
    labels: Sequence[Hashable], n_folds: int = 10, seed: int = 1
) -> list[tuple[Indices, Indices]]:
    """Return stratified folds as pairs (indices to learn, indices to test).

    Documents are shuffled, grouped by class, and dealt out in turn; each fold then is a
    contiguous share (WEKA's `randomize`, `stratify`, `trainCV` and `testCV`).

    Parameters
    ----------
    labels
        The class of each document, in the collection's order.
    n_folds
        From 2 to the number of documents.
    seed
        WEKA's Experimenter seeds each run with the run's number, from 1.

    Raises
    ------
    InputError
        The number of folds is out of its range.

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


def random_samples(
    labels: Sequence[Hashable], n_samples: int, seed: int, share: float
) -> list[tuple[Indices, Indices]]:
    """Return small stratified samples as pairs (indices to learn, indices to test).

    Parameters
    ----------
    labels
        The class of each document.
    n_samples
        How many, each drawn afresh: 1 or more.
    seed
        Of the draws.
    share
        Of each class's documents to learn, in (0, 1); one document at least. The rest is tested.

    Examples
    --------
    >>> ((learned, tested),) = random_samples(["a"] * 40 + ["b"] * 20, 1, seed=1, share=0.1)
    >>> [sum(learned < 40).item(), sum(learned >= 40).item()], len(tested)
    ([4, 2], 54)
    """
    draw = random.Random(seed)
    of_class = defaultdict(list)
    for place, label in enumerate(labels):
        of_class[label].append(place)
    samples = []
    for _ in range(n_samples):
        learned = np.zeros(len(labels), dtype=bool)
        for places in of_class.values():
            learned[draw.sample(places, max(1, round(share * len(places))))] = True
        samples.append((np.flatnonzero(learned), np.flatnonzero(~learned)))
    return samples


@dataclass(frozen=True)
class CrossValidation:
    """Stratified folds, each tested by a model that learned all others: WEKA's."""

    note: str = "WEKA's folds"

    def split(self, labels: Sequence[Hashable], n: int, seed: int) -> list[tuple[Indices, Indices]]:
        """Return the folds as pairs (indices to learn, indices to test)."""
        return weka_folds(labels, n, seed)

    def test_ratio(self, n: int) -> float:
        """Return how many documents are tested for each one learned."""
        return 1 / (n - 1)

    def title(self, n: int) -> str:
        """Return what one run is."""
        return f"{n}-fold cross-validation"


WEKA = CrossValidation()


@dataclass(frozen=True)
class RandomSamples:
    """Small stratified samples to learn, each time all else to test.

    Attributes
    ----------
    share
        Of each class's documents to learn, in (0, 1).
    """

    share: float
    note: str = "stratified samples"

    def split(self, labels: Sequence[Hashable], n: int, seed: int) -> list[tuple[Indices, Indices]]:
        """Return the samples as pairs (indices to learn, indices to test)."""
        return random_samples(labels, n, seed, self.share)

    def test_ratio(self, n: int) -> float:
        """Return how many documents are tested for each one learned."""
        return (1 - self.share) / self.share

    def title(self, n: int) -> str:
        """Return what one run is."""
        return f"{n} random trials, {100 * self.share:g} % of the documents learned"


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
        # The swaps are WEKA's: they also change the order within later classes.
        for other in range(index, n):
            if labels[order[other]] == label:
                order[index], order[other] = order[other], order[index]
                index += 1
        index += 1
    dealt = [place for start in range(n_folds) for place in order[start::n_folds]]
    return np.array(dealt, dtype=np.intp)
