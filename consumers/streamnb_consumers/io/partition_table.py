"""The state of each partition that a worker reads or writes: one table for `/readyz`, log, metrics.

A partition is running, waiting or blocked. A waiting partition continues by itself, a blocked one
may need an operator. The other partitions of the worker continue.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import Enum

from streamnb_consumers.records import Partition

_LOG = logging.getLogger(__name__)

# Seconds between two log lines about the same partition, and until the first line about a reason
# that is part of each start.
_TELL = 60.0
RUNNING, WAITING, BLOCKED = "running", "waiting", "blocked"


class Reason(Enum):
    """Why a partition does not advance: name, state, and whether it is part of each start.

    Examples
    --------
    >>> Reason.UNREADABLE.label, Reason.UNREADABLE.state
    ('unreadable batch', 'blocked')
    """

    UNDECIDED = "undecided offsets", WAITING, True
    RESTORING = "join window", WAITING, True
    ABSENT = "absent partition", WAITING, True
    OPEN = "open transaction", WAITING, False
    UNREADABLE = "unreadable batch", BLOCKED, False
    MISSING = "missing records", BLOCKED, False
    INVALID = "invalid records", BLOCKED, False

    def __init__(self, label: str, state: str, is_usual: bool) -> None:
        self.label, self.state, self.is_usual = label, state, is_usual


@dataclasses.dataclass(slots=True)
class Row:
    """A reason why a partition does not advance.

    Attributes
    ----------
    place, reason
        Topic and partition, and the reason.
    since, at
        Begin, by the monotonic clock and as Unix time.
    offset
        Offset at which the partition stands, if there is one.
    why, step
        Details for the log, and the next step of the operator.
    told
        Time of the last log line; None before the first one.
    """

    place: Partition
    reason: Reason
    since: float
    at: float
    offset: int | None = None
    why: str = ""
    step: str = ""
    told: float | None = None

    @property
    def urgency(self) -> tuple[bool, float]:
        """Key that orders rows: blocked before waiting ones, then by their begin."""
        return self.reason.state != BLOCKED, self.since

    def text(self) -> str:
        """Return the row in words, which stay the same while the reason does."""
        offset = "" if self.offset is None else f" at offset {self.offset}"
        since = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="seconds")
        return (
            f"{self.place.source} {self.place.number} is {self.reason.state}{offset} since "
            f"{since}, {self.reason.label}: {self.why}. Next step: {self.step}"
        )


class PartitionTable:
    """Table of the partitions that a worker reads or writes. Other threads may read it.

    Parameters
    ----------
    clock, wall
        Monotonic seconds, and Unix time in seconds.

    Examples
    --------
    >>> table, place = PartitionTable(), Partition("sms", 0)
    >>> table.watch([place, Partition("sms", 1)])
    >>> table.hold(place, Reason.UNREADABLE, "its checksum is wrong", "restore the log", 7)
    >>> [(each.number, row and row.reason.state) for each, row in table.rows()]
    [(0, 'blocked'), (1, None)]
    >>> table.free(place)
    >>> table.problem()
    ''
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.clock, self._wall = clock, wall
        self.patience = _TELL
        self._held: dict[Partition, dict[Reason, Row]] = {}

    def watch(self, places: Iterable[Partition]) -> None:
        """Set the partitions; those that are already in the table keep their state."""
        self._held = {place: self._held.get(place, {}) for place in places}

    def hold(
        self, place: Partition, reason: Reason, why: str, step: str, offset: int | None = None
    ) -> None:
        """Note a reason why a partition does not advance."""
        reasons = self._held.setdefault(place, {})
        row = reasons.get(reason)
        if row is None:
            row = reasons[reason] = Row(place, reason, self.clock(), self._wall())
        row.why, row.step, row.offset = why, step, offset

    def free(self, place: Partition, *reasons: Reason) -> None:
        """Remove reasons of a partition; without `reasons` all of them."""
        held = self._held.get(place, {})
        for reason in reasons or list(held):
            row = held.pop(reason, None)
            if row is not None and row.told is not None:
                _LOG.warning(
                    "%s %d is no longer %s: %s ended after %.0f s",
                    *(*place, reason.state, reason.label, self.clock() - row.since),
                )

    def drop(self, place: Partition) -> None:
        """Remove all reasons of a partition that starts again, without a log line."""
        self._held[place] = {}

    def is_held(self, place: Partition, reason: Reason) -> bool:
        """Return whether a partition is held for a reason."""
        return reason in self._held.get(place, {})

    def rows(self) -> list[tuple[Partition, Row | None]]:
        """Return each partition with its most urgent row; None if it is running."""
        return [
            (place, min(list(reasons.values()), key=lambda row: row.urgency, default=None))
            for place, reasons in list(self._held.items())
        ]

    def _waiting(self) -> list[Row]:
        return sorted((row for _, row in self.rows() if row), key=lambda row: row.urgency)

    def problem(self) -> str:
        """Return the most urgent row in words, and the number of others; empty if all run."""
        rows = self._waiting()
        if not rows:
            return ""
        more = f" ({len(rows) - 1} more partitions do not run)" if len(rows) > 1 else ""
        return f"{rows[0].text()}{more}"

    def tell(self) -> None:
        """Log each partition that does not advance, once a minute."""
        now = self.clock()
        for row in self._waiting():
            if row.told is None and row.reason.is_usual and now < row.since + self.patience:
                continue
            if row.told is None or now >= row.told + _TELL:
                row.told = now
                level = logging.ERROR if row.reason.state == BLOCKED else logging.WARNING
                _LOG.log(level, "%s", row.text())
