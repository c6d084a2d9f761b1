"""Locks of several models held at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def held(*locks: threading.RLock) -> Iterator[None]:
    """Hold locks, always in the same order: two models may merge one another at the same time."""
    with contextlib.ExitStack() as stack:
        for lock in sorted(locks, key=id):
            stack.enter_context(lock)
        yield
