"""Protocols of sources, sinks and the training log."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from streamnb_consumers.errors import BadInputError
from streamnb_consumers.io.partition_table import PartitionTable
from streamnb_consumers.records import DeadLetter, Outputs, Partition, Record

BATCH_BYTES = 2**24  # of the records of one batch, beside a larger one


def take(records: Iterator[Record], most: int, size: int = BATCH_BYTES) -> list[Record]:
    """Return the next records: at most so many, and none after so many bytes.

    Examples
    --------
    >>> records = (Record(Partition("mail", 0), at, b"four") for at in range(5))
    >>> [len(take(records, 3, 7)) for _ in range(4)]
    [2, 2, 1, 0]
    """
    found: list[Record] = []
    while len(found) < most and size > 0 and (record := next(records, None)) is not None:
        found.append(record)
        size -= len(record.value or b"")
    return found


class WindowMark(NamedTuple):
    """How far a join window follows its log.

    Attributes
    ----------
    log
        Id of the topic of the log.
    offset
        The window contains all changes before this offset.
    progress
        Committed offsets at that time: topic, id of the topic, offset.
    """

    log: str
    offset: int
    progress: list[tuple[str, str, int]]


class JoinWindows(Protocol):
    """The join windows of all partitions, `streamnb_consumers.pipeline.join.Join`."""

    def window(self, partition: int) -> Any:
        """Return the join window of a partition."""


class WindowReader(Protocol):
    """Reader for the snapshots of join windows."""

    def load(self, number: int, log: str) -> tuple[WindowMark, list[bytes]] | None:
        """Return the snapshot of a partition, in the pieces of `JoinWindow.pieces`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """Records that were polled together.

    Attributes
    ----------
    records
        The records, in processing order.
    token
        Opaque value that the sink needs for the commit, such as the membership in a group.
    dropped
        Numbers of partitions whose join windows must be dropped before processing. They moved to
        another worker, or are read again from their log.
    offsets
        Additional offsets to commit.
    missing
        Numbers of records that were deleted before they were read or are unreadable, by partition.
    skipped
        Dead letters for unreadable records that are skipped.
    ahead
        Labels that were read and are not due yet. Later batches deliver them.
    windows
        Snapshots of new join windows, by partition.
    """

    records: list[Record]
    token: object = None
    dropped: frozenset[int] = frozenset()
    offsets: Mapping[Partition, int] = dataclasses.field(default_factory=dict)
    missing: Mapping[Partition, int] = dataclasses.field(default_factory=dict)
    skipped: list[DeadLetter] = dataclasses.field(default_factory=list)
    ahead: list[Record] = dataclasses.field(default_factory=list)
    windows: dict[int, list[bytes]] = dataclasses.field(default_factory=dict)

    def parts(self, most: int, size: float = math.inf) -> list[Batch]:
        """Return batches of at most so many records and bytes, with at least one record each.

        The first one has the additional offsets and the dead letters. With such offsets it also has
        all changes of join windows, because their decisions are written when a window is complete.

        Examples
        --------
        >>> batch = Batch([Record(Partition("sms", 0), at, b"four") for at in range(5)])
        >>> [len(part.records) for part in batch.parts(2)], len(Batch([]).parts(2))
        ([2, 2, 1], 1)
        >>> [len(part.records) for part in batch.parts(2, size=7)]
        [1, 1, 1, 1, 1]
        >>> changes = [Record(Partition("log", 0), at, b"", role="window") for at in range(4)]
        >>> batch = Batch(changes + batch.records, offsets={Partition("sms", 1): 7})
        >>> [len(part.records) for part in batch.parts(2)]
        [4, 2, 2, 1]
        """
        starts, left = [0], size
        first = 0  # records that the first part needs
        if self.offsets:
            changes = (at for at, each in enumerate(self.records, 1) if each.role == "window")
            first = max(changes, default=0)
        for at, record in enumerate(self.records):
            weight = len(record.value or b"") + len(record.key or b"")
            full = at - starts[-1] >= most or weight > left
            if at >= first and at > starts[-1] and full:
                starts.append(at)
                left = size
            left -= weight
        return [
            Batch(
                self.records[at:end],
                self.token,
                offsets={} if at else self.offsets,
                skipped=[] if at else self.skipped,
            )
            for at, end in itertools.pairwise([*starts, len(self.records)])
        ]


class Source(Protocol):
    """A source of records. No method waits longer than its timeout, in seconds.

    Attributes
    ----------
    table
        The partitions with the reasons why they do not advance; empty for files.
    join
        Join windows that the labels go to. The loop sets them before the start.
    windows
        Snapshots of join windows; None for none. The loop sets them before the start.
    """

    join: JoinWindows | None = None
    windows: WindowReader | None = None

    table: PartitionTable = PartitionTable()

    @property
    def differences(self) -> int:
        """Number of settings of the source that differ from the needs of the filter."""
        return 0

    @property
    def ended(self) -> bool:
        """Whether no more records will follow."""

    @property
    def waiting(self) -> str:
        """Reason why messages are not delivered yet; empty if they are."""
        return ""

    @property
    def partitions(self) -> int:
        """Number of partitions of the messages, over all workers; known after `start`."""
        return 1

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Start at the offsets of a snapshot; return the committed offsets.

        Called again after an aborted transaction. Records between the two offsets are replayed:
        they rebuild the state of the filter, but their outputs are already committed. The source
        delivers them before any later record that may be joined to them.
        """

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return the next records, in order within each partition; none after the timeout."""

    def block(self, place: Partition, why: str) -> None:
        """Stop reading a partition with too many invalid records for some time.

        Raises
        ------
        BadInputError
            If the source has no other partitions.
        """
        raise BadInputError(why)

    def window_marks(self) -> Mapping[int, WindowMark]:
        """Return how far the join windows follow their logs. Call it between transactions.

        Partitions are left out if this worker may not own them any more.
        """
        return {}

    def lag(self) -> Mapping[Partition, int]:
        """Return the number of records that wait in each partition, if it is known."""
        return {}

    def close(self, timeout: float) -> None:
        """Release all resources; called once."""
        return


class Sink(Protocol):
    """A sink of outputs. No method waits longer than its timeout, in seconds."""

    def start(self, timeout: float) -> None:
        """Start before the source, and drop unfinished transactions of the same name.

        Called again after an aborted transaction.
        """
        return

    def send(self, outputs: Outputs) -> None:
        """Send the outputs of the next transaction; called once for each."""

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Commit the outputs and the offsets of their records atomically.

        Parameters
        ----------
        offsets
            For each partition of the batch, the offset after its last record.
        token
            Token of the batch.
        timeout
            Seconds.

        Raises
        ------
        AbortedError
            If nothing was committed and the batch may be retried.
        FencedError
            If another process has replaced this one.
        """

    def abort(self) -> None:
        """Drop the open transaction, if any."""

    def close(self, timeout: float) -> None:
        """Release all resources; called once."""
        return


class BufferedSink(Sink):
    """A sink that writes nothing before the commit."""

    def __init__(self) -> None:
        self._open = Outputs()

    def send(self, outputs: Outputs) -> None:
        """Keep the outputs of the transaction."""
        self._open = outputs

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Drop the outputs; other sinks write them."""
        self.abort()

    def abort(self) -> None:
        """Drop the transaction."""
        self._open = Outputs()


class TrainingLog(Protocol):
    """Identity and truncation of the training log."""

    def identity(self, timeout: float) -> str:
        """Return the id of this log, which differs if the log was created again.

        Raises
        ------
        AbortedError
            If the cluster does not answer.
        """

    def truncate(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the training events before these offsets.

        Raises
        ------
        AbortedError
            If the cluster does not delete them.
        """
