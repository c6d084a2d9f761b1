"""Discriminative weights of messages: DWMNB, DWCNB and DWOVA.

The counts keep the weight that a message was learned with. Its additional weight is stored
separately and recomputed at each refresh, so unlearning removes both.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from streamnb.families.independent import Multinomial
from streamnb.model.composition import Composition, DocumentWeights, parameter
from streamnb.model.texts import TextNaiveBayes
from streamnb.model.weighting import InstanceWeights, WordWeights
from streamnb.parameters import whole
from streamnb.statistics.counts import Floats
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import (
    ScoringParameters,
    log_chi_square_ratios,
    log_denominators,
    log_numerators,
    log_priors,
)
from streamnb.text.labels import L


@dataclasses.dataclass(frozen=True)
class Discriminative(DocumentWeights, name="discriminative"):
    """Indexed messages are weighted at each refresh, in rounds (DW).

    `DiscriminativeNB` documents the parameter.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW).
    """

    periodic: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536
    scoring: ClassVar[Mapping[str, Any]] = {"document_weights": "instance"}

    rounds: int = parameter(20, whole(0, most=1_000), compare=False)

    def added(
        self, indexed: Documents, parameters: ScoringParameters, words: WordWeights | None
    ) -> InstanceWeights:
        """Return the weights of the messages."""
        return discriminative(indexed, parameters, words, self.rounds)


def discriminative(
    indexed: Documents, parameters: ScoringParameters, words: WordWeights | None, rounds: int
) -> InstanceWeights:
    """Return the counts to add if messages that fit their class badly weigh more.

    Each message j begins with weight 1. Each round adds 1 − P(c_j|d_j), where P is the probability
    under the model with the weights of the previous round, which apply to tokens, word estimates
    and priors. Messages that the index has evicted keep weight 1. `words` are the weights of words,
    or None.
    """
    from scipy import sparse  # importing it at the top would double the import time

    indexed = indexed.sorted()
    counts = indexed.counts
    # Only the words of indexed messages change their counts.
    occurs = np.zeros(counts.tokens.shape[0], dtype=bool)
    occurs[indexed.words.indices] = True
    used = np.flatnonzero(occurs)
    messages = indexed.words[:, used].tocsr()
    messages.sort_indices()
    each = np.ones(len(occurs)) if words is None else words.words
    weights = each[used]
    weighted = sparse.csr_array(
        (messages.data * weights[messages.indices], messages.indices, messages.indptr),
        shape=messages.shape,
    )
    base = counts.tokens[used].toarray()
    # Tokens of words that no indexed message contains; they do not change.
    rest = counts.tokens.multiply((each * ~occurs)[:, None]).tocsc()
    other_tokens = np.array(
        [np.sort(rest.data[start:end]).sum() for start, end in itertools.pairwise(rest.indptr)]
    )
    lengths = np.asarray(weighted.sum(axis=1)).ravel()
    ratios: Floats | float = 0.0
    if parameters.chi_square:
        of_class = counts.documents[used].toarray()
        found = log_chi_square_ratios(of_class, counts.class_documents, parameters)
        ratios = messages @ found
    n_classes = len(counts.class_documents)
    is_own = (np.arange(n_classes) == indexed.classes[:, None]).astype(np.float64)
    added = np.zeros(len(indexed.classes))
    transposed = messages.T.tocsr()

    def added_counts() -> tuple[Floats, Floats]:
        of_class = is_own * (indexed.weights * added)[:, None]
        return of_class.sum(axis=0), np.asarray(transposed @ of_class)

    for _ in range(rounds):
        documents, tokens = added_counts()
        table = weights[:, None] * (base + tokens)
        totals = table.sum(axis=0) + other_tokens
        scores = ratios + log_priors(counts.class_documents + documents, n_classes, parameters)
        scores = scores + weighted @ log_numerators(table, table.sum(axis=1)[:, None], parameters)
        scores += lengths[:, None] * log_denominators(totals, totals.sum(), parameters)
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        added += 1 - (shares * is_own).sum(axis=1)
    documents, tokens = added_counts()
    rows, columns = np.nonzero(tokens)
    table = sparse.csr_array(
        (tokens[rows, columns], (used[rows], columns)), shape=counts.tokens.shape
    )
    return InstanceWeights(documents, table)


@dataclasses.dataclass(eq=False, repr=False)
class DiscriminativeNB(TextNaiveBayes[L]):
    """Naive Bayes that gives more weight to messages that it classifies badly.

    Each message j begins with weight 1, and each round adds 1 − P(c_j|d_j), the probability that
    the model with the weights of the previous round misses the class. The weight multiplies the
    counts of the message and its share of the prior.

    A new message is learned with weight 1. A refresh (`refresh_every`) computes the additional
    weights over the last `index_size` messages, at the cost of scoring each of them `rounds` times.
    A message that the index has evicted has weight 1 again.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    rounds
        Rounds of weighting at each refresh, 0 or more. The paper fixes the number but does not
        give it; values from 13 to 30 make no difference on its collections.
    """

    composition: ClassVar[Composition] = Composition(
        Multinomial(), document_weights=Discriminative()
    )
    paper = "Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW)"

    rounds: int = Discriminative.rounds


class DWMNB(DiscriminativeNB[L], event="multinomial", equations="Equations 1, 4 and 6"):
    """Multinomial naive Bayes with discriminatively weighted documents (DWMNB).

    Each round adds 1 − P(c_j|d_j) to the weight of message j, where P is the probability of its
    class under the model with the weights of the previous round.
    """


class DWCNB(DiscriminativeNB[L], event="complement", equations="Equations 2, 5 and 7"):
    """Complement naive Bayes with discriminatively weighted documents (DWCNB).

    As `DWMNB`, with the probabilities of complement naive Bayes.
    """


class DWOVA(DiscriminativeNB[L], event="one-versus-all", equations="Equation 3"):
    """One-versus-all naive Bayes with discriminatively weighted documents (DWOVA).

    As `DWMNB`, with the probabilities of one-versus-all naive Bayes.
    """
