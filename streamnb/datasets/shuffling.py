"""Change the order of a stream, or the share of a class."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from streamnb.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["at_share", "shuffled"]

_T = TypeVar("_T")


def shuffled(messages: Iterable[_T], seed: int) -> list[_T]:
    """Return messages in random order, the same on every version of Python.

    Parameters
    ----------
    messages
        Messages; all are read first.
    seed
        Any integer.

    Examples
    --------
    >>> shuffled("abcdef", seed=1)
    ['b', 'c', 'f', 'd', 'e', 'a']
    """
    # A Fisher-Yates shuffle with random(), because Python's shuffle has changed.
    kept, rng = list(messages), random.Random(seed)
    for place in range(len(kept) - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        kept[place], kept[other] = kept[other], kept[place]
    return kept


def at_share(
    messages: Iterable[tuple[_T, bool]], share: float, last: float | None = None, *, seed: int
) -> list[tuple[_T, bool]]:
    """Remove messages at random so that positive ones have a given share; keep the order.

    Parameters
    ----------
    messages
        Pairs of a message and whether it is positive; all are read first.
    share
        Share of positive messages, in (0, 1).
    last
        Share at the end of the stream, with a linear change; None for a constant share.
    seed
        Any integer.

    Raises
    ------
    InputError
        If a share is not in (0, 1), or there is only one class.

    Examples
    --------
    >>> stream = [(n, n % 4 == 0) for n in range(4000)]
    >>> kept = at_share(stream, 0.5, seed=1)
    >>> len(kept), sum(positive for _, positive in kept)
    (2024, 1000)
    """
    every = list(messages)
    ends = (share, share if last is None else last)
    for end in ends:
        if not 0 < end < 1:
            raise InputError(f"a share must be a number above 0 and below 1, not {shown(end)}")
    found = sum(positive for _, positive in every) / max(1, len(every))
    if not 0 < found < 1:
        raise InputError("a share needs messages of both classes, but there is only one class")
    most = min(found / max(ends), (1 - found) / (1 - min(ends)))
    rng, kept = random.Random(seed), []
    for place, (message, positive) in enumerate(every):
        here = ends[0] + (ends[1] - ends[0]) * place / len(every)
        keep = here / found if positive else (1 - here) / (1 - found)
        if rng.random() < most * keep:
            kept.append((message, positive))
    return kept
