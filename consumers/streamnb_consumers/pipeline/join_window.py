"""The join window: recent messages by id, so that labels that come later find theirs."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

from streamnb_consumers.errors import SnapshotError
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
from streamnb_consumers.records import DeadLetter, Record

__all__ = ["Bounds", "JoinWindow", "WindowEntry", "WindowLog"]

# Kinds of keys: a message, a label that waits for one, who gave labels.
_MESSAGE, _LABEL, _SOURCE = b"m:", b"l:", b"s:"


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How many messages a window keeps: by count, by age in milliseconds, and by bytes.

    `future` bounds how far a record's timestamp may lie behind the present, in milliseconds, which
    bounds the jump of the window's clock; None for no bound. `labels` is how many labels each named
    source may give in an hour; None for no bound.
    """

    count: int = 100_000
    age: int | None = None
    size: int = 2**27
    future: int | None = 60_000
    labels: float | None = None


class JoinWindow:
    """Messages of one partition, oldest first, and labels that came before their messages.

    Age goes by the records' own timestamps: the window's clock is the latest of them, so whoever
    replays the records has the same window. A timestamp from the future would make all that waits
    too old at once, and hold up whatever comes behind it: it counts as `Bounds.future` after the
    moment at which its record is handled, and this is what the window's log then says.

    Parameters
    ----------
    bounds
        Past any of them the oldest messages leave.
    logged
        Whether changes are kept for a log, from which another worker makes the same window.
    clock
        Seconds since 1970.

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
        self._clock, self.size = clock, 0
        self._now: int | None = None
        self._entries: dict[str, WindowEntry] = {}
        self._labels: dict[str, Record] = {}
        self._rates = LabelRates(self.bounds.labels)
        self._log, self._disordered = WindowLog(logged), False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def waiting(self) -> int:
        """Labels that wait for their messages."""
        return len(self._labels)

    def get(self, name: str) -> WindowEntry | None:
        """Return the message with an id, if it is still here."""
        return self._entries.get(name)

    def add(self, name: str, entry: WindowEntry) -> list[DeadLetter]:
        """Add a message, the youngest; return labels for which it is now too late.

        A message that comes twice keeps the label it was learned with.
        """
        entry.timestamp = self._advance(entry.timestamp)
        before = self._entries.pop(name, None)
        if before is not None:
            self.size -= entry_size(name, before)
            if before.features == entry.features:
                entry.label = before.label
        self._entries[name] = entry
        self.size += entry_size(name, entry)
        self._log.note(_MESSAGE, name, entry, before is None)
        return self._evict()

    def label(self, name: str, entry: WindowEntry, label: str) -> None:
        """Note the label that a message has been learned with."""
        entry.label = label
        if self._entries.get(name) is entry:
            self._log.note(_MESSAGE, name, entry)

    def refusal(self, source: str, record: Record) -> str | None:
        """Count a label towards its source's rate; return why it is too many.

        A record without a timestamp has no rate. One with an old timestamp counts as of the
        window's clock, else whoever chooses timestamps would have an hour with each label.
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
        """Return a timestamp, or `Bounds.future` after the present where it is beyond that."""
        if timestamp is not None and self.bounds.future is not None:
            return min(timestamp, round(self._clock() * 1000) + self.bounds.future)
        return timestamp

    def wait(self, name: str, record: Record) -> list[DeadLetter]:
        """Keep a label until its message comes; return labels for which it is now too late.

        Of several labels for one message the last counts.
        """
        bounded = self._advance(record.timestamp)
        if bounded != record.timestamp:
            record = record._replace(timestamp=bounded)
        before = self._labels.pop(name, None)
        if before is not None:
            self.size -= record_size(name, before)
        self._labels[name] = record
        self.size += record_size(name, record)
        self._log.note(_LABEL, name, record, before is None)
        return self._evict()

    def awaits(self, name: str) -> bool:
        """Tell whether a label waits for a message."""
        return name in self._labels

    def claim(self, name: str) -> Record | None:
        """Return the label that waits for a message, which is no longer kept."""
        record = self._labels.pop(name, None)
        if record is not None:
            self.size -= record_size(name, record)
            self._log.note(_LABEL, name, None)
        return record

    def finish(self) -> list[DeadLetter]:
        """Give up the labels that still wait: there are no more messages."""
        return [self._expire(name) for name in list(self._labels)]

    def _evict(self) -> list[DeadLetter]:
        self._order()
        expired = []
        while self._labels and self._over(len(self._labels), next(iter(self._labels.values()))):
            expired.append(self._expire(next(iter(self._labels))))
        while self._entries and self._over(len(self._entries), next(iter(self._entries.values()))):
            name = next(iter(self._entries))
            self.size -= entry_size(name, self._entries.pop(name))
            self._log.note(_MESSAGE, name, None)
        return expired

    def _advance(self, timestamp: int | None) -> int | None:
        """Set the clock forward to a timestamp; return it, bounded if it is from the future."""
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
        record = self._labels.pop(name)
        self.size -= record_size(name, record)
        self._log.note(_LABEL, name, None)
        return DeadLetter(record, "no message with this id within the window")

    # --- log ------------------------------------------------------------------------------------

    def take_changes(self) -> list[tuple[bytes, bytes | None]]:
        """Return what changed since the last call: what each key holds now; None, nothing."""
        return self._log.take()

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Take one change from the log.

        Raises
        ------
        SnapshotError
            If it is none.
        """
        try:
            kind, name = key[:2], key[2:].decode()
            if kind == _MESSAGE:
                self._apply_message(name, value)
            elif kind == _LABEL:
                self._apply_label(name, value)
            elif kind == _SOURCE:
                self._rates.put(name, None if value is None else json.loads(value))
            else:
                raise ValueError(f"unknown key {key[:40]!r}")
        except (ValueError, TypeError, KeyError) as error:
            raise SnapshotError(f"not a change of a join window: {error}") from error
        self._disordered = True

    def _apply_message(self, name: str, value: bytes | None) -> None:
        before = self._entries.pop(name, None)
        if before is not None:
            self.size -= entry_size(name, before)
        if value is not None:
            entry = decode_entry(value)
            self._entries[name] = entry
            self.size += entry_size(name, entry)
            entry.timestamp = self._advance(entry.timestamp)

    def _apply_label(self, name: str, value: bytes | None) -> None:
        before = self._labels.pop(name, None)
        if before is not None:
            self.size -= record_size(name, before)
        if value is not None:
            record = record_from_json(json.loads(value))
            record = record._replace(timestamp=self._advance(record.timestamp))
            self._labels[name] = record
            self.size += record_size(name, record)

    def _order(self) -> None:
        """Put the oldest first: a log that was compacted holds each key where it changed last."""
        if self._disordered:
            self._entries = dict(sorted(self._entries.items(), key=lambda item: item[1].offset))
            self._labels = dict(sorted(self._labels.items(), key=lambda item: item[1].offset))
            self._disordered = False

    # --- state ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the window's state, oldest messages first."""
        self._order()
        return {
            "now": self._now,
            "seen": [
                [name, entry.features.decode(), *entry_fields(entry)]
                for name, entry in self._entries.items()
            ],
            "early": [[name, record_to_json(record)] for name, record in self._labels.items()],
        } | ({"sources": sources} if (sources := [list(each) for each in self._rates]) else {})

    @classmethod
    def from_json(cls, state: dict[str, Any], bounds: Bounds | None = None) -> JoinWindow:
        """Return the window that `to_json` described, within the bounds that hold now.

        ValueError, TypeError or KeyError is raised for a state that `to_json` did not write.
        """
        window = cls(bounds)
        window._advance(state["now"])
        for name, features, *fields in state["seen"]:
            entry = WindowEntry(features.encode(), *fields)
            check_entry(entry)
            entry.timestamp = window._advance(entry.timestamp)
            window._entries[str(name)] = entry
            window.size += entry_size(name, entry)
        for name, fields in state["early"]:
            window._labels[str(name)] = record_from_json(fields)
            window.size += record_size(name, window._labels[name])
        for name, full in state.get("sources", []):
            window._rates.put(str(name), full)
        return window


class WindowLog:
    """Changes since they were last taken: of each key the last one.

    Parameters
    ----------
    kept
        Whether there is a log; if not, nothing is noted.

    Examples
    --------
    >>> log = WindowLog(kept=True)
    >>> log.note(b"s:", "ann", 3.5)
    >>> log.note(b"m:", "a", WindowEntry(b'"hello"', "ham", -1.0), new=True)
    >>> log.note(b"m:", "a", None)
    >>> log.take(), log.take()
    ([(b's:ann', b'3.5')], [])
    """

    def __init__(self, kept: bool) -> None:
        self._kept = kept
        self._changed: dict[bytes, WindowEntry | Record | float | None] = {}
        self._unwritten: set[bytes] = set()

    def note(
        self, kind: bytes, name: str, value: WindowEntry | Record | float | None, new: bool = False
    ) -> None:
        """Note what a key holds now; `new` if it held nothing before."""
        if not self._kept:
            return
        key = kind + name.encode()
        if new and key not in self._changed:
            self._unwritten.add(key)
        if value is None and key in self._unwritten:
            # The log knows nothing of it, so there is nothing to delete.
            self._unwritten.remove(key)
            del self._changed[key]
        else:
            self._changed[key] = value

    def take(self) -> list[tuple[bytes, bytes | None]]:
        """Return what changed since the last call: what each key holds now; None, nothing."""
        if not self._changed:
            return []
        changes = [(key, encode_entry(value)) for key, value in self._changed.items()]
        self._changed.clear()
        self._unwritten.clear()
        return changes
