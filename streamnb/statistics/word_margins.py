"""Margins of indexed messages, each scored without its own counts: what weights are fitted to.

The margin of a message of class y over another class c, as a function of the words' weights v,

    s_y − s_c,   s_c = ± ln P(c or c̄) ± Σ_i v_i f_i ln P(w_i | c or c̄)

is linear: an offset and a slope for each word.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import (
    ScoringParameters,
    log_denominators,
    log_numerators,
    log_priors,
)
from streamnb.statistics.losses import Curvature

if TYPE_CHECKING:
    from scipy import sparse

# Numbers of one block of messages, which keep the interpreter for a millisecond at most.
_BLOCK = 1 << 17


@dataclasses.dataclass(frozen=True)
class WordSlopes:
    """What the margins over the other classes grow by with the weight of each word.

    Attributes
    ----------
    columns
        For each other class of a message, in order: sparse, shape `(messages, words)`. All have
        the same words in the same places.
    """

    columns: tuple[sparse.csr_array, ...]

    def margins(self, weights: Floats) -> Floats:
        """Return what the weights add to the margins: shape `(messages, classes - 1)`."""
        return np.stack([column @ weights for column in self.columns], axis=1)

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight, from that by each margin."""
        total = np.zeros(self.columns[0].shape[1])
        for column, each in zip(self.columns, by_margin.T, strict=True):
            total += column.T @ np.ascontiguousarray(each)
        return total

    def product(self, curvature: Curvature, direction: Floats) -> Floats:
        """Return the second derivatives by the weights times a direction: shape `(words,)`."""
        moved = self.margins(direction)
        mixed = curvature.rank_one * (curvature.shares * moved).sum(axis=1)
        return self.gradient(curvature.diagonal * moved + mixed[:, None] * curvature.shares)

    def diagonal(self, curvature: Curvature) -> Floats:
        """Return the diagonal of the second derivatives, with a bound below.

        The bound is a tenth of what the curvature's diagonal gives, which is never below 0.
        """
        lengths = np.diff(self.columns[0].indptr)
        words, width = self.columns[0].indices, self.columns[0].shape[1]
        squares, mixed = np.zeros(len(words)), np.zeros(len(words))
        for column, each, shares in zip(
            self.columns, curvature.diagonal.T, curvature.shares.T, strict=True
        ):
            part = np.repeat(each, lengths)
            part *= column.data
            part *= column.data
            squares += part
            part = np.repeat(shares, lengths)
            part *= column.data
            mixed += part
        mixed *= mixed
        mixed *= np.repeat(curvature.rank_one, lengths)
        first = np.bincount(words, squares, width)
        second = np.bincount(words, mixed, width)
        found: Floats = np.maximum(first + second, 0.1 * first)
        return found


@dataclasses.dataclass(frozen=True)
class Margins:
    """Margins of messages, and what the messages weigh.

    Attributes
    ----------
    words
        The ids of the words that the messages have, in the order of their bytes.
    offsets
        The margins where all weights are 0: shape `(messages, classes - 1)`.
    slopes
        What they grow by.
    weights
        Of the messages.
    """

    words: Integers
    offsets: Floats
    slopes: WordSlopes
    weights: Floats

    @classmethod
    def of(
        cls,
        indexed: Documents,
        parameters: ScoringParameters,
        leave_one_out: bool,
    ) -> Margins | None:
        """Return the margins of indexed messages; None where there is nothing to tell apart.

        Left out of what a message is scored by are its words, its length and its class; of a
        message of weight 3, those of one in three. A message that is the only one of its class
        then weighs 0.

        Parameters
        ----------
        indexed
            Ordered messages, and counts.
        parameters
            How they are scored.
        leave_one_out
            Whether messages are left out of what they are scored by.
        """
        from scipy import sparse

        counts, order = indexed.counts, indexed.class_order
        n, k = len(indexed.classes), len(order)
        if n == 0 or k < 2:
            return None
        # Words in the order of their bytes: sums are the same then, whatever the ids.
        table = counts.tokens[indexed.word_order].toarray()[:, order]
        messages = indexed.words[:, indexed.word_order].tocsr()
        messages.sort_indices()
        place = np.zeros(len(counts.class_documents), dtype=np.int64)
        place[order] = np.arange(k)
        classes = place[indexed.classes]
        one = np.minimum(indexed.weights, 1.0) if leave_one_out else np.zeros(n)
        documents = counts.class_documents[order]
        own = (classes[:, None] == np.arange(k)) * one[:, None]
        priors = log_priors(np.maximum(documents - own, 0), k, parameters)
        others = np.arange(k - 1) + (np.arange(k - 1) >= classes[:, None])
        offsets = np.take_along_axis(priors, classes[:, None], 1) - np.take_along_axis(
            priors, others, 1
        )
        slopes = _slopes(messages, table, classes, others, one, parameters)
        indices, indptr = messages.indices.astype(np.int32), messages.indptr.astype(np.int32)
        columns = (
            sparse.csr_array((slope, indices, indptr), shape=messages.shape) for slope in slopes
        )
        alone = leave_one_out & (documents[classes] <= one)
        weights = np.where(alone, 0.0, indexed.weights)
        if not weights.any():
            return None
        return cls(indexed.word_order, offsets, WordSlopes(tuple(columns)), weights)


def _slopes(
    messages: sparse.csr_array,
    table: Floats,
    classes: Integers,
    others: Integers,
    one: Floats,
    parameters: ScoringParameters,
) -> Floats:
    """Return the slopes of each word of each message: shape `(classes - 1, words of messages)`.

    Parameters
    ----------
    messages
        The counts of words.
    table
        Those of each class: shape `(words, classes)`.
    classes, others
        The class of each message, and all others.
    one
        How much of each message is left out.
    parameters
        How it is scored.
    """
    n, k = len(classes), table.shape[1]
    counts = messages.data
    totals, in_all = table.sum(axis=0), table.sum(axis=1)
    length = np.asarray(messages.sum(axis=1)).ravel() * one
    is_own = classes[:, None] == np.arange(k)
    denominators = log_denominators(
        totals, totals.sum(), parameters, is_own * length[:, None], ~is_own * length[:, None]
    )
    slopes = np.empty((k - 1, len(counts)))
    indptr, start = messages.indptr, 0
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + _BLOCK // k, "right")) - 1
        stop = min(max(stop, start + 1), n)
        block = slice(int(indptr[start]), int(indptr[stop]))
        words, count = messages.indices[block], counts[block]
        message = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        mine, out = is_own[message], (one[message] * count)[:, None]
        of_class = table[words]
        terms = log_numerators(
            of_class, in_all[words][:, None], parameters, mine * out, ~mine * out
        )
        terms += denominators[message]
        terms *= count[:, None]
        right = np.take_along_axis(terms, classes[message][:, None], 1)
        slopes[:, block] = (right - np.take_along_axis(terms, others[message], 1)).T
        start = stop
    return slopes
