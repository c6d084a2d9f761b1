"""The one loop of everything that is computed aside: again, where ids have changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable


def swap_in(attempt: Callable[[], bool]) -> None:
    """Compute something from a copy of a store's counts and give it to the store.

    Other threads may learn meanwhile, and the store may forget words and give their ids to others.
    Then it refuses what was computed from the old ids, and everything is computed again.

    Parameters
    ----------
    attempt
        Copies the counts, computes, and gives the result to the store; returns whether the store
        took it.

    Examples
    --------
    >>> answers = iter([False, True])
    >>> swap_in(lambda: next(answers))
    """
    while not attempt():
        pass
