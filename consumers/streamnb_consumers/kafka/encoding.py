"""Encoding of outputs as Kafka records."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from streamnb_consumers.jsons import canonical, compact
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.pipeline.identity import HEADER
from streamnb_consumers.records import Outputs, Record

# Prefix of the join-state keys of offsets. The filter uses other prefixes for its own keys.
PROGRESS = b"o:"
_LOG = logging.getLogger(__name__)
_LOGGED = 100  # bytes of a key in the log
_OWN_HEADERS = 4  # headers that dead letters add to the original ones: DeadLetter.headers


class Written(NamedTuple):
    """A record to write. If the partition is None, the key selects it."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]

    @property
    def size(self) -> int:
        """Approximate size of the record, in bytes."""
        if not self.headers:
            return len(self.key or b"") + len(self.value or b"") + 100
        headers = sum(len(name.encode()) + len(value or b"") + 10 for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers + 100


def encode(outputs: Outputs, topics: Topics, limits: Mapping[str, int]) -> Iterator[Written]:
    """Return the records for the outputs of a batch.

    Decisions, training events and dead letters have the key of their message, so the order per
    message is kept. Changes of a join window go to the partition of that window.

    Dead letters above the record limit of their topic are truncated. Other records above it are
    logged, counted in `outputs.unwritten` and left out: they would stop the worker for ever.

    Parameters
    ----------
    outputs
        Outputs of a batch.
    topics
        Target topics.
    limits
        Maximum record size by topic, in bytes.
    """
    for written in _encode(outputs, topics):
        most, size = limits[written.topic], written.size
        if size <= most:
            yield written
        elif written.topic == topics.dead_letters:
            yield _cut(written, most)
        else:
            outputs.unwritten += 1
            _LOG.error(
                "left out a record for %s: it has %d bytes, but max.message.bytes of that topic "
                "allows %d (key %r). Raise max.message.bytes, or lower max_bytes or max_text",
                *(written.topic, size, most, (written.key or b"")[:_LOGGED]),
            )


class Progress(NamedTuple):
    """A committed offset in the join state, with the id of the topic that it counts in."""

    group: str
    topic: str
    topic_id: str
    offset: int

    def write(self, join_state: str, number: int) -> Written:
        """Return the record for a partition of the join state."""
        key = PROGRESS + f"{self.group}/{self.topic}".encode()
        return Written(join_state, number, key, compact([self.topic_id, self.offset]), [])

    @classmethod
    def read(cls, record: Record) -> Progress | None:
        """Return the offset in a record of the join state; None for other records."""
        key = record.key or b""
        if not key.startswith(PROGRESS):
            return None
        try:
            topic_id, offset = json.loads(record.value or b"")
            group, _, topic = key.removeprefix(PROGRESS).decode().rpartition("/")
            return cls(group, topic, str(topic_id), int(offset))
        except (ValueError, TypeError):
            return None


def _encode(outputs: Outputs, topics: Topics) -> Iterator[Written]:
    for decision in outputs.decisions:
        value = compact(decision.to_json())
        yield Written(topics.decisions, None, decision.id.encode(), value, [])
    for question in outputs.questions if topics.questions else ():
        name = question.decision.id.encode()
        yield Written(topics.questions, None, name, compact(question.to_json()), [])
    settings: list[tuple[str, bytes | None]] = (
        [(HEADER, outputs.settings)] if outputs.settings else []
    )
    for event in outputs.training:
        value = canonical(event)
        yield Written(topics.training, None, event.id.encode(), value, settings)
        settings = []  # once per transaction: workers read the whole log
    for number, key, change in outputs.changes:
        yield Written(topics.join_state, number, key, change, [])
    for dead_letter in outputs.dead_letters:
        record, headers = dead_letter.record, list(dead_letter.headers())
        written = Written(topics.dead_letters, None, record.key, record.value, headers)
        # A record with neither key nor value is not valid in Kafka.
        empty = record.key is None and record.value is None
        yield written._replace(key=b"") if empty else written


def _cut(written: Written, most: int) -> Written:
    """Return a dead letter without its original headers, and with parts of its key and value.

    Further headers have the SHA-256 of key and value, and the length of the value.
    """
    key, value = written.key or b"", written.value or b""
    headers = [
        *written.headers[-_OWN_HEADERS:],
        ("sha256", hashlib.sha256(key + value).hexdigest().encode()),
        ("truncated", str(len(value)).encode()),
    ]
    rest = max(0, most - written._replace(key=b"", value=b"", headers=headers).size)
    key = key[: max(rest // 2, rest - len(value))]
    return written._replace(key=key, value=value[: rest - len(key)], headers=headers)
