"""Kafka sink that commits outputs and input offsets in one transaction."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Iterator, Mapping

from streamnb_consumers.errors import AbortedError, FencedError, RefusedError
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.encoding import Progress, encode
from streamnb_consumers.kafka.protocols import BATCH_BYTES, Driver, Writer
from streamnb_consumers.kafka.topics import record_limits
from streamnb_consumers.records import Outputs, Partition

_LOG = logging.getLogger(__name__)

# Time after which clients repeat a request, in seconds. The first one may still reach the broker.
_REPEAT = 10.0
# Timeout of an abort, in seconds. An abort takes milliseconds. If it fails, a new producer with the
# same name makes the broker abort the transaction.
_ABORT = 5.0


class KafkaSink:
    """Write the outputs of a filter and its input offsets in transactions.

    Parameters
    ----------
    driver
        Kafka client driver.
    cluster, topics
        Cluster, worker names and target topics.
    timeout
        Maximum duration of one call, in seconds.
    ids
        Ids of the topics that have committed offsets, by topic.
    """

    def __init__(
        self,
        driver: Driver,
        cluster: Cluster,
        topics: Topics,
        timeout: float = 60.0,
        ids: Mapping[str, str] | None = None,
    ) -> None:
        self._driver, self._cluster, self._ids = driver, cluster, {} if ids is None else ids
        self._topics, self._timeout = topics, timeout
        self._writer: Writer | None = None
        self._begun = False
        self._since = math.inf  # begin of the transaction
        # Whether a request for a producer had no answer. A broker that gets it late fences the next
        # producer of this worker.
        self._unanswered = False
        self._limits: dict[str, int] = {}
        self._failed = False  # since the limits were read
        written = (topics.decisions, topics.training, topics.join_state, topics.dead_letters)
        self._written = tuple(filter(None, (*written, topics.questions)))

    def start(self, timeout: float) -> None:
        """Connect and abort an unfinished transaction of the same name.

        Until then, readers wait for that transaction and its offsets are undecided.

        Raises
        ------
        FencedError
            If another process has replaced this one. A named member of the group must not join
            again in that case, because it would replace the member of the other process.
        """
        before = self._writer
        if self._open() is before and self._cluster.instance_id is not None:
            try:
                with self._own_fence():
                    self._begin().verify(self._cluster.group, timeout)
            except (AbortedError, RefusedError):
                self.abort()
                raise
            self.abort()
            self._failed = False

    def _begin(self) -> Writer:
        writer = self._open()
        if not self._begun:
            self._since = time.monotonic()
            writer.begin()
            self._begun = True
        return writer

    def _open(self) -> Writer:
        """Return the writer. Opening it aborts unfinished transactions of the same name."""
        if self._writer is None or self._failed:
            with self._own_fence():
                limits = record_limits(self._driver, self._written)
                if self._writer is not None and limits != self._limits:
                    _LOG.warning("the record limits of topics have changed, replacing the producer")
                    self._writer.discard()
                    self._writer = None
                self._limits, self._failed = limits, False
                if self._writer is None:
                    # A limit of a topic applies to batches.
                    self._writer = self._new_writer(max(1, min(BATCH_BYTES, *limits.values())))
        return self._writer

    def _new_writer(self, batch_bytes: int) -> Writer:
        since, answered = time.monotonic(), False
        try:
            name = self._cluster.transactional_id
            writer = self._driver.writer(name, self._timeout, batch_bytes)
            answered = time.monotonic() < since + _REPEAT
        finally:
            self._unanswered = self._unanswered or not answered
        return writer

    def send(self, outputs: Outputs) -> None:
        """Write outputs in a new transaction."""
        if outputs == Outputs():
            return
        with self._own_fence():
            writer = self._begin()
            writer.write(list(encode(outputs, self._topics, self._limits)))

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Commit the transaction with the offsets of messages and feedback."""
        group = (self._topics.messages, self._topics.feedback)
        inputs = {place: at for place, at in offsets.items() if place.source in group}
        if not inputs and not self._begun:
            return  # offsets of logs are stored in the snapshot
        with self._own_fence():
            writer = self._begin()
            # Brokers delete the offsets of a group that is idle for days, but not these.
            name, ids, log = self._cluster.group, self._ids, self._topics.join_state
            writer.write(
                Progress(name, place.source, ids[place.source], at).write(log, place.number)
                for place, at in inputs.items()
                if place.source in ids
            )
            writer.commit(inputs, token, timeout)
            self._end()

    def _end(self) -> None:
        self._begun, self._since = False, math.inf

    def abort(self) -> None:
        """Abort the transaction. If that fails, drop the producer; the next one aborts it.

        Raises
        ------
        FencedError
            If another process has replaced this one; a new producer would fence that process.
        """
        self._failed = True
        if not self._begun or self._writer is None:
            return
        self._begun = False
        try:
            self._writer.abort(min(self._timeout, _ABORT))
        except (AbortedError, FencedError, RefusedError) as error:
            if isinstance(error, FencedError):
                if self._is_replaced():
                    raise
                self._unanswered = self._unanswered and self._is_expired()
            _LOG.warning("abort failed, replacing the producer: %s", error)
            writer, self._writer = self._writer, None
            writer.discard()
        self._since = math.inf

    @contextlib.contextmanager
    def _own_fence(self) -> Iterator[None]:
        """Treat a fence as an abort if no other process can have the same name.

        Brokers also fence a worker whose transaction was open for too long.
        """
        try:
            yield
        except FencedError as error:
            if self._is_replaced():
                raise
            if self._is_expired():
                raise AbortedError(
                    f"the transaction was open for longer than transaction_seconds "
                    f"({self._cluster.transaction_seconds:g} s), so the brokers aborted it: a "
                    f"quota, a slow link or a stall; it is repeated with half of the records. "
                    f"{str(error).partition('. ')[0]}"
                ) from error
            raise AbortedError(str(error)) from error

    def _is_expired(self) -> bool:
        return time.monotonic() >= self._since + self._cluster.transaction_seconds

    def _is_replaced(self) -> bool:
        """Return whether another process has fenced this one, so that this one has to stop.

        This worker itself explains the fence if its transaction expired, or once if an earlier
        request for a producer had no answer and may have arrived late. Then it continues with a new
        producer, which fences the other process with its name, if there is one. So the process with
        the latest producer never stops, and of two with one name at most one does.
        """
        return self._cluster.named and not self._is_expired() and not self._unanswered

    def close(self, timeout: float) -> None:
        """Disconnect and abort an open transaction."""
        with contextlib.suppress(FencedError):
            self.abort()
        if self._writer is not None:
            self._writer.close(timeout)
