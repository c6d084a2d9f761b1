"""Outputs as records of topics: what is written where, under which key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from streamnb_consumers.errors import BadInputError
from streamnb_consumers.jsons import canonical, compact
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.pipeline.identity import HEADER
from streamnb_consumers.records import DeadLetter, Outputs

__all__ = ["Written", "encode"]


class Written(NamedTuple):
    """A record to write; without a partition its key chooses one."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]

    @property
    def size(self) -> int:
        """Bytes that it takes, about."""
        headers = sum(len(name.encode()) + len(value or b"") + 10 for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers + 100


def encode(outputs: Outputs, topics: Topics, most: int) -> Iterator[Written]:
    """Return the records that outputs make.

    Decisions, training events and dead letters are keyed as their messages are, so each message's
    stay in order; a change of a join window goes to the window's own partition.

    Parameters
    ----------
    outputs
        What a batch gave.
    topics
        Where to.
    most
        Bytes of the largest record that the topics take. The value of a larger dead letter is cut,
        and a header says how long it was: the whole is still where it came from.

    Raises
    ------
    BadInputError
        If another record is larger: leaving it out would lose it.
    """
    for written in _encode(outputs, topics):
        if written.size <= most:
            yield written
        elif written.topic == topics.dead_letters:
            yield _cut(written, most)
        else:
            raise BadInputError(
                f"a record of {written.size:,} bytes for {written.topic} is more than the "
                f"{most:,} that can be written: raise the max.message.bytes of that topic, or "
                f"lower max_bytes, the longest message"
            )


def _encode(outputs: Outputs, topics: Topics) -> Iterator[Written]:
    for decision in outputs.decisions:
        value = compact(decision.to_json())
        yield Written(topics.decisions, None, decision.id.encode(), value, [])
    settings: list[tuple[str, bytes | None]] = (
        [(HEADER, outputs.settings)] if outputs.settings else []
    )
    for event in outputs.training:
        value = canonical(event.to_json())
        yield Written(topics.training, None, event.id.encode(), value, settings)
        settings = []  # once a transaction: whoever reads the log reads all of it
    for number, key, change in outputs.changes:
        yield Written(topics.join_state, number, key, change, [])
    for dead_letter in outputs.dead_letters:
        yield _dead_letter(dead_letter, topics.dead_letters)


def _dead_letter(dead_letter: DeadLetter, topic: str) -> Written:
    record, headers = dead_letter.record, list(dead_letter.headers())
    if record.value is None and record.key is None:
        # Kafka has no record without key and value.
        return Written(topic, None, b"", None, headers)
    return Written(topic, None, record.key, record.value, headers)


def _cut(written: Written, most: int) -> Written:
    value = written.value or b""
    keep = max(0, len(value) - (written.size - most) - 40)
    headers = [*written.headers, ("truncated", str(len(value)).encode())]
    return written._replace(value=value[:keep], headers=headers)
