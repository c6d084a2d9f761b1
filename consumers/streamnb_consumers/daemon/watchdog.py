"""The watchdog: a call beyond its time limit ends the process."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streamnb_consumers.errors import RESTART

EXIT_STATUS = RESTART
_LOG = logging.getLogger(__name__)


def _end() -> None:
    logging.shutdown()
    os._exit(EXIT_STATUS)


class Watchdog:
    """Watch the calls of one thread.

    A call that hangs in native code cannot be interrupted. So the process ends immediately, and its
    supervisor restarts it from the last snapshot.

    Parameters
    ----------
    end
        Function that ends the process.
    clock
        Monotonic seconds.

    Attributes
    ----------
    also
        Function that the thread calls after each check.

    Examples
    --------
    >>> times, ended = iter([10.0, 11.0, 16.0]), []
    >>> watchdog = Watchdog(end=lambda: ended.append(True), clock=lambda: next(times))
    >>> with watchdog.limit("commit", seconds=5.0):
    ...     watchdog.check(), watchdog.check(), ended
    (None, None, [True])
    """

    def __init__(
        self, end: Callable[[], None] = _end, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._end, self._clock = end, clock
        self._call: tuple[str, float, float] | None = None
        self._closed = threading.Event()
        self.also: Callable[[], None] = lambda: None

    @contextmanager
    def limit(self, what: str, seconds: float) -> Iterator[None]:
        """Limit the duration of a block; limits may be nested, and the inner one applies."""
        before = self._call
        self._call = (what, seconds, self._clock() + seconds)
        try:
            yield
        finally:
            self._call = before

    def busy(self) -> tuple[str, float]:
        """Return the current activity and its duration in seconds."""
        call = self._call
        return ("", 0.0) if call is None else (call[0], self._clock() - call[2] + call[1])

    def check(self) -> None:
        """End the process if the current call exceeds its limit."""
        call = self._call
        if call is not None and self._clock() >= call[2]:
            _LOG.critical(
                "%s took more than %g s: ending the process with status %d. A restart continues "
                "from the last commit",
                *(call[0], call[1], EXIT_STATUS),
            )
            self._end()

    def start(self, every: float = 0.5) -> None:
        """Check periodically from a separate thread, and call `also`."""

        def watch() -> None:
            while not self._closed.wait(every):
                self.check()
                self.also()

        threading.Thread(target=watch, name="watchdog", daemon=True).start()

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()
