"""Slow literal versions of the models with independent words, from the equations alone.

Nothing here is incremental or imported from streamnb: every score is computed from scratch from the
past documents, so the models can be compared after every message.

References
----------
Equations 1 to 9 of the paper on hidden multinomial naive Bayes (MNB, CNB and OVA); McCallum and
Nigam (1998) for the multi-variate Bernoulli model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from references.documents import Documents

# Defaults of `prior` and `oov` for each event model.
PRIORS = {"BNB": "empirical", "MNB": "empirical", "CNB": "laplace", "OVA": "laplace"}
UNSEEN = {"BNB": "skip", "MNB": "smooth", "CNB": "smooth", "OVA": "smooth"}


class Reference:
    """Scores of one model given past documents.

    Parameters
    ----------
    name
        A name that ends in an event: `"BNB"`, `"MNB"`, `"CNB"` or `"OVA"`.
    alpha
        Additive smoothing, above 0.
    prior
        `"empirical"`, `"laplace"` (Equations 4 and 5), `"uniform"` (no prior term) or `None` (the
        model's own).
    oov
        `"smooth"`, `"skip"` or `None` (the model's own): what an unlearned word does.
    vocabulary_size
        m, or `None` for the number of words seen.
    """

    def __init__(
        self,
        name: str,
        alpha: float = 1.0,
        prior: str | None = None,
        oov: str | None = None,
        vocabulary_size: int | None = None,
    ) -> None:
        self.event = name[-3:]
        self.alpha = alpha
        self.prior = prior or PRIORS[self.event]
        self.oov = oov or UNSEEN[self.event]
        self.vocabulary_size = vocabulary_size

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        present = {word: count for word, count in x.items() if count > 0}
        if self.oov == "skip":
            present = {word: count for word, count in present.items() if word in docs.words}
        if self.event == "BNB":
            return {c: self._bernoulli(docs, present, c) for c in docs.classes}
        return {c: self._score(docs, present, docs.of(c)) for c in docs.classes}

    def _score(self, docs: Documents, x: Mapping[Any, float], of_c: NDArray[np.bool_]) -> float:
        score = 0.0
        if self.event != "CNB":  # Equations 1, 3, 10 and 16
            score += self._log_prior(docs, of_c) + self._words(docs, x, of_c)
        if self.event != "MNB":  # Equations 2, 3, 15 and 16
            score -= self._log_prior(docs, ~of_c) + self._words(docs, x, ~of_c)
        return score

    def _m(self, docs: Documents) -> int:
        return max(self.vocabulary_size or len(docs.words), 1)

    def _log_prior(self, docs: Documents, members: NDArray[np.bool_]) -> float:
        n = docs.weights.sum()
        n_members = docs.weights[members].sum()
        if self.prior == "uniform":
            return 0.0
        if self.prior == "empirical":
            # While a stream has one class, its complement is empty: no term instead of log 0.
            return math.log(n_members / n) if members.any() else 0.0
        return math.log((n_members + 1) / (n + len(docs.classes)))

    def _words(self, docs: Documents, x: Mapping[Any, float], members: NDArray[np.bool_]) -> float:
        return sum(
            count * math.log(self._conditional(docs, word, members)) for word, count in x.items()
        )

    def _conditional(self, docs: Documents, word: Any, members: NDArray[np.bool_]) -> float:
        """Equations 6 and 7."""
        weights = docs.weights * members
        column = docs.words.get(word)
        of_word = 0.0 if column is None else weights @ docs.counts[:, column]
        tokens = weights @ docs.lengths
        return float((of_word + self.alpha) / (tokens + self.alpha * self._m(docs)))

    def _bernoulli(self, docs: Documents, x: Mapping[Any, float], c: Hashable) -> float:
        """Return log P(c) + log p over the words present + log(1 - p) over those absent."""
        members = docs.of(c)
        n_c = docs.weights[members].sum()
        df = (docs.weights * members) @ (docs.counts > 0)
        words = list(docs.words) + [word for word in x if word not in docs.words]
        df = np.append(df, np.zeros(len(words) - len(df)))
        if self.vocabulary_size is not None:  # the words of the vocabulary not met so far: absent
            df = np.append(df, np.zeros(max(self.vocabulary_size - len(words), 0)))
        p = (df + self.alpha) / (n_c + 2 * self.alpha)
        present = np.zeros(len(df), dtype=bool)
        present[[i for i, word in enumerate(words) if word in x]] = True
        return float(
            self._log_prior(docs, members) + np.log(p[present]).sum() + np.log1p(-p[~present]).sum()
        )
