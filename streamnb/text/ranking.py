"""A sorted list with ranks that rarely change when items are added or removed."""

from __future__ import annotations

import bisect
import operator
from collections.abc import Iterator, Sequence
from typing import Any

Key = tuple[Any, ...]

GAP = 1 << 32
"""Distance between the ranks of consecutive items."""
ROOM = 1 << 12
"""Minimum distance between ranks after some are spaced evenly."""
NEAR = 64
"""Items on either side of a used-up gap that are spaced evenly first."""

_key = operator.itemgetter(0)


class Ranking:
    """Items sorted by keys, then by arrival, with ranks in this order.

    Ranks have gaps, so a new item rarely changes other ranks. If a gap is used up, the nearest
    items get evenly spaced ranks, as many of them as have room.

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
        self._sorted: list[tuple[Key, Any]] = []
        self._ranks: dict[Any, int] = {}

    def __iter__(self) -> Iterator[Any]:
        # Other threads may add items meanwhile.
        return (item for _, item in self._sorted.copy())

    def add(self, key: Key, item: Any) -> None:
        """Add an item after the items with lower or equal keys."""
        place = bisect.bisect_right(self._sorted, key, key=_key)
        low, high = self._bounds(place, place)
        self._sorted.insert(place, (key, item))
        self._set(item, (low + high) // 2)
        if high - low < 2:
            self._spread(place)

    def remove(self, key: Key, item: Any) -> None:
        """Remove an item that was added with this key."""
        place = bisect.bisect_left(self._sorted, key, key=_key)
        while self._sorted[place][1] != item:
            place += 1
        del self._sorted[place], self._ranks[item]
        self.moved.pop(item, None)

    def ahead(self, items: Sequence[tuple[Key, Any]]) -> dict[Any, int]:
        """Return the ranks that new items would get, and the other ranks that change for them.

        The other ranks do change, and are reported again even if some new items are never added.
        """
        for key, item in items:
            self.add(key, item)
        ahead = self.moved.copy()
        for key, item in items:
            self.remove(key, item)
        return ahead

    def _bounds(self, start: int, stop: int) -> tuple[int, int]:
        """Return ranks below and above those of the items from `start` to `stop`."""
        low = self._ranks[self._sorted[start - 1][1]] if start else None
        high = self._ranks[self._sorted[stop][1]] if stop < len(self._sorted) else None
        if low is None:
            low = -GAP if high is None else high - 2 * GAP
        return low, low + 2 * GAP if high is None else high

    def _set(self, item: Any, rank: int) -> None:
        self._ranks[item] = self.moved[item] = rank

    def _spread(self, place: int) -> None:
        """Space the ranks around a place evenly."""
        reach, n = NEAR, len(self._sorted)
        while True:
            start, stop = max(0, place - reach), min(n, place + reach)
            low, high = self._bounds(start, stop) if stop - start < n else (0, (n + 1) * GAP)
            step = (high - low) // (stop - start + 1)
            if step >= ROOM:
                break
            reach *= 2
        for number, (_, item) in enumerate(self._sorted[start:stop], 1):
            self._set(item, low + number * step)
