"""Bounded counts, literally: a dictionary with the pruning rule."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable

GROUP = 64
"""Words in a group, on average."""

LEAST_NEW, NEW_SHARE = 1024, 16
"""One message adds at most this share of the bound, or this many new words."""


@functools.cache
def siphash(key: bytes, message: bytes) -> int:
    """Return SipHash-2-4, as in Figure 2.1 of its paper (Aumasson, Bernstein 2012)."""
    size = 2**64
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rotated(v: int, bits: int) -> int:
        return (v << bits | v >> (64 - bits)) % size

    def round_of(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
        v0, v2 = (v0 + v1) % size, (v2 + v3) % size
        v1, v3 = rotated(v1, 13) ^ v0, rotated(v3, 16) ^ v2
        v0 = rotated(v0, 32)
        v2, v0 = (v2 + v1) % size, (v0 + v3) % size
        v1, v3 = rotated(v1, 17) ^ v2, rotated(v3, 21) ^ v0
        return v0, v1, rotated(v2, 32), v3

    whole = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for at in range(0, len(whole), 8):
        word = int.from_bytes(whole[at : at + 8], "little")
        v3 ^= word
        v0, v1, v2, v3 = round_of(*round_of(v0, v1, v2, v3))
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = round_of(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


class BoundedCounts:
    """Documents and tokens of each word and class, for at most `max_features` words.

    A keyed hash assigns words to groups. Beyond the bound, one group after the other forgets the
    quarter of its words (rounded up) with the lowest document frequency, until there are few enough
    words. Ties go to the word with the highest hash. The words of a message that are new beyond its
    share are not learned.
    """

    def __init__(self, max_features: int, key: bytes = bytes(16)) -> None:
        self.max_features, self.key = max_features, key
        self.groups = max(max_features // GROUP, 1)
        self.turn = 0
        self.cells: dict[str, dict[str, tuple[float, float]]] = {}

    def learn(self, words: Iterable[str], label: str) -> None:
        room = len(self.cells) + max(self.max_features // NEW_SHARE, LEAST_NEW)
        for word, count in Counter(words).items():
            if word not in self.cells and len(self.cells) >= room:
                continue
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
            hashes = {word: siphash(self.key, word.encode()) for word in self.cells}
            group = [word for word in self.cells if hashes[word] % self.groups == self.turn]
            self.turn = (self.turn + 1) % self.groups
            rarest = sorted(group, key=lambda word: (self.frequency(word), -hashes[word]))
            for word in rarest[: -(-len(group) // 4)]:
                del self.cells[word]
