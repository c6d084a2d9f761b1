"""Slow literal versions of the models with weights of words and of documents.

References
----------
Sections 2.1 to 2.3 of the paper on hidden multinomial naive Bayes (HMNB), with its Equations 1 to 7
and 12, and the readings of docs/reference/families/.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from references.documents import Array, Documents
from references.neighbourhood import NeighbourhoodReference
from references.relevance import selected

FAMILIES = ("Rwc", "GRW", "GRS", "DFW", "DTW", "DW")
EVENTS = ("MNB", "CNB", "OVA")
SHARES = range(1, 11)  # in tenths
# Numbers this close differ only by rounding: tied gain ratios, tied scores.
TIE = 1e-9


@dataclass(frozen=True)
class Side:
    """The terms of a class or its complement: prior, ln P(w) of each word, and of a new one."""

    prior: float
    words: Array
    new: float

    def score(self, row: Array, new: float) -> float:
        """Return the score of a document's counts, and of a number of new tokens."""
        return self.prior + float(row @ self.words) + new * self.new


class WeightsReference:
    """Scores of one model given past documents.

    Parameters
    ----------
    name
        A family of `FAMILIES` and an event of `EVENTS`, or the event alone.
    alpha, prior, oov, vocabulary_size
        As in `references.independent.Reference`.
    rounds
        Rounds of document weights.
    max_candidates
        Number of words that are searched.
    index_size
        Number of most recent documents that are weighed or left out in turn; None for all.
    untested, max_depth, min_samples_leaf
        Parameters of the tree whose depths are weights.
    words, documents
        Families of word and document weights if the name does not give them, or None.
    """

    def __init__(
        self,
        name: str,
        alpha: float = 1.0,
        prior: str | None = None,
        oov: str | None = None,
        vocabulary_size: int | None = None,
        rounds: int = 20,
        words: str | None = None,
        documents: str | None = None,
        max_candidates: int = 1_000,
        index_size: int | None = None,
        untested: float = 1.0,
        max_depth: int = 64,
        min_samples_leaf: float = 2.0,
    ) -> None:
        self.event, family = name[-3:], name[:-3]
        self.words = family if family in ("Rwc", "GRW", "GRS", "DFW", "DTW") else words
        self.documents = "DW" if family == "DW" else documents
        self.alpha = alpha
        self.prior = prior or ("empirical" if self.event == "MNB" else "laplace")
        self.oov = oov or "smooth"
        self.vocabulary_size = vocabulary_size
        self.rounds = rounds
        self.max_candidates = max_candidates
        self.index_size = index_size
        self.untested = untested
        self.tree = NeighbourhoodReference(
            "MNBTree", max_depth=max_depth, min_samples_leaf=min_samples_leaf
        )
        self._last: tuple[Documents, Array, float, Array] | None = None

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        if not docs.labels:
            return {}
        if self._last is None or self._last[0] is not docs:
            weights, oov = self.word_weights(docs)
            self._last = docs, weights, oov, self.document_weights(docs, weights)
        _, weights, oov, each = self._last
        row, new = np.zeros(len(docs.words)), 0.0
        for word, count in x.items():
            if word in docs.words:
                row[docs.words[word]] = count
            elif self.oov == "smooth":
                new += count
        return {c: self._score(docs, row, new, c, weights, oov, each) for c in docs.classes}

    def _first(self, docs: Documents) -> int:
        """Return the position of the oldest known document."""
        kept = len(docs.labels) if self.index_size is None else self.index_size
        return max(len(docs.labels) - kept, 0)

    def m(self, docs: Documents) -> float:
        """Return the number of words."""
        return max(self.vocabulary_size or 0, len(docs.words), 1)

    def _score(
        self,
        docs: Documents,
        row: Array,
        new: float,
        c: Any,
        weights: Array,
        oov: float,
        each: Array,
    ) -> float:
        sides = []
        for members, side in zip(
            (docs.of(c), ~docs.of(c)), self.sides(docs, c, weights, each), strict=True
        ):
            score = side.score(weights * row, oov * new)
            if self.words == "Rwc":
                score += float(row @ np.log(np.maximum(self._ratios(docs, members), 1)))
            sides.append(score)
        return self.of_event(*sides)

    def of_event(self, own: float, rest: float) -> float:
        """Return the score of the event from those of a class and of its complement."""
        return {"MNB": own, "CNB": -rest, "OVA": own - rest}[self.event]

    def sides(self, docs: Documents, c: Any, weights: Array, each: Array) -> list[Side]:
        """Return the terms of a class and of its complement for each word."""
        sides = []
        for members in (docs.of(c), ~docs.of(c)):
            n, n_c = each.sum(), each[members].sum()
            if self.prior == "uniform" or (self.prior == "empirical" and not members.any()):
                prior = 0.0
            elif self.prior == "empirical":
                prior = math.log(n_c / n)
            else:
                prior = math.log((n_c + 1) / (n + len(docs.classes)))
            tokens = weights * (each[members] @ docs.counts[members])
            total = tokens.sum() + self.alpha * self.m(docs)
            logs = np.log((tokens + self.alpha) / total)
            sides.append(Side(prior, logs, math.log(self.alpha / total)))
        return sides

    def _ratios(self, docs: Documents, members: Any) -> Array:
        """R_wc = n df(w, c) / (n_c df(w)); 1 without documents."""
        present = docs.counts > 0
        n, n_c = docs.weights.sum(), docs.weights[members].sum()
        chance = n_c * (docs.weights @ present)
        together = docs.weights[members] @ present[members]
        return np.divide(n * together, chance, out=np.ones(len(chance)), where=chance > 0)

    def word_weights(self, docs: Documents) -> tuple[Array, float]:
        """Return the weight of each word, and of an unknown word."""
        ones = np.ones(len(docs.words))
        if self.words == "GRW":
            gain = docs.gain_ratios
            mean = gain.sum() / self.m(docs)
            return (gain / mean, 0.0) if mean > 1e-12 else (ones, 1.0)
        if self.words == "GRS":
            return self._select(docs)
        if self.words == "DFW":
            for word in selected(docs, self._first(docs), self.max_candidates):
                ones[docs.words[word]] = 2
        if self.words == "DTW":
            depths = self.depths(docs)
            if depths:
                ones[:] = self.untested
                for word, depth in depths.items():
                    ones[docs.words[word]] += 1 / math.sqrt(depth)
                return ones, self.untested
        return ones, 1.0

    def depths(self, docs: Documents) -> dict[Any, int]:
        """Return the minimum depth, from 1, at which the tree tests each word."""
        found: dict[Any, int] = {}
        level = [np.arange(len(docs.labels)) >= self._first(docs)]
        for depth in range(1, self.tree.max_depth + 1):
            below = []
            for members in level:
                word = self.tree._best(docs, members)
                if word is not None:
                    found.setdefault(word, depth)
                    contains = docs.counts[:, docs.words[word]] > 0
                    below += [members & contains, members & ~contains]
            level = below
        return found

    def kept(self, docs: Documents) -> list[tuple[Array, float]]:
        """Return, for each share, 1 for the words it keeps, and the value of an unknown word."""
        gain = docs.gain_ratios
        descending = [*sorted(gain, reverse=True), *[0.0] * int(self.m(docs) - len(gain))]
        subsets = []
        for share in SHARES:
            # The number of words of the share, rounded up.
            last = descending[-(-share * int(self.m(docs)) // 10) - 1]
            everything = share == 10 or last <= TIE
            subsets.append(((gain >= last - TIE).astype(float), float(everything)))
        return subsets

    def _select(self, docs: Documents) -> tuple[Array, float]:
        subsets = self.kept(docs)
        right = np.zeros(len(subsets))
        keep = np.array([kept for kept, _ in subsets])
        tokens = {c: (docs.weights * docs.of(c)) @ docs.counts for c in docs.classes}
        totals = {c: keep @ tokens[c] for c in docs.classes}
        documents = {c: float(docs.weights[docs.of(c)].sum()) for c in docs.classes}
        for j in range(self._first(docs), len(docs.labels)):
            right += docs.weights[j] * self._decides(docs, j, keep, documents, tokens, totals)
        best = next(i for i in range(len(subsets)) if right[i] >= right.max() * (1 - 1e-12))
        return subsets[best]

    def _decides(
        self,
        docs: Documents,
        j: int,
        keep: Array,
        documents: dict[Any, float],
        tokens: dict[Any, Array],
        totals: dict[Any, Array],
    ) -> Array:
        """Return for each share whether document j is classified right without its own counts."""
        label, one = docs.labels[j], min(docs.weights[j], 1.0)
        documents = documents | {label: documents[label] - one}
        if documents[label] <= 0:
            return np.zeros(len(keep))
        n = sum(documents.values())
        columns = np.flatnonzero(docs.counts[j])
        row = docs.counts[j, columns]
        here = keep[:, columns]
        length = here @ row
        smoothing = self.alpha * self.m(docs)
        # The counts without the document: of its words, and of all words of each share.
        left = {c: tokens[c][columns] - (one * row if c == label else 0) for c in docs.classes}
        left_totals = {c: totals[c] - (one * length if c == label else 0) for c in docs.classes}

        def side(classes: list[Any]) -> Array:
            own = sum((left[c] for c in classes), np.zeros(len(columns)))
            total = sum((left_totals[c] for c in classes), np.zeros(len(keep)))
            score = here @ (row * np.log(own + self.alpha)) - length * np.log(total + smoothing)
            n_c = sum(documents[c] for c in classes)
            if self.prior == "laplace":
                score += math.log((n_c + 1) / (n + len(docs.classes)))
            elif self.prior == "empirical" and n_c > 0:
                score += math.log(n_c / n)
            return score

        scores = {}
        for c in docs.classes:
            scores[c] = np.zeros(len(keep))
            if self.event != "CNB":
                scores[c] += side([c])
            if self.event != "MNB":
                scores[c] -= side([other for other in docs.classes if other != c])
        others = [scores[c] for c in docs.classes if c != label]
        return np.all([scores[label] > other + TIE for other in others], axis=0).astype(float)

    def document_weights(self, docs: Documents, weights: Array) -> Array:
        """Return the weight of each document."""
        each = docs.weights.copy()
        if self.documents != "DW":
            return each
        added = np.zeros(len(docs.labels))
        members = np.array([docs.of(c) for c in docs.classes])
        own = np.array([docs.classes.index(label) for label in docs.labels])
        ratios = np.zeros((len(docs.labels), len(docs.classes)))
        if self.words == "Rwc":
            for k, c in enumerate(docs.classes):
                of_c, rest = (
                    docs.counts @ np.log(np.maximum(self._ratios(docs, side), 1))
                    for side in (docs.of(c), ~docs.of(c))
                )
                ratios[:, k] = {"MNB": of_c, "CNB": -rest, "OVA": of_c - rest}[self.event]
        tokens_of = docs.counts * weights
        for _ in range(self.rounds):
            each = docs.weights * (1 + added)
            scores = ratios.copy()
            for k in range(len(docs.classes)):
                sides = []
                for side in (members[k], ~members[k]):
                    tokens = (each * side) @ tokens_of
                    log = np.log((tokens + self.alpha) / (tokens.sum() + self.alpha * self.m(docs)))
                    n_c = each[side].sum()
                    prior = 0.0
                    if self.prior == "laplace":
                        prior = math.log((n_c + 1) / (each.sum() + len(docs.classes)))
                    elif self.prior == "empirical" and side.any():
                        prior = math.log(n_c / each.sum())
                    sides.append(prior + tokens_of @ log)
                scores[:, k] += {
                    "MNB": sides[0],
                    "CNB": -sides[1],
                    "OVA": sides[0] - sides[1],
                }[self.event]
            shares = np.exp(scores - scores.max(axis=1)[:, None])
            shares /= shares.sum(axis=1)[:, None]
            added += 1 - shares[np.arange(len(own)), own]
            added[: self._first(docs)] = 0
        return docs.weights * (1 + added)
