"""Slow literal version of the models that weigh documents while they learn.

Each document in the list has its extra weight: 1 − P(its class | document) when it was learned,
rounded to 1/1024. Each score sums all of them from scratch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from references.documents import Documents
from references.weights import WeightsReference

STEPS = 1024


class OnlineReference:
    """Scores of one model, and the documents that it has learned.

    Parameters
    ----------
    name
        An event of `references.weights.EVENTS`.
    index_size
        Number of most recent documents that keep their extra weight; None for all.
    parameters
        Parameters of `WeightsReference`, including `words`.
    """

    def __init__(self, name: str, index_size: int | None = None, **parameters: Any) -> None:
        self.reference = WeightsReference(name, index_size=index_size, **parameters)
        self.index_size = index_size
        self.documents: list[tuple[Mapping[Any, float], Any, float]] = []
        self.extra: list[float] = []

    def learn(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Weigh a document by all earlier ones, and add it."""
        scores = self.joint_log_likelihood(x)
        probability = 0.0
        if y in scores:
            highest = max(scores.values())
            shares = {label: math.exp(score - highest) for label, score in scores.items()}
            probability = shares[y] / sum(shares.values())
        self.documents.append((x, y, w))
        self.extra.append(math.floor((1 - probability) * STEPS + 0.5) / STEPS)

    def unlearn(self, place: int) -> None:
        """Forget a document; the others keep their extra weights."""
        del self.documents[place], self.extra[place]

    def joint_log_likelihood(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        if not self.documents:
            return {}
        docs = Documents.from_list(self.documents)
        weights, oov = self.reference.word_weights(docs)
        known = len(docs.labels) if self.index_size is None else self.index_size
        extra = np.array(self.extra)
        extra[: max(len(extra) - known, 0)] = 0
        row, new = np.zeros(len(docs.words)), 0.0
        for word, count in x.items():
            if word in docs.words:
                row[docs.words[word]] = count
            elif self.reference.oov == "smooth":
                new += count
        each = docs.weights * (1 + extra)
        return {
            label: self.reference._score(docs, row, new, label, weights, oov, each)
            for label in docs.classes
        }
