"""Backoff after aborted transactions and outages, and the circuit breaker for invalid input."""

from __future__ import annotations

import logging
import random
import time
from collections import Counter, deque
from collections.abc import Callable

from streamnb.errors import StreamNBError
from streamnb_consumers.errors import (
    AbortedError,
    RebalanceError,
    RefusedError,
    UnreachableError,
)
from streamnb_consumers.records import Partition

_LOG = logging.getLogger(__name__)

# Seconds until the first log line about an outage, and between two lines about the same one.
_SAY_AFTER = 5.0
_SAY_EVERY = 60.0
# Maximum number of doublings of the wait.
_DOUBLED = 30


class Backoff:
    """Count consecutive aborted transactions and outages.

    An outage of any length only costs time; a transaction that the cluster refuses costs one of
    `most`.

    Parameters
    ----------
    most
        Consecutive transactions that may be aborted.
    longest
        Longest wait between two attempts, in seconds. The first wait is a hundredth of it, and each
        wait is twice the one before. Up to half of it is subtracted at random, so that the workers
        of a group do not return at the same moment.
    authorization
        Seconds for which the cluster may refuse a worker that it has accepted before.
    clock, draw
        Monotonic seconds; random numbers from 0 to 1.

    Examples
    --------
    >>> backoff = Backoff(most=1, longest=5.0, clock=iter(range(99)).__next__, draw=lambda: 0.0)
    >>> [backoff.note(UnreachableError("no broker")) for _ in range(9)]
    [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    >>> backoff.note(AbortedError("refused"))
    5.0
    >>> backoff.note(AbortedError("refused"))
    Traceback (most recent call last):
    streamnb_consumers.errors.AbortedError: refused
    """

    def __init__(
        self,
        most: int = 20,
        longest: float = 5.0,
        authorization: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._most, self._longest, self._authorization = most, longest, authorization
        self._clock, self._draw = clock, draw
        self._tries = self._aborts = 0
        self._since = clock()  # the last answer of the cluster
        self._said: float | None = None  # the last log line about this outage
        self._error: StreamNBError | None = None  # of this outage
        self._refused = False  # whether this outage had a refusal

    def note(self, error: AbortedError | RefusedError) -> float:
        """Count a failure; return the seconds to wait before the next attempt.

        Raises
        ------
        AbortedError
            The given error, after too many failures.
        RefusedError
            The given error, if the cluster has refused this worker for too long.
        """
        if isinstance(error, RefusedError) and self._clock() >= self._since + self._authorization:
            raise error
        if isinstance(error, (UnreachableError, RefusedError)):
            if isinstance(error, RefusedError) and not self._refused:
                self._refused, self._said = True, None  # it is news, and has another next step
            self._error = error
            self.tell()
        else:
            self._aborts += 1
            if isinstance(error, RebalanceError):
                _LOG.info("the group moved partitions, the open transaction is repeated: %s", error)
            else:
                _LOG.warning(
                    "a transaction was aborted and is repeated, %d of at most %d times: %s",
                    *(self._aborts, self._most, error),
                )
            if self._aborts > self._most:
                raise error
        self._tries += 1
        pause = min(self._longest, self._longest / 100 * 2.0 ** min(self._tries - 1, _DOUBLED))
        return pause * (1 - self._draw() / 2)

    def tell(self, call: str = "", seconds: float = 0.0) -> None:
        """Log an outage after some seconds, and then once a minute; another thread may call it.

        `call` is a request that the cluster has not answered for so many seconds.
        """
        now = self._clock()
        if self._error is None and seconds < _SAY_AFTER:
            return
        since = now - seconds if self._error is None else self._since
        if now < since + _SAY_AFTER or (self._said is not None and now < self._said + _SAY_EVERY):
            return
        self._said = now
        if isinstance(self._error, RefusedError):
            _LOG.error(
                "the cluster has refused this worker for %.0f s (%d attempts), and accepted it "
                "before. Processing continues when the permission is back; the worker ends after "
                "%.0f s (authorization_seconds): %s",
                *(now - since, self._tries, self._authorization, self._error),
            )
            return
        _LOG.warning(
            "the cluster does not answer, or is not ready, for %.0f s now (%d attempts). "
            "Processing continues when it is back: %s",
            *(now - since, self._tries, self._error or f"{call} takes {seconds:.0f} s"),
        )

    def answered(self) -> None:
        """Note that the cluster has answered a poll."""
        if self._error is None:
            self._since = self._clock()

    def over(self) -> None:
        """Reset after success: something was committed, or nothing waits."""
        if self._said is not None:
            _LOG.warning("the cluster is back after %.0f s", self._clock() - self._since)
        self._tries = self._aborts = 0
        self._error = self._said = None
        self._refused = False
        self._since = self._clock()


class BatchBounds:
    """Bounds of a transaction: they halve after a failure, and double after fast commits.

    A transaction that takes longer than its limit, because of a quota or a slow link, would fail
    for ever.

    Parameters
    ----------
    records, size
        Maximum number of records, and of bytes.
    seconds
        Time limit of a transaction. A commit that takes less than a quarter of it is fast.

    Examples
    --------
    >>> bounds = BatchBounds(records=100, size=1_000, seconds=30.0)
    >>> bounds.failed()
    >>> bounds.records, bounds.size
    (50, 500)
    >>> bounds.committed(8.0)
    >>> bounds.committed(7.0)
    >>> bounds.records, bounds.size
    (100, 1000)
    """

    def __init__(self, records: int, size: int, seconds: float) -> None:
        self._most, self._largest, self._fast = records, size, seconds / 4
        self._share = 1.0

    @property
    def records(self) -> int:
        """Maximum number of records of the next transaction."""
        return max(1, int(self._most * self._share))

    @property
    def size(self) -> int:
        """Maximum number of bytes of the next transaction."""
        return max(1, int(self._largest * self._share))

    def failed(self) -> None:
        """Halve the bounds, down to one record."""
        if self.records > 1:
            self._share /= 2
            _LOG.info("the next transactions have at most %d records", self.records)

    def committed(self, seconds: float) -> None:
        """Double the bounds after a fast commit."""
        if self._share < 1.0 and seconds < self._fast:
            self._share = min(1.0, 2 * self._share)


class Breaker:
    """Watch the share of invalid records among the last ones of each partition.

    Parameters
    ----------
    share
        Share of invalid records that opens the breaker, in (0, 1].
    records
        Number of last records; the breaker does not open before it has seen as many.

    Examples
    --------
    >>> breaker, place = Breaker(share=0.5, records=4), Partition("sms", 0)
    >>> for bad in (True, True, True, False):
    ...     breaker.note(place, bad)
    >>> breaker.opened("it is no JSON")[0][1]
    '3 of the last 4 records are invalid (the last: it is no JSON); all of them are dead letters'
    >>> breaker.opened()
    []
    """

    def __init__(self, share: float = 0.8, records: int = 1000) -> None:
        self.share, self.records = share, records
        self._last: dict[Partition, deque[bool]] = {}
        self._bad: Counter[Partition] = Counter()

    def note(self, place: Partition, bad: bool) -> None:
        """Count one record of a partition."""
        last = self._last.get(place)
        if last is None:
            last = self._last[place] = deque(maxlen=self.records)
        if len(last) == self.records:
            self._bad[place] -= last[0]
        last.append(bad)
        self._bad[place] += bad

    def opened(self, reason: str = "") -> list[tuple[Partition, str]]:
        """Return the partitions of which most records are invalid, and why; then begin again.

        `reason` is the last error.
        """
        found = []
        for place, last in list(self._last.items()):
            bad = self._bad[place]
            if len(last) == self.records and bad >= self.share * self.records:
                del self._last[place], self._bad[place]
                text = (
                    f"{bad:,} of the last {self.records:,} records are invalid"
                    f"{f' (the last: {reason})' if reason else ''}; all of them are dead letters"
                )
                found.append((place, text))
        return found
