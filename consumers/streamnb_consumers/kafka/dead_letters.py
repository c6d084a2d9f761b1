"""Replay of dead letters from a topic: each of them goes back to its source exactly once.

Each transaction contains the dead letters that are sent, and the committed offset of a separate
group. It moves the other dead letters before that offset to the end of their topic. Replays of one
group share a transactional id, so a newer replay fences an older one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

from streamnb_consumers.errors import AbortedError, BadRecordError, SettingsError
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Reader, Writer
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.records import UNREADABLE, DeadLetter, Partition, Record

_HEADERS = ("error", "topic", "partition", "offset")  # the last headers of a dead letter
# Timeout of one request, in seconds. An available broker answers within milliseconds.
_REQUEST = 10.0
# Wait for missing topics, in seconds. It is short, because dead-letter topics are not created just
# before a replay.
_TOPICS = 3.0
# Wait for records, in seconds.
_POLL = 0.5


@dataclasses.dataclass(slots=True)
class Report:
    """Numbers of dead letters: sent, not selected, and invalid."""

    sent: int = 0
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
    store.start(timeout)
    while not store.ended:
        sent: list[Record] = []
        kept: list[Record] = []
        for record in store.poll(batch, _POLL):
            try:
                dead_letter = read_record(record)
            except BadRecordError as error:
                report.unusable += 1
                warn(
                    f"{record.partition.source} {record.partition.number}:{record.offset}: {error}"
                )
                kept.append(record)
                continue
            if dead_letter not in selection:
                report.others += 1
                kept.append(record)
                continue
            report.sent += 1
            sent.append(dead_letter.record)
            if dry_run:
                print(json.dumps(_summary(dead_letter)))
        if not dry_run:
            store.commit(sent, kept, timeout)
    return report


def _summary(dead_letter: DeadLetter) -> dict[str, object]:
    value, plain = dead_letter.record.value, dead_letter.to_json()
    chosen = {name: plain[name] for name in ("source", "partition", "offset", "error")}
    return chosen | {"bytes": None if value is None else len(value)}


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
    if headers and headers[-1][0] == UNREADABLE:
        raise BadRecordError("the dead letter is for a batch that no client could read")
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
        self._next: dict[Partition, int] = {}  # after the records of the last poll

    @property
    def ended(self) -> bool:
        """Whether all records that existed at the start were read."""
        return not self._ends

    def start(self, timeout: float) -> None:
        """Connect, fence other replays and continue at the replay offsets."""
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
        for place in places:
            first = max(committed.get(place, 0), firsts[place])
            reader.seek(place, first)
            if first < ends[place]:
                self._ends[place] = ends[place]

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Return the next dead letters that existed at the start."""
        polled = self._reader.poll(max_records, timeout)
        found = [each for each in polled if each.offset < self._ends.get(each.partition, 0)]
        self._next = {each.partition: each.offset + 1 for each in found}
        # The position also advances when the last records of a partition were aborted.
        for place, end in list(self._ends.items()):
            if self._reader.position(place) >= end:
                del self._ends[place]
        return found

    def commit(self, sent: list[Record], kept: list[Record], timeout: float) -> None:
        """Send the records of dead letters, and move other dead letters, in one transaction.

        Raises
        ------
        SettingsError
            If a target does not exist any more.
        """
        assert self._writer is not None
        # The producer would wait for missing partitions.
        for place in {record.partition for record in sent} if self._to is None else ():
            if place not in self._reader.partitions(place.source):
                raise SettingsError(
                    f"{place.source} has no partition {place.number} any more: use --to TOPIC"
                )
        if not sent and not kept:
            return
        written = [_at_its_place(record) for record in sent]
        if self._to is not None:
            written = [each._replace(topic=self._to, partition=None) for each in written]
        written += [_at_its_place(record) for record in kept]
        self._writer.begin()
        self._writer.write(written)
        self._writer.commit(self._next, self._reader.outsider, timeout)

    def close(self, timeout: float) -> None:
        """Disconnect and abort an open transaction."""
        for each in self._opened:
            each.close(timeout)


def _at_its_place(record: Record) -> Written:
    return Written(*record.partition, record.key, record.value, list(record.headers))
