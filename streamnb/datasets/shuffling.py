"""Other streams of the same messages: another order, another share of a class."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from streamnb.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["at_share", "shuffled"]

_T = TypeVar("_T")


def shuffled(messages: Iterable[_T], seed: int) -> list[_T]:
    """Return messages in an order that follows from the seed, on every version of Python.

    Parameters
    ----------
    messages
        All of them are read.
    seed
        Of Python's random().

    Examples
    --------
    >>> shuffled("abcdef", seed=1)
    ['b', 'c', 'f', 'd', 'e', 'a']
    """
    # The Fisher-Yates shuffle of random() alone: Python's own has changed.
    kept, rng = list(messages), random.Random(seed)
    for place in range(len(kept) - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        kept[place], kept[other] = kept[other], kept[place]
    return kept


def at_share(
    messages: Iterable[tuple[_T, bool]], share: float, last: float | None = None, *, seed: int
) -> list[tuple[_T, bool]]:
    """Leave out messages of two classes, so that the positive ones have a share; keep the order.

    Parameters
    ----------
    messages
        Messages of both classes, each with whether it is positive. All of them are read.
    share
        Of positive messages, in (0, 1). As many messages are kept as there can be, about.
    last
        The share at the end of the stream, to which it goes evenly; None for the same.
    seed
        Of Python's random().

    Raises
    ------
    InputError
        If a share is not in (0, 1), or there is one class only.

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
    found = sum(pos_label for _, pos_label in every) / max(1, len(every))
    if not 0 < found < 1:
        raise InputError("a share needs messages of both classes, and there are only those of one")
    most = min(found / max(ends), (1 - found) / (1 - min(ends)))
    rng, kept = random.Random(seed), []
    for place, (message, pos_label) in enumerate(every):
        here = ends[0] + (ends[1] - ends[0]) * place / len(every)
        keep = here / found if pos_label else (1 - here) / (1 - found)
        if rng.random() < most * keep:
            kept.append((message, pos_label))
    return kept
