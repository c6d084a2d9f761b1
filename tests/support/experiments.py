"""Experiments on toy collections, with a model simple enough to compute by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb.reproduce import (
    Experiment,
    Plan,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


TABLES = ("hmnb-table2", "hmnb-table3", "hmnb-table4")


class Stub:
    """Multinomial naive Bayes with Laplace priors and the interface of the models."""

    built = 0

    def __init__(self, vocabulary_size: int, complement: bool = False) -> None:
        type(self).built += 1
        self.m, self.complement = vocabulary_size, complement
        self.refreshed = False

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        assert X.shape == (len(y), len(vocabulary))
        self.classes = sorted(set(y))
        member = np.array([[label == name for label in y] for name in self.classes], dtype=float)
        documents, counts = member.sum(axis=1), np.asarray(member @ X)
        if self.complement:
            documents, counts = documents.sum() - documents, counts.sum(axis=0) - counts
        self.prior = np.log((documents + 1) / (len(y) + len(self.classes)))
        self.logs = np.log((counts + 1) / (counts.sum(axis=1, keepdims=True) + self.m))

    def refresh(self) -> None:
        self.refreshed = True

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> list[str]:
        assert self.refreshed
        assert X.shape[1] == len(vocabulary)
        scores = np.asarray(X @ self.logs.T) + self.prior
        best = (-scores if self.complement else scores).argmax(axis=1)
        return [self.classes[place] for place in best]


def plan_of(experiment: Experiment, **settings: Any) -> Plan:
    settings = {"runs": 2, "folds": 5, **settings}
    return Plan(experiment, experiment.collections, experiment.models, **settings)
