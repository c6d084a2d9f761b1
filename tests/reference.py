"""Slow literal versions of the models, written from the equations alone.

Nothing here is incremental and nothing comes from streamnb: every score is computed afresh from the
past documents, so that the models can be checked against it after every single message.

References
----------
Equations 1 to 18 of the paper on hidden multinomial naive Bayes (HMNB, HCNB, HOVA, and the MNB, CNB
and OVA they extend); McCallum and Nigam (1998) for the multi-variate Bernoulli model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Document = tuple[Mapping[Any, float], Hashable, float]

MODELS = ("BNB", "MNB", "CNB", "TWCNB", "OVA", "HMNB", "HCNB", "HOVA")
# What the published figures of HOVA were computed with: the mean over parents of the ratio of the
# two sides, in place of Equation 16's ratio of the two means.
RATIOS = "HOVA ratios"
DEFAULT_PRIOR = dict.fromkeys((*MODELS, RATIOS), "laplace") | dict.fromkeys(
    ("BNB", "MNB", "HMNB"), "empirical"
)
DEFAULT_PRIOR["TWCNB"] = "uniform"
DEFAULT_UNSEEN = dict.fromkeys((*MODELS, RATIOS), "smooth") | {"BNB": "skip"}

# A word *at* the average qualifies as a parent. Rounding must not disqualify it where several words
# tie (at the start of a stream most do), so the comparison forgives the last digits.
TIE = 1e-12


@dataclass(frozen=True)
class Documents:
    """Past documents as plain arrays: a row a document, a column a word."""

    words: dict[Any, int]
    counts: Array
    labels: list[Hashable]
    weights: Array

    @classmethod
    def from_list(cls, documents: Iterable[Document]) -> Documents:
        """Lay out documents, each a triple of word counts, label and weight."""
        documents = list(documents)
        words: dict[Any, int] = {}
        for counts, _, _ in documents:
            for word, count in counts.items():
                if count > 0:
                    words.setdefault(word, len(words))
        table = np.zeros((len(documents), len(words)))
        for row, (counts, _, _) in enumerate(documents):
            for word, count in counts.items():
                if count > 0:
                    table[row, words[word]] = count
        return cls(
            words,
            table,
            [label for _, label, _ in documents],
            np.array([weight for _, _, weight in documents], dtype=float),
        )

    def first(self, n: int) -> Documents:
        """Return the first `n` documents (columns are in order of first use: a prefix too)."""
        m = int(np.searchsorted(self._first_use, n))
        words = {word: column for word, column in self.words.items() if column < m}
        return Documents(words, self.counts[:n, :m], self.labels[:n], self.weights[:n])

    @cached_property
    def _first_use(self) -> NDArray[np.intp]:
        return np.asarray((self.counts > 0).argmax(axis=0)) if self.words else np.zeros(0, int)

    @cached_property
    def classes(self) -> list[Hashable]:
        """Labels that have documents, in order of first use."""
        return list(dict.fromkeys(self.labels))

    @cached_property
    def lengths(self) -> Array:
        """Tokens of each document."""
        return np.asarray(self.counts.sum(axis=1))

    def of(self, label: Hashable) -> NDArray[np.bool_]:
        """Equation 8: which documents have this label (its negation is Equation 9)."""
        return np.array([other == label for other in self.labels], dtype=bool)

    @cached_property
    def gain_ratios(self) -> Array:
        """Equation 12: the gain ratio of each word's presence; 0 where presence never varies."""
        n = self.weights.sum()
        presence = self.counts > 0
        gain = np.zeros(len(self.words))
        entropy = np.zeros(len(self.words))
        for present in (presence, ~presence):
            n_f = self.weights @ present
            share = n_f / n
            entropy -= np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0)
            for label in self.classes:
                members = self.weights * self.of(label)
                n_c = members.sum()
                n_fc = members @ present
                some = n_fc > 0
                # P(f, c) / (P(f) P(c)), as one fraction of counts: exactly 1 under independence.
                ratio = np.where(some, n_fc * n, 1.0) / np.where(some, n_f * n_c, 1.0)
                gain += np.where(some, n_fc / n * np.log(ratio), 0.0)
        return np.divide(gain, entropy, out=np.zeros_like(gain), where=entropy > 0)


class Reference:
    """Scores of one model given past documents.

    Parameters
    ----------
    name
        One of `MODELS`, or `RATIOS`.
    alpha
        Additive smoothing, above 0.
    prior
        `"empirical"`, `"laplace"` (Equations 4 and 5), `"uniform"` (no prior term) or `None` (the
        model's own).
    unseen
        `"smooth"`, `"skip"` or `None` (the model's own): what an unlearned word does.
    vocabulary_size
        m, or `None` for the number of words seen.
    """

    def __init__(
        self,
        name: str,
        alpha: float = 1.0,
        prior: str | None = None,
        unseen: str | None = None,
        vocabulary_size: int | None = None,
    ) -> None:
        self.name = name
        self.alpha = alpha
        self.prior = prior or DEFAULT_PRIOR[name]
        self.unseen = unseen or DEFAULT_UNSEEN[name]
        self.vocabulary_size = vocabulary_size

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        present = {word: count for word, count in x.items() if count > 0}
        if self.unseen == "skip":
            present = {word: count for word, count in present.items() if word in docs.words}
        if self.name == "BNB":
            return {c: self._bernoulli(docs, present, c) for c in docs.classes}
        scores = {}
        hidden = self.name.startswith("H") and docs.labels
        gain = docs.gain_ratios if hidden else np.zeros(0)
        for c in docs.classes:
            of_c = docs.of(c)
            score = 0.0
            if self.name == RATIOS:
                score += self._log_prior(docs, of_c) - self._log_prior(docs, ~of_c)
                scores[c] = score - self._ratios(docs, present, of_c, gain)
                continue
            if not self.name.endswith("CNB"):  # Equations 1, 3, 10 and 16
                score += self._log_prior(docs, of_c) + self._words(docs, present, of_c, gain)
            if not self.name.endswith("MNB"):  # Equations 2, 3, 15 and 16
                score -= self._log_prior(docs, ~of_c) + self._words(docs, present, ~of_c, gain)
            scores[c] = score
        return scores

    def _m(self, docs: Documents) -> int:
        return max(self.vocabulary_size or len(docs.words), 1)

    def _log_prior(self, docs: Documents, members: NDArray[np.bool_]) -> float:
        n = docs.weights.sum()
        n_members = docs.weights[members].sum()
        if self.prior == "uniform":
            return 0.0
        if self.prior == "empirical":
            # While a stream has one class, nothing is outside it: no term instead of log 0.
            return math.log(n_members / n) if members.any() else 0.0
        return math.log((n_members + 1) / (n + len(docs.classes)))

    def _words(
        self,
        docs: Documents,
        x: Mapping[Any, float],
        members: NDArray[np.bool_],
        gain: Array,
    ) -> float:
        if self.name.startswith("H"):
            return self._hidden(docs, x, members, gain)
        logs = sum(
            count * math.log(self._conditional(docs, word, members)) for word, count in x.items()
        )
        return logs / self._normaliser(docs, members) if self.name == "TWCNB" else logs

    def _normaliser(self, docs: Documents, members: NDArray[np.bool_]) -> float:
        """Return −Σ_k ln θ_k over all m words; 1 where there is one word, which weighs nothing."""
        if self._m(docs) == 1:
            return 1.0
        known = sum(math.log(self._conditional(docs, word, members)) for word in docs.words)
        others = self._m(docs) - len(docs.words)
        return -known - others * math.log(self._conditional(docs, None, members))

    def _conditional(self, docs: Documents, word: Any, members: NDArray[np.bool_]) -> float:
        """Equations 6 and 7."""
        weights = docs.weights * members
        column = docs.words.get(word)
        of_word = 0.0 if column is None else weights @ docs.counts[:, column]
        tokens = weights @ docs.lengths
        return float((of_word + self.alpha) / (tokens + self.alpha * self._m(docs)))

    def _hidden(
        self,
        docs: Documents,
        x: Mapping[Any, float],
        members: NDArray[np.bool_],
        gain: Array,
    ) -> float:
        """Logarithm of the products of Equations 10 and 15."""
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

    def _ratios(
        self,
        docs: Documents,
        x: Mapping[Any, float],
        members: NDArray[np.bool_],
        gain: Array,
    ) -> float:
        """Logarithm of the product of each word's mean of P(w_i|w_t, not c) / P(w_i|w_t, c)."""
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
