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
from references.losses import LossReference
from references.weights import WeightsReference

# The weight of each example, and the contributions of the prior and each word to its margin over
# each other class.
Examples = list[tuple[float, list[tuple[float, dict[Any, float]]]]]
# The name of each model's loss in ComposedNB.
LOSSES = {
    "exponential": "ENB",
    "deviance": "DNB",
    "likelihood": "LNB",
    "generalised": "LNB",
    "squared": "MSENB",
}


class WordFitReference(WeightsReference):
    """Scores and losses given past documents.

    Parameters
    ----------
    event
        One of `references.weights.EVENTS`.
    loss
        One of `LOSSES`.
    ridge, leave_one_out, alpha, prior, oov, vocabulary_size, index_size
        As at `streamnb.ComposedNB`.
    """

    def __init__(
        self,
        event: str,
        loss: str,
        ridge: float = 0.1,
        leave_one_out: bool = True,
        **parameters: Any,
    ) -> None:
        super().__init__(event, **parameters)
        self.loss = loss
        self.losses = LossReference(LOSSES[loss], ridge=ridge)
        self.leave_one_out = leave_one_out

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
        """α of Equation 18 with the minimum loss if all weights are 1: ternary search."""
        if self.loss != "generalised":
            return 1.0
        low, high = -9.0, math.log(2.0)

        def loss(log: float) -> float:
            return self.losses.loss(self.scaled(examples, math.exp(log)), (1.0, {}))

        for _ in range(60):
            one, two = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, two) if loss(one) <= loss(two) else (one, high)
        return math.exp((low + high) / 2)
