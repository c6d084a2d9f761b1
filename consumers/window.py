"""The join window: recent messages by id, so that labels that come later find theirs."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from consumers.records import DeadLetter, Features, Partition, Record, Role

__all__ = ["Bounds", "JoinWindow", "Seen"]

_OVERHEAD = 400  # bytes that one message takes besides its id and features, about


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How many messages a window keeps: by count, by age in milliseconds, and by bytes."""

    count: int = 100_000
    age: int | None = None
    size: int = 2**27


@dataclasses.dataclass(slots=True)
class Seen:
    """A message of the window: what was decided, and the label it has been learned with."""

    features: bytes
    decided: str | None
    score: float | None
    timestamp: int | None = None
    label: str | None = None

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

    Examples
    --------
    >>> window = JoinWindow(Bounds(count=1))
    >>> window.add("a", Seen(b'"hello"', "ham", -1.0)), window.add("b", Seen(b'"you"', "ham", -1.0))
    ([], [])
    >>> window.get("a"), window.get("b").read_features()
    (None, 'you')
    """

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self.size = 0
        self._now: int | None = None
        self._seen: dict[str, Seen] = {}
        self._early: dict[str, Record] = {}

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
        return self._evict(seen.timestamp)

    def wait(self, name: str, record: Record) -> list[DeadLetter]:
        """Keep a label until its message comes; return labels for which it is now too late.

        Of several labels for one message the last counts.
        """
        before = self._early.pop(name, None)
        if before is not None:
            self.size -= _early_size(name, before)
        self._early[name] = record
        self.size += _early_size(name, record)
        return self._evict(record.timestamp)

    def claim(self, name: str) -> Record | None:
        """Return the label that waits for a message, which is no longer kept."""
        record = self._early.pop(name, None)
        if record is not None:
            self.size -= _early_size(name, record)
        return record

    def finish(self) -> list[DeadLetter]:
        """Give up the labels that still wait: there are no more messages."""
        return [self._expire(name) for name in list(self._early)]

    def _evict(self, now: int | None) -> list[DeadLetter]:
        if now is not None:
            self._now = now if self._now is None else max(now, self._now)
        expired = []
        while self._early and self._over(len(self._early), next(iter(self._early.values()))):
            expired.append(self._expire(next(iter(self._early))))
        while self._seen and self._over(len(self._seen), next(iter(self._seen.values()))):
            name = next(iter(self._seen))
            self.size -= _size(name, self._seen.pop(name))
        return expired

    def _over(self, count: int, oldest: Seen | Record) -> bool:
        if count > self.bounds.count or self.size > self.bounds.size:
            return True
        if self.bounds.age is None or self._now is None or oldest.timestamp is None:
            return False
        return oldest.timestamp < self._now - self.bounds.age

    def _expire(self, name: str) -> DeadLetter:
        record = self._early.pop(name)
        self.size -= _early_size(name, record)
        return DeadLetter(record, "no message with this id within the window")

    # --- state ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the window's state, oldest messages first."""
        return {
            "now": self._now,
            "seen": [
                [name, one.features.decode(), one.decided, one.score, one.timestamp, one.label]
                for name, one in self._seen.items()
            ],
            "early": [[name, _record_to_json(record)] for name, record in self._early.items()],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any], bounds: Bounds | None = None) -> JoinWindow:
        """Return the window that `to_json` described, within the bounds that hold now."""
        window = cls(bounds)
        for name, features, decided, score, timestamp, label in state["seen"]:
            window._seen[name] = Seen(features.encode(), decided, score, timestamp, label)
            window.size += _size(name, window._seen[name])
        for name, fields in state["early"]:
            window._early[name] = _record_from_json(fields)
            window.size += _early_size(name, window._early[name])
        window._now = state["now"]
        return window


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
