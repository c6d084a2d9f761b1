"""Counts in dictionaries: tokens and documents of each word by label, in order of arrival."""

from __future__ import annotations

from collections import Counter
from typing import Any

from streamnb.statistics.counts import Counts

Cells = dict[tuple[str, str], tuple[float, float]]
Totals = dict[str, tuple[float, float]]


class Counted:
    """Counts of texts, split at white space, summed in plain Python.

    Parameters
    ----------
    presence
        whether a repeated word counts once.
    """

    def __init__(self, presence: bool = False) -> None:
        self.presence = presence
        self.cells: Cells = {}
        self.totals: Totals = {}

    def learn(self, text: str, label: str, w: float = 1.0) -> None:
        words = Counter(text.split())
        values = {word: 1 if self.presence else count for word, count in words.items()}
        for word, count in values.items():
            self._add(self.cells, (word, label), w * count, w)
        self._add(self.totals, label, w * sum(values.values()), w)

    @staticmethod
    def _add(cells: dict[Any, tuple[float, float]], key: Any, tokens: float, docs: float) -> None:
        known = cells.get(key, (0.0, 0.0))
        cells[key] = (known[0] + tokens, known[1] + docs)
        if cells[key][1] == 0.0:
            del cells[key]

    def unlearn(self, text: str, label: str, w: float = 1.0) -> None:
        """Unlearn a message; exact if its weight is an integer or a half."""
        self.learn(text, label, -w)

    def scale(self, left: float) -> None:
        """Multiply all counts by a factor."""
        self.cells = {key: (left * t, left * d) for key, (t, d) in self.cells.items()}
        self.totals = {key: (left * t, left * d) for key, (t, d) in self.totals.items()}

    def forget(self, words: set[str]) -> None:
        """Forget these words as if they had never arrived."""
        for word, label in [key for key in self.cells if key[0] in words]:
            tokens, _ = self.cells.pop((word, label))
            self.totals[label] = (self.totals[label][0] - tokens, self.totals[label][1])


def counted_by(model: Any) -> tuple[Cells, Totals]:
    """Return the counts of a model in the form of `Counted`."""
    counts = Counts.of(model._store)
    words, labels = model._store.words(), model._labels.names
    tokens, documents = counts.tokens.tocoo(), counts.documents.tocoo()
    found = {(words[w], labels[c]): n for w, c, n in zip(*tokens.coords, tokens.data, strict=True)}
    cells = {
        (words[w], labels[c]): (float(found[words[w], labels[c]]), float(n))
        for w, c, n in zip(*documents.coords, documents.data, strict=True)
    }
    totals = {
        label: (float(t), float(d))
        for label, t, d in zip(labels, counts.class_tokens, counts.class_documents, strict=False)
        if d
    }
    return cells, totals
