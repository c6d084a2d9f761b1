"""Slow literal versions of the hidden models, written from the equations alone.

References
----------
Equations 10 to 18 of the paper on hidden multinomial naive Bayes (HMNB, HCNB, HOVA).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from references.documents import Array, Documents
from references.independent import Reference

# A word *at* the average qualifies as a parent. Rounding must not disqualify it where several words
# tie (at the start of a stream most do), so the comparison forgives the last digits.
TIE = 1e-12


class HiddenReference(Reference):
    """Scores of HMNB, HCNB or HOVA given past documents; parameters are those of `Reference`."""

    def _words(
        self,
        docs: Documents,
        x: Mapping[Any, float],
        members: NDArray[np.bool_],
    ) -> float:
        """Logarithm of the products of Equations 10 and 15."""
        gain = docs.gain_ratios if docs.labels else np.zeros(0)
        parents, columns = self._parents(docs, x, gain)
        with_parent = self._with_parent(docs, columns, members)
        # Denominators of Equations 14 and 18: tokens of the members that contain w_t.
        tokens = docs.lengths @ with_parent + self.alpha * self._m(docs)
        score = 0.0
        for word, count in x.items():
            others = np.array([parent != word for parent in parents], dtype=bool)
            if not others.any():
                score += count * math.log(self._conditional(docs, word, members))
                continue
            i = docs.words.get(word)
            together = 0.0 if i is None else docs.counts[:, i] @ with_parent
            given = (together + self.alpha) / tokens  # Equations 14 and 18
            w = gain[columns][others]
            score += count * math.log(float(w @ given[others] / w.sum()))  # Equations 11 and 17
        return score

    def _parents(
        self, docs: Documents, x: Mapping[Any, float], gain: Array
    ) -> tuple[list[Any], NDArray[np.intp]]:
        """Return the qualified parents among the words of `x`, and their columns."""
        average = math.fsum(gain) / self._m(docs)  # Equation 13
        candidates = [(word, docs.words[word]) for word in x if word in docs.words]
        parents = [
            (word, t) for word, t in candidates if gain[t] > 0 and gain[t] >= average * (1 - TIE)
        ]
        return [word for word, _ in parents], np.array([t for _, t in parents], dtype=int)

    def _with_parent(
        self, docs: Documents, columns: NDArray[np.intp], members: NDArray[np.bool_]
    ) -> Array:
        """Return the weight of each member that contains a parent: a row a document."""
        weights = docs.weights * members
        return np.asarray((docs.counts[:, columns] > 0) * weights[:, None])


class RatiosReference(HiddenReference):
    """HOVA as its published figures were computed; parameters are those of `Reference`.

    The mean over parents of the ratio of the two sides, in place of Equation 16's ratio of the two
    means.
    """

    def _score(self, docs: Documents, x: Mapping[Any, float], of_c: NDArray[np.bool_]) -> float:
        priors = self._log_prior(docs, of_c) - self._log_prior(docs, ~of_c)
        return priors - self._ratios(docs, x, of_c)

    def _ratios(
        self,
        docs: Documents,
        x: Mapping[Any, float],
        members: NDArray[np.bool_],
    ) -> float:
        """Logarithm of the product of each word's mean of P(w_i|w_t, not c) / P(w_i|w_t, c)."""
        gain = docs.gain_ratios if docs.labels else np.zeros(0)
        parents, columns = self._parents(docs, x, gain)
        inside, outside = (self._with_parent(docs, columns, side) for side in (members, ~members))
        smoothing = self.alpha * self._m(docs)
        score = 0.0
        for word, count in x.items():
            others = np.array([parent != word for parent in parents], dtype=bool)
            if not others.any():  # the complement alone, not a ratio
                score += count * math.log(self._conditional(docs, word, ~members))
                continue
            i = docs.words.get(word)
            f_i = np.zeros(len(docs.labels)) if i is None else docs.counts[:, i]
            given = (f_i @ inside + self.alpha) / (docs.lengths @ inside + smoothing)
            given_not = (f_i @ outside + self.alpha) / (docs.lengths @ outside + smoothing)
            w = gain[columns][others]
            score += count * math.log(float(w @ (given_not / given)[others] / w.sum()))
        return score
