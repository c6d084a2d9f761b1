"""Lines of the log for operators: dead letters by kind, backlogs, and how the process stopped."""

from __future__ import annotations

import logging
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from streamnb_consumers.records import DeadLetter, Partition

_LOG = logging.getLogger(__name__)

_EVERY = 60.0  # seconds between two counts of dead letters, and two lines about a backlog
_KINDS = 100  # kinds whose first dead letter is logged; all others are one more kind
_OTHERS = "other kinds"
_NAMED = 5  # partitions that a line about a backlog names
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|[\w.-]*\d[\w.,-]*")


def kind_of(error: str) -> str:
    """Return an error without the values that differ from record to record.

    Examples
    --------
    >>> kind_of("the label 'eggs' is not one of ham, spam; offset 1,234")
    'the label … is not one of ham, spam; offset …'
    """
    return _VARIABLE.sub("…", error)[:200]


class DeadLetterLog:
    """Log the first dead letter of each kind, and then a count per minute.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition, Record
    >>> log = DeadLetterLog(clock=iter([0.0, 61.0, 61.0]).__next__)
    >>> log.note([DeadLetter(Record(Partition("sms", 0), 7, b"x"), "not JSON: line 1")] * 3)
    >>> log.tell()
    >>> log.counts
    Counter()
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: set[str] = set()
        self._due = clock() + _EVERY
        self.counts: Counter[str] = Counter()

    def note(self, dead_letters: Iterable[DeadLetter]) -> None:
        """Count committed dead letters."""
        for each in dead_letters:
            kind = kind_of(each.error)
            if kind not in self._known:
                if len(self._known) >= _KINDS:
                    kind = _OTHERS
                self._known.add(kind)
                place = each.record.partition
                _LOG.info(
                    "first dead letter of a kind: %s %d, offset %d: %s",
                    *(*place, each.record.offset, each.error),
                )
            self.counts[kind] += 1

    def tell(self) -> None:
        """Log the counts of the last minute, if there were any."""
        if self._clock() < self._due:
            return
        self._due = self._clock() + _EVERY
        if self.counts:
            common = "; ".join(f"{count:,} × {kind}" for kind, count in self.counts.most_common(5))
            _LOG.info("%d dead letters in the last minute: %s", self.counts.total(), common)
            self.counts.clear()


class BacklogLog:
    """Log once a minute that a worker is behind, and once that it has caught up.

    Parameters
    ----------
    most
        Unread records above which a worker is behind, as for the alert `FilterIsBehind`. It has
        caught up below a tenth of them.
    clock, wall
        Monotonic seconds, and Unix time in seconds.

    Examples
    --------
    >>> log, place = BacklogLog(clock=iter([0.0, 7.0, 61.0]).__next__), Partition("sms", 0)
    >>> log.tell({place: 20_000})
    >>> log.since
    0.0
    >>> log.tell({place: 5_000})
    >>> log.tell({place: 999})
    >>> log.since
    """

    def __init__(
        self,
        most: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.most, self._clock, self._wall = most, clock, wall
        self.since: float | None = None  # the begin, by the monotonic clock
        self._at = self._told = 0.0

    def tell(self, lags: Mapping[Partition, int]) -> None:
        """Note the number of unread records of each partition; none are known during an outage."""
        if not lags:
            return
        now, total = self._clock(), sum(lags.values())
        if self.since is None:
            if total <= self.most:
                return
            self.since, self._at, self._told = now, self._wall(), now - _EVERY
        if total < self.most / 10:
            _LOG.info("caught up after %.0f s", now - self.since)
            self.since = None
        elif total > self.most and now >= self._told + _EVERY:
            self._told = now
            longest = sorted(lags.items(), key=lambda each: -each[1])[:_NAMED]
            _LOG.warning(
                "this worker is behind by %d records since %s: %s. It decides and learns them in "
                "the order of the stream. Next step: none, if the number falls; else start more "
                "workers, at most one per partition",
                total,
                datetime.fromtimestamp(self._at, UTC).isoformat(timespec="seconds"),
                ", ".join(f"{name} {number} by {lag}" for (name, number), lag in longest),
            )


def stopped(number: int | None, status: int, error: BaseException | None = None) -> None:
    """Log the end of the process: its signal, exit status and error."""
    reason = signal.Signals(number).name if number is not None else "the input ended"
    if error is not None:
        reason = f"{type(error).__name__}: {error}"
    _LOG.info("stopped with status %d: %s", status, reason)
