"""A sorted list of very many that come and go one by one, each with a rank that seldom changes."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Any

Key = tuple[Any, ...]

GAP = 1 << 32
"""Between the ranks of items that come in order."""
ROOM = 1 << 12
"""Between ranks after items have moved, at least."""
BLOCK = 512
"""Items of a block, at most."""


class _Block:
    """Neighbours in sorted order."""

    def __init__(self, keys: list[Key], ranks: list[int], items: list[Any]) -> None:
        self.keys, self.ranks, self.items = keys, ranks, items

    def split(self) -> _Block:
        """Cut the second half off, and return it."""
        half = len(self.keys) // 2
        rest = _Block(self.keys[half:], self.ranks[half:], self.items[half:])
        for column in (self.keys, self.ranks, self.items):
            del column[half:]
        return rest


class Ranking:
    """Items sorted by keys, of equal ones the first come first, with numbers in this order.

    Numbers leave gaps, so that a new item seldom moves another. Where a gap is used up, the items
    of its block get numbers evenly spaced; all items, where the block has no room.

    Attributes
    ----------
    moved
        The items that got a number since somebody emptied this, with their numbers.

    Examples
    --------
    >>> ranking = Ranking()
    >>> for name in ("b", "a", "c"):
    ...     ranking.add((name,), name)
    >>> list(ranking), ranking.moved["b"] < ranking.moved["c"]
    (['a', 'b', 'c'], True)
    """

    def __init__(self) -> None:
        self.moved: dict[Any, int] = {}
        self._blocks = [_Block([], [], [])]
        # The first key of each block but the first.
        self._starts: list[Key] = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            yield from block.items

    def add(self, key: Key, item: Any) -> None:
        """Add an item behind those with keys up to its own."""
        number = bisect.bisect_right(self._starts, key)
        block = self._blocks[number]
        place = bisect.bisect_right(block.keys, key)
        before = block.ranks[place - 1] if place else self._end(number - 1, -1)
        after = block.ranks[place] if place < len(block.ranks) else self._end(number + 1, 0)
        block.keys.insert(place, key)
        block.items.insert(place, item)
        if before is None:
            rank = 0 if after is None else after - GAP
        elif after is None:
            rank = before + GAP
        else:
            rank = (before + after) // 2
        block.ranks.insert(place, rank)
        self.moved[item] = rank
        if rank == before:
            self._spread(number)
        if len(block.keys) > BLOCK:
            self._blocks.insert(number + 1, block.split())
            self._starts.insert(number, self._blocks[number + 1].keys[0])

    def remove(self, key: Key, item: Any) -> None:
        """Take an item out that was added with this key."""
        number = bisect.bisect_left(self._starts, key)
        while True:
            block = self._blocks[number]
            place = bisect.bisect_left(block.keys, key)
            while place < len(block.keys) and block.keys[place] == key:
                if block.items[place] == item:
                    for column in (block.keys, block.ranks, block.items):
                        del column[place]
                    if not block.keys and len(self._blocks) > 1:
                        del self._blocks[number]
                        del self._starts[max(number - 1, 0)]
                    self.moved.pop(item, None)
                    return
                place += 1
            number += 1

    def _end(self, number: int, place: int) -> int | None:
        """Return the first or last number of a block, if there is such a block."""
        inside = 0 <= number < len(self._blocks) and self._blocks[number].ranks
        return self._blocks[number].ranks[place] if inside else None

    def _spread(self, number: int) -> None:
        """Space the numbers of a block evenly."""
        block = self._blocks[number]
        before, after = self._end(number - 1, -1), self._end(number + 1, 0)
        start = block.ranks[0] if before is None else before
        step = ((block.ranks[-1] if after is None else after) - start) // (len(block.ranks) + 1)
        if step >= ROOM:
            self._number(block, start + step, step)
            return
        start = 0
        for each in self._blocks:
            self._number(each, start, GAP)
            start += GAP * len(each.ranks)

    def _number(self, block: _Block, start: int, step: int) -> None:
        for place, item in enumerate(block.items):
            block.ranks[place] = self.moved[item] = start + place * step
