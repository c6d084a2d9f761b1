"""Slow literal version of the averaged one-dependence estimators (SEMNB, SECNB, SEOVA).

The product and the sum of the formula are computed without logarithms, in decimal numbers that do
not underflow; the result is the logarithm. Nothing is imported from streamnb. Gain ratios, priors
and the scores of messages without parents come from the literal hidden multinomial naive Bayes in
`references.independent`.
"""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from references.documents import Array, Documents
from references.hidden import FrequentReference, strongest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

# A gain ratio below this is a rounding error: it decides whether a word is a parent.
ROUNDING = 1e-13

# Probabilities of 1e-7 to the power of thousands of tokens, with 40 digits.
CONTEXT = decimal.Context(prec=40, Emin=-(10**9), Emax=10**9)


class OneDependenceReference:
    """Scores of one model given past documents.

    Parameters are those of `Reference`, the maximum number of parents in a message, and the minimum
    number of documents of a parent, which also applies to m.
    """

    def __init__(self, name: str, max_parents: int | None = None, **parameters: Any) -> None:
        self.name = name
        self.max_parents = max_parents
        # The event model gives priors, the treatment of unknown words and the independent score.
        self.independent = FrequentReference(name[-3:], **parameters)

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        present = {word: count for word, count in x.items() if count > 0}
        if self.independent.oov == "skip":
            present = {word: count for word, count in present.items() if word in docs.words}
        gain = docs.gain_ratios if docs.labels else np.zeros(0)
        gain = np.where(self.independent.frequent(docs), gain, 0.0)
        known = [word for word in present if word in docs.words]
        # The counts of the message's known words, column by column.
        counts = docs.counts[:, [docs.words[word] for word in known]]
        weight_of = {word: float(gain[docs.words[word]]) for word in known}
        words = [word for word in known if weight_of[word] > ROUNDING]
        kept = strongest(words, weight_of.__getitem__, self.max_parents)
        parents = [t for t, word in enumerate(known) if word in kept]
        if not parents:
            return self.independent.joint_log_likelihood(docs, x)
        f = [
            *(present[word] for word in known),
            sum(present.values()) - sum(map(present.get, known)),
        ]
        weights = [weight_of[known[t]] for t in parents]
        return {c: self._score(docs, counts, f, parents, weights, docs.of(c)) for c in docs.classes}

    def _score(
        self,
        docs: Documents,
        counts: Array,
        f: list[float],
        parents: list[int],
        weights: list[float],
        of_c: NDArray[np.bool_],
    ) -> float:
        prior = self.independent._log_prior
        with decimal.localcontext(CONTEXT):
            mean = decimal.Decimal(0)
            for t, weight in zip(parents, weights, strict=True):
                share = decimal.Decimal(weight) / decimal.Decimal(sum(weights))
                if self.name == "SEMNB":
                    mean += share * self._estimator(docs, counts, f, t, of_c)
                elif self.name == "SECNB":
                    mean += share * self._estimator(docs, counts, f, t, ~of_c)
                else:
                    inside = self._estimator(docs, counts, f, t, of_c)
                    mean += share * inside / self._estimator(docs, counts, f, t, ~of_c)
            score = float(mean.ln())
        if self.name == "SEMNB":
            return prior(docs, of_c) + score
        if self.name == "SECNB":
            return -prior(docs, ~of_c) - score
        return prior(docs, of_c) - prior(docs, ~of_c) + score

    def _estimator(
        self,
        docs: Documents,
        counts: Array,
        f: list[float],
        t: int,
        members: NDArray[np.bool_],
    ) -> decimal.Decimal:
        """Return the product of P(w_i|w_t,c)^f_i over the message; Equations 14 and 18."""
        weights = docs.weights * members * (counts[:, t] > 0)
        alpha = self.independent.alpha
        length = float(weights @ docs.lengths) + alpha * self.independent.m_of_parents(docs)
        product = decimal.Decimal(1)
        # The last count covers all unknown tokens.
        for together, count in zip([*(weights @ counts), 0.0], f, strict=True):
            share = decimal.Decimal(float(together) + alpha) / decimal.Decimal(length)
            product *= share ** decimal.Decimal(count)
        return product
