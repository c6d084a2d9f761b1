"""Consumer group member that uses confluent-kafka and the protocol of KIP-848.

The broker assigns each partition only after its previous owner has released it or has been removed
from the group. Membership and reading use two consumers. The member consumer is always paused. A
reader consumes the running partitions from known offsets, so that no record arrives before the join
window of its partition is restored.
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

# Maximum number of rebalance events and errors per poll.
_EVENTS = 100
_MAGIC = b"CGMDv2:"


def epoch_of(metadata: bytes) -> int:
    r"""Return the member epoch from the group metadata of confluent-kafka.

    The metadata is opaque: a prefix, then the epoch as four bytes in native byte order.

    Raises
    ------
    ValueError
        If the format is different, as in other versions of librdkafka.

    Examples
    --------
    >>> epoch_of(b"CGMDv2:\xff\xff\xff\xffgroup\x00\x00\x01")
    -1
    """
    if not metadata.startswith(_MAGIC) or len(metadata) < len(_MAGIC) + 4:
        raise ValueError(f"{metadata[:20]!r} is not group metadata of librdkafka 2")
    return int.from_bytes(metadata[len(_MAGIC) :][:4], sys.byteorder, signed=True)


class ConfluentMember:
    """Member of a consumer group.

    Parameters
    ----------
    consumer
        confluent-kafka consumer with `group.protocol=consumer`.
    reader
        Reader for the running partitions.
    """

    def __init__(self, consumer: Any, reader: ConfluentReader) -> None:
        self._consumer, self._reader = consumer, reader
        self._starts: dict[Partition, int] = {}
        self._metadata: bytes | None = None
        self.joined = False
        self.partitions, self.position = reader.partitions, reader.position
        self.firsts, self.stable_ends = reader.firsts, reader.stable_ends
        self.log_ends, self.lag = reader.log_ends, reader.lag

    # --- group membership -------------------------------------------------------------------------

    def join(self, topic: str, given: Given, taken: Given) -> None:
        """Subscribe to a topic. Each poll reports the assigned and the revoked partitions."""

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
        """Process group events, then return the next records of the running partitions.

        The epoch changes before the assignment arrives. A membership is therefore valid only if it
        is the same before and after all pending events are processed.
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
                continue  # a record fetched before the pause
            if error.code() == confluent_kafka.KafkaError._MAX_POLL_EXCEEDED:
                _LOG.warning("the group has removed this worker: %s", error.str())
            elif not error.retriable():
                raise meaning("group", error)

    def membership(self) -> Membership | None:
        """Return the membership for committing the records of the last poll."""
        found = self._metadata
        return None if found is None else Membership(found, found)

    def give_back(self, records: Iterable[Record]) -> None:
        """Rewind to the first of the given records, which were just polled."""
        first: dict[Partition, int] = {}
        for record in records:
            first.setdefault(record.partition, record.offset)
        for place, offset in first.items():
            if place in self._reader.assigned:
                self._reader.seek(place, offset)

    def committed(
        self, places: Collection[Partition], timeout: float
    ) -> dict[Partition, Position] | None:
        """Return the committed offsets of the group, or None after the timeout."""
        return committed(self._consumer, places, timeout)

    @property
    def outsider(self) -> object:
        """Group metadata for committing offsets without being a member."""
        return self._reader.outsider

    # --- running partitions -----------------------------------------------------------------------

    def assign(self, places: Collection[Partition]) -> None:
        """Do nothing: the group assigns the partitions."""

    def seek(self, place: Partition, offset: int) -> None:
        """Set the next offset of a partition. A paused partition uses it when it is resumed."""
        self._starts[place] = offset
        if place in self._reader.assigned:
            self._reader.seek(place, offset)

    def restart(self, place: Partition) -> None:
        """Rewind a partition to its first record."""
        self.seek(place, self.firsts([place])[place])

    def pause(self, place: Partition) -> None:
        """Stop reading a partition. It resumes at the last offset passed to `seek`."""
        self._reader.assign(self._reader.assigned - {place})

    def resume(self, place: Partition) -> None:
        """Read a partition from the last offset passed to `seek`."""
        if place not in self._reader.assigned:
            self._reader.assign(self._reader.assigned | {place})
            self._reader.seek(place, self._starts[place])

    def close(self, timeout: float) -> None:
        """Leave the group and disconnect."""
        try:
            with translated("close"):
                self._consumer.close()  # revokes the partitions of the reader
        finally:
            self._reader.close(timeout)
