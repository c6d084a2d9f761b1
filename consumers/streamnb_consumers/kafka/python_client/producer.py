"""Transactional writer that uses kafka-python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Position
from streamnb_consumers.kafka.python_client import producer_workarounds
from streamnb_consumers.kafka.python_client.client import commit_transaction, translated
from streamnb_consumers.kafka.python_client.client_errors import close_quietly, kafka
from streamnb_consumers.records import Partition

__all__ = ["PythonProducer", "present"]


class PythonProducer:
    """Transactional writer.

    Parameters
    ----------
    producer
        kafka-python producer with initialised transactions.
    """

    def __init__(self, producer: Any) -> None:
        self.producer = producer
        self._sent: list[Any] = []

    def begin(self) -> None:
        """Begin a transaction."""
        with translated("begin"):
            producer_workarounds.begin(self.producer)

    def write(self, records: Iterable[Written]) -> None:
        """Add records to the transaction."""
        send, sent = self.producer.send, self._sent
        with translated("send"):
            for topic, partition, key, value, headers in records:
                sent.append(send(topic, value, key, headers and present(headers), partition))

    def commit(self, offsets: Mapping[Partition, Position], token: object, timeout: float) -> None:
        """Flush the records, then commit the transaction with the offsets of a group."""
        positions = {
            kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(*each, -1)
            for place, each in offsets.items()
        }
        sent, self._sent = self._sent, []
        with translated("commit"):
            commit_transaction(self.producer, sent, positions, token, timeout)

    def abort(self, timeout: float) -> None:
        """Abort the transaction."""
        self._sent = []
        with translated("abort"):
            producer_workarounds.abort(self.producer, timeout)

    def discard(self) -> None:
        """Close the producer and drop its unsent records."""
        producer_workarounds.discard(self.producer)

    def close(self, timeout: float) -> None:
        """Disconnect."""
        close_quietly(self.producer, timeout=timeout)


def present(headers: Iterable[tuple[str, bytes | None]]) -> list[tuple[str, bytes]]:
    """Replace missing header values by empty ones.

    Kafka allows headers without a value. kafka-python reads them but cannot write them.

    Examples
    --------
    >>> present([("trace", b"1"), ("empty", None)])
    [('trace', b'1'), ('empty', b'')]
    """
    return [(name, value or b"") for name, value in headers]
