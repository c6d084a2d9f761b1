"""Weights of words that minimise a loss over the indexed messages.

The score of a message is the score of its event model, with a weight for the term of each word,

    α [± ln P(c or c̄) ± Σ_i v_i f_i ln P(w_i | c or c̄)],   v_i ≥ 0

with unchanged estimates. A word has one weight for all classes, so one fit covers all classes. The
margin of a message of class y over another class c, s_y − s_c, is linear in the weights v: an
offset and a slope for each word.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.documents import Documents, blocks
from streamnb.statistics.events import (
    ScoringParameters,
    log_denominators,
    log_numerators,
    log_priors,
)
from streamnb.statistics.losses import LEAST_RIDGE, LIKELIHOOD, Curvature, Loss, Objective
from streamnb.statistics.newton import SparseSteps, least

if TYPE_CHECKING:
    from scipy import sparse

TEXT_RIDGE = 0.1
"""The best of 0.03, 0.1, 0.3, 1 and 3 on oh0 and re0 in ten-fold cross-validation.

The multinomial and the one-versus-all model with `weights="generalised"` lose 0 to 0.6 points with
0.3, and 1.2 to 1.8 with 3. Leave-one-out gains 0.3 to 2.2 points with any ridge.
"""

MOST_ROUNDS = 300
"""Rounds of conjugate gradients in one fit; each makes two passes over the words of the messages.

With `"generalised"`, 100 to 150 reach the minimum on the collections. The other losses have margins
without a multiplier and need about 1,000 on long texts. Their fits end before the minimum, at a
point that depends on the messages alone."""

# Logarithms of the least and the greatest multiplier: most texts need far less than 1, and the
# deviance has 2.
_MULTIPLIERS = (-9.0, math.log(2.0))

# Numbers in one block of messages, about a millisecond without releasing the interpreter.
_BLOCK = 1 << 17


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class WordSlopes:
    """The derivative of the margins over the other classes by the weight of each word.

    Attributes
    ----------
    columns
        One sparse matrix for each other class of a message, shape `(messages, words)`. All have
        the same nonzero cells.
    """

    columns: tuple[sparse.csr_array, ...]

    def margins(self, weights: Floats) -> Floats:
        """Return the weighted part of the margins: shape `(messages, classes - 1)`."""
        return np.stack([column @ weights for column in self.columns], axis=1)

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight from the derivative by each margin."""
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
        """Return the diagonal of the second derivatives.

        Its lower bound is a tenth of the curvature's diagonal part, which is never negative.
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
        return np.maximum(first + second, 0.1 * first)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Margins:
    """Margins and weights of messages.

    Attributes
    ----------
    words
        Ids of the words of the messages, in byte order.
    offsets
        Margins if all weights are 0: shape `(messages, classes - 1)`.
    slopes
        Derivatives of the margins by the weights.
    weights
        Weights of the messages.
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
        """Return the margins of messages; None if fewer than two classes have messages.

        Leave-one-out scores a message without its own words, length and class; for a message of
        weight 3, without one of three. A message that is the only one of its class has weight 0.
        """
        from scipy import sparse  # importing it at the top would double the import time

        counts, classes, messages = indexed.counts, indexed.classes, indexed.words
        n, k = len(classes), len(counts.class_documents)
        if n == 0 or k < 2:
            return None
        table = counts.tokens.toarray()
        one = np.minimum(indexed.weights, 1.0) if leave_one_out else np.zeros(n)
        documents = counts.class_documents
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
        return cls(np.arange(len(table)), offsets, WordSlopes(tuple(columns)), weights)


def _slopes(
    messages: sparse.csr_array,
    table: Floats,
    classes: Integers,
    others: Integers,
    one: Floats,
    parameters: ScoringParameters,
) -> Floats:
    """Return the slopes of each word of each message: shape `(classes - 1, words of messages)`.

    `messages` has the word counts of the messages, `table` the word counts of the classes, of shape
    `(words, classes)`. `classes` and `others` are the class of each message and all others, and
    `one` is the weight of each message that is left out.
    """
    k, counts = table.shape[1], messages.data
    totals, in_all = table.sum(axis=0), table.sum(axis=1)
    length = np.asarray(messages.sum(axis=1)).ravel() * one
    is_own = classes[:, None] == np.arange(k)
    denominators = log_denominators(
        totals, totals.sum(), parameters, is_own * length[:, None], ~is_own * length[:, None]
    )
    slopes = np.empty((k - 1, len(counts)))
    indptr = messages.indptr
    every = np.repeat(np.arange(len(classes)), np.diff(indptr))
    for rows in blocks(indptr, _BLOCK // k):
        block = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
        words, count, message = messages.indices[block], counts[block], every[block]
        mine, out = is_own[message], (one[message] * count)[:, None]
        of_class = table[words]
        terms = log_numerators(
            of_class, in_all[words][:, None], parameters, mine * out, ~mine * out
        )
        terms += denominators[message]
        terms *= count[:, None]
        right = np.take_along_axis(terms, classes[message][:, None], 1)
        slopes[:, block] = (right - np.take_along_axis(terms, others[message], 1)).T
    return slopes


def fitted_words(
    indexed: Documents,
    parameters: ScoringParameters,
    loss: Loss,
    ridge: float,
    leave_one_out: bool,
) -> tuple[Floats, float]:
    """Return the weights by word id with the least loss over indexed messages, and their factor.

    The factor of all weights and of the prior is α of Equation 18 for a loss that weighs the prior,
    else 1. The result depends on the messages, not on the order in which they were learned, on word
    ids or on the processor's BLAS. A fit begins with the same weight for every word, the one with
    the least log loss.

    Parameters
    ----------
    indexed, parameters, leave_one_out
        As in `Margins.of`.
    loss, ridge
        The objective: see `streamnb.statistics.losses.Objective`.
    """
    found = np.ones(indexed.counts.tokens.shape[0])
    margins = Margins.of(indexed.sorted(), parameters, leave_one_out)
    if margins is None:
        return found, 1.0
    scale, start = 1.0, multiplier(margins)
    if loss.weighs_prior:
        scale, start = start, 1.0
        loss = dataclasses.replace(LIKELIHOOD, multiplier=scale)
    objective = Objective(
        loss, margins.offsets, margins.slopes, margins.weights, max(ridge, LEAST_RIDGE)
    )
    begin = np.full(len(margins.words), start)
    found[margins.words] = least(objective, begin, SparseSteps(MOST_ROUNDS))
    return found, scale


def multiplier(margins: Margins) -> float:
    """Return α of Equation 18 with the least loss if all weights are 1.

    The loss is convex in α, so bisection on its slope finds α to the last digit of ln α.
    """
    plain = margins.offsets + margins.slopes.margins(np.ones(len(margins.words)))

    def slope(log: float) -> float:
        _, by_margin = LIKELIHOOD.value(math.exp(log) * plain, margins.weights)
        return float((by_margin * plain).sum())

    low, high = _MULTIPLIERS
    while low < (middle := 0.5 * (low + high)) < high:
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    return math.exp(high)
