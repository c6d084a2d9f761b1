"""confluent-kafka's producer as a writer of transactions."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import confluent_kafka

from streamnb_consumers.errors import AbortedError
from streamnb_consumers.kafka.confluent_client.client import meaning, translated
from streamnb_consumers.kafka.confluent_client.offsets import topic_partition
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Position
from streamnb_consumers.records import Partition

__all__ = ["ConfluentProducer"]

# Between two tries to add a record to a queue that is full.
_FULL = 0.05


class ConfluentProducer:
    """A writer of transactions.

    No record has a callback: a commit fails if one of its records could not be written.

    Parameters
    ----------
    producer
        Of confluent-kafka, whose transactions are initialised.
    timeout
        Longest wait for room, in seconds.
    """

    def __init__(self, producer: Any, timeout: float) -> None:
        self._producer, self._timeout = producer, timeout

    def begin(self) -> None:
        """Begin a transaction."""
        with translated("begin"):
            self._producer.begin_transaction()

    def write(self, records: Iterable[Written]) -> None:
        """Add records to the transaction."""
        produce = self._producer.produce
        with self._translated("send"):
            for topic, partition, key, value, headers in records:
                place = -1 if partition is None else partition
                more = {"headers": headers} if headers else {}
                try:
                    produce(topic, value, key, place, **more)
                except BufferError:
                    self._wait_for_room(topic, value, key, place, **more)

    def _wait_for_room(self, *record: Any, **more: Any) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            self._producer.poll(_FULL)
            try:
                self._producer.produce(*record, **more)
            except BufferError:
                if time.monotonic() > deadline:
                    raise
            else:
                return

    def commit(self, offsets: Mapping[Partition, Position], token: object, timeout: float) -> None:
        """Commit the transaction, once all of it is written, with the offsets of a group."""
        deadline = time.monotonic() + timeout
        with self._translated("commit"):
            if offsets:
                positions = [topic_partition(place, *each) for place, each in offsets.items()]
                self._producer.send_offsets_to_transaction(positions, token, timeout)
            self._producer.commit_transaction(max(0.01, deadline - time.monotonic()))
        self._producer.poll(0)  # what it logs

    def abort(self, timeout: float) -> None:
        """Abort the transaction."""
        with self._translated("abort"):
            self._producer.abort_transaction(timeout)

    @contextlib.contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        """Raise errors as a loop knows them, by what the producer failed of, if it has failed.

        One that was fenced says at its next record only that it failed, and at an abort that its
        commit is not finished. Who is fenced must learn it.
        """
        try:
            with translated(what):
                yield
        except AbortedError as error:
            fatal = self._fatal()
            if fatal is None:
                raise
            raise meaning(what, fatal) from error

    def _fatal(self) -> Any:
        """Return the error after which the producer does nothing any more, if there was one.

        Asked within a transaction, where another can't begin.
        """
        try:
            self._producer.begin_transaction()
        except confluent_kafka.KafkaException as error:
            if error.args[0].fatal():
                return error.args[0]
        return None

    def discard(self) -> None:
        """Close the producer without sending what it holds."""
        self._producer.purge()
        self.close(0.0)

    def close(self, timeout: float) -> None:
        """Disconnect; a transaction that is open is aborted by the broker or the next producer."""
        # It tries to abort, and complains where it is fenced, or its commit is not finished.
        with warnings.catch_warnings(), contextlib.suppress(confluent_kafka.KafkaException):
            warnings.simplefilter("ignore", RuntimeWarning)
            self._producer.close()
