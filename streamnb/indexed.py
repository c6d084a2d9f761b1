"""The indexed messages, copied out with the counts of the same moment."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamnb import _core
from streamnb.statistics import Counts, Floats

Integers = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class IndexedMessages:
    """A copy of a store's message index, oldest first, and of the counts that they are part of.

    Attributes
    ----------
    counts
        The counts of the whole stream.
    classes, weights
        Class id and weight of each message: shape `(messages,)`.
    words
        How often each word stands in each message: sparse, shape `(messages, words)`.
    word_order
        Word ids in the order of the words' bytes; empty where there are no messages. What is summed
        in this order is the same to the last bit, whatever the ids.
    class_order
        Class ids in the order of the labels, those without messages left out.
    """

    counts: Counts
    classes: Integers
    weights: Floats
    words: sparse.csr_array
    word_order: Integers
    class_order: Integers

    @classmethod
    def of(cls, store: _core.CountStore) -> Self:
        """Copy the index and the counts of a store."""
        exported, (classes, weights, indptr, words, cells, *orders) = store.indexed()
        counts = Counts.from_arrays(*exported)
        rows = np.frombuffer(indptr, np.int64)
        shape = (len(rows) - 1, counts.tokens.shape[0])
        table = sparse.csr_array(
            (np.frombuffer(cells), np.frombuffer(words, np.int64), rows), shape=shape, copy=True
        )
        word_order, class_order = (np.frombuffer(order, np.int64) for order in orders)
        ids = np.frombuffer(classes, np.int64)
        return cls(counts, ids, np.frombuffer(weights), table, word_order, class_order)
