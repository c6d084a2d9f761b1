"""Entries of a join window, and their encoding in its log and in snapshots."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from streamnb_consumers.jsons import canonical, compact
from streamnb_consumers.records import Features, Partition, Record, is_finite

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

_OVERHEAD = 400  # approximate bytes of an entry without its id and features


@dataclasses.dataclass(slots=True)
class WindowEntry:
    """A message of the join window.

    Attributes
    ----------
    features
        The features as canonical JSON.
    decided, score
        Label and score of the decision; None without a decision.
    timestamp
        Milliseconds since 1970, or None.
    label
        The label that the message was learned with; None if it was not learned.
    offset
        Offset of its record, which orders the entries of a window that is rebuilt from its log.
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
    """Return all fields except the features, in the order of the log and of snapshots."""
    return [entry.decided, entry.score, entry.timestamp, entry.label, entry.offset]


def entry_size(name: str, entry: WindowEntry) -> int:
    """Return the approximate memory of an entry, in bytes."""
    return len(name) + len(entry.features) + _OVERHEAD


def encode_entry(value: WindowEntry | Record | float | None) -> bytes | None:
    """Return the log value of a message, a waiting label or a rate.

    The value of a message is its features, a line feed, and the other fields as JSON.
    """
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
        If the bytes are invalid.
    """
    features, _, fields = value.rpartition(b"\n")
    entry = WindowEntry(features, *json.loads(fields))
    check_entry(entry)
    return entry


def check_entry(entry: WindowEntry) -> None:
    """Check the types of the fields of an entry.

    Raises
    ------
    TypeError
        If a field has a wrong type.
    """
    if not (
        isinstance(entry.decided, (str, type(None)))
        and (entry.score is None or is_finite(entry.score))
        and isinstance(entry.timestamp, (int, type(None)))
        and isinstance(entry.label, (str, type(None)))
        and isinstance(entry.offset, int)
        and isinstance(json.loads(entry.features), (str, dict))
    ):
        raise TypeError("a field has a wrong type")


def record_size(name: str, record: Record) -> int:
    """Return the approximate memory of a waiting label, in bytes."""
    return len(name) + len(record.value or b"") + len(record.key or b"") + _OVERHEAD


def record_to_json(record: Record) -> list[Any]:
    """Return a record as plain values; bytes become base64."""

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
        If the fields are invalid.
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
        raise TypeError("a field has a wrong type")
    kept = tuple((str(name), data(each)) for name, each in headers)
    place = Partition(source, number)
    return Record(place, offset, data(value), data(key), kept, timestamp, role)
