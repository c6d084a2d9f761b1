"""Weights of words: statistics that say how much each word counts, in the estimate and the score.

A word of weight W counts W f_i times in a message and W N_ci times in a class (deep weighting):

    ln P(c) + Σ_i W_i f_i ln P(w_i|c),   P(w_i|c) = (W_i N_ci + α) / (Σ_j W_j N_cj + α m)

They are computed on a copy of the counts, aside, and swapped in; what they are multiplied with is
never stale. A word that has come since has weight 1 until the next refresh.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from streamnb import _core
from streamnb.statistics.counts import Counts, Floats, Integers, gain_ratio
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import (
    ScoringParameters,
    log_denominators,
    log_numerators,
    log_priors,
)
from streamnb.statistics.relevance import select_words

SHARES = tuple(tenths / 10 for tenths in range(1, 11))
"""The shares of words that selection chooses from."""

MAX_CANDIDATES = 1_000
"""On the SMS collection, search ends after some dozens of words, and rarely looks further."""

MIN_SAMPLES_LEAF = 2.0
"""Of the tree whose depths are weights: from 1 to 10, accuracy on the collections is the same."""

# Two gain ratios this near are the same but for rounding, and so are two scores.
TIE = 1e-9
# Numbers of one block of messages, which keep the interpreter for a millisecond at most; and of a
# dense table of words and classes, 32 MB.
_BLOCK = 1 << 18
_TABLE = 1 << 22


@dataclasses.dataclass(frozen=True)
class WordWeights:
    """How much each word counts.

    Attributes
    ----------
    words
        By word id, 0 or more: shape `(words,)`.
    oov
        The same of a word that no class has seen.
    """

    words: Floats
    oov: float


def relative_gain_ratios(counts: Counts, vocabulary_size: float) -> WordWeights:
    """Return each word's gain ratio over the mean of all m words; 1 where all are 0.

    A word that no class has seen has gain ratio 0, and so weight 0.

    Parameters
    ----------
    counts
        Counts with at least one message.
    vocabulary_size
        m, the number of words that the mean runs over.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW) and Equation 12.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> for x, y in [("win cash now", "spam"), ("see you now", "ham")]:
    ...     model.learn_one(x, y)
    >>> relative_gain_ratios(model.counts(), 5).words.round(3)      # win, cash, now, see, you
    array([1.25, 1.25, 0.  , 1.25, 1.25])
    """
    ratios = gain_ratio(counts)
    # By size, so that equal counts have equal means, whatever the ids of their words.
    mean = np.sort(ratios).sum() / vocabulary_size
    if mean == 0:
        return WordWeights(np.ones_like(ratios), 1.0)
    return WordWeights(ratios / mean, 0.0)


def correlation_based(indexed: Documents, max_candidates: int) -> WordWeights:
    """Return weight 2 for the words that correlation-based search selects, 1 for the others.

    Parameters
    ----------
    indexed
        Ordered messages.
    max_candidates
        How many words it looks at.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW).
    """
    weights = np.ones(indexed.words.shape[1])
    weights[select_words(indexed, max_candidates)] = 2
    return WordWeights(weights, 1.0)


def tree_depth(
    indexed: Documents, max_depth: int, min_samples_leaf: float, untested: float
) -> WordWeights:
    """Return weight `untested` + 1/√d for words that a tree tests at depth d, else `untested`.

    The tree is binary, on the presence of words, and its root has depth 1; of several depths d is
    the least. Where it tests no word at all, every word weighs 1.

    Parameters
    ----------
    indexed
        Ordered messages.
    max_depth, min_samples_leaf
        How far the tree grows.
    untested
        The weight of words that it does not test.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DTW).

    Examples
    --------
    >>> from streamnb import DTWMNB
    >>> model = DTWMNB(min_samples_leaf=1)
    >>> spam, ham = ("win cash", "win a phone"), ("see you", "call us")
    >>> for x, y in [*((text, "spam") for text in spam), *((text, "ham") for text in ham)]:
    ...     model.learn_one(x, y)
    >>> model.refresh()
    >>> model.weights_["win"], model.weights_["cash"]
    (2.0, 1.0)
    """
    words = indexed.words
    depths = np.frombuffer(
        _core.split_depths(
            words.indptr.astype(np.int64),
            words.indices.astype(np.int64),
            indexed.classes,
            indexed.weights,
            indexed.word_order,
            words.shape[1],
            len(indexed.counts.class_documents),
            max_depth,
            min_samples_leaf,
        ),
        np.int64,
    )
    tested = depths > 0
    if not tested.any():
        return WordWeights(np.ones(len(depths)), 1.0)
    weights = np.full(len(depths), untested)
    weights[tested] += 1 / np.sqrt(depths[tested])
    return WordWeights(weights, untested)


def selection(indexed: Documents, parameters: ScoringParameters) -> WordWeights:
    """Return weight 1 for the share of words by gain ratio that would have decided best, else 0.

    Each share of `SHARES` decides each indexed message, with its own counts taken out: of class,
    words and totals. Of shares with equally many right decisions it is the smallest. A message of
    weight 3 is three messages, one of which is taken out. Class totals run over the words kept, but
    m is that of all words; the gain ratios stay those of all messages. Words whose gain ratio is
    that of the last one kept are kept too.

    Parameters
    ----------
    indexed
        Messages and counts; without messages all words are kept.
    parameters
        How they are scored.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS) and Equation 12.
    """
    ratios = gain_ratio(indexed.counts)
    thresholds = _thresholds(ratios, parameters.vocabulary_size)
    if not len(indexed.classes):
        return WordWeights(np.ones_like(ratios), 1.0)
    # The first share that keeps a word: what a share keeps, the next ones keep too.
    first = np.searchsorted(-thresholds, -ratios - TIE, side="left").astype(np.int64)
    right = np.zeros(len(SHARES))
    for rows, own in _left_out(indexed, parameters, first):
        right += (indexed.weights[rows, None] * own).sum(axis=0)
    best = int(np.argmax(right >= right.max() * (1 - 1e-12)))
    kept = np.where(first <= best, 1.0, 0.0)
    everything = best == len(SHARES) - 1 or thresholds[best] <= TIE
    return WordWeights(kept, 1.0 if everything else 0.0)


def _thresholds(ratios: Floats, vocabulary_size: float) -> Floats:
    """Return, for each share, the gain ratio of the last word that it keeps."""
    descending = np.sort(ratios)[::-1]
    places = np.ceil(np.array(SHARES) * vocabulary_size - TIE).astype(np.int64) - 1
    inside = (places < len(descending)) & (places >= 0)
    thresholds = np.zeros(len(SHARES))
    thresholds[inside] = descending[places[inside]]
    return thresholds


def _left_out(
    indexed: Documents, parameters: ScoringParameters, first: Integers
) -> Iterator[tuple[slice, Floats]]:
    """Decide the messages, each without its own counts, by the words of each share.

    Yields
    ------
    Blocks of messages, and 1 where a share decides right: shape `(messages of the block, shares)`.
    A tie is no decision, nor is the class of a single message ever right.
    """
    counts = indexed.counts
    n_classes, n_shares = len(counts.class_documents), len(SHARES)
    exists = counts.class_documents > 0
    table = counts.tokens.toarray() if _is_small(counts) else None
    totals = _by_share(counts, first)  # shares × classes
    indptr = indexed.words.indptr
    step = max(1, _BLOCK // (n_shares * n_classes * 2))
    start = 0
    while start < len(indexed.classes):
        # As many messages as fit, by their words and by their scores.
        stop = int(np.searchsorted(indptr, indptr[start] + _BLOCK // (2 * n_classes), "right")) - 1
        stop = min(max(stop, start + 1), start + step, len(indexed.classes))
        block = indexed.words[start:stop]
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
        rows = np.arange(stop - start)
        own_scores = scores[rows, :, classes].copy()
        scores[rows, :, classes] = -np.inf
        alone = counts.class_documents[classes] - one <= 0
        right = (own_scores > scores.max(axis=2) + TIE) & ~alone[:, None]
        yield slice(start, stop), right.astype(np.float64)
        start = stop


def _is_small(counts: Counts) -> bool:
    words, classes = counts.tokens.shape
    return bool(words * classes <= _TABLE)


def _by_share(counts: Counts, first: Integers) -> Floats:
    """Return the tokens of each class in the words of each share: shape `(shares, classes)`."""
    shares, classes = len(SHARES), counts.tokens.shape[1]
    rows = np.repeat(first, np.diff(counts.tokens.indptr))
    inside = rows < shares
    place = rows[inside] * classes + counts.tokens.indices[inside]
    tokens = np.bincount(place, counts.tokens.data[inside], shares * classes)
    summed: Floats = tokens.reshape(shares, classes).cumsum(axis=0)
    return summed
