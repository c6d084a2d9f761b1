"""Naive Bayes on texts with word weights that minimise a loss, slowly and literally.

Scores come from `references.weights.WeightsReference`, word by word, and losses from
`references.losses.LossReference`. Each message is left out by reducing its weight by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from references.documents import Array, Documents
from references.losses import LossReference, log_sum_exp
from references.weights import WeightsReference

# The weight of each example, and the contributions of the prior and each word to its margin over
# each other class.
Examples = list[tuple[float, list[tuple[float, dict[Any, float]]]]]
# The name of each loss in `references.losses`. A fit of "generalised" has its multiplier in the
# margins, so its loss is the likelihood.
LOSSES = {
    "exponential": "ENB",
    "deviance": "DNB",
    "likelihood": "LNB",
    "generalised": "LNB",
    "squared": "MSENB",
}
# The factor of margins in the losses that `minimum` knows.
_FACTORS = {"deviance": 2.0, "likelihood": 1.0, "generalised": 1.0}


class WordFitReference(WeightsReference):
    """Scores and losses given past documents.

    Parameters
    ----------
    name
        `Loss` and one of `references.weights.EVENTS`.
    loss
        One of `LOSSES`.
    ridge, leave_one_out, alpha, prior, oov, vocabulary_size, index_size
        As at `streamnb.LossMNB`.
    """

    def __init__(
        self,
        name: str,
        loss: str = "generalised",
        ridge: float = 0.1,
        leave_one_out: bool = True,
        **parameters: Any,
    ) -> None:
        super().__init__(name[-3:], **parameters)
        self.loss, self.ridge = loss, ridge
        self.losses = LossReference(LOSSES[loss], ridge=ridge)
        self.leave_one_out = leave_one_out
        self._fitted: tuple[Documents, dict[Any, float], float] | None = None

    def terms(
        self, docs: Documents, x: Mapping[Any, float], c: Any, each: Array
    ) -> tuple[float, dict[Any, float]]:
        """Return the contributions of the prior and of each word to the score of a class."""
        sides = self.sides(docs, c, np.ones(len(docs.words)), each)
        prior = self.of_event(*(side.prior for side in sides))
        terms = {}
        for word, count in x.items():
            logs = [0.0, 0.0]
            if word in docs.words:
                logs = [count * float(side.words[docs.words[word]]) for side in sides]
            elif self.oov == "smooth":
                logs = [count * side.new for side in sides]
            terms[word] = self.of_event(*logs)
        return prior, terms

    def scores(
        self, docs: Documents, x: Mapping[Any, float], weights: Mapping[Any, float], scale: float
    ) -> dict[Any, float]:
        """Return the score of each class; words without a weight have weight 1."""
        scores = {}
        for c in docs.classes:
            prior, terms = self.terms(docs, x, c, docs.weights)
            weighted = sum(weights.get(word, 1.0) * term for word, term in terms.items())
            scores[c] = scale * (prior + weighted)
        return scores

    def examples(self, docs: Documents) -> Examples:
        """Return the indexed messages, except the only message of a class."""
        examples: Examples = []
        names = list(docs.words)
        for j in range(self._first(docs), len(docs.labels)):
            own = docs.labels[j]
            each = docs.weights.copy()
            if self.leave_one_out:
                each[j] -= min(each[j], 1.0)
                if each[docs.of(own)].sum() <= 0:
                    continue
            x = {name: count for name, count in zip(names, docs.counts[j], strict=True) if count}
            right, mine = self.terms(docs, x, own, each)
            margins = []
            for c in docs.classes:
                if c != own:
                    prior, theirs = self.terms(docs, x, c, each)
                    margins.append((right - prior, {w: mine[w] - theirs[w] for w in x}))
            examples.append((float(docs.weights[j]), margins))
        return examples

    def scaled(self, examples: Examples, scale: float) -> Examples:
        """Return the examples with all margins multiplied."""
        return [
            (w, [(scale * o, {t: scale * s for t, s in slopes.items()}) for o, slopes in margins])
            for w, margins in examples
        ]

    def multiplier(self, examples: Examples) -> float:
        """α of Equation 18 with the minimum loss if all weights are 1: bisection on the slope."""
        if self.loss != "generalised" or not examples:
            return 1.0
        plain = [
            (w, [o + sum(slopes.values()) for o, slopes in margins]) for w, margins in examples
        ]

        def slope(scale: float) -> float:
            total = 0.0
            for w, margins in plain:
                whole = log_sum_exp([0.0, *(-scale * m for m in margins)])
                total -= w * sum(m * math.exp(-scale * m - whole) for m in margins)
            return total

        low, high = -9.0, math.log(2.0)
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(math.exp(middle)) < 0 else (low, middle)
        return math.exp(high)

    def minimum(self, examples: Examples) -> dict[Any, float]:
        """The weights of 0 or more with the least loss: Newton's method with a dense matrix."""
        occur = {t for _, margins in examples for _, slopes in margins for t in slopes}
        names = sorted(occur, key=str)
        factor, n = _FACTORS[self.loss], len(names)
        place = {name: j for j, name in enumerate(names)}
        others = len(examples[0][1])
        each = np.array([w for w, _ in examples])
        offsets = np.array([[offset for offset, _ in margins] for _, margins in examples])
        table = np.zeros((len(examples), others, n))
        for i, (_, margins) in enumerate(examples):
            for k, (_, slopes) in enumerate(margins):
                for name, slope in slopes.items():
                    table[i, k, place[name]] = slope

        def value(v: Array) -> tuple[float, Array, Array]:
            logs = -factor * (offsets + table @ v)
            whole = np.array([log_sum_exp([0.0, *row]) for row in logs])
            shares = np.exp(logs - whole[:, None])
            loss = float(each @ whole) + self.ridge / 2 * float((v - 1) @ (v - 1))
            mean = (shares[:, :, None] * table).sum(axis=1)
            gradient = self.ridge * (v - 1) - factor * each @ mean
            flat, weight = table.reshape(-1, n), (each[:, None] * shares).ravel()
            matrix = self.ridge * np.eye(n) + factor**2 * (
                flat.T @ (weight[:, None] * flat) - mean.T @ (each[:, None] * mean)
            )
            return loss, gradient, matrix

        v = np.ones(n)
        for _ in range(100):
            loss, gradient, matrix = value(v)
            free = (v > 0) | (gradient < 0)
            step = np.zeros(n)
            step[free] = np.linalg.solve(matrix[np.ix_(free, free)], -gradient[free])
            # Weights that the step would make negative stop at 0.
            length = 1.0
            while value(moved := np.maximum(v + length * step, 0))[0] > loss + 1e-12 * abs(loss):
                length /= 2
                if length < 1e-12:
                    break
            change, v = np.abs(moved - v).max(initial=0.0), moved
            if change < 1e-13:
                break
        return dict(zip(names, v.tolist(), strict=True))

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class."""
        if self._fitted is None or self._fitted[0] is not docs:
            examples = self.examples(docs) if len(docs.classes) > 1 else []
            scale = self.multiplier(examples)
            weights = self.minimum(self.scaled(examples, scale)) if examples else {}
            self._fitted = docs, weights, scale
        return self.scores(docs, x, *self._fitted[1:])
