"""Transactional writer that uses confluent-kafka."""

from __future__ import annotations

import contextlib
import functools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import confluent_kafka

from streamnb_consumers.errors import AbortedError, UnreachableError
from streamnb_consumers.kafka.confluent_client.client import bounded, meaning, translated
from streamnb_consumers.kafka.confluent_client.reader import topic_partition
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.records import Partition

# Interval between attempts to add a record to a full queue, in seconds.
_FULL = 0.05
# Time for closing a failed producer, in seconds. It continues in the background after that.
_DISCARD = 1.0


class ConfluentProducer:
    """Transactional writer.

    Records have no delivery callbacks: the commit fails if a record was not written.

    Parameters
    ----------
    producer
        confluent-kafka producer with initialised transactions.
    timeout
        Maximum wait for space in the queue, in seconds.
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
                send = functools.partial(produce, headers=headers) if headers else produce
                try:
                    send(topic, value, key, place)
                except BufferError:
                    self._wait_for_room(send, topic, value, key, place)
                except confluent_kafka.KafkaException as error:
                    if error.args[0].code() != confluent_kafka.KafkaError._UNKNOWN_PARTITION:
                        raise
                    # The partition was added after the last metadata.
                    self._producer.list_topics(topic, timeout=self._timeout)
                    send(topic, value, key, place)

    def _wait_for_room(self, send: Callable[..., None], *record: Any) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            self._producer.poll(_FULL)
            try:
                send(*record)
                return
            except BufferError:
                if time.monotonic() > deadline:
                    raise

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Flush the records, then commit the transaction with the offsets of a group."""
        deadline = time.monotonic() + timeout

        def work() -> None:
            if offsets:
                positions = [topic_partition(place, at) for place, at in offsets.items()]
                self._producer.send_offsets_to_transaction(positions, token, timeout)
            self._producer.commit_transaction(max(0.01, deadline - time.monotonic()))

        with self._translated("commit"):
            bounded("the commit", timeout, work)
        self._producer.poll(0)  # forward its log lines

    def verify(self, group: str, timeout: float) -> None:
        """Check nothing: members of the group have no names."""

    def abort(self, timeout: float) -> None:
        """Abort the transaction."""
        with self._translated("abort"):
            bounded("the abort", timeout, lambda: self._producer.abort_transaction(timeout))

    @contextlib.contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        """Convert exceptions, and prefer the fatal error of the producer if it has one.

        A fenced producer reports only a failed state for the next record, and an unfinished commit
        for an abort. The caller needs to learn that it is fenced.
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
        """Return the fatal error of the producer, or None.

        Call it within a transaction, where starting another one always fails.
        """
        try:
            self._producer.begin_transaction()
        except confluent_kafka.KafkaException as error:
            if error.args[0].fatal():
                return error.args[0]
        return None

    def discard(self) -> None:
        """Close the producer and drop its unsent records."""
        self._producer.purge()
        self.close(_DISCARD)

    def close(self, timeout: float) -> None:
        """Disconnect. The broker or the next producer aborts an open transaction."""
        # Closing tries to abort. It warns if the producer is fenced or its commit is unfinished.
        with (
            warnings.catch_warnings(),
            contextlib.suppress(confluent_kafka.KafkaException, UnreachableError),
        ):
            warnings.simplefilter("ignore", RuntimeWarning)
            bounded("closing a producer", timeout, self._producer.close)
