"""Kafka as a sink: what a batch gives and the offsets behind it, in one transaction."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from streamnb_consumers.errors import AbortedError, FencedError
from streamnb_consumers.kafka import producer_workarounds
from streamnb_consumers.kafka.client import commit_transaction, open_producer, translated
from streamnb_consumers.kafka.client_errors import close_quietly, is_fenced, kafka
from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster, Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.kafka.topics import largest_record
from streamnb_consumers.records import Outputs, Partition

__all__ = ["KafkaSink"]

_LOG = logging.getLogger(__name__)

# An abort takes milliseconds. If it does not come back, a new producer of the same name makes the
# broker abort. Seconds.
_ABORT = 5.0


class KafkaSink:
    """Write what a filter gives, and the offsets behind it, in transactions.

    Parameters
    ----------
    cluster, topics
        Where to write.
    timeout
        Longest wait for one call, in seconds.
    """

    def __init__(self, cluster: Cluster, topics: Topics, timeout: float = 60.0) -> None:
        self._cluster, self._topics, self._timeout = cluster, topics, timeout
        self._producer: Any = None
        self._begun = False
        self._sent: list[Any] = []
        self._most = MAX_RECORD_BYTES
        self._written = (topics.decisions, topics.training, topics.windows, topics.dead_letters)

    def start(self, timeout: float) -> None:
        """Connect, and abort what a process of the same name left unfinished.

        Until then its offsets are not known to be committed or not, and readers wait for it.
        """
        if self._producer is None:
            with self._translated("start of transactions"):
                self._producer = self._open()

    def begin(self) -> None:
        """Do nothing: a transaction begins with the first record."""

    def _begin(self) -> None:
        if not self._begun:
            producer_workarounds.begin(self._producer)
            self._begun = True

    def _open(self) -> Any:
        """Return a producer; whatever one of the same name left unfinished is aborted."""
        self._most = largest_record(self._cluster, self._written)
        return open_producer(
            self._cluster,
            self._cluster.transactional_id,
            self._timeout,
            request_timeout_ms=10_000,  # 30 s by default, longer than a transaction may take here
            delivery_timeout_ms=max(20_000, round(self._cluster.transaction_seconds * 1000)),
            linger_ms=5,  # the commit sends what is there; until then batches fill
            batch_size=2**17,
        )

    def send(self, outputs: Outputs) -> None:
        """Add outputs to the transaction.

        Raises
        ------
        AbortedError
            If they can't be sent.
        BadInputError
            If one is larger than what can be written.
        """
        if outputs == Outputs():
            return
        with self._translated("send"):
            self._begin()
            records = list(encode(outputs, self._topics, self._most))
            send, sent = self._producer.send, self._sent
            for topic, partition, key, value, headers in records:
                sent.append(send(topic, value, key, headers, partition))

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Commit the transaction with the offsets of messages and feedback.

        Raises
        ------
        AbortedError
            If it could not be committed, or this worker has lost its place in the group.
        FencedError
            If another process has taken this one's place.
        """
        group = (self._topics.messages, self._topics.feedback)
        positions = {
            kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(offset, "", -1)
            for place, offset in offsets.items()
            if place.source in group
        }
        if not positions and not self._begun:
            return  # only logs were read, whose offsets are in the snapshot
        with self._translated("commit"):
            self._begin()
            sent, self._sent = self._sent, []
            commit_transaction(self._producer, sent, positions, token, timeout)
            self._begun = False

    def abort(self) -> None:
        """Abort the transaction; if that fails, forget the producer: the next one aborts it.

        Raises
        ------
        FencedError
            If another process has taken this one's place; a new producer would take it back.
        """
        self._sent = []
        if not self._begun:
            return
        self._begun = False
        try:
            producer_workarounds.abort(self._producer, min(self._timeout, _ABORT))
        except (kafka.errors.KafkaError, TimeoutError) as error:
            if is_fenced(error) and self._cluster.named:
                with self._translated("abort"):
                    raise
            _LOG.warning(
                "the transaction could not be aborted, so its producer is replaced: %s", error
            )
            producer, self._producer = self._producer, None
            producer_workarounds.discard(producer)

    @contextlib.contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        """Raise the errors that a loop knows; a fence that nobody else set is an abort."""
        try:
            with translated(what):
                yield
        except FencedError as error:
            if self._cluster.named:
                raise
            raise AbortedError(str(error)) from error

    def close(self, timeout: float) -> None:
        """Disconnect; a transaction that is open is aborted."""
        with contextlib.suppress(FencedError):
            self.abort()
        if self._producer is not None:
            close_quietly(self._producer, timeout=timeout)
