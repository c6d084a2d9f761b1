"""What source, sink and dead letters ask of a client of Kafka; each client has a driver for it.

All of them raise `AbortedError` for what may be tried again, `FencedError` where another process
has taken this one's place, and nothing of the client's own. All times are in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import NamedTuple, Protocol

from streamnb_consumers.kafka.cluster import TopicLayout
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.records import Partition, Record, Role

__all__ = ["Driver", "Given", "Member", "Membership", "Position", "Reader", "Roles", "Writer"]

Roles = Mapping[str, Role]  # by topic; a topic that is not in it holds messages
Given = Callable[[Iterable[int]], None]  # is told the numbers of partitions


class Membership(NamedTuple):
    """That a worker is a member of its group: what a commit carries, and which generation it is."""

    token: object
    generation: Hashable


class Position(NamedTuple):
    """An offset that a group committed, with a note."""

    offset: int
    note: str = ""


class Reader(Protocol):
    """Reads partitions that are named to it."""

    def partitions(self, topic: str) -> list[Partition]:
        """Return the partitions of a topic; none if there is no such topic."""

    def assign(self, places: Collection[Partition]) -> None:
        """Read these and no others; those that were read go on where they are.

        The others must be given a place with `seek`.
        """

    def seek(self, place: Partition, offset: int) -> None:
        """Go on with a partition at an offset."""

    def pause(self, place: Partition) -> None:
        """Give nothing of a partition until it is resumed."""

    def resume(self, place: Partition) -> None:
        """Give the records of a partition again."""

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Return the next records, in order within each partition; none if none came in time."""

    def position(self, place: Partition) -> int:
        """Return the offset of the next record; it goes past what no reader is given."""

    def firsts(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the first offset that is left of each partition."""

    def stable_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return up to where each partition can be read: to the first open transaction."""

    def log_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return where each partition's log ends, behind open transactions too."""

    def committed(
        self, places: Collection[Partition], timeout: float
    ) -> dict[Partition, Position] | None:
        """Return what the reader's group committed; None if it is not known in time.

        Offsets in a transaction that is not finished are waited for.
        """

    def lag(self) -> dict[Partition, int]:
        """Return how many records are known to wait in what is read; costs no request."""

    @property
    def outsider(self) -> object:
        """What a commit carries for a group without members."""

    def close(self, timeout: float) -> None:
        """Disconnect; whoever is in a group leaves it."""


class Member(Reader, Protocol):
    """Reads the partitions that its group gives it. Each is paused when it is given."""

    @property
    def joined(self) -> bool:
        """Whether it has asked to be taken in."""

    def join(self, topic: str, given: Given, taken: Given) -> None:
        """Ask the group for partitions of a topic; a poll tells which are given and taken."""

    def membership(self) -> Membership | None:
        """Return the membership under which the last poll's records may be committed.

        None if there is none: these records are nobody's, and must be given back.
        """

    def give_back(self, records: Iterable[Record]) -> None:
        """Read records again that were polled just now."""

    def restart(self, place: Partition) -> None:
        """Go on with a partition at its first record."""


class Writer(Protocol):
    """Writes transactions of one name."""

    def begin(self) -> None:
        """Begin a transaction."""

    def write(self, records: Iterable[Written]) -> None:
        """Add records to it."""

    def commit(self, offsets: Mapping[Partition, Position], token: object, timeout: float) -> None:
        """Commit it, once all of it is written, with the offsets of a group."""

    def abort(self, timeout: float) -> None:
        """Abort it."""

    def discard(self) -> None:
        """Let go of a writer that failed: what it holds is not written."""

    def close(self, timeout: float) -> None:
        """Disconnect; a transaction that is open is aborted."""


class Driver(Protocol):
    """A client of Kafka: it opens all of these."""

    def renew(self) -> None:
        """Forget connections that it keeps for itself."""

    def reader(self, roles: Roles, group: str | None = None) -> Reader:
        """Return a reader; `group` is whose committed offsets it asks for."""

    def member(self, roles: Roles, poll_seconds: float) -> Member:
        """Return a member of the filter's group, which may take so long between two polls."""

    def writer(self, name: str, timeout: float) -> Writer:
        """Return a writer; what one of the same name left unfinished is aborted."""

    def create_topics(self, layouts: Collection[TopicLayout], timeout: float) -> list[str]:
        """Make the topics that are not there yet; return their names."""

    def record_sizes(self, topics: Collection[str]) -> dict[str, int]:
        """Return the `max.message.bytes` of topics, of those that tell."""

    def topic_id(self, topic: str) -> str | None:
        """Return the id that the cluster gave a topic; None if there is no such topic."""

    def delete_records(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the records of partitions before these offsets."""
