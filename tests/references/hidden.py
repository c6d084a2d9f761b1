"""Slow literal versions of the hidden models, written from the equations alone.

References
----------
Equations 10 to 18 of the paper on hidden multinomial naive Bayes (HMNB, HCNB, HOVA).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from references.documents import Array, Documents
from references.independent import Reference

# A word *at* the average qualifies as a parent. Rounding must not disqualify tied words (most words
# tie at the start of a stream), so the comparison ignores the last digits.
TIE = 1e-12


def strongest(words: list[str], weight: Callable[[str], float], most: int | None) -> list[str]:
    """Return the words of greatest weight in order; ties go to the first by their bytes.

    Weights that agree in single precision are equal: their last digits are rounding.
    """
    if most is None or len(words) <= most:
        return words
    ranked = sorted(words, key=lambda word: (-np.float32(weight(word)), word.encode()))
    kept = set(ranked[:most])
    return [word for word in words if word in kept]


class FrequentReference(Reference):
    """Scores of independent words, and the words frequent enough to be parents.

    Parameters are those of `Reference` and the minimum number of documents.
    """

    def __init__(self, name: str, min_df: int = 1, **parameters: Any) -> None:
        super().__init__(name, **parameters)
        self.min_df = min_df

    def m_of_parents(self, docs: Documents) -> int:
        """m of Equations 13, 14 and 18: the number of frequent words."""
        return max(self.vocabulary_size or 0, int(self.frequent(docs).sum()), 1)

    def frequent(self, docs: Documents) -> NDArray[np.bool_]:
        """Return the frequent words; with a minimum of one, every word."""
        if self.min_df == 1:
            return np.ones(len(docs.words), dtype=bool)
        df: Array = docs.weights @ (docs.counts > 0)
        return np.asarray(df >= self.min_df * (1 - TIE))


class HiddenReference(FrequentReference):
    """Scores of HMNB, HCNB or HOVA given past documents.

    Parameters are those of `Reference`, the maximum number of parents in a message, and the minimum
    number of documents of a parent, which also applies to m.
    """

    def __init__(self, name: str, max_parents: int | None = None, **parameters: Any) -> None:
        super().__init__(name, **parameters)
        self.max_parents = max_parents

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
        tokens = docs.lengths @ with_parent + self.alpha * self.m_of_parents(docs)
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
        gain = np.where(self.frequent(docs), gain, 0.0)
        average = math.fsum(gain) / self.m_of_parents(docs)  # Equation 13
        candidates = [(word, docs.words[word]) for word in x if word in docs.words]
        qualified = [
            word for word, t in candidates if gain[t] > 0 and gain[t] >= average * (1 - TIE)
        ]
        parents = strongest(qualified, lambda word: gain[docs.words[word]], self.max_parents)
        return parents, np.array([docs.words[word] for word in parents], dtype=int)

    def _with_parent(
        self, docs: Documents, columns: NDArray[np.intp], members: NDArray[np.bool_]
    ) -> Array:
        """Return the weight of each member that contains a parent; rows are documents."""
        weights = docs.weights * members
        return np.asarray((docs.counts[:, columns] > 0) * weights[:, None])


class RatiosReference(HiddenReference):
    """HOVA as its published figures were computed; parameters are those of `Reference`.

    The mean over parents of the ratio of the two sides replaces Equation 16's ratio of two means.
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
        smoothing = self.alpha * self.m_of_parents(docs)
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
