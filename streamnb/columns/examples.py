"""The index of recent rows with their labels, and these rows as arrays and in bins."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from streamnb.columns.moments import check_number
from streamnb.columns.reading import Row
from streamnb.errors import NotLearnedError
from streamnb.statistics.counts import Floats, Integers

EQUAL_WIDTH_BINS = 10
"""Number of bins of equal width, as in WEKA."""

TIE = 1e-9
"""Gains, information and merits that differ by less are equal except for rounding."""


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """A row with its class and weight."""

    row: Row
    class_id: int
    weight: float


class Examples:
    """The most recent rows, oldest first; the table removes the oldest if there are too many.

    Parameters
    ----------
    most
        Maximum number of rows, 0 or more.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.order: deque[Example] = deque()

    def unlearn(self, row: Row, class_id: int, weight: float, evicted: float) -> list[Example]:
        """Return the examples without a row, the most recent equal ones first.

        Its weight may be spread over several examples. `evicted` is the weight of the class outside
        the index.
        """
        left, kept = weight, []
        for example in reversed(self.order):
            if left > 0 and example.class_id == class_id and example.row == row:
                taken = min(left, example.weight)
                left -= taken
                if example.weight > taken:
                    kept.append(dataclasses.replace(example, weight=example.weight - taken))
            else:
                kept.append(example)
        if left > evicted + 1e-9 * weight:
            raise NotLearnedError("this message was not learned with this label and weight")
        return kept[::-1]

    def replace(self, examples: Sequence[Example]) -> None:
        """Replace all examples."""
        self.order = deque(examples)

    def weight_of(self, class_id: int) -> float:
        """Return the weight of the examples of a class."""
        return sum(each.weight for each in list(self.order) if each.class_id == class_id)

    def state(self, ranks: Mapping[int, int]) -> list[Any]:
        """Return the examples in canonical form, with the ranks of their classes."""
        return [
            [
                sorted(zip(each.row.words, each.row.attributes, strict=True)),
                {name: number.hex() for name, number in each.row.numbers.items()},
                ranks[each.class_id],
                each.weight.hex(),
            ]
            for each in self.order
        ]

    def restore(self, state: Sequence[Any], classes: int) -> None:
        """Restore what `state` returned, of this number of classes."""
        if len(state) > self.most:
            raise ValueError(f"{len(state)} examples, more than {self.most}")
        for words, numbers, rank, weight in state:
            row = Row(
                {str(word): 1.0 for word, _ in words},
                tuple(str(attribute) for _, attribute in words),
                {name: check_number(name, float.fromhex(each)) for name, each in numbers.items()},
            )
            example = Example(row, int(rank), float.fromhex(weight))
            if not (0 <= example.class_id < classes and 0 < example.weight <= 2.0**53):
                raise ValueError("an example of an unknown class or weight")
            self.order.append(example)


@dataclasses.dataclass(frozen=True)
class ExampleTable:
    """Recent rows as arrays with one column per attribute.

    Rows are sorted by their content, so the order in which they were learned changes no sum.

    Attributes
    ----------
    names
        The attributes, sorted.
    words
        The words of categories, sorted.
    codes
        Index of each value's word; −1 without a word. Shape `(examples, attributes)`.
    numbers
        The numbers; NaN for other values. Shape `(examples, attributes)`.
    classes
        Rank of the label of each row.
    weights
        Weights of the rows.
    n_classes
        Number of classes, with examples or without.
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
        """Return the table of some examples; `order` has the class ids in the order of labels."""
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
        # Rows that agree in all of these keys are equal, so their order does not matter.
        sort = np.lexsort((*numbers.T, *codes.T, weights, classes))
        return cls(
            names, words, codes[sort], numbers[sort], classes[sort], weights[sort], len(order)
        )

    @property
    def informative(self) -> bool:
        """Whether there are at least two classes and one value."""
        return self.n_classes > 1 and self.codes.size > 0

    def binned(self, cuts: Cuts) -> Integers:
        """Return each attribute's values as integers 0, 1, …; a missing value is one of them.

        `cuts` returns the boundaries of the bins of numbers.
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


# (numbers, their weights by class) → boundaries: each bin includes its upper boundary.
Cuts = Callable[[Floats, Floats], Floats]


def members(classes: Integers, weights: Floats, n_classes: int) -> Floats:
    """Return each row's weight in the column of its class; other columns are 0."""
    found = np.zeros((len(classes), n_classes))
    found[np.arange(len(classes)), classes] = weights
    return found


def equal_width_cuts(numbers: Floats, weights: Floats) -> Floats:
    """Return the boundaries of ten bins of equal width; none if all numbers are equal.

    Examples
    --------
    >>> equal_width_cuts(np.array([0.0, 5.0]), np.ones((2, 1)))
    array([0.5, 1. , 1.5, 2. , 2.5, 3. , 3.5, 4. , 4.5])
    """
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return np.zeros(0)
    inner = np.arange(1, EQUAL_WIDTH_BINS) / EQUAL_WIDTH_BINS
    return low * (1 - inner) + high * inner


def description_length_cuts(numbers: Floats, weights: Floats) -> Floats:
    """Return boundaries of bins by the minimum description length principle.

    A range is split where the class entropy is lowest, as long as the gain exceeds the description
    length of the split. There is at least one number; the weights of each in each class have the
    shape `(numbers, classes)`.

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
        best = int(np.argmax(uncertain <= uncertain.min() + TIE))
        sides = (whole, left[best], right[best])
        in_all, *in_parts = (float(weighted_entropies(side[None, :])[0]) for side in sides)
        # Number of classes times entropy, for the range and its two parts.
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
    """Return the entropy of each row of counts in bits, times the sum of the row."""
    totals = counts.sum(axis=1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    whole = np.log2(totals, out=np.zeros_like(totals), where=totals > 0)
    found: Floats = totals * whole - (counts * logs).sum(axis=1)
    return np.maximum(found, 0.0)
