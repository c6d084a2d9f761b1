"""Replay of dead letters from a topic to their original topics.

Each transaction contains the dead letters and the record of what was sent. That record is the
committed offset of a separate group. The offset metadata lists the dead letters after the offset
that were sent out of order. Replays of one group share a transactional id, so a newer replay fences
an older one.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamnb_consumers.errors import AbortedError, SettingsError
from streamnb_consumers.io.dead_letters import SentOffsets, read_record
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Position, Reader, Writer
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.records import DeadLetter, Partition, Record

__all__ = ["KafkaDeadLetters"]

# Default limit of brokers for offset metadata (`offset.metadata.max.bytes`), in bytes.
_MOST_METADATA = 4096
# Timeout of one request, in seconds. An available broker answers within milliseconds.
_REQUEST = 10.0
# Wait for missing topics, in seconds. It is short, because dead-letter topics are not created just
# before a replay.
_TOPICS = 3.0


class KafkaDeadLetters:
    """Source and sink for the replay of dead letters.

    Parameters
    ----------
    cluster
        Cluster. Its group name with the suffix `-replay` stores the replay offsets.
    topic
        Dead-letter topic.
    to
        Target topic. None sends each record to its original partition.
    keep
        Whether dead letters may be sent. False only lists them.
    """

    def __init__(
        self, cluster: Cluster, topic: str, to: str | None = None, keep: bool = True
    ) -> None:
        self._topic, self._to, self._keep = topic, to, keep
        self._group = f"{cluster.group}-replay"
        self._driver = open_driver(cluster)
        self._reader: Reader | None = None
        self._writer: Writer | None = None
        self._ends: dict[Partition, int] = {}

    @property
    def ended(self) -> bool:
        """Whether all records that existed at the start were read."""
        return not self._ends

    def start(self, timeout: float) -> Mapping[Partition, SentOffsets]:
        """Connect, fence other replays and return the replay offsets."""
        if self._keep:
            # Open the writer first: it completes or aborts the transaction of an older replay.
            self._writer = self._driver.writer(self._group, timeout)
        reader = self._reader = self._driver.reader({}, self._group)
        check_topics(reader, [self._topic, *([self._to] if self._to else [])], _TOPICS)
        places = reader.partitions(self._topic)
        reader.assign(places)
        firsts, ends = reader.firsts(places), reader.stable_ends(places)
        committed = reader.committed(places, _REQUEST)
        if committed is None:
            raise AbortedError(
                f"no answer about the committed replay offsets within {_REQUEST:g} seconds"
            )
        done: dict[Partition, SentOffsets] = {}
        for place in places:
            known = committed.get(place)
            found = SentOffsets.from_text(*known) if known else SentOffsets()
            reader.seek(place, max(found.base, firsts[place]))
            if found.base < ends[place]:
                self._ends[place] = ends[place]
            done[place] = found
        return done

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Return the next dead letters."""
        assert self._reader is not None
        polled = self._reader.poll(max_records, timeout)
        # The position also advances when the last records of a partition were aborted.
        for place, end in list(self._ends.items()):
            if self._reader.position(place) >= end:
                del self._ends[place]
        return polled

    def read(self, record: Record) -> DeadLetter:
        """Decode a dead letter."""
        return read_record(record)

    def commit(
        self, dead_letters: list[DeadLetter], done: Mapping[Partition, SentOffsets], timeout: float
    ) -> None:
        """Send dead letters and store the replay offsets in one transaction.

        Raises
        ------
        SettingsError
            If a target does not exist any more or the offset metadata is too large.
        """
        assert self._reader is not None
        assert self._writer is not None
        self._check_targets({dead_letter.record.partition for dead_letter in dead_letters})
        offsets = {}
        for place, known in done.items():
            text = known.to_text()
            if len(text) > _MOST_METADATA:
                raise SettingsError(
                    f"too many gaps between the sent dead letters: offset metadata would exceed "
                    f"{_MOST_METADATA} bytes. First send those from offset {known.base} of "
                    f"{place.source} {place.number} on, or select fewer"
                )
            offsets[place] = Position(known.base, text)
        self._writer.begin()
        self._writer.write([self._written(dead_letter.record) for dead_letter in dead_letters])
        self._writer.commit(offsets, self._reader.outsider, timeout)

    def _written(self, record: Record) -> Written:
        headers = list(record.headers)
        if self._to is not None:
            return Written(self._to, None, record.key, record.value, headers)
        return Written(*record.partition, record.key, record.value, headers)

    def _check_targets(self, places: set[Partition]) -> None:
        """Check that the target partitions exist. The producer would wait for missing ones."""
        if self._to is not None or self._reader is None:
            return
        for place in places:
            if place not in self._reader.partitions(place.source):
                raise SettingsError(
                    f"{place.source} has no partition {place.number} any more: use --to TOPIC"
                )

    def close(self, timeout: float) -> None:
        """Disconnect and abort an open transaction."""
        for each in (self._writer, self._reader):
            if each is not None:
                each.close(timeout)
