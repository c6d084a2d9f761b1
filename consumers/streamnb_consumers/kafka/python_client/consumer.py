"""Reader and group member that use kafka-python."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import kafka
from streamnb_consumers.kafka.protocols import Given, Membership, Roles, Unreadable, check_read
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import close_quietly, translated
from streamnb_consumers.records import Partition, Record

_LOG = logging.getLogger(__name__)

# How long a fetch waits for records, in seconds: of a busy consumer, and of one that has been idle
# for some time. A fetch costs half a millisecond of processor time. It blocks its connection, so
# a consumer that reads another partition waits for its end.
_BUSY_FETCH, _IDLE_FETCH, _IDLE_AFTER = 0.1, 1.6, 2.0


class PythonConsumer:
    """Reader for explicitly assigned partitions, or group member.

    Parameters
    ----------
    consumer
        kafka-python consumer.
    roles
        Role of the records of each topic.
    offsets
        Returns first and last offsets, see `PythonDriver.offsets`.
    """

    def __init__(
        self, consumer: Any, roles: Roles, offsets: Callable[..., dict[Partition, int]]
    ) -> None:
        self.consumer, self._roles, self._offsets = consumer, roles, offsets
        self._stopped: set[Partition] = set()
        self._busy = time.monotonic()  # last assignment or record
        self._unreadable: list[Unreadable] = []

    # --- reading ----------------------------------------------------------------------------------

    def partitions(self, topic: str) -> list[Partition]:
        """Return the partitions of a topic, or an empty list if the topic does not exist."""
        with translated("partitions"):
            numbers = self.consumer.partitions_for_topic(topic) or ()
        return [Partition(topic, number) for number in sorted(numbers)]

    def assign(self, places: Collection[Partition]) -> None:
        """Replace the assignment. Partitions that stay assigned keep their positions."""
        self._stopped &= set(places)
        self._busy = time.monotonic()
        with translated("assign"):
            self.consumer.assign([kafka.TopicPartition(*place) for place in places])

    def seek(self, place: Partition, offset: int) -> None:
        """Set the next offset of a partition."""
        with translated("seek"):
            self.consumer.seek(kafka.TopicPartition(*place), offset)
            if place in self._stopped:
                self._stopped.discard(place)
                self.consumer.resume(kafka.TopicPartition(*place))

    def pause(self, place: Partition) -> None:
        """Pause a partition until `resume` is called."""
        with translated("pause"):
            self.consumer.pause(kafka.TopicPartition(*place))

    def resume(self, place: Partition) -> None:
        """Resume a paused partition."""
        if place not in self._stopped:
            with translated("resume"):
                self.consumer.resume(kafka.TopicPartition(*place))

    def stop(self, place: Partition) -> None:
        """Stop reading a partition until the next `seek`. Its position stays."""
        self._stopped.add(place)
        self.pause(place)

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Return the next records, ordered by partition; empty after the timeout."""
        check_read(self._unreadable)
        is_idle = time.monotonic() > self._busy + _IDLE_AFTER
        workarounds.set_fetch_wait(self.consumer, _IDLE_FETCH if is_idle else _BUSY_FETCH)
        try:
            with translated("poll"):
                polled = self.consumer.poll(timeout_ms=timeout * 1000, max_records=most)
        except workarounds.UnreadableBatchError as error:
            self._unreadable.append(error.batch)
            self.stop(error.batch.place)
            return []
        if polled:
            self._busy = time.monotonic()
        return self._records(polled)

    def take_unreadable(self) -> list[Unreadable]:
        """Return the unreadable batches since the last call; their partitions are stopped."""
        found, self._unreadable = self._unreadable, []
        return found

    def _records(self, polled: Mapping[Any, list[Any]]) -> list[Record]:
        found: list[Record] = []
        for place, records in sorted(polled.items()):
            where, role = Partition(*place), self._roles.get(place.topic, "message")
            found += [
                Record(
                    where,
                    each.offset,
                    each.value,
                    each.key,
                    tuple(each.headers),
                    each.timestamp if each.timestamp >= 0 else None,
                    role,
                )
                for each in records
            ]
        for record in found:
            if record.headers and any("\ufffd" in name for name, _ in record.headers):
                _LOG.warning(
                    "%s %d, offset %d: header names are not valid UTF-8, invalid bytes became "
                    "U+FFFD",
                    *(*record.partition, record.offset),
                )
        return found

    def position(self, place: Partition) -> int:
        """Return the offset of the next record, after any markers and aborted records."""
        with translated("position"):
            return int(self.consumer.position(kafka.TopicPartition(*place)))

    def firsts(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the first available offset of each partition."""
        return self._offsets(places, first=True)

    def stable_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return each last stable offset: the start of the first open transaction."""
        return self._offsets(places, stable=True)

    def log_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the end of the log of each partition, including open transactions."""
        return self._offsets(places)

    def committed(
        self, places: Collection[Partition], timeout: float
    ) -> dict[Partition, int] | None:
        """Return the committed offsets of the group, or None after the timeout."""
        with translated("committed offsets"):
            found = workarounds.committed(self.consumer, _own(places), timeout)
        return None if found is None else _plain(found)

    @property
    def outsider(self) -> object:
        """Group name for committing offsets without being a member."""
        return self.consumer.config["group_id"]

    def close(self, timeout: float) -> None:
        """Disconnect; a static member stays in the group until its session ends."""
        close_quietly(self.consumer, autocommit=False, timeout_ms=timeout * 1000)

    # --- group membership -------------------------------------------------------------------------

    @property
    def joined(self) -> bool:
        """Whether the reader has requested to join the group."""
        return bool(self.consumer.subscription())

    def join(self, topic: str, given: Given, taken: Given) -> None:
        """Subscribe to a topic. Call `partitions` before.

        A member that joins without knowing the partitions may stay in an endless rebalance.
        """

        def give(places: Iterable[Any]) -> None:
            places = list(places)
            self.consumer.pause(*places)
            for place in places:
                self.consumer.seek(place, 0)  # else kafka-python asks for committed offsets
            given([place.partition for place in places])

        def take(places: Iterable[Any]) -> None:
            taken([place.partition for place in places])

        with translated("join"):
            self.consumer.subscribe([topic], listener=workarounds.listener(give, take))

    def membership(self) -> Membership | None:
        """Return the membership for committing the records of the last poll."""
        found = workarounds.membership(self.consumer)
        return found and Membership(found, (found.member_id, found.generation_id))


def _own(places: Collection[Partition]) -> list[Any]:
    return [kafka.TopicPartition(*place) for place in places]


def _plain(offsets: Mapping[Any, int]) -> dict[Partition, int]:
    return {Partition(*place): offset for place, offset in offsets.items()}
