"""Interfaces that each Kafka client driver implements.

Drivers convert all errors of their client. They raise `AbortedError` for errors that can be retried
and `FencedError` if another process has replaced this one. All times are in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from streamnb_consumers.errors import AbortedError
from streamnb_consumers.kafka.cluster import TopicLayout
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.records import Partition, Record, Role

# Maximum size of the batches that a writer sends, in bytes. Topics may have smaller limits.
BATCH_BYTES = 2**17
Roles = Mapping[str, Role]  # by topic; the default is "message"
Given = Callable[[Iterable[int]], None]  # callback with partition numbers


class Membership(NamedTuple):
    """Group membership of a worker: token for commits and group generation."""

    token: object
    generation: Hashable


class TopicFacts(NamedTuple):
    """Facts about a topic.

    Attributes
    ----------
    id
        Id that the cluster assigned.
    replicas, brokers
        Least number of replicas of a partition, and number of brokers of the cluster.
    operations
        Operations that are allowed to this worker, such as READ; empty if they are unknown.
    """

    id: str
    replicas: int
    brokers: int
    operations: frozenset[str]


class Unreadable(NamedTuple):
    """A batch that a client cannot read: first offset, first offset after it, and the reason."""

    place: Partition
    first: int
    after: int
    why: str


def check_read(batches: Sequence[Unreadable]) -> None:
    """Raise an error if there are unreadable batches that nobody has taken.

    Raises
    ------
    AbortedError
        For the first of them.
    """
    for (topic, number), first, after, why in batches:
        raise AbortedError(
            f"{topic} {number}: offsets {first} to {after - 1} are unreadable: {why}"
        )


class Reader(Protocol):
    """Reader for explicitly assigned partitions."""

    def partitions(self, topic: str) -> list[Partition]:
        """Return the partitions of a topic, or an empty list if the topic does not exist."""

    def assign(self, places: Collection[Partition]) -> None:
        """Replace the assignment. Partitions that stay assigned keep their positions.

        New partitions need a call of `seek`.
        """

    def seek(self, place: Partition, offset: int) -> None:
        """Set the next offset of a partition."""

    def pause(self, place: Partition) -> None:
        """Pause a partition until `resume` is called."""

    def resume(self, place: Partition) -> None:
        """Resume a paused partition."""

    def stop(self, place: Partition) -> None:
        """Stop reading a partition until the next `seek`. Its position stays."""

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Return the next records, ordered by partition; empty after the timeout.

        Raises
        ------
        AbortedError
            If nobody has taken an unreadable batch that an earlier poll has found.
        """

    def take_unreadable(self) -> list[Unreadable]:
        """Return the unreadable batches since the last call; their partitions are stopped."""

    def position(self, place: Partition) -> int:
        """Return the offset of the next record, after any markers and aborted records."""

    def firsts(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the first available offset of each partition."""

    def stable_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return each last stable offset: the start of the first open transaction."""

    def log_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the end of the log of each partition, including open transactions."""

    def committed(
        self, places: Collection[Partition], timeout: float
    ) -> dict[Partition, int] | None:
        """Return the committed offsets of the reader's group, or None after the timeout.

        The request waits for offsets in open transactions.
        """

    @property
    def outsider(self) -> object:
        """Group metadata for committing offsets without being a member."""

    def close(self, timeout: float) -> None:
        """Leave the group, if any, and disconnect."""


class Member(Reader, Protocol):
    """Reader for the partitions that its group assigns. New partitions are paused."""

    @property
    def joined(self) -> bool:
        """Whether the reader has requested to join the group."""

    def join(self, topic: str, given: Given, taken: Given) -> None:
        """Subscribe to a topic. Each poll reports the assigned and the revoked partitions."""

    def membership(self) -> Membership | None:
        """Return the membership for committing the records of the last poll.

        If it is None, these records must be read again.
        """


class Writer(Protocol):
    """Transactional writer with a fixed name."""

    def begin(self) -> None:
        """Begin a transaction."""

    def write(self, records: Iterable[Written]) -> None:
        """Add records to the transaction."""

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Flush the records, then commit the transaction with the offsets of a group."""

    def verify(self, group: str, timeout: float) -> None:
        """Raise FencedError if a named member of the group may have been replaced, and this too.

        It adds nothing to the transaction.
        """

    def abort(self, timeout: float) -> None:
        """Abort the transaction."""

    def discard(self) -> None:
        """Close a failed writer and drop its unsent records."""

    def close(self, timeout: float) -> None:
        """Disconnect and abort an open transaction."""


class Driver(Protocol):
    """Factory for the readers, members and writers of a Kafka client."""

    def renew(self) -> None:
        """Close cached connections of the driver. The next request opens new ones."""

    def reader(self, roles: Roles, group: str | None = None) -> Reader:
        """Return a reader. `group` is the group whose committed offsets it requests."""

    def member(self, poll_seconds: float) -> Member:
        """Return a member of the filter's group with a maximum interval between two polls."""

    def writer(self, name: str, timeout: float, batch_bytes: int = BATCH_BYTES) -> Writer:
        """Return a transactional writer. Unfinished transactions with the same name are aborted.

        `batch_bytes` is the maximum size of a batch of records.
        """

    def create_topics(self, layouts: Collection[TopicLayout], timeout: float) -> None:
        """Create the missing topics."""

    def configs(self, topics: Collection[str]) -> dict[str, dict[str, str]]:
        """Return the settings of each topic. Topics without permission are left out."""

    def describe(self, topics: Collection[str]) -> dict[str, TopicFacts]:
        """Return facts about the existing ones of these topics."""

    def ends(self, places: Collection[Partition]) -> dict[Partition, tuple[int, int]]:
        """Return the last stable offset and the end of the log of each partition."""

    def delete_records(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the records before the given offset of each partition."""
