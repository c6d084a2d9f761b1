"""A sorted list of very many that come and go one by one, each with a rank that seldom changes."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

Key = tuple[Any, ...]

GAP = 1 << 32
"""Between the ranks of items that come in order."""
ROOM = 1 << 12
"""Between ranks after items have moved, at least."""
BLOCK = 128
"""Items of a block, at most: of these lists each new item makes new ones."""


class _Block(NamedTuple):
    """Neighbours in sorted order. Its lists are never changed: `Ranking.ahead` shares blocks."""

    keys: list[Key]
    ranks: list[int]
    items: list[Any]

    def with_one(self, place: int, key: Key, rank: int, item: Any) -> _Block:
        """Return the block with one more at a place."""
        return _Block(
            [*self.keys[:place], key, *self.keys[place:]],
            [*self.ranks[:place], rank, *self.ranks[place:]],
            [*self.items[:place], item, *self.items[place:]],
        )

    def part(self, start: int, stop: int | None = None) -> _Block:
        """Return some of the block."""
        return _Block(self.keys[start:stop], self.ranks[start:stop], self.items[start:stop])

    def without(self, place: int) -> _Block:
        """Return the block without the one at a place."""
        first, rest = self.part(0, place), self.part(place + 1)
        return _Block(first.keys + rest.keys, first.ranks + rest.ranks, first.items + rest.items)


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
        """Return the numbers that new items will get, and those of others that will move for them.

        Nothing changes, but that those others count as moved: whoever was told of their numbers to
        come is told again, if not all of the new items are added.
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
        """Take an item out that was added with this key."""
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
