"""Dead letters read again, from the line of a file or from the record of a topic."""

from __future__ import annotations

import base64
import json

from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.records import DeadLetter, Partition, Record

__all__ = ["read_line", "read_record"]

_HEADERS = ("error", "topic", "partition", "offset")  # as DeadLetter.headers() writes them, last


def read_line(line: bytes) -> DeadLetter:
    """Return the dead letter that one line of a file holds.

    Raises
    ------
    BadRecordError
        If it holds none.
    """
    try:
        fields = json.loads(line)
        value, key = (
            None if fields[name] is None else base64.b64decode(fields[name], validate=True)
            for name in ("value", "key")
        )
        place = Partition(str(fields["source"]), int(fields["partition"]))
        return DeadLetter(Record(place, int(fields["offset"]), value, key), str(fields["error"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadRecordError(f"this is no dead letter: {error!r}") from None


def read_record(record: Record) -> DeadLetter:
    """Return the dead letter that a record of a topic holds, with the headers that it came with.

    Raises
    ------
    BadRecordError
        If it holds none, or not the whole of it.
    """
    headers = list(record.headers)
    if headers and headers[-1][0] == "truncated":
        raise BadRecordError(
            "only its beginning is here, for it was too large; the whole is where it came from"
        )
    ours = headers[-len(_HEADERS) :]
    if tuple(name for name, _ in ours) != _HEADERS:
        raise BadRecordError("this is no dead letter: its last headers are no filter's")
    error, topic, partition, offset = (
        (value or b"").decode("utf-8", "replace") for _, value in ours
    )
    try:
        place, number = Partition(topic, int(partition)), int(offset)
    except ValueError:
        raise BadRecordError("this is no dead letter: partition or offset is no number") from None
    kept = tuple(headers[: -len(_HEADERS)])
    return DeadLetter(Record(place, number, record.value, record.key, kept), error)
