"""Consumer group member that uses confluent-kafka.

In the protocol of KIP-848, and in the classic one with cooperative assignment, each partition is
assigned only after its previous owner has released it or has been removed from the group.
Membership and reading use two consumers. The member consumer is always paused. A reader consumes
the running partitions from known offsets, so that no record arrives before the join window of its
partition is restored.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import Any

import confluent_kafka

from streamnb_consumers.errors import UnreachableError
from streamnb_consumers.kafka.confluent_client.client import bounded, meaning, translated
from streamnb_consumers.kafka.confluent_client.reader import ConfluentReader
from streamnb_consumers.kafka.protocols import Given, Membership
from streamnb_consumers.records import Partition, Record

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


class ConfluentMember(ConfluentReader):
    """Member of a consumer group.

    Parameters
    ----------
    group
        confluent-kafka consumer with `group.protocol=consumer`, or with the classic protocol and
        the strategy `cooperative-sticky`.
    consumer, admin
        Clients that read the running partitions.
    """

    def __init__(self, group: Any, consumer: Any, admin: Any) -> None:
        super().__init__(consumer, admin, {})
        self._group = group
        self._starts: dict[Partition, int] = {}
        self._metadata: bytes | None = None
        self.joined = False

    # --- group membership -------------------------------------------------------------------------

    def join(self, topic: str, given: Given, taken: Given) -> None:
        """Subscribe to a topic. Each poll reports the assigned and the revoked partitions."""

        def assigned(group: Any, places: list[Any]) -> None:
            group.incremental_assign(places)
            if places:
                group.pause(places)
            given([place.partition for place in places])

        def revoked(group: Any, places: list[Any]) -> None:
            gone = {Partition(place.topic, place.partition) for place in places}
            self.assign(self._assigned - gone)
            taken([place.partition for place in places])
            group.incremental_unassign(places)

        with translated("join"):
            self._group.subscribe([topic], on_assign=assigned, on_revoke=revoked, on_lost=revoked)
        self.joined = True

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Process group events, then return the next records of the running partitions.

        The epoch changes before the assignment arrives. A membership is therefore valid only if it
        is the same before and after all pending events are processed.
        """
        before = self._group.consumer_group_metadata()
        self._hear(self._group.consume(_EVENTS, 0))
        after = self._group.consumer_group_metadata()
        self._metadata = after if after == before and epoch_of(after) > 0 else None
        if self._metadata is None:
            if timeout > 0:
                self._hear(self._group.consume(1, timeout))
            return []
        return super().poll(most, timeout)

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

    # --- running partitions -----------------------------------------------------------------------

    def seek(self, place: Partition, offset: int) -> None:
        """Set the next offset of a partition. A paused partition uses it when it is resumed."""
        self._starts[place] = offset
        if place in self._assigned:
            super().seek(place, offset)

    def pause(self, place: Partition) -> None:
        """Stop reading a partition. It resumes at the last offset passed to `seek`."""
        self.assign(self._assigned - {place})

    def resume(self, place: Partition) -> None:
        """Read a partition from the last offset passed to `seek`."""
        if place not in self._assigned:
            self.assign(self._assigned | {place})
            super().seek(place, self._starts[place])

    def close(self, timeout: float) -> None:
        """Leave the group and disconnect."""
        try:
            with translated("close"), contextlib.suppress(UnreachableError):
                # This revokes the partitions.
                bounded("leaving the group", timeout / 2, self._group.close)
        finally:
            super().close(timeout / 2)
