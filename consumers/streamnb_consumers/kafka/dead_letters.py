"""Dead letters in a topic, sent back to the topics they came from.

What is sent and what is noted as sent are one transaction. The note is an offset of a group of its
own, with the dead letters behind it that were sent out of order as the offset's metadata. The
transactions have one name for each group, so of two replays at once the older is fenced.
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
        self._topic, self._to, self._keep = topic, to, keep
        self._group = f"{cluster.group}-replay"
        self._driver = open_driver(cluster)
        self._reader: Reader | None = None
        self._writer: Writer | None = None
        self._ends: dict[Partition, int] = {}

    @property
    def ended(self) -> bool:
        """Whether what was there at the start was read; what comes back is for another time."""
        return not self._ends

    def start(self, timeout: float) -> Mapping[Partition, SentOffsets]:
        """Connect, take over from another replay, and return what was sent before.

        Raises
        ------
        SettingsError
            If a topic is not there, or the cluster refuses this worker.
        AbortedError
            If the cluster can't be reached in time.
        """
        if self._keep:
            # First: it finishes what another one began.
            self._writer = self._driver.writer(self._group, timeout)
        reader = self._reader = self._driver.reader({}, self._group)
        check_topics(reader, [self._topic, *([self._to] if self._to else [])], _TOPICS)
        places = reader.partitions(self._topic)
        reader.assign(places)
        firsts, ends = reader.firsts(places), reader.stable_ends(places)
        committed = reader.committed(places, _REQUEST)
        if committed is None:
            raise AbortedError(f"what was sent before is not known within {_REQUEST:g} seconds")
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
        # A partition whose last records were aborted gives none, yet moves on.
        for place, end in list(self._ends.items()):
            if self._reader.position(place) >= end:
                del self._ends[place]
        return polled

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
        assert self._reader is not None
        assert self._writer is not None
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
        """Look first: the producer waits long for a partition that is not there."""
        if self._to is not None or self._reader is None:
            return
        for place in places:
            if place not in self._reader.partitions(place.source):
                raise SettingsError(
                    f"{place.source} has no partition {place.number} any more: say --to TOPIC"
                )

    def close(self, timeout: float) -> None:
        """Disconnect; a transaction that is open is aborted."""
        for each in (self._writer, self._reader):
            if each is not None:
                each.close(timeout)
