"""Weights of documents: statistics that say what indexed messages count for beyond their own.

What a message was learned with stays in the counts; what it counts for besides stands beside them,
and is computed anew at each refresh, aside. So a message that is unlearned takes both away.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from streamnb.statistics.counts import Floats
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import (
    ScoringParameters,
    log_chi_square_ratios,
    log_denominators,
    log_numerators,
    log_priors,
)
from streamnb.statistics.weighting import WordWeights

if TYPE_CHECKING:
    from scipy import sparse

PAPER_ROUNDS = 20
"""Between 13 and 30, accuracy on the paper's collections is the same within a tenth of a point."""


@dataclasses.dataclass(frozen=True)
class InstanceWeights:
    """The counts that weights of instances add to those of the indexed messages.

    Attributes
    ----------
    documents
        By class id: shape `(classes,)`.
    tokens
        Of each word in each class: sparse, shape `(words, classes)`.
    """

    documents: Floats
    tokens: sparse.csr_array


def discriminative(
    indexed: Documents, parameters: ScoringParameters, words: WordWeights | None, rounds: int
) -> InstanceWeights:
    """Return what messages add to the counts that weigh the more, the less they fit their class.

    Each message j begins with weight 1, and each round adds 1 − P(c_j|d_j), where P comes from the
    model of all messages with the weights of the round before: their tokens, and so their words'
    estimates, and the priors are weighted. Messages that the index has evicted keep weight 1.

    Parameters
    ----------
    indexed
        Messages and counts.
    parameters
        How messages are scored.
    words
        The weights of words, where they have any.
    rounds
        How often, 0 or more.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW).
    """
    from scipy import sparse

    indexed = indexed.sorted()
    counts, order = indexed.counts, indexed.class_order
    # Only the words of indexed messages have other counts than before.
    occurs = np.zeros(counts.tokens.shape[0], dtype=bool)
    occurs[indexed.words.indices] = True
    used = indexed.word_order[occurs[indexed.word_order]]
    messages = indexed.words[:, used].tocsr()
    messages.sort_indices()
    each = np.ones(len(occurs)) if words is None else words.words
    weights = each[used]
    weighted = sparse.csr_array(
        (messages.data * weights[messages.indices], messages.indices, messages.indptr),
        shape=messages.shape,
    )
    base = counts.tokens[used].toarray()[:, order]
    # Tokens of the words that no indexed message has: they stay as they are.
    rest = counts.tokens.multiply((each * ~occurs)[:, None]).tocsc()
    other_tokens = np.array(
        [np.sort(rest.data[rest.indptr[c] : rest.indptr[c + 1]]).sum() for c in order]
    )
    lengths = np.asarray(weighted.sum(axis=1)).ravel()
    ratios: Floats | float = 0.0
    if parameters.chi_square:
        of_class = counts.documents[used].toarray()
        found = log_chi_square_ratios(of_class, counts.class_documents, parameters)
        ratios = messages @ found[:, order]
    is_own = (order == indexed.classes[:, None]).astype(np.float64)
    added = np.zeros(len(indexed.classes))
    transposed = messages.T.tocsr()

    def added_counts() -> tuple[Floats, Floats]:
        of_class = is_own * (indexed.weights * added)[:, None]
        return of_class.sum(axis=0), np.asarray(transposed @ of_class)

    for _ in range(rounds):
        documents, tokens = added_counts()
        table = weights[:, None] * (base + tokens)
        totals = table.sum(axis=0) + other_tokens
        scores = ratios + log_priors(
            counts.class_documents[order] + documents, len(order), parameters
        )
        scores = scores + weighted @ log_numerators(table, table.sum(axis=1)[:, None], parameters)
        scores += lengths[:, None] * log_denominators(totals, totals.sum(), parameters)
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        added += 1 - (shares * is_own).sum(axis=1)
    documents, tokens = added_counts()
    all_documents = np.zeros(len(counts.class_documents))
    all_documents[order] = documents
    rows, columns = np.nonzero(tokens)
    table = sparse.csr_array(
        (tokens[rows, columns], (used[rows], order[columns])), shape=counts.tokens.shape
    )
    return InstanceWeights(all_documents, table)
