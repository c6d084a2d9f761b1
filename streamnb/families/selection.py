"""Words selected by gain ratio: GRSMNB, GRSCNB and GRSOVA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from streamnb.families.independent import Multinomial
from streamnb.model.composition import Composition, Weights
from streamnb.model.texts import TextNaiveBayes
from streamnb.model.weighting import WordWeights
from streamnb.statistics.counts import Counts, Floats, Integers, gain_ratio
from streamnb.statistics.documents import Documents, blocks
from streamnb.statistics.events import (
    ScoringParameters,
    log_denominators,
    log_numerators,
    log_priors,
)
from streamnb.text.labels import L

SHARES = tuple(tenths / 10 for tenths in range(1, 11))
"""The shares of words to choose from."""

# Two gain ratios or scores that differ by less are equal up to rounding.
TIE = 1e-9
# Numbers in one block of messages, about a millisecond of work without releasing the interpreter;
# and in a dense table of words and classes, 32 MB.
_BLOCK = 1 << 18
_TABLE = 1 << 22


class Selection(Weights, name="selection"):
    """Keeps the share of words by gain ratio that leave-one-out chooses; drops the others (GRS).

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS) and Equation 12.
    """

    periodic: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> WordWeights:
        """Return weight 1 for the best share of words by gain ratio, and 0 for the others.

        Each share of `SHARES` classifies each indexed message after its own counts are removed from
        the class, the words and the totals. The share with the most correct decisions wins, on a
        tie the smallest. A message of weight 3 is three messages, one of which is removed. Class
        totals include the selected words only, but m counts all words, and gain ratios are computed
        from all messages. Words that tie with the last selected word are selected too. Without
        messages all words are selected.
        """
        ratios = gain_ratio(indexed.counts)
        thresholds = _thresholds(ratios, parameters.vocabulary_size)
        if not len(indexed.classes):
            return WordWeights(np.ones_like(ratios), 1.0)
        # The first share that selects each word; all larger shares select it too.
        first = np.searchsorted(-thresholds, -ratios - TIE, side="left").astype(np.int64)
        right = np.zeros(len(SHARES))
        for rows, own in _left_out(indexed, parameters, first):
            right += (indexed.weights[rows, None] * own).sum(axis=0)
        best = int(np.argmax(right >= right.max() * (1 - 1e-12)))
        kept = np.where(first <= best, 1.0, 0.0)
        everything = best == len(SHARES) - 1 or thresholds[best] <= TIE
        return WordWeights(kept, 1.0 if everything else 0.0)


def _thresholds(ratios: Floats, vocabulary_size: float) -> Floats:
    """Return the gain ratio of the last word that each share selects."""
    descending = np.sort(ratios)[::-1]
    places = np.ceil(np.array(SHARES) * vocabulary_size - TIE).astype(np.int64) - 1
    inside = (places < len(descending)) & (places >= 0)
    thresholds = np.zeros(len(SHARES))
    thresholds[inside] = descending[places[inside]]
    return thresholds


def _left_out(
    indexed: Documents, parameters: ScoringParameters, first: Integers
) -> Iterator[tuple[slice, Floats]]:
    """Classify each message, without its own counts, by the words of each share.

    Yields
    ------
    Blocks of messages, and 1 if a share is correct: shape `(messages of the block, shares)`. Ties
    are never correct, nor is the class of a single message.
    """
    counts = indexed.counts
    n_classes, n_shares = len(counts.class_documents), len(SHARES)
    exists = counts.class_documents > 0
    is_small = np.prod(counts.tokens.shape) <= _TABLE
    table = counts.tokens.toarray() if is_small else None
    totals = _by_share(counts, first)  # shares × classes
    indptr = indexed.words.indptr
    # As many messages as fit into a block of words and scores.
    for rows in blocks(indptr + n_shares * np.arange(len(indptr)), _BLOCK // (2 * n_classes)):
        start, stop = rows.start, rows.stop
        block = indexed.words[rows]
        words, count = block.indices, block.data
        message = np.repeat(np.arange(stop - start), np.diff(block.indptr))
        classes = indexed.classes[start:stop]
        one = np.minimum(indexed.weights[start:stop], 1.0)  # of a weight of 3, one in three
        is_own = np.arange(n_classes) == classes[message][:, None]
        of_class = table[words] if table is not None else counts.tokens[words].toarray()
        in_all = of_class.sum(axis=1)[:, None]
        out = (one[message] * count)[:, None]
        # Tokens of each message in the words of each share.
        cell = message * n_shares + first[words]
        size = (stop - start) * n_shares
        length = (
            np.bincount(cell, count, size).reshape(-1, n_shares).cumsum(axis=1, dtype=np.float64)
        )
        terms = log_numerators(
            of_class, in_all, parameters, np.where(is_own, out, 0), np.where(is_own, 0, out)
        )
        terms *= count[:, None]
        scores = np.empty((stop - start, n_shares, n_classes))
        for c in range(n_classes):
            parts = np.bincount(cell, terms[:, c], size).reshape(-1, n_shares)
            own = (classes == c)[:, None]
            taken = one[:, None] * length
            score = parts.cumsum(axis=1, dtype=np.float64)
            score += length * log_denominators(
                totals[:, c],
                totals.sum(axis=1),
                parameters,
                np.where(own, taken, 0),
                np.where(own, 0, taken),
            )
            scores[:, :, c] = score
        left = counts.class_documents - (np.arange(n_classes) == classes[:, None]) * one[:, None]
        scores += log_priors(np.maximum(left, 0), int(exists.sum()), parameters)[:, None, :]
        scores[:, :, ~exists] = -np.inf
        each = np.arange(stop - start)
        own_scores = scores[each, :, classes].copy()
        scores[each, :, classes] = -np.inf
        alone = counts.class_documents[classes] - one <= 0
        right = (own_scores > scores.max(axis=2) + TIE) & ~alone[:, None]
        yield rows, right.astype(np.float64)


def _by_share(counts: Counts, first: Integers) -> Floats:
    """Return the tokens of each class in the words of each share: shape `(shares, classes)`."""
    shares, classes = len(SHARES), counts.tokens.shape[1]
    rows = np.repeat(first, np.diff(counts.tokens.indptr))
    inside = rows < shares
    place = rows[inside] * classes + counts.tokens.indices[inside]
    tokens = np.bincount(place, counts.tokens.data[inside], shares * classes)
    return tokens.reshape(shares, classes).cumsum(axis=0)


class SelectionNB(TextNaiveBayes[L]):
    """Naive Bayes on the words with the highest gain ratios.

    `streamnb.model.base.NaiveBayes` documents the parameters, methods and errors.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), weights=Selection())
    paper = "Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS)"


class GRSMNB(SelectionNB[L], event="multinomial", equations="Equations 1, 6 and 12"):
    """Multinomial naive Bayes on words selected by gain ratio (GRSMNB).

    Multinomial naive Bayes on the top 10 %, 20 %, … or 100 % of the words by gain ratio (Equation
    12). It takes the smallest of these ten shares that classifies most of the indexed messages
    correctly, each without its own counts. Class totals are sums over the selected words. *m*
    counts all words, and gain ratios are computed from all messages. Words that tie with the last
    selected word are selected too.

    A refresh (`refresh_every`) chooses the share over the last `index_size` messages, at the cost
    of scoring each of them. `weights_` is 1 for selected words and 0 for the others; a word that
    first appears after a refresh is selected until the next one.
    """


class GRSCNB(SelectionNB[L], event="complement", equations="Equations 2, 7 and 12"):
    """Complement naive Bayes on words selected by gain ratio (GRSCNB).

    Complement naive Bayes on the share of words with which the score of `CNB` classifies most of
    the indexed messages correctly, each without its own counts. Everything else is as in `GRSMNB`.
    """


class GRSOVA(SelectionNB[L], event="one-versus-all", equations="Equations 3 and 12"):
    """One-versus-all naive Bayes on words selected by gain ratio (GRSOVA).

    One-versus-all naive Bayes on the share of words with which the score of `OVA` classifies most
    of the indexed messages correctly, each without its own counts. Everything else is as in
    `GRSMNB`.
    """
