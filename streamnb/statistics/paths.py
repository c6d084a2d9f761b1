"""Higher-order paths: how many chains of words and documents each word stands in.

A path of order k is w_0 ~ d_1 ~ w_1 ~ … ~ d_k ~ w_k: k documents and k + 1 words, all different,
each document with the words on both sides of it. A path and its reverse are one. A document of
weight w is w documents that are the same.

References
----------
[^1]: Higher-order paper (HONB), sections III and IV: Theorems 1 to 3, Equations 8 to 10.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from streamnb import _core
from streamnb.statistics import path_sums
from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.documents import Documents

if TYPE_CHECKING:
    from scipy import sparse


@dataclasses.dataclass(frozen=True)
class Effective:
    """Effective counts: for each word and class, out of the total of the class.

    Attributes
    ----------
    totals
        By class id.
    counts
        Sparse, shape `(words, classes)`; each from 0 to the total of its class.
    """

    totals: Floats
    counts: sparse.csr_array


def count_paths(
    documents: Documents,
    order: int = 2,
    pure: bool = False,
    max_features: int | None = None,
    threads: int = 1,
) -> Effective:
    """Count the paths that each word stands in, class by class.

    Parameters
    ----------
    documents
        The documents that paths go through.
    order
        Documents of a path: 2, 3 or 4.
    pure
        Whether to count only paths whose two ends share no document of the class; order 2.
    max_features
        Words considered, those in most documents (ties: the first by their bytes). None is all.
    threads
        On how many paths of order 2 that need not be pure are counted.

    Returns
    -------
    For each class its paths, and for each word those that contain it.

    Examples
    --------
    >>> from streamnb import HONB
    >>> model = HONB()
    >>> for x in ("free cash", "cash prize", "prize now"):
    ...     model.learn_one(x, "spam")
    >>> paths = count_paths(Documents.of(model._store))   # free~cash~prize, cash~prize~now
    >>> paths.totals, paths.counts.toarray().ravel()      # free, cash, prize, now
    (array([2.]), array([1., 2., 2., 1.]))
    """
    from scipy import sparse

    presence = documents.presence
    if max_features is not None:
        presence = _most_frequent(documents, max_features)
    classes = int(documents.classes.max(initial=-1)) + 1
    totals = np.zeros(classes)
    rows, columns, values = [], [], []
    for class_id in np.unique(documents.classes):
        members = np.flatnonzero(documents.classes == class_id)
        inside = presence[members]
        words = np.unique(inside.indices)
        inside, weights = inside[:, words], documents.weights[members]
        if order > 2:
            total, counts = path_sums.all_paths(inside, weights, order)
        elif pure:
            total, counts = _pure_second_order(inside, weights)
        else:
            total, counts = _second_order(inside, weights, threads)
        # Weights that are no integers make polynomials of what counts copies: they may leave the
        # range.
        totals[class_id] = max(total, 0.0)
        counts = np.clip(counts, 0.0, totals[class_id])
        some = np.flatnonzero(counts)
        rows.append(words[some])
        columns.append(np.full(len(some), class_id))
        values.append(counts[some])
    shape = (presence.shape[1], classes)
    if not rows:
        return Effective(totals, sparse.csr_array(shape))
    cells = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return Effective(totals, sparse.csr_array(cells, shape=shape))


def _most_frequent(documents: Documents, max_features: int) -> sparse.csr_array:
    """Return the presence of the words in most documents, and of no others."""
    from scipy import sparse

    presence = documents.presence
    frequency = presence.T @ documents.weights
    if np.count_nonzero(frequency) <= max_features:
        return presence
    # Stable: words of equal frequency stay in the order of their bytes.
    ranked = documents.word_order[np.argsort(-frequency[documents.word_order], kind="stable")]
    kept = np.zeros(presence.shape[1])
    kept[ranked[:max_features]] = 1.0
    left = sparse.csr_array(presence.multiply(kept[np.newaxis, :]))
    left.eliminate_zeros()
    return left


def _second_order(
    presence: sparse.csr_array, weights: Floats, threads: int
) -> tuple[float, Floats]:
    """Return all second-order paths of a class, and those with each word: Theorem 1, summed.

    With A the co-occurrences of words (zero diagonal), s = A 1 and q = (A ∘ A) 1, word j is in the
    middle of (s_j² − q_j) / 2 − Σ_{d ∋ j} C(|d| − 1, 2) paths, and word i at the end of
    (A s)_i − q_i − Σ_{d ∋ i} (|d| − 1)(|d| − 2). Only q needs A, a row at a time: memory does not
    depend on the nonzeros of A.
    """
    lengths = np.diff(presence.indptr).astype(np.float64)
    transposed = presence.T.tocsr()
    frequency = transposed @ weights
    neighbours = transposed @ (weights * (lengths - 1))
    presence.sort_indices()
    squares = np.frombuffer(
        _core.cooccurrence_squares(
            presence.indptr.astype(np.int64),
            presence.indices.astype(np.int64),
            np.ascontiguousarray(weights),
            presence.shape[1],
            threads,
        )
    )
    beyond = transposed @ (weights * (presence @ neighbours)) - frequency * neighbours
    same = transposed @ (weights * (lengths - 1) * (lengths - 2))
    middle = (neighbours**2 - squares - same) / 2
    return float(middle.sum()), middle + beyond - squares - same


def _pure_second_order(presence: sparse.csr_array, weights: Floats) -> tuple[float, Floats]:
    """Return the second-order paths of a class whose ends share no document, and each word's.

    No document holds all three words of such a path, so Theorem 1 is a product. With I = [A > 0]
    and B = A A, word j is in the middle of (s_j² − q_j − Σ_k A_jk (A I)_jk) / 2, and word i at the
    end of (A s)_i − q_i − Σ_k B_ik I_ik. The matrices are dense: bound the words.
    """
    together = path_sums.cooccurrences(presence, weights)
    np.fill_diagonal(together, 0.0)
    adjacent = (together > 0).astype(np.float64)
    neighbours = together.sum(axis=1)
    squares = (together**2).sum(axis=1)
    middle = (neighbours**2 - squares - (together * (together @ adjacent)).sum(axis=1)) / 2
    end = together @ neighbours - squares - ((together @ together) * adjacent).sum(axis=1)
    return float(middle.sum()), middle + end


def as_arrays(effective: Effective) -> tuple[Floats, Integers, Integers, Floats]:
    """Return totals, and the rows of the counts as the native store takes them."""
    counts = effective.counts.tocsr()
    counts.sort_indices()
    return (
        np.ascontiguousarray(effective.totals, dtype=np.float64),
        np.ascontiguousarray(counts.indptr, dtype=np.int64),
        np.ascontiguousarray(counts.indices, dtype=np.int64),
        np.ascontiguousarray(counts.data, dtype=np.float64),
    )
