"""Replay of dead letters from a topic: each of them goes back to its source exactly once.

Each transaction contains the dead letters and the record of what was sent. That record is the
committed offset of a separate group. The offset metadata lists the dead letters after the offset
that were sent out of order. Replays of one group share a transactional id, so a newer replay fences
an older one.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import zlib
from collections.abc import Callable, Mapping

from streamnb_consumers.errors import AbortedError, BadRecordError, SettingsError, SnapshotError
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Position, Reader, Writer
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.records import DeadLetter, Partition, Record

_HEADERS = ("error", "topic", "partition", "offset")  # the last headers of a dead letter
# Default limit of brokers for offset metadata (`offset.metadata.max.bytes`), in bytes.
_MOST_METADATA = 4096
# Timeout of one request, in seconds. An available broker answers within milliseconds.
_REQUEST = 10.0
# Wait for missing topics, in seconds. It is short, because dead-letter topics are not created just
# before a replay.
_TOPICS = 3.0
# Wait for records, in seconds.
_POLL = 0.5


@dataclasses.dataclass(slots=True)
class Report:
    """Numbers of dead letters: sent now, sent before, not selected, and invalid."""

    sent: int = 0
    before: int = 0
    others: int = 0
    unusable: int = 0


def replay(
    store: KafkaDeadLetters,
    selection: Selection,
    *,
    dry_run: bool = False,
    batch: int = 500,
    timeout: float = 60.0,
    warn: Callable[[str], None] = lambda text: None,
) -> Report:
    """Send the selected dead letters that were not sent before.

    Parameters
    ----------
    store
        The dead letters.
    selection
        Which of them to send.
    dry_run
        Whether to only list them, one JSON object per line.
    batch
        Maximum number of records in a transaction.
    timeout
        Maximum wait for a start or a commit, in seconds.
    warn
        Called with a message for each record that cannot be sent.
    """
    report = Report()
    done = dict(store.start(timeout))
    positions = {place: each.base for place, each in done.items()}
    while not store.ended:
        dead_letters: list[DeadLetter] = []
        for record in store.poll(batch, _POLL):
            place = record.partition
            known = done.setdefault(place, SentOffsets())
            # Gaps never get a record: they are empty lines or transaction markers.
            known.add(positions.get(place, 0), record.offset)
            positions[place] = record.offset + 1
            if record.offset in known:
                report.before += 1
                continue
            try:
                dead_letter = read_record(record)
            except BadRecordError as error:
                report.unusable += 1
                warn(f"{place.source} {place.number}:{record.offset}: {error}")
                continue
            if dead_letter not in selection:
                report.others += 1
                continue
            report.sent += 1
            dead_letters.append(dead_letter)
            known.add(record.offset, record.offset + 1)
        if dry_run:
            for dead_letter in dead_letters:
                print(json.dumps(_summary(dead_letter)))
        elif dead_letters:
            store.commit(dead_letters, done, timeout)
    return report


def _summary(dead_letter: DeadLetter) -> dict[str, object]:
    record = dead_letter.record
    return {
        "source": record.partition.source,
        "partition": record.partition.number,
        "offset": record.offset,
        "error": dead_letter.error,
        "bytes": None if record.value is None else len(record.value),
    }


def read_record(record: Record) -> DeadLetter:
    """Return the dead letter in a record of a topic, with its original headers.

    Raises
    ------
    BadRecordError
        If the record is invalid or truncated.
    """
    headers = list(record.headers)
    if headers and headers[-1][0] == "truncated":
        raise BadRecordError(
            "the dead letter was too large and is truncated; the original is in its source topic"
        )
    ours = headers[-len(_HEADERS) :]
    if tuple(name for name, _ in ours) != _HEADERS:
        raise BadRecordError("not a dead letter: the last headers are not those of a filter")
    error, topic, partition, offset = (
        (value or b"").decode("utf-8", "replace") for _, value in ours
    )
    try:
        place, number = Partition(topic, int(partition)), int(offset)
    except ValueError:
        raise BadRecordError("not a dead letter: partition or offset is not a number") from None
    kept = tuple(headers[: -len(_HEADERS)])
    return DeadLetter(Record(place, number, record.value, record.key, kept), error)


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """Conditions on dead letters; by default all match.

    Attributes
    ----------
    error
        Substring of the error.
    source
        Topic or file of the original record.
    partition
        Partition of the original record.
    first, last
        Range of offsets of the original record, inclusive.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition, Record
    >>> dead_letter = DeadLetter(Record(Partition("sms", 0), 7, b"oops"), "not JSON")
    >>> dead_letter in Selection(error="JSON", first=5), dead_letter in Selection(source="mail")
    (True, False)
    """

    error: str = ""
    source: str | None = None
    partition: int | None = None
    first: int = 0
    last: int | None = None

    def __contains__(self, dead_letter: DeadLetter) -> bool:
        record = dead_letter.record
        return (
            self.error in dead_letter.error
            and self.source in (None, record.partition.source)
            and self.partition in (None, record.partition.number)
            and self.first <= record.offset
            and (self.last is None or record.offset <= self.last)
        )


class SentOffsets:
    """Offsets of the dead letters of one partition that were sent, or that have no record.

    All offsets before `base` were sent, and some after it.

    Examples
    --------
    >>> done = SentOffsets()
    >>> done.add(0, 2)
    >>> done.add(4, 6)
    >>> done.base, 4 in done, 2 in done
    (2, True, False)
    >>> again = SentOffsets.from_text(done.base, done.to_text())
    >>> again.add(2, 4)
    >>> again.base, again.to_text()
    (6, '')
    """

    def __init__(self, base: int = 0, more: int = 0) -> None:
        self.base = base
        self._more = more  # bit n: offset base + n was sent

    def __contains__(self, offset: int) -> bool:
        return offset < self.base or bool(self._more >> (offset - self.base) & 1)

    def add(self, first: int, end: int) -> None:
        """Mark the offsets from `first` to before `end`."""
        if first <= self.base < end:  # without bits: a log may begin at any offset
            self._more >>= end - self.base
            self.base = end
        elif self.base < first < end:
            self._more |= ((1 << (end - first)) - 1) << (first - self.base)
        begun = (~self._more & (self._more + 1)).bit_length() - 1  # bits before the first gap
        self.base += begun
        self._more >>= begun

    def to_text(self) -> str:
        """Return the offsets after `base`: one bit each, compressed, in base64."""
        size = (self._more.bit_length() + 7) // 8
        bits = self._more.to_bytes(size, "little")
        return base64.b64encode(zlib.compress(bits, 9)).decode() if bits else ""

    @classmethod
    def from_text(cls, base: int, text: str) -> SentOffsets:
        """Restore the state that `to_text` wrote.

        Raises
        ------
        SnapshotError
            If the text is invalid.
        """
        try:
            bits = zlib.decompress(base64.b64decode(text, validate=True)) if text else b""
        except (binascii.Error, ValueError, zlib.error) as error:
            raise SnapshotError(f"invalid record of sent dead letters: {error}") from error
        return cls(base, int.from_bytes(bits, "little"))


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
        self._writer: Writer | None = None
        self._opened: list[Reader | Writer] = []
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
            self._opened.append(self._writer)
        reader = self._reader = self._driver.reader({}, self._group)
        self._opened.append(reader)
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
        polled = self._reader.poll(max_records, timeout)
        # The position also advances when the last records of a partition were aborted.
        for place, end in list(self._ends.items()):
            if self._reader.position(place) >= end:
                del self._ends[place]
        return polled

    def commit(
        self, dead_letters: list[DeadLetter], done: Mapping[Partition, SentOffsets], timeout: float
    ) -> None:
        """Send dead letters and store the replay offsets in one transaction.

        Raises
        ------
        SettingsError
            If a target does not exist any more or the offset metadata is too large.
        """
        assert self._writer is not None
        targets = {dead_letter.record.partition for dead_letter in dead_letters}
        # The producer would wait for missing partitions.
        for place in targets if self._to is None else ():
            if place not in self._reader.partitions(place.source):
                raise SettingsError(
                    f"{place.source} has no partition {place.number} any more: use --to TOPIC"
                )
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

    def close(self, timeout: float) -> None:
        """Disconnect and abort an open transaction."""
        for each in self._opened:
            each.close(timeout)
