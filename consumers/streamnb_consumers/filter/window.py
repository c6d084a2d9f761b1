"""The join window: recent messages by id, so that labels that come later find theirs."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.records import DeadLetter, Features, Partition, Record, Role, canonical

__all__ = ["Bounds", "JoinWindow", "Seen"]

_SEEN, _EARLY = b"m:", b"l:"  # kinds of keys: a message, a label that waits for one
_OVERHEAD = 400  # bytes that one message takes besides its id and features, about


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How many messages a window keeps: by count, by age in milliseconds, and by bytes."""

    count: int = 100_000
    age: int | None = None
    size: int = 2**27


@dataclasses.dataclass(slots=True)
class Seen:
    """A message of the window: what was decided, and the label it has been learned with.

    `place` is the offset of its record: it says which message is older where a window is made
    from its log.
    """

    features: bytes
    decided: str | None
    score: float | None
    timestamp: int | None = None
    label: str | None = None
    place: int = 0

    def read_features(self) -> Features:
        """Return the features as the model takes them."""
        found: Features = json.loads(self.features)
        return found


class JoinWindow:
    """Messages of one partition, oldest first, and labels that came before their messages.

    Age goes by the records' own timestamps, never by this machine's clock: whoever replays the
    records has the same window.

    Parameters
    ----------
    bounds
        Past any of them the oldest messages leave.
    logged
        Whether changes are kept for a log, from which another worker makes the same window.

    Examples
    --------
    >>> window = JoinWindow(Bounds(count=1))
    >>> window.add("a", Seen(b'"hello"', "ham", -1.0)), window.add("b", Seen(b'"you"', "ham", -1.0))
    ([], [])
    >>> window.get("a"), window.get("b").read_features()
    (None, 'you')
    """

    def __init__(self, bounds: Bounds | None = None, logged: bool = False) -> None:
        self.bounds = bounds or Bounds()
        self.size = 0
        self._now: int | None = None
        self._seen: dict[str, Seen] = {}
        self._early: dict[str, Record] = {}
        self._logged = logged
        self._changed: dict[bytes, Seen | Record | None] = {}
        self._disordered = False

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def waiting(self) -> int:
        """Labels that wait for their messages."""
        return len(self._early)

    def get(self, name: str) -> Seen | None:
        """Return the message with an id, if it is still here."""
        return self._seen.get(name)

    def add(self, name: str, seen: Seen) -> list[DeadLetter]:
        """Add a message, the youngest; return labels for which it is now too late.

        A message that comes twice keeps the label it was learned with.
        """
        before = self._seen.pop(name, None)
        if before is not None:
            self.size -= _size(name, before)
            if before.features == seen.features:
                seen.label = before.label
        self._seen[name] = seen
        self.size += _size(name, seen)
        self._note(_SEEN, name, seen)
        return self._evict(seen.timestamp)

    def label(self, name: str, seen: Seen, label: str) -> None:
        """Note the label that a message has been learned with."""
        seen.label = label
        if self._seen.get(name) is seen:
            self._note(_SEEN, name, seen)

    def wait(self, name: str, record: Record) -> list[DeadLetter]:
        """Keep a label until its message comes; return labels for which it is now too late.

        Of several labels for one message the last counts.
        """
        before = self._early.pop(name, None)
        if before is not None:
            self.size -= _early_size(name, before)
        self._early[name] = record
        self.size += _early_size(name, record)
        self._note(_EARLY, name, record)
        return self._evict(record.timestamp)

    def claim(self, name: str) -> Record | None:
        """Return the label that waits for a message, which is no longer kept."""
        record = self._early.pop(name, None)
        if record is not None:
            self.size -= _early_size(name, record)
            self._note(_EARLY, name, None)
        return record

    def finish(self) -> list[DeadLetter]:
        """Give up the labels that still wait: there are no more messages."""
        return [self._expire(name) for name in list(self._early)]

    def _evict(self, now: int | None) -> list[DeadLetter]:
        self._order()
        self._hear(now)
        expired = []
        while self._early and self._over(len(self._early), next(iter(self._early.values()))):
            expired.append(self._expire(next(iter(self._early))))
        while self._seen and self._over(len(self._seen), next(iter(self._seen.values()))):
            name = next(iter(self._seen))
            self.size -= _size(name, self._seen.pop(name))
            self._note(_SEEN, name, None)
        return expired

    def _hear(self, now: int | None) -> None:
        if now is not None:
            self._now = now if self._now is None else max(now, self._now)

    def _over(self, count: int, oldest: Seen | Record) -> bool:
        if count > self.bounds.count or self.size > self.bounds.size:
            return True
        if self.bounds.age is None or self._now is None or oldest.timestamp is None:
            return False
        return oldest.timestamp < self._now - self.bounds.age

    def _expire(self, name: str) -> DeadLetter:
        record = self._early.pop(name)
        self.size -= _early_size(name, record)
        self._note(_EARLY, name, None)
        return DeadLetter(record, "no message with this id within the window")

    # --- log ------------------------------------------------------------------------------------

    def _note(self, kind: bytes, name: str, value: Seen | Record | None) -> None:
        if self._logged:
            self._changed[kind + name.encode()] = value

    def take_changes(self) -> list[tuple[bytes, bytes | None]]:
        """Return what changed since the last call: what each key holds now; None, nothing."""
        if not self._changed:
            return []
        changes = [(key, _encode(value)) for key, value in self._changed.items()]
        self._changed.clear()
        return changes

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Take one change from the log.

        Raises
        ------
        SnapshotError
            If it is none.
        """
        try:
            kind, name = key[:2], key[2:].decode()
            if kind == _SEEN:
                self._apply_seen(name, value)
            elif kind == _EARLY:
                self._apply_early(name, value)
            else:
                raise ValueError(f"unknown key {key[:40]!r}")
        except (ValueError, TypeError, KeyError) as error:
            raise SnapshotError(f"not a change of a join window: {error}") from error
        self._disordered = True

    def _apply_seen(self, name: str, value: bytes | None) -> None:
        before = self._seen.pop(name, None)
        if before is not None:
            self.size -= _size(name, before)
        if value is not None:
            seen = _decode(value)
            self._seen[name] = seen
            self.size += _size(name, seen)
            self._hear(seen.timestamp)

    def _apply_early(self, name: str, value: bytes | None) -> None:
        before = self._early.pop(name, None)
        if before is not None:
            self.size -= _early_size(name, before)
        if value is not None:
            record = _record_from_json(json.loads(value))
            self._early[name] = record
            self.size += _early_size(name, record)
            self._hear(record.timestamp)

    def _order(self) -> None:
        """Put the oldest first: a log that was compacted holds each key where it changed last."""
        if self._disordered:
            self._seen = dict(sorted(self._seen.items(), key=lambda item: item[1].place))
            self._early = dict(sorted(self._early.items(), key=lambda item: item[1].offset))
            self._disordered = False

    # --- state ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the window's state, oldest messages first."""
        self._order()
        return {
            "now": self._now,
            "seen": [
                [name, one.features.decode(), *_fields(one)] for name, one in self._seen.items()
            ],
            "early": [[name, _record_to_json(record)] for name, record in self._early.items()],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any], bounds: Bounds | None = None) -> JoinWindow:
        """Return the window that `to_json` described, within the bounds that hold now."""
        window = cls(bounds)
        for name, features, *fields in state["seen"]:
            window._seen[name] = Seen(features.encode(), *fields)
            window.size += _size(name, window._seen[name])
        for name, fields in state["early"]:
            window._early[name] = _record_from_json(fields)
            window.size += _early_size(name, window._early[name])
        window._now = state["now"]
        return window


def _fields(seen: Seen) -> list[Any]:
    return [seen.decided, seen.score, seen.timestamp, seen.label, seen.place]


def _encode(value: Seen | Record | None) -> bytes | None:
    """Return a change as its log holds it; a message's features, which are JSON, go first."""
    if isinstance(value, Seen):
        return value.features + b"\n" + canonical(_fields(value))
    return None if value is None else canonical(_record_to_json(value))


def _decode(value: bytes) -> Seen:
    features, _, fields = value.rpartition(b"\n")
    return Seen(features, *json.loads(fields))


def _size(name: str, seen: Seen) -> int:
    return len(name) + len(seen.features) + _OVERHEAD


def _early_size(name: str, record: Record) -> int:
    return len(name) + len(record.value or b"") + len(record.key or b"") + _OVERHEAD


def _record_to_json(record: Record) -> list[Any]:
    def text(value: bytes | None) -> str | None:
        return None if value is None else base64.b64encode(value).decode()

    headers = [[name, text(value)] for name, value in record.headers]
    place = [*record.partition, record.offset]
    return [place, text(record.value), text(record.key), headers, record.timestamp, record.role]


def _record_from_json(fields: list[Any]) -> Record:
    def data(value: str | None) -> bytes | None:
        return None if value is None else base64.b64decode(value)

    (source, number, offset), value, key, headers, timestamp, role = fields
    kept = tuple((name, data(each) or b"") for name, each in headers)
    known: Role = role
    place = Partition(source, number)
    return Record(place, offset, data(value), data(key), kept, timestamp, known)
