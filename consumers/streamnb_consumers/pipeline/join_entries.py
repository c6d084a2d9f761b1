"""What a join window holds, as Python values and as the bytes of its log and of snapshots."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from streamnb_consumers.jsons import canonical, compact
from streamnb_consumers.records import (
    Features,
    Partition,
    Record,
    Role,
    is_finite,
)

__all__ = [
    "WindowEntry",
    "check_entry",
    "decode_entry",
    "encode_entry",
    "entry_fields",
    "entry_size",
    "record_from_json",
    "record_size",
    "record_to_json",
]

_OVERHEAD = 400  # bytes that one message takes besides its id and features, about


@dataclasses.dataclass(slots=True)
class WindowEntry:
    """A message of the window: what was decided, and the label it has been learned with.

    `offset` is that of its record: it says which message is older where a window is made from its
    log.
    """

    features: bytes
    decided: str | None
    score: float | None
    timestamp: int | None = None
    label: str | None = None
    offset: int = 0

    def read_features(self) -> Features:
        """Return the features as the model takes them."""
        found: Features = json.loads(self.features)
        return found


def entry_fields(entry: WindowEntry) -> list[Any]:
    """Return the fields of an entry but its features, in the order in which they are written."""
    return [entry.decided, entry.score, entry.timestamp, entry.label, entry.offset]


def entry_size(name: str, entry: WindowEntry) -> int:
    """Return the bytes that an entry takes, about."""
    return len(name) + len(entry.features) + _OVERHEAD


def encode_entry(value: WindowEntry | Record | float | None) -> bytes | None:
    """Return a change as its log holds it; a message's features, which are JSON, go first."""
    if isinstance(value, float):
        return compact(value)
    if isinstance(value, WindowEntry):
        return value.features + b"\n" + compact(entry_fields(value))
    return None if value is None else canonical(record_to_json(value))


def decode_entry(value: bytes) -> WindowEntry:
    """Return the message that `encode_entry` wrote.

    Raises
    ------
    ValueError, TypeError
        If the bytes hold anything else.
    """
    features, _, fields = value.rpartition(b"\n")
    entry = WindowEntry(features, *json.loads(fields))
    check_entry(entry)
    return entry


def check_entry(entry: WindowEntry) -> None:
    """Refuse an entry whose fields have other types than `encode_entry` writes.

    Raises
    ------
    TypeError
        If one has.
    """
    if not (
        isinstance(entry.decided, (str, type(None)))
        and (entry.score is None or is_finite(entry.score))
        and isinstance(entry.timestamp, (int, type(None)))
        and isinstance(entry.label, (str, type(None)))
        and isinstance(entry.offset, int)
        and isinstance(json.loads(entry.features), (str, dict))
    ):
        raise TypeError("its fields have other types")


def record_size(name: str, record: Record) -> int:
    """Return the bytes that a label takes which waits for its message, about."""
    return len(name) + len(record.value or b"") + len(record.key or b"") + _OVERHEAD


def record_to_json(record: Record) -> list[Any]:
    """Return a record as JSON holds it; bytes are base64."""

    def text(value: bytes | None) -> str | None:
        return None if value is None else base64.b64encode(value).decode()

    headers = [[name, text(value)] for name, value in record.headers]
    place = [*record.partition, record.offset]
    return [place, text(record.value), text(record.key), headers, record.timestamp, record.role]


def record_from_json(fields: list[Any]) -> Record:
    """Return the record that `record_to_json` wrote.

    Raises
    ------
    ValueError, TypeError
        If the fields hold anything else.
    """

    def data(value: str | None) -> bytes | None:
        return None if value is None else base64.b64decode(value, validate=True)

    (source, number, offset), value, key, headers, timestamp, role = fields
    if not (
        isinstance(source, str)
        and isinstance(number, int)
        and isinstance(offset, int)
        and isinstance(timestamp, (int, type(None)))
        and role in ("message", "feedback")
    ):
        raise TypeError("its fields have other types")
    known: Role = role
    kept = tuple((str(name), data(each)) for name, each in headers)
    return Record(Partition(source, number), offset, data(value), data(key), kept, timestamp, known)
