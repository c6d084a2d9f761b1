"""Join labels to their messages by id, within a window of recent messages of each partition."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from streamnb_consumers.errors import BadRecordError, SnapshotError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline.join_entries import (
    WindowEntry,
    check_entry,
    decode_entry,
    encode_entry,
    entry_fields,
    entry_size,
    record_from_json,
    record_size,
    record_to_json,
)
from streamnb_consumers.pipeline.label_rates import LabelRates
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.records import (
    DeadLetter,
    Decision,
    Feedback,
    Message,
    Record,
    TrainingEvent,
)

__all__ = ["Bounds", "Join", "JoinWindow", "Match", "WindowEntry", "WindowLog"]

# Prefixes of log keys: a message, a label that waits for its message, the rate of a label source.
_MESSAGE, _LABEL, _SOURCE = b"m:", b"l:", b"s:"
_MAX_SOURCE = 256  # bytes of the name of a label source


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a join window.

    Attributes
    ----------
    count
        Maximum number of messages, and of labels that wait for their messages.
    age
        Maximum age, in milliseconds; None for no bound.
    size
        Maximum memory, in bytes.
    future
        How far a timestamp may lie in the future, in milliseconds. Later timestamps are replaced
        by this limit. None for no bound.
    labels
        Maximum number of labels per named source and hour; None for no bound.
    """

    count: int = 100_000
    age: int | None = None
    size: int = 2**27
    future: int | None = 60_000
    labels: float | None = None


class Match(NamedTuple):
    """A message of the join window, one of its labels, and the record that gave the label."""

    id: str
    entry: WindowEntry
    label: str | None
    record: Record

    def training_event(self) -> TrainingEvent | None:
        """Return the training event; None if there is nothing to learn or to unlearn."""
        entry, delay = self.entry, None
        if self.label == entry.label:
            return None
        if entry.timestamp is not None and self.record.timestamp is not None:
            delay = max(0.0, (self.record.timestamp - entry.timestamp) / 1000)
        features = entry.read_features()
        return TrainingEvent(
            self.id, features, self.label, entry.label, entry.score, entry.decided, delay
        )


class Join:
    """The join windows of all partitions that a filter processes.

    All sources share the window of a partition number. The feedback topic therefore needs the same
    keys and the same number of partitions as the message topic.

    Parameters
    ----------
    reader
        Reads a waiting label again when its message arrives.
    bounds
        Bounds of each window.
    label_source_header
        Record header that names the source of a label; empty for none.
    logged
        Whether windows record their changes for a log.
    content_ids
        Whether equal ids mean the same message, although its headers may differ.
    """

    def __init__(
        self,
        reader: MessageReader,
        bounds: Bounds,
        label_source_header: str = "",
        logged: bool = False,
        content_ids: bool = False,
    ) -> None:
        self._reader, self._bounds, self._logged = reader, bounds, logged
        self._content_ids = content_ids
        self._label_source_header = label_source_header
        self.windows: dict[int, JoinWindow] = {}

    def window(self, partition: int) -> JoinWindow:
        """Return the join window of a partition; create it if necessary."""
        found = self.windows.get(partition)
        if found is None:
            found = self.windows[partition] = JoinWindow(self._bounds, logged=self._logged)
        return found

    def forget(self, partitions: Iterable[int]) -> None:
        """Drop the windows of these partitions."""
        for number in partitions:
            self.windows.pop(number, None)

    def add(
        self,
        record: Record,
        found: Message | Feedback,
        decision: Decision | None,
        dead_letters: list[DeadLetter],
    ) -> list[Match]:
        """Add a message or a label to its window; return the matches that this completes.

        The caller trains on the matches in order, and calls `JoinWindow.learned` after each.

        Parameters
        ----------
        record, found
            The record and its content.
        decision
            The decision on the message; None for feedback.
        dead_letters
            Receives labels that expired or exceeded the rate of their source.
        """
        window = self.window(record.partition.number)
        labelled = isinstance(found, Feedback) or found.label is not None
        refusal = self._refusal(window, record) if labelled else None
        if isinstance(found, Feedback):
            if refusal is not None:
                dead_letters.append(DeadLetter(record, refusal, refused=True))
                return []
            entry = window.get(found.id)
            if entry is None:
                dead_letters += window.wait(found.id, record)
                return []
            return [Match(found.id, entry, found.label, record)]
        entry = self._enter(window, record, found, decision, dead_letters)
        matches = []
        if refusal is not None:
            dead_letters.append(DeadLetter(record, f"not learned: {refusal}", refused=True))
        elif found.label is not None:
            matches.append(Match(found.id, entry, found.label, record))
        early = window.claim(found.id)
        if early is not None:
            try:
                label = self._reader.read(early).label
            except BadRecordError as error:  # the settings have changed since it arrived
                dead_letters.append(DeadLetter(early, str(error)))
            else:
                if label is not None:
                    matches.append(Match(found.id, entry, label, early))
        return matches

    def _refusal(self, window: JoinWindow, record: Record) -> str | None:
        """Return why a label exceeds the rate of its source; None if it may be used."""
        header = self._label_source_header
        sources = [value for name, value in record.headers if name == header and value]
        if not header or not sources:
            return None
        return window.refusal(sources[-1][:_MAX_SOURCE].decode("utf-8", "replace"), record)

    def _enter(
        self,
        window: JoinWindow,
        record: Record,
        message: Message,
        decision: Decision | None,
        dead_letters: list[DeadLetter],
    ) -> WindowEntry:
        """Add a message to its window, unless it is there and comes again."""
        entry = WindowEntry(
            canonical(message.features),
            decision.label if decision else None,
            decision.score if decision else None,
            record.timestamp,
            offset=record.offset,
        )
        known = window.get(message.id)
        is_same = record.role == "feedback" and known and known.features == entry.features
        if known is not None and (is_same or self._content_ids):
            return known
        dead_letters += window.add(message.id, entry)
        return entry


class JoinWindow:
    """Recent messages of one partition, and labels that arrived before their messages.

    The clock of the window is the latest record timestamp, so replaying the records gives the same
    window. A timestamp far in the future would expire all waiting labels. Such a timestamp is
    therefore replaced by the present plus `Bounds.future`, and the log contains the replaced value.

    Parameters
    ----------
    bounds
        When a bound is exceeded, the oldest messages leave.
    logged
        Whether changes are recorded for a log, from which another worker rebuilds the window.
    clock
        Returns seconds since 1970.

    Examples
    --------
    >>> window = JoinWindow(Bounds(count=1))
    >>> hello, you = WindowEntry(b'"hello"', "ham", -1.0), WindowEntry(b'"you"', "ham", -1.0)
    >>> window.add("a", hello), window.add("b", you)
    ([], [])
    >>> window.get("a"), window.get("b").read_features()
    (None, 'you')
    """

    def __init__(
        self,
        bounds: Bounds | None = None,
        logged: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.bounds = bounds or Bounds()
        self.size = 0  # approximate memory, in bytes
        self._clock = clock
        self._now: int | None = None
        self._entries: dict[str, WindowEntry] = {}
        self._labels: dict[str, Record] = {}
        self._rates = LabelRates(self.bounds.labels)
        self._log = WindowLog(logged)
        self._disordered = False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def waiting(self) -> int:
        """Number of labels that wait for their messages."""
        return len(self._labels)

    def get(self, name: str) -> WindowEntry | None:
        """Return the message with this id; None if it is not in the window."""
        return self._entries.get(name)

    def add(self, name: str, entry: WindowEntry) -> list[DeadLetter]:
        """Add the newest message; return the waiting labels that expire.

        A duplicate message keeps the label that it was learned with.
        """
        entry.timestamp = self._advance(entry.timestamp)
        before = self._entries.get(name)
        if before is not None and before.features == entry.features:
            entry.label = before.label
        self._put_entry(name, entry)
        self._log.note(_MESSAGE, name, entry, before is None)
        return self._evict()

    def learned(self, name: str, entry: WindowEntry, label: str | None) -> None:
        """Record the label that a message was learned with; None if it was unlearned."""
        entry.label = label
        if self._entries.get(name) is entry:
            self._log.note(_MESSAGE, name, entry)

    def refusal(self, source: str, record: Record) -> str | None:
        """Count a label of a source; return why it exceeds the rate, or None.

        Records without a timestamp are not limited. Old timestamps count as the current time of
        the window: otherwise a sender could choose a new hour for each label.
        """
        bounded = self.bounded(record.timestamp)
        if bounded is None or self.bounds.labels is None:
            return None
        now = bounded if self._now is None else max(self._now, bounded)
        for expired in self._rates.expire(now):
            self._log.note(_SOURCE, expired, None)
        is_new = self._rates.get(source) is None
        why = self._rates.refusal(source, now)
        if why is None:
            self._log.note(_SOURCE, source, self._rates.get(source), is_new)
        return why

    def bounded(self, timestamp: int | None) -> int | None:
        """Return a timestamp, limited to `Bounds.future` after the present."""
        if timestamp is not None and self.bounds.future is not None:
            return min(timestamp, round(self._clock() * 1000) + self.bounds.future)
        return timestamp

    def wait(self, name: str, record: Record) -> list[DeadLetter]:
        """Keep a label until its message arrives; return the labels that expire.

        A later label for the same message replaces an earlier one.
        """
        record = record._replace(timestamp=self._advance(record.timestamp))
        is_new = name not in self._labels
        self._put_label(name, record)
        self._log.note(_LABEL, name, record, is_new)
        return self._evict()

    def awaits(self, name: str) -> bool:
        """Return whether a label waits for a message."""
        return name in self._labels

    def claim(self, name: str) -> Record | None:
        """Remove and return the label that waits for a message; None if no label waits."""
        record = self._labels.get(name)
        if record is not None:
            self._put_label(name, None)
            self._log.note(_LABEL, name, None)
        return record

    def finish(self) -> list[DeadLetter]:
        """Expire all waiting labels, because no more messages will arrive."""
        return [self._expire(name) for name in list(self._labels)]

    def _put_entry(self, name: str, entry: WindowEntry | None) -> None:
        before = self._entries.pop(name, None)
        if before is not None:
            self.size -= entry_size(name, before)
        if entry is not None:
            self._entries[name] = entry
            self.size += entry_size(name, entry)

    def _put_label(self, name: str, record: Record | None) -> None:
        before = self._labels.pop(name, None)
        if before is not None:
            self.size -= record_size(name, before)
        if record is not None:
            self._labels[name] = record
            self.size += record_size(name, record)

    def _evict(self) -> list[DeadLetter]:
        self._order()
        expired = []
        while self._labels and self._over(len(self._labels), next(iter(self._labels.values()))):
            expired.append(self._expire(next(iter(self._labels))))
        while self._entries and self._over(len(self._entries), next(iter(self._entries.values()))):
            name = next(iter(self._entries))
            self._put_entry(name, None)
            self._log.note(_MESSAGE, name, None)
        return expired

    def _advance(self, timestamp: int | None) -> int | None:
        """Advance the clock to a timestamp; return the timestamp after `bounded`."""
        timestamp = self.bounded(timestamp)
        if timestamp is not None:
            self._now = timestamp if self._now is None else max(timestamp, self._now)
        return timestamp

    def _over(self, count: int, oldest: WindowEntry | Record) -> bool:
        if count > self.bounds.count or self.size > self.bounds.size:
            return True
        if self.bounds.age is None or self._now is None or oldest.timestamp is None:
            return False
        return oldest.timestamp < self._now - self.bounds.age

    def _expire(self, name: str) -> DeadLetter:
        record = self._labels[name]
        self._put_label(name, None)
        self._log.note(_LABEL, name, None)
        return DeadLetter(record, "no message with this id in the join window")

    # --- log ------------------------------------------------------------------------------------

    def take_changes(self) -> list[tuple[bytes, bytes | None]]:
        """Return the changes since the last call: each key with its value, or None if deleted."""
        return self._log.take()

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Apply one change from the log.

        Raises
        ------
        SnapshotError
            If key or value is invalid.
        """
        try:
            kind, name = key[:2], key[2:].decode()
            if kind == _MESSAGE:
                entry = None if value is None else decode_entry(value)
                self._put_entry(name, entry)
                if entry is not None:
                    entry.timestamp = self._advance(entry.timestamp)
            elif kind == _LABEL:
                record = None if value is None else record_from_json(json.loads(value))
                if record is not None:
                    record = record._replace(timestamp=self._advance(record.timestamp))
                self._put_label(name, record)
            elif kind == _SOURCE:
                self._rates.put(name, None if value is None else json.loads(value))
            else:
                raise ValueError(f"unknown key {key[:40]!r}")
        except (ValueError, TypeError, KeyError) as error:
            raise SnapshotError(f"invalid change of a join window: {error}") from error
        self._disordered = True

    def _order(self) -> None:
        """Sort by offset: a compacted log contains each key at the place of its last change."""
        if self._disordered:
            self._entries = dict(sorted(self._entries.items(), key=lambda item: item[1].offset))
            self._labels = dict(sorted(self._labels.items(), key=lambda item: item[1].offset))
            self._disordered = False

    # --- state ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain values, oldest messages first."""
        self._order()
        return {
            "now": self._now,
            "messages": [
                [name, entry.features.decode(), *entry_fields(entry)]
                for name, entry in self._entries.items()
            ],
            "labels": [[name, record_to_json(record)] for name, record in self._labels.items()],
            "sources": [list(each) for each in self._rates],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any], bounds: Bounds | None = None) -> JoinWindow:
        """Return the window with a state from `to_json`, under the given bounds.

        An invalid state raises ValueError, TypeError or KeyError.
        """
        window = cls(bounds)
        window._advance(state["now"])
        for name, features, *fields in state["messages"]:
            entry = WindowEntry(features.encode(), *fields)
            check_entry(entry)
            entry.timestamp = window._advance(entry.timestamp)
            window._put_entry(str(name), entry)
        for name, fields in state["labels"]:
            window._put_label(str(name), record_from_json(fields))
        for name, full in state["sources"]:
            window._rates.put(str(name), full)
        return window


class WindowLog:
    """Changes since they were last taken; only the last change of each key is kept.

    Parameters
    ----------
    enabled
        Whether changes are recorded.

    Examples
    --------
    >>> log = WindowLog(enabled=True)
    >>> log.note(b"s:", "ann", 3.5)
    >>> log.note(b"m:", "a", WindowEntry(b'"hello"', "ham", -1.0), new=True)
    >>> log.note(b"m:", "a", None)
    >>> log.take(), log.take()
    ([(b's:ann', b'3.5')], [])
    """

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._changed: dict[bytes, WindowEntry | Record | float | None] = {}
        self._unwritten: set[bytes] = set()

    def note(
        self, kind: bytes, name: str, value: WindowEntry | Record | float | None, new: bool = False
    ) -> None:
        """Record the current value of a key; `new` if the key did not exist before."""
        if not self._enabled:
            return
        key = kind + name.encode()
        if new and key not in self._changed:
            self._unwritten.add(key)
        if value is None and key in self._unwritten:
            # The log does not contain this key, so there is nothing to delete.
            self._unwritten.remove(key)
            del self._changed[key]
        else:
            self._changed[key] = value

    def take(self) -> list[tuple[bytes, bytes | None]]:
        """Return the changes since the last call: each key with its value, or None if deleted."""
        changes = [(key, encode_entry(value)) for key, value in self._changed.items()]
        self._changed.clear()
        self._unwritten.clear()
        return changes
