"""Bounded counts, literally: a dictionary with the pruning rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

GROUP = 64
"""Words in a group, on average."""


def fnv(word: str) -> int:
    """Return the 64 bits of FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


class BoundedCounts:
    """Documents and tokens of each word and class, for at most `max_features` words.

    A fixed hash assigns words to groups. Beyond the bound, one group after the other forgets the
    quarter of its words (rounded up) with the lowest document frequency, until there are few enough
    words. Ties go to the last word by its bytes.
    """

    def __init__(self, max_features: int) -> None:
        self.max_features = max_features
        self.groups = max(max_features // GROUP, 1)
        self.turn = 0
        self.cells: dict[str, dict[str, tuple[float, float]]] = {}

    def learn(self, words: Iterable[str], label: str) -> None:
        for word, count in Counter(words).items():
            cells = self.cells.setdefault(word, {})
            documents, tokens = cells.get(label, (0.0, 0.0))
            cells[label] = (documents + 1, tokens + count)
        self.prune()

    def merge(self, other: BoundedCounts) -> None:
        """Add the counts of another; the next group stays, except if this one never pruned."""
        for word, theirs in other.cells.items():
            cells = self.cells.setdefault(word, {})
            for label, (documents, tokens) in theirs.items():
                before = cells.get(label, (0.0, 0.0))
                cells[label] = (before[0] + documents, before[1] + tokens)
        self.prune()

    def frequency(self, word: str) -> float:
        return sum(documents for documents, _ in self.cells[word].values())

    def prune(self) -> None:
        while len(self.cells) > self.max_features:
            group = [word for word in self.cells if fnv(word) % self.groups == self.turn]
            self.turn = (self.turn + 1) % self.groups
            last_first = sorted(group, key=str.encode, reverse=True)
            rarest = sorted(last_first, key=self.frequency)
            for word in rarest[: -(-len(group) // 4)]:
                del self.cells[word]
