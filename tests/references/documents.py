"""Past documents as plain arrays: the input of the slow references."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Document = tuple[Mapping[Any, float], Hashable, float]


@dataclass(frozen=True)
class Documents:
    """Past documents as arrays: rows are documents, columns are words."""

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
        """Return the first `n` documents (columns are in order of first use, so they form a
        prefix).
        """
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
        """Equation 8: the documents with this label (its negation is Equation 9)."""
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
                # P(f, c) / (P(f) P(c)) as a single fraction of counts: exactly 1 under
                # independence.
                ratio = np.where(some, n_fc * n, 1.0) / np.where(some, n_f * n_c, 1.0)
                gain += np.where(some, n_fc / n * np.log(ratio), 0.0)
        return np.divide(gain, entropy, out=np.zeros_like(gain), where=entropy > 0)
