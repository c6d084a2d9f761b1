"""The slow literal version of weight-normalised complement naive Bayes (TWCNB).

References
----------
Rennie et al. 2003: Tackling the Poor Assumptions of Naive Bayes Text Classifiers, Table 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from references.documents import Documents
from references.independent import Reference


class NormalisedReference(Reference):
    """Scores of TWCNB given past documents; parameters are those of `Reference`."""

    def __init__(self, name: str, prior: str | None = None, **parameters: Any) -> None:
        super().__init__(name, prior=prior or "uniform", **parameters)

    def _words(self, docs: Documents, x: Mapping[Any, float], members: NDArray[np.bool_]) -> float:
        if self._m(docs) == 1:
            return 0.0  # the one word has the share 1, of which all weights are 0/0
        return super()._words(docs, x, members) / self._normaliser(docs, members)

    def _normaliser(self, docs: Documents, members: NDArray[np.bool_]) -> float:
        """Return −Σ_k ln θ_k over all m words."""
        weights = docs.weights * members
        total = weights @ docs.lengths + self.alpha * self._m(docs)
        known = np.log((weights @ docs.counts + self.alpha) / total).sum()
        others = self._m(docs) - len(docs.words)
        return -float(known + others * np.log(self.alpha / total))
