"""What goes wrong again and again: how long to wait, how often to say so, when to give up."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable

from streamnb_consumers.errors import AbortedError, UnreachableError

__all__ = ["Setbacks"]

_LOG = logging.getLogger(__name__)

# Between two lines about the same outage. Seconds.
_SAY_EVERY = 60.0
# The wait is doubled no more often than this.
_DOUBLED = 30


class Setbacks:
    """Aborted transactions and outages, one after another.

    A cluster that is away costs time only, however long; a transaction that the cluster refuses
    costs one of `most`.

    Parameters
    ----------
    most
        Transactions that may be aborted one after another.
    longest
        Longest wait between two attempts, in seconds. The first is a hundredth of it, and each is
        twice the one before; up to half of it is left out by chance, so that the workers of a group
        do not all come back at the same moment.
    clock, draw
        Seconds that only go forward; numbers from 0 to 1.

    Examples
    --------
    >>> setbacks = Setbacks(most=1, longest=5.0, clock=iter(range(99)).__next__, draw=lambda: 0.0)
    >>> [setbacks.note(UnreachableError("no broker")) for _ in range(9)]
    [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    >>> setbacks.note(AbortedError("refused"))
    5.0
    >>> setbacks.note(AbortedError("refused"))
    Traceback (most recent call last):
    streamnb_consumers.errors.AbortedError: refused
    """

    def __init__(
        self,
        most: int = 20,
        longest: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._most, self._longest = most, longest
        self._clock, self._draw = clock, draw
        self._tries = self._aborts = 0
        self._since = self._said = 0.0
        self._away = False

    def note(self, error: AbortedError) -> float:
        """Take note of one; return the seconds to wait before the next attempt.

        Raises
        ------
        AbortedError
            The same, if there were too many.
        """
        now = self._clock()
        if isinstance(error, UnreachableError):
            if not self._away:
                self._away, self._since = True, now
                self._say(now, error)
            elif now >= self._said + _SAY_EVERY:
                self._say(now, error)
        else:
            self._aborts += 1
            _LOG.warning("a transaction was aborted: %s", error, extra={"aborts": self._aborts})
            if self._aborts > self._most:
                raise error
        self._tries += 1
        pause = min(self._longest, self._longest / 100 * 2.0 ** min(self._tries - 1, _DOUBLED))
        return pause * (1 - self._draw() / 2)

    def _say(self, now: float, error: AbortedError) -> None:
        self._said = now
        _LOG.warning(
            "the cluster does not answer for %.0f s now, %d attempts: %s",
            now - self._since,
            self._tries,
            error,
        )

    def over(self) -> None:
        """Say that all is well: something was committed, or nothing waits."""
        if self._away:
            _LOG.warning("the cluster is back after %.0f s", self._clock() - self._since)
        self._tries = self._aborts = 0
        self._away = False
