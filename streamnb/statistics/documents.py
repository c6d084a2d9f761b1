"""A copy of the indexed documents, with the counts at the same time."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import numpy as np

from streamnb import _core
from streamnb.statistics.counts import Counts, Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Documents:
    """A copy of a store's document index, oldest first, and of its counts.

    Words are numbered in the order of their bytes, classes in the order of their labels and
    attributes in the order of their names. So computations have the same bits in every copy of a
    model.

    Attributes
    ----------
    counts
        The counts of the whole stream.
    classes, weights
        Class id and weight of each document: shape `(documents,)`.
    words
        Count of each word in each document: sparse, shape `(documents, words)`.
    attributes
        Attribute of each word. In texts, the word itself.
    """

    counts: Counts
    classes: Integers
    weights: Floats
    words: sparse.csr_array
    attributes: Integers

    @classmethod
    def of(cls, sample: _core.Sample) -> Self:
        """Return the documents of a copy of a store."""
        from scipy import sparse

        exported, classes, weights, rows, words, cells, attributes = sample.documents()
        counts = Counts.from_arrays(exported)
        indptr = np.frombuffer(rows, np.int64)
        table = sparse.csr_array(
            (np.frombuffer(cells), np.frombuffer(words, np.int64), indptr),
            shape=(len(indptr) - 1, counts.tokens.shape[0]),
            copy=True,
        )
        return cls(
            counts,
            np.frombuffer(classes, np.int64),
            np.frombuffer(weights),
            table,
            np.frombuffer(attributes, np.int64),
        )

    @functools.cached_property
    def presence(self) -> sparse.csr_array:
        """1 if a document has a word: sparse, shape `(documents, words)`."""
        present = self.words.copy()
        present.data = np.ones_like(present.data)
        return present

    def sorted(self) -> Self:
        """Return the documents sorted by their content.

        Sums over them then have the same bits for every order of learning.
        """
        words, counts, ends = self.words.indices, self.words.data, self.words.indptr.tolist()
        keys = [
            (own, weight, words[start:end].tobytes(), counts[start:end].tobytes())
            for own, weight, start, end in zip(
                self.classes.tolist(), self.weights.tolist(), ends[:-1], ends[1:], strict=True
            )
        ]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return dataclasses.replace(
            self, classes=self.classes[order], weights=self.weights[order], words=self.words[order]
        )


def blocks(ends: Integers | Floats, most: int) -> Iterator[slice]:
    """Yield slices of rows with at most `most` cells, or one row with more.

    `ends` has the number of cells up to the end of each row, after a 0: the `indptr` of a sparse
    matrix. A block is about a millisecond of work.

    Examples
    --------
    >>> list(blocks(np.array([0, 2, 3, 9, 10]), 4))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start = 0
    while start < len(ends) - 1:
        stop = int(np.searchsorted(ends, ends[start] + most, "right")) - 1
        yield slice(start, stop := max(stop, start + 1))
        start = stop
