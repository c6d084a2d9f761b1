"""HONB on pure paths of the collection: their ends share no learned document of any class.

`streamnb.HONB(pure=True)` compares the documents of the class only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.papers.experiment import ModelRecipe


class PurePaths:
    """HONB on pure second-order paths, with dense matrices.

    Parameters
    ----------
    model
        `"collection"`, or `"class"` for the reading of `streamnb.HONB(pure=True)`.
    vocabulary_size
        Ignored.
    """

    def __init__(self, model: str, vocabulary_size: int) -> None:
        self.whole = model == "collection"

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        """Count the paths of each class, as in `streamnb.families.higher_order`."""
        presence, labels = (X.toarray() > 0).astype(float), np.asarray(y)
        self.classes = sorted(set(y))
        counts, totals = [], []
        for name in self.classes:
            inside = presence[labels == name]
            together = _meetings(inside)
            adjacent = (_meetings(presence if self.whole else inside) > 0).astype(float)
            neighbours, squares = together.sum(axis=1), (together**2).sum(axis=1)
            middle = neighbours**2 - squares - (together * (together @ adjacent)).sum(axis=1)
            ends = together @ neighbours - squares - ((together @ together) * adjacent).sum(axis=1)
            counts.append(middle / 2 + ends)
            totals.append(middle.sum() / 2)
        self.priors = np.log(np.maximum(totals, 1.0) / np.sum(totals))
        shares = (np.array(counts) + 1) / (np.array(totals)[:, None] + 2)
        self.absent, self.present = np.log1p(-shares), np.log(shares)

    def refresh(self) -> None:
        """Do nothing."""

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> list[str]:
        """Return a label for each document: Equation 11."""
        presence = (X.toarray() > 0).astype(float)
        scores = presence @ (self.present - self.absent).T + self.absent.sum(axis=1) + self.priors
        return [self.classes[place] for place in scores.argmax(axis=1)]


def _meetings(presence: Any) -> Any:
    together = presence.T @ presence
    np.fill_diagonal(together, 0.0)
    return together


PURE_OF_COLLECTION = ModelRecipe("HONB pure of the collection", "collection", adapter=PurePaths)
