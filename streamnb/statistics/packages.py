"""Packages: which attributes depend on which, by conditional mutual information.

It is computed on a copy of the document index, aside, and given to the store whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from streamnb import _core
from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.documents import Documents

# Rounding leaves this much where there is nothing.
_NOTHING = 1e-14
# WEKA's HNB drops the terms whose probabilities are below.
_DROPPED = 1e-6
# Pairs counted at once.
_BLOCK = 2_000_000


@dataclasses.dataclass(frozen=True)
class Information:
    """Conditional mutual information of pairs of attributes, in bits.

    Attributes
    ----------
    first, second
        The ids of each pair, first below second. In texts, words that met in some document.
    bits
        The information of each pair, above 0.
    average
        That of *all* pairs, Equation 11, whether listed or not.
    """

    first: Integers
    second: Integers
    bits: Floats
    average: float

    def strongest(self, most: int) -> Information:
        """Return at most so many of the pairs, those with the most information."""
        if len(self.bits) <= most:
            return self
        kept = np.sort(np.argpartition(-self.bits, most - 1)[:most])
        return dataclasses.replace(
            self, first=self.first[kept], second=self.second[kept], bits=self.bits[kept]
        )


def word_information(
    documents: Documents, vocabulary_size: float, most: int, threads: int = 1
) -> Information:
    """Return the information of the presences of words that met.

    I(i; j | C) = Σ_c Σ P(w_i, w_j, c) log₂ [P(w_i, w_j | c) / (P(w_i|c) P(w_j|c))] over presence
    and absence of both words. Words that never met are not listed, but the average has them.

    Parameters
    ----------
    documents
        The documents.
    vocabulary_size
        m, of which the average runs over m (m − 1) / 2 pairs.
    most
        The most pairs to list: those with the most information.
    threads
        On how many the pairs are counted.

    References
    ----------
    [^1]: Packaged hidden naive Bayes, Equations 6 and 11.
    """
    documents.presence.sort_indices()
    n_words, n_classes = documents.counts.tokens.shape
    *pairs, total = _core.pair_information(
        documents.presence.indptr.astype(np.int64),
        documents.presence.indices.astype(np.int64),
        documents.classes,
        documents.weights,
        n_words,
        n_classes,
        most,
        threads,
    )
    first, second = (np.frombuffer(ids, np.int64) for ids in pairs[:2])
    bits = np.frombuffer(pairs[2])
    pairs_of_words = vocabulary_size * (vocabulary_size - 1) / 2
    average = total / pairs_of_words if pairs_of_words > 0 else 0.0
    return Information(first, second, bits, average)


def attribute_information(documents: Documents, most: int) -> Information:
    """Return the information of pairs of attributes from their values.

    As WEKA's HNB computes it: without smoothing, and without the terms whose probabilities are
    below 10⁻⁶. A value that is missing takes no part.

    Parameters
    ----------
    documents
        Documents with at most one value of an attribute.
    most
        The most pairs to list: those with the most information.

    References
    ----------
    [^1]: Packaged hidden naive Bayes, Equations 6 and 11.
    """
    known = documents.attributes
    slots = int(known.max(initial=-1)) + 1
    n = max(documents.weights.sum(), _NOTHING)
    frequencies = _frequencies(documents) / n
    sizes = np.bincount(documents.classes, documents.weights, minlength=len(frequencies)) / n
    bits = np.zeros(slots * slots)
    for pairs in _meetings(documents):
        for c, (first, second, together) in enumerate(pairs):
            joint = together / n
            above = joint * sizes[c]
            below = frequencies[c][first] * frequencies[c][second]
            kept = (above >= _DROPPED) & (below >= _DROPPED)
            terms = joint[kept] * np.log2(above[kept] / below[kept])
            one, other = known[first[kept]], known[second[kept]]
            keys = np.minimum(one, other) * slots + np.maximum(one, other)
            bits += np.bincount(keys, terms, minlength=len(bits))
    attributes = len(np.unique(known[known >= 0]))
    pairs_of_all = attributes * (attributes - 1) / 2
    average = bits.sum() / pairs_of_all if pairs_of_all else 0.0
    listed = np.flatnonzero(bits > _NOTHING)
    return Information(listed // slots, listed % slots, bits[listed], average).strongest(most)


def _frequencies(documents: Documents) -> Floats:
    """Return the document frequency of each word in each class: shape `(classes, words)`."""
    from scipy import sparse

    classes = int(documents.classes.max(initial=0)) + 1
    rows = np.arange(len(documents.classes))
    members = sparse.csr_array(
        (documents.weights, (documents.classes, rows)), shape=(classes, len(rows))
    )
    return np.asarray((members @ documents.presence).todense(), dtype=np.float64)


def _meetings(
    documents: Documents,
) -> Iterator[list[tuple[Integers, Integers, Floats]]]:
    """Yield, for some words after others, the pairs that meet in each class, and how often.

    The first word of a pair is below the second.
    """
    width = documents.presence.shape[1]
    classes = int(documents.classes.max(initial=0)) + 1
    by_class = []
    for c in range(classes):
        members = np.flatnonzero(documents.classes == c)
        rows = documents.presence[members]
        by_class.append((rows.tocsc(), rows.multiply(documents.weights[members, None]).tocsr()))
    lengths = np.diff(documents.presence.indptr)
    work = np.cumsum(lengths @ documents.presence) if width else np.zeros(0)
    start = 0
    while start < width:
        done = work[start - 1] if start else 0.0
        stop = max(int(np.searchsorted(work, done + _BLOCK, side="right")), start + 1)
        found = []
        for columns, weighted in by_class:
            together = (columns[:, start:stop].T @ weighted).tocoo()
            first = together.row.astype(np.int64) + start
            second = together.col.astype(np.int64)
            kept = first < second
            found.append((first[kept], second[kept], together.data[kept]))
        yield found
        start = stop


def set_packages(
    store: _core.CountStore, layout: int, pairs: Information, threshold: float
) -> bool:
    """Give a store the packages of these pairs; False if ids have other meanings by now."""
    kept = pairs.bits >= threshold
    first, second, bits = pairs.first[kept], pairs.second[kept], pairs.bits[kept]
    return store.set_packages(layout, first, second, bits, threshold)
