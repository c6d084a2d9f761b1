"""confluent-kafka's consumer as a member of a group of the broker's own protocol (KIP-848).

The broker assigns partitions, one by one, and gives none to a member before the one that had it has
let go of it, or was put out: nobody claims anything. Membership and reading are two consumers. The
member is paused in all that it is given; what runs is read by a reader, from a place that is known,
so that no record comes before its partition's window is restored.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterable
from typing import Any

import confluent_kafka

from streamnb_consumers.kafka.confluent_client.client import meaning, translated
from streamnb_consumers.kafka.confluent_client.reader import ConfluentReader, committed
from streamnb_consumers.kafka.protocols import Given, Membership, Position
from streamnb_consumers.records import Partition, Record

__all__ = ["ConfluentMember", "epoch_of"]

_LOG = logging.getLogger(__name__)

# Rebalances and errors that wait for a member, at most, in one poll.
_EVENTS = 100
_MAGIC = b"CGMDv2:"


def epoch_of(metadata: bytes) -> int:
    r"""Return the epoch in what confluent-kafka gives as a group's metadata.

    It is opaque there: a mark, then the epoch of the member in four bytes of this machine's order.

    Raises
    ------
    ValueError
        If it is anything else, as of another version.

    Examples
    --------
    >>> epoch_of(b"CGMDv2:\xff\xff\xff\xffgroup\x00\x00\x01")
    -1
    """
    if not metadata.startswith(_MAGIC) or len(metadata) < len(_MAGIC) + 4:
        raise ValueError(f"{metadata[:20]!r} is no group's metadata as librdkafka 2 writes it")
    return int.from_bytes(metadata[len(_MAGIC) :][:4], sys.byteorder, signed=True)


class ConfluentMember:
    """A member of a group.

    Parameters
    ----------
    consumer
        Of confluent-kafka, with `group.protocol=consumer`.
    reader
        What reads the partitions that run.
    """

    def __init__(self, consumer: Any, reader: ConfluentReader) -> None:
        self._consumer, self._reader = consumer, reader
        self._starts: dict[Partition, int] = {}
        self._metadata: bytes | None = None
        self.joined = False
        self.partitions, self.position = reader.partitions, reader.position
        self.firsts, self.stable_ends = reader.firsts, reader.stable_ends
        self.log_ends, self.lag = reader.log_ends, reader.lag

    # --- in a group -----------------------------------------------------------------------------

    def join(self, topic: str, given: Given, taken: Given) -> None:
        """Ask the group for partitions of a topic; a poll tells which are given and taken."""

        def assigned(consumer: Any, places: list[Any]) -> None:
            consumer.incremental_assign(places)
            if places:
                consumer.pause(places)
            given([place.partition for place in places])

        def revoked(consumer: Any, places: list[Any]) -> None:
            gone = {Partition(place.topic, place.partition) for place in places}
            self._reader.assign(self._reader.assigned - gone)
            taken([place.partition for place in places])
            consumer.incremental_unassign(places)

        with translated("join"):
            self._consumer.subscribe(
                [topic], on_assign=assigned, on_revoke=revoked, on_lost=revoked
            )
        self.joined = True

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Hear what the group says, then return the next records of what runs.

        The epoch of a membership is new before its partitions are heard of, so a membership counts
        that is the same before and after all was heard that was there.
        """
        before = self._consumer.consumer_group_metadata()
        self._hear(self._consumer.consume(_EVENTS, 0))
        after = self._consumer.consumer_group_metadata()
        self._metadata = after if after == before and epoch_of(after) > 0 else None
        if self._metadata is None:
            if timeout > 0:
                self._hear(self._consumer.consume(1, timeout))
            return []
        return self._reader.poll(most, timeout)

    def _hear(self, events: list[Any]) -> None:
        for each in events:
            error = each.error()
            if error is None:
                continue  # a record that was fetched before its partition was paused
            if error.code() == confluent_kafka.KafkaError._MAX_POLL_EXCEEDED:
                _LOG.warning("the group has put this worker out: %s", error.str())
            elif not error.retriable():
                raise meaning("group", error)

    def membership(self) -> Membership | None:
        """Return the membership under which the last poll's records may be committed."""
        found = self._metadata
        return None if found is None else Membership(found, found)

    def give_back(self, records: Iterable[Record]) -> None:
        """Read records again that were polled just now."""
        first: dict[Partition, int] = {}
        for record in records:
            first.setdefault(record.partition, record.offset)
        for place, offset in first.items():
            if place in self._reader.assigned:
                self._reader.seek(place, offset)

    def committed(
        self, places: Collection[Partition], timeout: float
    ) -> dict[Partition, Position] | None:
        """Return what the group committed; None if it is not known in time."""
        return committed(self._consumer, places, timeout)

    @property
    def outsider(self) -> object:
        """What a commit carries for a group without members."""
        return self._reader.outsider

    # --- what runs ------------------------------------------------------------------------------

    def assign(self, places: Collection[Partition]) -> None:
        """Do nothing: the group assigns."""

    def seek(self, place: Partition, offset: int) -> None:
        """Go on with a partition at an offset, now or when it is resumed."""
        self._starts[place] = offset
        if place in self._reader.assigned:
            self._reader.seek(place, offset)

    def restart(self, place: Partition) -> None:
        """Go on with a partition at its first record."""
        self.seek(place, self.firsts([place])[place])

    def pause(self, place: Partition) -> None:
        """Read a partition no more; it goes on where it was sought last."""
        self._reader.assign(self._reader.assigned - {place})

    def resume(self, place: Partition) -> None:
        """Read a partition from where it was sought last."""
        if place not in self._reader.assigned:
            self._reader.assign(self._reader.assigned | {place})
            self._reader.seek(place, self._starts[place])

    def close(self, timeout: float) -> None:
        """Leave the group and disconnect."""
        try:
            with translated("close"):
                self._consumer.close()  # it tells what is taken, which the reader then leaves
        finally:
            self._reader.close(timeout)
