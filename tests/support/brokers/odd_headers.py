"""Headers that Kafka accepts and kafka-python cannot write: null values and invalid names."""

from __future__ import annotations

from typing import Any

import pytest

from streamnb_consumers.kafka.python_client.client import kafka

NO_VALUE = b"this header has no value"  # what stands for none until the record is built


class RawName(str):
    """A header name with these bytes."""

    raw: bytes

    def __new__(cls, raw: bytes) -> RawName:
        name = super().__new__(cls, raw.decode("latin-1"))
        name.raw = raw
        return name

    def encode(self, *_: Any, **__: Any) -> bytes:
        return self.raw


def write_headers_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let producers of this process write `NO_VALUE` as a null value."""
    builder = kafka.record.default_records.DefaultRecordBatchBuilder
    append = builder.append

    def appended(self: Any, at: Any, time: Any, key: Any, value: Any, headers: Any) -> Any:
        kept = [(name, None if found is NO_VALUE else found) for name, found in headers]
        return append(self, at, time, key, value, kept)

    monkeypatch.setattr(builder, "append", appended)
