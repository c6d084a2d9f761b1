"""A copy of the counts, and statistics of words that are computed from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import _core

if TYPE_CHECKING:
    from scipy import sparse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """A copy of a store's counts.

    Attributes
    ----------
    layout
        Version of the word ids; it changes if an id is given to another word.
    version
        Number of changes of the store.
    class_documents, class_tokens
        Weight of the documents, and number of tokens, of each class: shape `(classes,)`.
    tokens, documents, lengths
        Occurrences of a word in a class, documents of the class that contain the word, and length
        of those in the index: sparse, shape `(words, classes)`.
    """

    layout: int
    version: int
    class_documents: Floats
    class_tokens: Floats
    tokens: sparse.csr_array
    documents: sparse.csr_array
    lengths: sparse.csr_array

    @classmethod
    def of(cls, store: _core.CountStore | _core.Sample) -> Self:
        """Copy the counts of a store, by word id and class id, or of a copy of it, in order."""
        return cls.from_arrays(store.counts())

    @classmethod
    def from_arrays(cls, exported: Sequence[Any]) -> Self:
        """Return counts from the arrays of `_core.CountStore.counts`."""
        from scipy import sparse

        layout, version, class_documents, class_tokens, indptr, classes, *cells = exported
        rows = np.frombuffer(indptr, dtype=np.int64)
        columns = np.frombuffer(classes, dtype=np.int64)
        totals = np.frombuffer(class_documents)
        shape = (len(rows) - 1, len(totals))
        # Copies, because scipy may write to its arrays.
        tokens, documents, lengths = (
            sparse.csr_array((np.frombuffer(cell), columns, rows), shape=shape, copy=True)
            for cell in cells
        )
        return cls(layout, version, totals, np.frombuffer(class_tokens), tokens, documents, lengths)


def rows_of(table: sparse.csr_array) -> tuple[Integers, Integers, Floats]:
    """Return the row bounds, columns and values of a sparse table in the types of the core."""
    indptr, columns = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    return indptr, columns, table.data.astype(np.float64)


def _entropy(shares: Floats) -> Floats:
    """Return −p ln p elementwise; 0 if p is 0."""
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return -shares * logs


def entropies(shares: Floats) -> Floats:
    """Return −Σ p ln p over the first axis, in its order."""
    return _entropy(shares).sum(axis=0)


def gain_ratio(counts: Counts) -> Floats:
    """Return the gain ratio of each word's presence for the class (HMNB paper, Equation 12).

    It is the mutual information of presence and class over the entropy of presence; 0 for a word
    in every document or in none. The base of the logarithm cancels out. The counts have at least
    one document.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> for x, y in [("win cash now", "spam"), ("see you now", "ham")]:
    ...     model.learn_one(x, y)
    >>> gain_ratio(model.counts()).round(3)      # win, cash, now, see, you
    array([1., 1., 0., 1., 1.])
    """
    # I(presence; class) is the sum of the entropies of class and presence, minus
    # Σ_c [h(present, c) + h(absent, c)]. A class without the word contributes its own entropy, so
    # only nonzero cells are visited.
    n = counts.class_documents.sum()
    cells = counts.documents
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    present = np.bincount(rows, cells.data, minlength=cells.shape[0]) / n
    priors = counts.class_documents / n
    in_class = priors[cells.indices]
    joint = cells.data / n
    class_entropy = _entropy(priors)
    per_cell = (
        _entropy(joint) + _entropy(np.maximum(in_class - joint, 0)) - class_entropy[cells.indices]
    )
    joint_entropy = class_entropy.sum() + np.bincount(rows, per_cell, minlength=cells.shape[0])
    split = _entropy(present) + _entropy(np.maximum(1 - present, 0))
    gain = class_entropy.sum() + split - joint_entropy
    # Rounding leaves a few units in the last place instead of 0.
    gain[gain < 1e-14] = 0
    return np.divide(gain, split, out=np.zeros_like(gain), where=split > 1e-14)
