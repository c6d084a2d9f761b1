"""The indexed documents, copied out for statistics over which words stand together."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np
from scipy import sparse

from streamnb import _core
from streamnb.statistics import Floats, Integers


@dataclasses.dataclass(frozen=True)
class Documents:
    """A copy of a store's document index, oldest first.

    Attributes
    ----------
    layout
        What word and class ids mean; a store whose layout is another has used some again.
    classes, weights
        Class id and weight of each document.
    presence
        1 where a document has a word: sparse, shape `(documents, words)`.
    order
        Word ids in the order of the words' bytes; empty if it was not asked for.
    attributes
        The id of each word as an attribute, -1 for a word not in use. In texts, its own.
    """

    layout: int
    classes: Integers
    weights: Floats
    presence: sparse.csr_array
    order: Integers
    attributes: Integers

    @classmethod
    def of(cls, store: _core.CountStore, ordered: bool = False) -> Self:
        """Copy the indexed documents of a store.

        Parameters
        ----------
        store
            The store.
        ordered
            Whether the order of the words is wanted, which takes sorting them.
        """
        layout, slots, order, classes, weights, indptr, words, attributes = store.documents(ordered)
        rows, columns = np.frombuffer(indptr, np.int64), np.frombuffer(words, np.int64)
        presence = sparse.csr_array(
            (np.ones(len(columns)), columns, rows), shape=(len(rows) - 1, slots), copy=True
        )
        return cls(
            layout,
            np.frombuffer(classes, np.int64),
            np.frombuffer(weights),
            presence,
            np.frombuffer(order, np.int64),
            np.frombuffer(attributes, np.int64),
        )
