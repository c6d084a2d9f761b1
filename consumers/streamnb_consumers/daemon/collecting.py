"""How often Python looks for garbage while a filter runs."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["collecting_seldom"]

# Objects made and not freed after which Python looks for circles among them: 700 by default, which
# a batch makes several times over. None of them is in a circle: what a batch makes goes with it or
# with its message's window, by its references. A fourth of a message's time went into looking.
_OBJECTS = 50_000


@contextlib.contextmanager
def collecting_seldom() -> Iterator[None]:
    """Look for garbage less often inside.

    Examples
    --------
    >>> before = gc.get_threshold()
    >>> with collecting_seldom():
    ...     gc.get_threshold()[0]
    50000
    >>> gc.get_threshold() == before
    True
    """
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
