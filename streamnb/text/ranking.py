"""A sorted list with ranks that rarely change when items are added or removed."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

Key = tuple[Any, ...]

GAP = 1 << 32
"""Distance between the ranks of consecutive items."""
ROOM = 1 << 12
"""Minimum distance between ranks after a block is renumbered."""
BLOCK = 128
"""Maximum number of items in a block, whose lists are copied for each new item."""


class _Block(NamedTuple):
    """Neighbours in sorted order. Its lists never change, because `Ranking.ahead` shares blocks."""

    keys: list[Key]
    ranks: list[int]
    items: list[Any]

    def with_one(self, place: int, key: Key, rank: int, item: Any) -> _Block:
        """Return the block with one more item at a place."""
        return _Block(
            [*self.keys[:place], key, *self.keys[place:]],
            [*self.ranks[:place], rank, *self.ranks[place:]],
            [*self.items[:place], item, *self.items[place:]],
        )

    def part(self, start: int, stop: int | None = None) -> _Block:
        """Return a slice of the block."""
        return _Block(self.keys[start:stop], self.ranks[start:stop], self.items[start:stop])

    def without(self, place: int) -> _Block:
        """Return the block without the item at a place."""
        first, rest = self.part(0, place), self.part(place + 1)
        return _Block(first.keys + rest.keys, first.ranks + rest.ranks, first.items + rest.items)


class Ranking:
    """Items sorted by keys, then by arrival, with ranks in this order.

    Ranks have gaps, so a new item rarely changes other ranks. If a gap is used up, the items of its
    block get evenly spaced ranks; if the block has no room, all items do.

    Attributes
    ----------
    moved
        The items whose ranks changed since this was last emptied, with their ranks.

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
        # The first key of each block after the first.
        self._starts: list[Key] = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            yield from block.items

    def add(self, key: Key, item: Any) -> None:
        """Add an item after the items with lower or equal keys."""
        number = bisect.bisect_right(self._starts, key)
        block = self._blocks[number]
        place = bisect.bisect_right(block.keys, key)
        before = block.ranks[place - 1] if place else self._end(number - 1, -1)
        after = block.ranks[place] if place < len(block.ranks) else self._end(number + 1, 0)
        if before is None:
            rank = 0 if after is None else after - GAP
        elif after is None:
            rank = before + GAP
        else:
            rank = (before + after) // 2
        self._blocks[number] = block.with_one(place, key, rank, item)
        self.moved[item] = rank
        if rank == before:
            self._spread(number)
        if len(block.keys) == BLOCK:
            whole, half = self._blocks[number], len(block.keys) // 2
            self._blocks[number : number + 1] = whole.part(0, half), whole.part(half)
            self._starts.insert(number, whole.keys[half])

    def ahead(self, items: Sequence[tuple[Key, Any]]) -> dict[Any, int]:
        """Return the ranks that new items would get, and the other ranks that would change.

        Only `moved` changes: it includes those other items, so their ranks are reported again even
        if some new items are never added.
        """
        ahead = Ranking()
        ahead._starts, ahead._blocks = list(self._starts), list(self._blocks)
        for key, item in items:
            ahead.add(key, item)
        if len(ahead.moved) > len(items):
            shared = set(map(id, ahead._blocks))
            for block in self._blocks:
                if id(block) not in shared:
                    self.moved.update(zip(block.items, block.ranks, strict=True))
        return ahead.moved

    def remove(self, key: Key, item: Any) -> None:
        """Remove an item that was added with this key."""
        number = bisect.bisect_left(self._starts, key)
        while True:
            block = self._blocks[number]
            place = bisect.bisect_left(block.keys, key)
            while place < len(block.keys) and block.keys[place] == key:
                if block.items[place] == item:
                    self._blocks[number] = block.without(place)
                    if len(block.keys) == 1 and len(self._blocks) > 1:
                        del self._blocks[number]
                        del self._starts[max(number - 1, 0)]
                    self.moved.pop(item, None)
                    return
                place += 1
            number += 1

    def _end(self, number: int, place: int) -> int | None:
        """Return the first or last rank of a block, or None if there is no such block."""
        inside = 0 <= number < len(self._blocks) and self._blocks[number].ranks
        return self._blocks[number].ranks[place] if inside else None

    def _spread(self, number: int) -> None:
        """Space the ranks of a block evenly."""
        block = self._blocks[number]
        before, after = self._end(number - 1, -1), self._end(number + 1, 0)
        start = block.ranks[0] if before is None else before
        step = ((block.ranks[-1] if after is None else after) - start) // (len(block.ranks) + 1)
        if step >= ROOM:
            self._number(number, start + step, step)
            return
        start = 0
        for each, block in enumerate(self._blocks):
            self._number(each, start, GAP)
            start += GAP * len(block.ranks)

    def _number(self, number: int, start: int, step: int) -> None:
        block = self._blocks[number]
        ranks = [start + place * step for place in range(len(block.items))]
        self._blocks[number] = block._replace(ranks=ranks)
        self.moved.update(zip(block.items, ranks, strict=True))
