"""Replay dead letters: send each of them back to its source exactly once."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TextIO

import msgspec

from streamnb_consumers.errors import BadRecordError, SnapshotError
from streamnb_consumers.jsons import parse
from streamnb_consumers.records import DeadLetter, Partition, Record

__all__ = [
    "DeadLetterStore",
    "Report",
    "Selection",
    "SentOffsets",
    "read_line",
    "read_record",
    "replay",
]


class DeadLetterStore(Protocol):
    """A topic or file of dead letters. All timeouts are in seconds."""

    @property
    def ended(self) -> bool:
        """Whether all dead letters that existed at the start were read."""

    def start(self, timeout: float) -> Mapping[Partition, SentOffsets]:
        """Begin to read; return the dead letters of each partition that were sent before."""

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Return the next records."""

    def read(self, record: Record) -> DeadLetter:
        """Return the dead letter in a record.

        Raises
        ------
        BadRecordError
            If it is invalid or cannot be sent.
        """

    def commit(
        self, dead_letters: list[DeadLetter], done: Mapping[Partition, SentOffsets], timeout: float
    ) -> None:
        """Send dead letters and record that they were sent, atomically."""

    def close(self, timeout: float) -> None:
        """Release all resources."""


@dataclasses.dataclass(slots=True)
class Report:
    """Numbers of dead letters: sent now, sent before, not selected, and invalid."""

    sent: int = 0
    before: int = 0
    others: int = 0
    unusable: int = 0


def replay(
    store: DeadLetterStore,
    selection: Selection,
    *,
    dry_run: bool = False,
    batch: int = 500,
    timeout: float = 60.0,
    poll: float = 0.5,
    out: TextIO | None = None,
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
    timeout, poll
        Maximum wait for a start or a commit, and for records, in seconds.
    out
        Output of the list; None is standard output.
    warn
        Called with a message for each record that cannot be sent.
    """
    report = Report()
    done = dict(store.start(timeout))
    positions = {place: each.base for place, each in done.items()}
    while not store.ended:
        dead_letters: list[DeadLetter] = []
        for record in store.poll(batch, poll):
            place = record.partition
            known = done.setdefault(place, SentOffsets())
            # Gaps never get a record: they are empty lines or transaction markers.
            known.skip(positions.get(place, 0), record.offset)
            positions[place] = record.offset + 1
            if record.offset in known:
                report.before += 1
                continue
            try:
                dead_letter = store.read(record)
            except BadRecordError as error:
                report.unusable += 1
                warn(f"{place.source} {place.number}:{record.offset}: {error}")
                continue
            if dead_letter not in selection:
                report.others += 1
                continue
            report.sent += 1
            dead_letters.append(dead_letter)
            known.add([record.offset])
        if dry_run:
            for dead_letter in dead_letters:
                (out or sys.stdout).write(json.dumps(_summary(dead_letter)) + "\n")
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


_HEADERS = ("error", "topic", "partition", "offset")  # the last headers of a dead letter


class _Line(msgspec.Struct):
    """A line of a file of dead letters (`DeadLetter.to_json`)."""

    error: str
    source: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


def read_line(line: bytes) -> DeadLetter:
    """Return the dead letter in a line of a file.

    Raises
    ------
    BadRecordError
        If the line is invalid.
    """
    try:
        found = msgspec.convert(parse(line), _Line)
    except (ValueError, RecursionError) as error:
        raise BadRecordError(f"not a dead letter: {error!r}") from None
    place = Partition(found.source, found.partition)
    return DeadLetter(Record(place, found.offset, found.value, found.key), found.error)


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
    """Offsets of the dead letters of one partition that were sent.

    All offsets before `base` were sent, and some after it.

    Examples
    --------
    >>> done = SentOffsets()
    >>> done.add([0, 1, 4, 5])
    >>> done.base, 4 in done, 2 in done
    (2, True, False)
    >>> again = SentOffsets.from_text(done.base, done.to_text())
    >>> again.add([2, 3])
    >>> again.base, again.to_text()
    (6, '')
    """

    def __init__(self, base: int = 0) -> None:
        self.base = base
        self._more: set[int] = set()

    def __contains__(self, offset: int) -> bool:
        return offset < self.base or offset in self._more

    def add(self, offsets: Iterable[int]) -> None:
        """Mark offsets as sent, or as without a record."""
        self._more.update(offset for offset in offsets if offset >= self.base)
        while self.base in self._more:
            self._more.remove(self.base)
            self.base += 1

    def skip(self, first: int, end: int) -> None:
        """Mark the offsets from `first` to before `end` as without a record."""
        if first <= self.base < end:
            self.base = end
            self._more = {offset for offset in self._more if offset >= end}
            self.add(())
        else:
            self.add(range(first, end))

    def to_text(self) -> str:
        """Return the offsets after `base`: one bit each, compressed, in base64."""
        if not self._more:
            return ""
        bits = bytearray((max(self._more) - self.base) // 8 + 1)
        for offset in self._more:
            bits[(offset - self.base) // 8] |= 1 << (offset - self.base) % 8
        return base64.b64encode(zlib.compress(bytes(bits), 9)).decode()

    @classmethod
    def from_text(cls, base: int, text: str) -> SentOffsets:
        """Restore the state that `to_text` wrote.

        Raises
        ------
        SnapshotError
            If the text is invalid.
        """
        done = cls(base)
        try:
            bits = zlib.decompress(base64.b64decode(text, validate=True)) if text else b""
        except (binascii.Error, ValueError, zlib.error) as error:
            raise SnapshotError(f"invalid record of sent dead letters: {error}") from error
        done.add(
            base + 8 * at + bit
            for at, byte in enumerate(bits)
            for bit in range(8)
            if byte >> bit & 1
        )
        return done
