"""Slow literal versions of HNB and PHNB, written from the equations alone.

References
----------
Equations 4 to 11 of the paper on packaged hidden naive Bayes. In texts the conditional estimates
are those of hidden multinomial naive Bayes, with m pseudo-counts that follow P(w|c); in columns
they are WEKA's: one pseudo-count that follows 1/v.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from references.documents import Array, Documents
from references.hidden import strongest
from references.independent import Reference

# An attribute *at* the average belongs to the bag, like the parents in `references.hidden.TIE`.
TIE = 1e-9
NOTHING = 1e-14


def information(docs: Documents) -> tuple[Array, Array]:
    """Equation 6 for presences: bits of all pairs of words, and their joint frequencies."""
    return _information(_Key(docs))


class _Key:
    """Documents compared by identity, so that the information of a prefix is computed once."""

    def __init__(self, docs: Documents) -> None:
        self.docs = docs

    def __hash__(self) -> int:
        return id(self.docs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.docs is self.docs


@lru_cache(maxsize=2)
def _information(key: _Key) -> tuple[Array, Array]:
    docs = key.docs
    n = docs.weights.sum()
    here = (docs.counts > 0).astype(float)
    m = len(docs.words)
    bits = np.zeros((m, m))
    for c in docs.classes:
        weights = docs.weights * docs.of(c)
        n_c = weights.sum()
        u = weights @ here
        both = (here * weights[:, None]).T @ here
        for joint, margins in (
            (both, np.outer(u, u)),
            (u[:, None] - both, np.outer(u, n_c - u)),
            (u[None, :] - both, np.outer(n_c - u, u)),
            (n_c - u[:, None] - u[None, :] + both, np.outer(n_c - u, n_c - u)),
        ):
            some = (joint > 1e-12) & (margins > 1e-12)
            bits[some] += joint[some] / n * np.log2(joint[some] * n_c / margins[some])
    together = (here * docs.weights[:, None]).T @ here
    return bits, together


class PackagedReference:
    """Scores of HNB or PHNB on texts.

    Parameters
    ----------
    bag_threshold
        Bits, `"average"`, or a tuple of a number of averages; 0 is HNB.
    event
        `"MNB"`, `"CNB"` or `"OVA"`: the sides that are mixed.
    max_parents
        How many words of a message may be parents; None is any number.
    alpha, prior, oov, vocabulary_size
        As in `references.independent.Reference`.
    """

    def __init__(
        self,
        bag_threshold: float | str | tuple[float],
        event: str = "MNB",
        max_parents: int | None = None,
        **parameters: Any,
    ) -> None:
        self.bag_threshold = bag_threshold
        self.max_parents = max_parents
        self.plain = Reference(event, **parameters)

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        present = {word: count for word, count in x.items() if count > 0}
        if self.plain.oov == "skip":
            present = {word: count for word, count in present.items() if word in docs.words}
        scores = {}
        for c in docs.classes:
            of_c = docs.of(c)
            score = 0.0
            if self.plain.event != "CNB":
                score += self.plain._log_prior(docs, of_c) + self._words(docs, present, of_c)
            if self.plain.event != "MNB":
                score -= self.plain._log_prior(docs, ~of_c) + self._words(docs, present, ~of_c)
            scores[c] = score
        return scores

    def _threshold(self, docs: Documents, bits: Array) -> float:
        if isinstance(self.bag_threshold, (int, float)):
            return self.bag_threshold
        m = self.plain._m(docs)
        total = np.triu(bits, 1).sum()
        average = total / (m * (m - 1) / 2) if m > 1 else 0.0  # Equation 11
        factor = 1.0 if self.bag_threshold == "average" else self.bag_threshold[0]
        return math.inf if factor == math.inf else factor * average * (1 - TIE)

    def _words(self, docs: Documents, x: Mapping[Any, float], members: Any) -> float:
        bits, together = information(docs)
        threshold = self._threshold(docs, bits)
        weights = docs.weights * members
        m = self.plain._m(docs)
        linked = (together > 0) & (bits > NOTHING) & (bits >= threshold)
        np.fill_diagonal(linked, False)
        strength = (bits * linked).sum(axis=0)
        known = [word for word in x if word in docs.words and strength[docs.words[word]] > 0]
        parents = strongest(known, lambda word: strength[docs.words[word]], self.max_parents)
        score = 0.0
        for word, count in x.items():
            own = self.plain._conditional(docs, word, members)
            i = docs.words.get(word)
            bag = []
            if i is not None:
                others = [docs.words[other] for other in parents if other != word]
                bag = [
                    j
                    for j in others
                    if together[i, j] > 0 and bits[i, j] > NOTHING and bits[i, j] >= threshold
                ]
            if not bag:  # the bag NB of Equation 8
                score += count * math.log(own)
                continue
            mixed = 0.0
            for j in bag:  # Equations 9 and 10
                with_j = weights * (docs.counts[:, j] > 0)
                back = self.plain.alpha * m
                given = (with_j @ docs.counts[:, i] + back * own) / (with_j @ docs.lengths + back)
                mixed += bits[i, j] / bits[i, bag].sum() * given
            score += count * math.log(mixed)
        return score


Row = tuple[Mapping[str, Any], Hashable, float]


class ColumnsReference:
    """Scores of HNB or PHNB on nominal columns, computed like WEKA's HNB.

    Parameters
    ----------
    bag_threshold
        Bits or `"average"`; 0 is HNB, infinity plain naive Bayes.
    alpha
        The pseudo-count.
    values
        Attribute → number of its values; otherwise the number in the rows.
    """

    def __init__(
        self,
        bag_threshold: float | str,
        alpha: float = 1.0,
        values: Mapping[str, int] | None = None,
    ) -> None:
        self._known: tuple[int, dict[tuple[str, str], float]] = (-1, {})
        self.bag_threshold = bag_threshold
        self.alpha = alpha
        self.values = values or {}

    def joint_log_likelihood(self, rows: list[Row], x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the score of each class; None is a missing value."""
        classes = list(dict.fromkeys(label for _, label, _ in rows))
        n = sum(weight for _, _, weight in rows)
        domains: dict[str, set[Any]] = {}
        for row, _, _ in rows:
            for name, value in row.items():
                if value is not None:
                    domains.setdefault(name, set()).add(value)
        names = list(domains)
        bits = self.all_information(rows, names)
        pairs = (len(names) + 1) * len(names) / 2  # n of Equation 11 counts the class
        threshold = self.bag_threshold
        if isinstance(threshold, str):
            threshold = sum(bits.values()) / pairs * (1 - TIE) if pairs else 0.0
        present = {a: v for a, v in x.items() if v is not None and a in domains}
        scores = {}
        for c in classes:
            n_c = _count(rows, {}, c)
            score = math.log((n_c + 1 / len(classes)) / (n + 1))
            for i, a_i in present.items():
                share = self.alpha / max(len(domains[i]), self.values.get(i, 0))
                bag = {}
                for j in present:
                    if j == i or present[j] not in domains[j]:
                        continue
                    between = bits[i, j] if (i, j) in bits else bits[j, i]
                    if between > NOTHING and between >= threshold:
                        bag[j] = between
                if not bag:
                    score += math.log((_count(rows, {i: a_i}, c) + share) / (n_c + self.alpha))
                    continue
                mixed = sum(
                    between
                    * (_count(rows, {i: a_i, j: present[j]}, c) + share)
                    / (_count(rows, {j: present[j]}, c) + self.alpha)
                    for j, between in bag.items()
                )
                score += math.log(mixed / sum(bag.values()))
            scores[c] = score
        return scores

    def all_information(self, rows: list[Row], names: list[str]) -> dict[tuple[str, str], float]:
        """Equation 6 for all pairs; computed once per prefix of the same rows."""
        if self._known[0] != len(rows):
            pairs = itertools.combinations(names, 2)
            self._known = len(rows), {pair: self.information(rows, *pair) for pair in pairs}
        return self._known[1]

    def information(self, rows: list[Row], i: str, j: str) -> float:
        """Equation 6, as WEKA computes it."""
        n = sum(weight for _, _, weight in rows)
        total = 0.0
        # P(c), P(a_i, c), P(a_j, c) and P(a_i, a_j, c), times n.
        n_c, n_i, n_j, n_ij = (Counter[Any]() for _ in range(4))
        for row, c, weight in rows:
            n_c[c] += weight
            n_i[row.get(i), c] += weight
            n_j[row.get(j), c] += weight
            n_ij[row.get(i), row.get(j), c] += weight
        for (a, b, c), count in n_ij.items():
            if a is not None and b is not None:
                joint = count / n
                above = joint * (n_c[c] / n)
                below = n_i[a, c] / n * (n_j[b, c] / n)
                if above >= 1e-6 and below >= 1e-6:
                    total += joint * math.log2(above / below)
        return total


def _count(rows: list[Row], values: Mapping[str, Any], c: Hashable) -> float:
    return sum(
        weight
        for row, label, weight in rows
        if label == c and all(row.get(name) == value for name, value in values.items())
    )
