"""The end of the process, and forks, while other threads work in the core.

A batch works without the GIL. At the end of the process its thread must not take the GIL again. At
a fork it must not hold a lock, because the child would wait for it forever. So a fork waits for the
batches of other threads, and for changes of models.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading
import weakref
from typing import Any

from streamnb import _core

_PAUSE = 0.05  # seconds of waiting for one lock while others are held
# The locks of models are taken before a fork: a child must not find half a change.
_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_forking = threading.RLock()
# The locks that each fork has taken: the handler of a signal may fork within a fork.
_held: list[list[Any]] = []
_gates = 0  # forks that the core knows


def fork_safe_lock() -> Any:
    """Return a reentrant lock that no other thread holds in the child of a fork.

    Examples
    --------
    >>> lock = fork_safe_lock()
    >>> with lock, lock:
    ...     pass
    """
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _before_fork() -> None:
    global _gates
    _forking.acquire()
    _held.append([])
    while not _acquired():
        pass
    _gates += 1
    if _gates == 1:
        _core.before_fork()


def _acquired() -> bool:
    """Acquire the locks of all models, or none of them if another thread keeps one."""
    for lock in list(_locks):
        if not lock.acquire(timeout=_PAUSE):
            _release()
            return False
        _held[-1].append(lock)
    return True


def _release() -> None:
    while _held[-1]:
        _held[-1].pop().release()


def _after_fork(is_child: bool) -> None:
    global _gates
    _gates -= 1
    if not _gates:
        _core.after_fork(is_child)
    _release()
    _held.pop()
    _forking.release()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=functools.partial(_after_fork, is_child=False),
    after_in_child=functools.partial(_after_fork, is_child=True),
)
atexit.register(_core.end_threads)
