"""Slow literal version of naive Bayes with correlation factor, from its equations alone.

References
----------
Equations 3.1, 4.5 and 5.2 of the paper on naive Bayes with correlation factor (NBCF).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from references.documents import Array, Documents

EVENTS = {"NBCF": "multinomial"}
GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
# Two factors near 0: a score that differs between them is infinite at 0.
NEARLY_ZERO, NEARER_ZERO = 1e-120, 1e-240


class CorrelationReference:
    """Scores given past documents.

    Parameters
    ----------
    name
        `"NBCF"`, or an event: `"multinomial"`, `"complement"`, `"one-versus-all"`.
    alpha, oov, vocabulary_size
        Without effect.
    prior
        As in `references.independent.Reference`; None is the event's own.
    factor
        t, or `"optimal"`; 0 is the limit from above.
    """

    def __init__(
        self,
        name: str,
        alpha: float = 1.0,
        prior: str | None = None,
        oov: str | None = None,
        vocabulary_size: int | None = None,
        factor: float | str = 0.1,
    ) -> None:
        self.event = EVENTS.get(name, name)
        self.prior = prior or ("empirical" if self.event == "multinomial" else "laplace")
        self.factor = factor

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        if self.factor != 0:
            return self._scores(docs, x)
        near, nearer = (
            CorrelationReference(self.event, prior=self.prior, factor=factor)._scores(docs, x)
            for factor in (NEARLY_ZERO, NEARER_ZERO)
        )
        return {
            c: score if abs(score - near[c]) < 1 else math.copysign(math.inf, score - near[c])
            for c, score in nearer.items()
        }

    def _scores(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        scores = {}
        for c in docs.classes:
            y = docs.of(c).astype(float)
            score = 0.0
            if self.event != "complement":
                t = self._factor(docs, y, docs.classes)
                score += self._log_prior(docs, y) + self._words(docs, x, y, t)
            if self.event != "multinomial":
                t = self._factor(docs, 1 - y, None)
                score -= self._log_prior(docs, 1 - y) + self._words(docs, x, 1 - y, t)
            scores[c] = score
        return scores

    def _log_prior(self, docs: Documents, y: Array) -> float:
        n, n_c = docs.weights.sum(), docs.weights @ y
        if self.prior == "uniform" or (self.prior == "empirical" and n_c == 0):
            return 0.0
        if self.prior == "empirical":
            return math.log(n_c / n)
        return math.log((n_c + 1) / (n + len(docs.classes)))

    def _words(self, docs: Documents, x: Mapping[Any, float], y: Array, t: float) -> float:
        """Equations 3.1 and 4.5: Σ_j x_j ln θ_j of the words that any class has seen."""
        weights = docs.weights * (y + t)  # how much each document counts for this class
        all_words = float((weights @ docs.counts).sum())
        return sum(
            count * math.log(float(weights @ docs.counts[:, docs.words[word]]) / all_words)
            for word, count in x.items()
            if count > 0 and word in docs.words
        )

    def _factor(self, docs: Documents, y: Array, classes: list[Any] | None) -> float:
        if self.factor != "optimal":
            return float(self.factor)
        sides = [docs.of(c).astype(float) for c in classes] if classes else [y, 1 - y]
        return optimal(docs, y, sides)


def optimal(docs: Documents, y: Array, sides: list[Array], bias_weight: float = 1.0) -> float:
    """Equation 5.2 for the class of the documents `y`, summed over the words.

    Parameters
    ----------
    docs
        Past documents.
    y
        1 for the documents of the class, 0 for others.
    sides
        The vectors `y` of all classes, for the sums over l.
    bias_weight
        c1 / c2.
    """
    everything = (docs.weights @ docs.counts).sum()
    if everything == 0:
        return 0.1
    p, theta = share(docs, y)
    shares = [share(docs, side) for side in sides]
    variance = theta * (1 - theta)
    mean_variance = sum(p_l * theta_l * (1 - theta_l) for p_l, theta_l in shares)
    mean = sum(p_l * theta_l for p_l, theta_l in shares)
    numerator = ((1 - p) * variance).sum()
    bias = bias_weight * everything * (mean - theta) ** 2
    denominator = (mean_variance - variance + bias).sum()
    least = min(1.0, 1 / docs.weights.sum())
    if p == 0 or p > 1 - 1e-12 or denominator <= 0:
        return 1.0  # with p at 0 or 1 the estimate does not depend on it
    return float(min(max(numerator / denominator, least), 1.0))


def share(docs: Documents, y: NDArray[np.float64]) -> tuple[float, Array]:
    """Return the share p of a class in all tokens, and its maximum likelihood estimates."""
    tokens = (docs.weights * y) @ docs.counts
    everything = (docs.weights @ docs.counts).sum()
    n_c = tokens.sum()
    return float(n_c / everything), tokens / n_c if n_c else np.zeros(len(docs.words))
