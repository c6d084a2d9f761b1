"""The recent rows as arrays, with their numbers as they are or cut into bins."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from streamnb.columns.examples import Example
from streamnb.statistics.counts import Floats, Integers

EQUAL_WIDTH_BINS = 10
"""Bins of equal width, as is usual: WEKA's."""

# Gains this near are the same but for rounding.
_TIE = 1e-9


@dataclasses.dataclass(frozen=True)
class ExampleTable:
    """Rows, their classes and their weights; a column of each array is an attribute.

    Rows are sorted, by what they hold: the same rows make the same table, in whatever order they
    were learned, and so the same sums.

    Attributes
    ----------
    names
        The attributes, in order.
    words
        The words of categories.
    codes
        The place of each value's word; −1 where there is none. Shape `(examples, attributes)`.
    numbers
        Each value that is a number; NaN where there is none.
    classes
        The class of each row, as its place among the labels.
    weights
        Of the rows.
    n_classes
        How many classes there are, with rows or without.
    """

    names: list[str]
    words: list[str]
    codes: Integers
    numbers: Floats
    classes: Integers
    weights: Floats
    n_classes: int

    @classmethod
    def of(cls, examples: Sequence[Example], order: Sequence[int]) -> Self:
        """Return the table of some rows.

        Parameters
        ----------
        examples
            The rows.
        order
            Class ids, in the order of their labels.
        """
        words = sorted({word for each in examples for word in each.row.words})
        code = {word: i for i, word in enumerate(words)}
        names = sorted(
            {name for each in examples for name in (*each.row.attributes, *each.row.numbers)}
        )
        place = {name: j for j, name in enumerate(names)}
        codes = np.full((len(examples), len(names)), -1, dtype=np.int64)
        numbers = np.full(codes.shape, np.nan)
        for i, each in enumerate(examples):
            for word, name in zip(each.row.words, each.row.attributes, strict=True):
                codes[i, place[name]] = code[word]
            for name, number in each.row.numbers.items():
                numbers[i, place[name]] = number
        rank = {class_id: i for i, class_id in enumerate(order)}
        classes = np.array([rank[each.class_id] for each in examples], dtype=np.int64)
        weights = np.array([each.weight for each in examples])
        # Rows that are the same in all of these may stand in any order.
        sort = np.lexsort((*numbers.T, *codes.T, weights, classes))
        return cls(
            names, words, codes[sort], numbers[sort], classes[sort], weights[sort], len(order)
        )

    @property
    def tells(self) -> bool:
        """Whether there are classes to tell apart, and rows to tell them by."""
        return self.n_classes > 1 and self.codes.size > 0

    def binned(self, cuts: Cuts) -> Integers:
        """Return every value as a whole number from 0 on, without gaps.

        A number is its bin, and a value that is missing is one of its own.

        Parameters
        ----------
        cuts
            What cuts numbers into bins.
        """
        found = np.empty_like(self.codes)
        for j in range(len(self.names)):
            column = self.numbers[:, j]
            there = ~np.isnan(column)
            values = self.codes[:, j].copy()
            if there.any():
                weights = members(self.classes[there], self.weights[there], self.n_classes)
                bins = np.searchsorted(cuts(column[there], weights), column[there], side="left")
                values[there] = len(self.words) + bins
            found[:, j] = np.unique(values, return_inverse=True)[1]
        return found


# Numbers, and the weight of each in each class → where they are cut: a number is in the bin
# before a cut that it does not exceed.
Cuts = Callable[[Floats, Floats], Floats]


def members(classes: Integers, weights: Floats, n_classes: int) -> Floats:
    """Return the weight of each row in its class, and 0 in the others."""
    found = np.zeros((len(classes), n_classes))
    found[np.arange(len(classes)), classes] = weights
    return found


def equal_width_cuts(numbers: Floats, weights: Floats) -> Floats:
    """Return what cuts a range into ten bins of equal width; nothing where all are the same.

    Examples
    --------
    >>> equal_width_cuts(np.array([0.0, 5.0]), np.ones((2, 1)))
    array([0.5, 1. , 1.5, 2. , 2.5, 3. , 3.5, 4. , 4.5])
    """
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return np.zeros(0)
    inner = np.arange(1, EQUAL_WIDTH_BINS) / EQUAL_WIDTH_BINS
    cuts: Floats = low * (1 - inner) + high * inner
    return cuts


def description_length_cuts(numbers: Floats, weights: Floats) -> Floats:
    """Return the cuts that make the classes most certain, while that pays for describing them.

    Parameters
    ----------
    numbers
        The numbers, one at least.
    weights
        Of each number in each class: shape `(numbers, classes)`.

    References
    ----------
    [^1]: Fayyad and Irani (1993), Multi-interval discretization of continuous-valued attributes
          for classification learning.

    Examples
    --------
    >>> numbers = np.array([1.0, 2, 3, 4, 11, 12, 13, 14])
    >>> description_length_cuts(numbers, np.repeat(np.eye(2), 4, axis=0))
    array([7.5])
    """
    sizes, where = np.unique(numbers, return_inverse=True)
    by_size = np.zeros((len(sizes), weights.shape[1]))
    np.add.at(by_size, where, weights)
    below = np.vstack([np.zeros(by_size.shape[1]), by_size.cumsum(axis=0)])
    found, open_ranges = [], [(0, len(sizes))]
    while open_ranges:
        start, stop = open_ranges.pop()
        if stop - start < 2:
            continue
        left = below[start + 1 : stop] - below[start]
        right = below[stop] - below[start + 1 : stop]
        whole = below[stop] - below[start]
        n = whole.sum()
        uncertain = weighted_entropies(left) + weighted_entropies(right)
        best = int(np.argmax(uncertain <= uncertain.min() + _TIE))
        sides = (whole, left[best], right[best])
        in_all, *in_parts = (float(weighted_entropies(side[None, :])[0]) for side in sides)
        # Classes times entropy, of the whole and of its parts.
        spread = [
            int((side > 0).sum()) * each / float(side.sum())
            for side, each in zip(sides, (in_all, *in_parts), strict=True)
        ]
        bits = math.log2(3.0 ** int((whole > 0).sum()) - 2) - (spread[0] - sum(spread[1:]))
        if n > 1 and in_all - sum(in_parts) > math.log2(n - 1) + bits:
            middle = start + best + 1
            found.append(0.5 * sizes[middle - 1] + 0.5 * sizes[middle])
            open_ranges += [(start, middle), (middle, stop)]
    return np.sort(np.array(found))


def weighted_entropies(counts: Floats) -> Floats:
    """Return the entropy of each row of counts, in bits, times its sum."""
    totals = counts.sum(axis=1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    whole = np.log2(totals, out=np.zeros_like(totals), where=totals > 0)
    found: Floats = totals * whole - (counts * logs).sum(axis=1)
    return np.maximum(found, 0.0)
