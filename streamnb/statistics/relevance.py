"""Correlation-based feature selection (CFS): relevant words without redundancy.

It searches for the set S of words with the highest merit

    Σ_i SU(w_i, class) / √(|S| + Σ_{i ≠ j} SU(w_i, w_j)),

where SU(X, Y) = 2 I(X; Y) / (H(X) + H(Y)) is the symmetric uncertainty of two presences, or of a
presence and the class. Forward search adds the best word in each step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamnb.statistics.counts import Floats, Integers, entropies
from streamnb.statistics.documents import Documents

# Smaller differences of merits and uncertainties are rounding; the order of words breaks ties.
TIE = 1e-9
# Maximum size of a dense table of classes and words (2 MB); more words are processed in blocks.
_TABLE = 1 << 18


def select_words(documents: Documents, max_candidates: int) -> Integers:
    """Return the ids of the selected words, in order of selection.

    Each step adds the word that gives the highest merit, while the merit grows. Ties are broken by
    the order of bytes. A step reads the documents that contain the added word, so a search costs at
    most `max_candidates` passes over the index. The search considers the `max_candidates` words
    with the highest symmetric uncertainty with the class.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW).
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
       learning.

    Examples
    --------
    >>> from streamnb import DFWMNB
    >>> model = DFWMNB()
    >>> for x, y in [("win cash now", "spam"), ("see you now", "ham"), ("see me", "ham")]:
    ...     model.learn_one(x, y)
    >>> words = Documents.of(model._store.sample(True))
    >>> [sorted(model._store.words())[word] for word in select_words(words, 10)]  # in byte order
    ['cash']
    """
    from scipy import sparse

    uncertainty = class_uncertainty(documents)
    candidates = _candidates(uncertainty, max_candidates)
    weights = documents.weights
    presence = sparse.csr_array(documents.presence[:, candidates])
    columns = presence.tocsc()
    n = weights.sum() or 1.0
    frequencies = np.asarray(weights @ presence)
    own_entropies = entropies(np.stack([frequencies, n - frequencies]) / n)

    def between(best: int) -> Floats:
        rows = columns.indices[columns.indptr[best] : columns.indptr[best + 1]]
        both = np.asarray(weights[rows] @ presence[rows])
        frequency, own = frequencies[best], own_entropies[best]
        cells = (both, frequencies - both, frequency - both, n - frequencies - frequency + both)
        joint = entropies(np.stack(cells) / n)
        return uncertainties(own_entropies + own - joint, own_entropies, own)

    return candidates[forward_search(uncertainty[candidates], between)]


def forward_search(relevance: Floats, between: Callable[[int], Floats]) -> Integers:
    """Return the indices of the selected words or attributes, in order of selection.

    Each step adds the one that gives the highest merit (ties: the first), while the merit grows.
    `relevance` is the symmetric uncertainty of each one with the class, and `between` returns the
    symmetric uncertainty of all with the one at an index.
    """
    redundancy = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    selected: list[int] = []
    merit = relevant = 0.0
    # Number of selected ones, and twice the sum of their pairwise uncertainties.
    size = repeated = 0.0
    while left.any():
        merits = (relevant + relevance) / np.sqrt(size + 1 + repeated + 2 * redundancy)
        merits[~left] = -np.inf
        best = int(np.argmax(merits >= merits.max() - TIE))
        if merits[best] <= merit + TIE:
            break
        merit = merits[best]
        relevant += relevance[best]
        repeated += 2 * redundancy[best]
        size += 1
        left[best] = False
        selected.append(best)
        redundancy += between(best)
    return np.array(selected, dtype=np.int64)


def class_uncertainty(documents: Documents) -> Floats:
    """Return the symmetric uncertainty of each word's presence and the class: shape `(words,)`."""
    from scipy import sparse

    weights, each = documents.weights, np.arange(len(documents.weights))
    classes = len(documents.counts.class_documents)
    members = sparse.csr_array((weights, (documents.classes, each)), shape=(classes, len(each)))
    of_class = np.asarray(members.sum(axis=1))
    n = weights.sum() or 1.0
    columns = documents.presence.tocsc()
    uncertainty = np.zeros(columns.shape[1])
    step = max(1, _TABLE // max(classes, 1))
    for start in range(0, len(uncertainty), step):
        block = slice(start, start + step)
        present = (members @ columns[:, block]).toarray()
        joint = entropies(np.concatenate([present, of_class[:, None] - present]) / n)
        frequencies = present.sum(axis=0)
        word = entropies(np.stack([frequencies, n - frequencies]) / n)
        own = float(entropies(of_class / n))
        uncertainty[block] = uncertainties(word + own - joint, word, own)
    return uncertainty


def _candidates(uncertainty: Floats, count: int) -> Integers:
    """Return the words with the highest uncertainty, in the order of their bytes."""
    ranked = np.sort(uncertainty)[::-1]
    least = max(ranked[count - 1] if count <= len(ranked) else 0.0, 2 * TIE)
    above = uncertainty > least + TIE
    equal = np.abs(uncertainty - least) <= TIE
    return np.flatnonzero(above | (equal & (equal.cumsum() <= count - above.sum())))


def uncertainties(information: Floats, one: Floats, other: float) -> Floats:
    """Return 2 I(X; Y) / (H(X) + H(Y)) from entropies; 0 where neither X nor Y is uncertain."""
    both = one + other
    doubled = 2 * np.maximum(information, 0)
    return np.divide(doubled, both, out=np.zeros_like(both), where=both > TIE)
