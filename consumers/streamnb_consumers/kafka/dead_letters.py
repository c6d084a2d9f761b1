"""Dead letters in a topic, sent back to the topics they came from.

What is sent and what is noted as sent are one transaction. The note is an offset of a group of its
own, with the dead letters behind it that were sent out of order as the offset's metadata. The
transactions have one name for each group, so of two replays at once the older is fenced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamnb_consumers.dead_letters.reading import read_record
from streamnb_consumers.dead_letters.sent import SentOffsets
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka import consumer_workarounds, producer_workarounds
from streamnb_consumers.kafka.client import (
    client_settings,
    commit_transaction,
    open_producer,
    translated,
)
from streamnb_consumers.kafka.client_errors import kafka
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.encoding import present
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.records import DeadLetter, Partition, Record

__all__ = ["KafkaDeadLetters"]

# What a broker takes as metadata of an offset (`offset.metadata.max.bytes`).
_MOST_METADATA = 4096
# One request to a broker that is there takes milliseconds. Seconds.
_REQUEST = 10.0
# Topics of dead letters are not made just before they are read. Seconds.
_TOPICS = 3.0


class KafkaDeadLetters:
    """Dead letters as records of a topic.

    Parameters
    ----------
    cluster
        Where; its group, with `-replay` added, is whose offsets say what was sent.
    topic
        Of dead letters.
    to
        The topic that they are sent to; None: each to the partition it came from.
    keep
        Whether anything may be sent: not when they are only listed.
    """

    def __init__(
        self, cluster: Cluster, topic: str, to: str | None = None, keep: bool = True
    ) -> None:
        self._cluster, self._topic, self._to, self._keep = cluster, topic, to, keep
        self._group = f"{cluster.group}-replay"
        self._consumer: Any = None
        self._producer: Any = None
        self._ends: dict[Any, int] = {}

    @property
    def ended(self) -> bool:
        """Whether what was there at the start was read; what comes back is for another time."""
        return not self._ends

    def start(self, timeout: float) -> Mapping[Partition, SentOffsets]:
        """Connect, take over from another replay, and return what was sent before.

        Raises
        ------
        SettingsError
            If a topic is not there.
        AbortedError
            If the cluster can't be reached in time.
        """
        with translated("start"):
            if self._keep:
                # First: it finishes what another one began.
                self._producer = open_producer(self._cluster, self._group, timeout)
            self._consumer = kafka.KafkaConsumer(
                **client_settings(self._cluster),
                group_id=self._group,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                allow_auto_create_topics=False,
            )
            consumer_workarounds.fix_header_names()
            check_topics(self._consumer, [self._topic, *([self._to] if self._to else [])], _TOPICS)
            places = [
                kafka.TopicPartition(self._topic, number)
                for number in sorted(self._consumer.partitions_for_topic(self._topic))
            ]
            self._consumer.assign(places)
            firsts = self._consumer.beginning_offsets(places, timeout_ms=_REQUEST * 1000)
            ends = self._consumer.end_offsets(places, timeout_ms=_REQUEST * 1000)
            done: dict[Partition, SentOffsets] = {}
            for place in places:
                known = self._consumer.committed(place, metadata=True, timeout_ms=_REQUEST * 1000)
                found = (
                    SentOffsets.from_text(known.offset, known.metadata) if known else SentOffsets()
                )
                self._consumer.seek(place, max(found.base, firsts[place]))
                if found.base < ends[place]:
                    self._ends[place] = ends[place]
                done[Partition(*place)] = found
        return done

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Return the next dead letters."""
        with translated("poll"):
            polled = self._consumer.poll(timeout_ms=timeout * 1000, max_records=max_records)
            # A partition whose last records were aborted gives none, yet moves on.
            for place, end in list(self._ends.items()):
                if self._consumer.position(place) >= end:
                    del self._ends[place]
        return [
            Record(Partition(*place), each.offset, each.value, each.key, tuple(each.headers))
            for place, records in sorted(polled.items())
            for each in records
        ]

    def read(self, record: Record) -> DeadLetter:
        """Return the dead letter of a record.

        Raises
        ------
        BadRecordError
            If it is none, or only a part of one.
        """
        return read_record(record)

    def commit(
        self, dead_letters: list[DeadLetter], done: Mapping[Partition, SentOffsets], timeout: float
    ) -> None:
        """Send dead_letters, and note what is done, in one transaction.

        Raises
        ------
        SettingsError
            If a topic is not there any more, or what was sent can't be noted.
        AbortedError
            If nothing was sent.
        FencedError
            If another replay has taken over.
        """
        self._check_targets({dead_letter.record.partition for dead_letter in dead_letters})
        offsets = {}
        for place, known in done.items():
            text = known.to_text()
            if len(text) > _MOST_METADATA:
                raise SettingsError(
                    f"too many dead letters between those sent were not sent to note them all: "
                    f"send those from offset {known.base} of {place.source} {place.number} on "
                    f"first, or choose fewer"
                )
            offsets[kafka.TopicPartition(*place)] = kafka.structs.OffsetAndMetadata(
                known.base, text, -1
            )
        with translated("commit"):
            producer_workarounds.begin(self._producer)
            sent = [self._send(dead_letter.record) for dead_letter in dead_letters]
            commit_transaction(self._producer, sent, offsets, self._group, timeout)

    def _send(self, record: Record) -> Any:
        headers = present(record.headers)
        if self._to is not None:
            return self._producer.send(self._to, record.value, record.key, headers)
        place = record.partition
        return self._producer.send(place.source, record.value, record.key, headers, place.number)

    def _check_targets(self, places: set[Partition]) -> None:
        """Look first: the producer waits long for a partition that is not there."""
        if self._to is not None:
            return
        for place in places:
            there = self._consumer.partitions_for_topic(place.source) or ()
            if place.number not in there:
                raise SettingsError(
                    f"{place.source} has no partition {place.number} any more: say --to TOPIC"
                )

    def close(self, timeout: float) -> None:
        """Disconnect; a transaction that is open is aborted."""
        with translated("close"):
            if self._producer is not None:
                self._producer.close(timeout=timeout)
            if self._consumer is not None:
                self._consumer.close(autocommit=False, timeout_ms=timeout * 1000)
