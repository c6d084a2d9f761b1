"""Kafka as a sink: what a batch gives and the offsets behind it, in one transaction."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping

from streamnb_consumers.errors import AbortedError, FencedError
from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster, Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.kafka.protocols import Driver, Position, Writer
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
    driver
        The client of Kafka.
    cluster, topics
        Where to write, and under which name.
    timeout
        Longest wait for one call, in seconds.
    """

    def __init__(
        self, driver: Driver, cluster: Cluster, topics: Topics, timeout: float = 60.0
    ) -> None:
        self._driver, self._cluster = driver, cluster
        self._topics, self._timeout = topics, timeout
        self._writer: Writer | None = None
        self._begun = False
        self._most = MAX_RECORD_BYTES
        self._written = (topics.decisions, topics.training, topics.join_state, topics.dead_letters)

    def start(self, timeout: float) -> None:
        """Connect, and abort what a process of the same name left unfinished.

        Until then its offsets are not known to be committed or not, and readers wait for it.
        """
        self._open()

    def begin(self) -> None:
        """Do nothing: a transaction begins with the first record."""

    def _begin(self) -> Writer:
        writer = self._open()
        if not self._begun:
            writer.begin()
            self._begun = True
        return writer

    def _open(self) -> Writer:
        """Return the writer; whatever one of the same name left unfinished is aborted."""
        if self._writer is None:
            with self._own_fence():
                self._most = largest_record(self._driver, self._written)
                self._writer = self._driver.writer(self._cluster.transactional_id, self._timeout)
        return self._writer

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
        with self._own_fence():
            writer = self._begin()
            writer.write(list(encode(outputs, self._topics, self._most)))

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
            place: Position(offset) for place, offset in offsets.items() if place.source in group
        }
        if not positions and not self._begun:
            return  # only logs were read, whose offsets are in the snapshot
        with self._own_fence():
            self._begin().commit(positions, token, timeout)
            self._begun = False

    def abort(self) -> None:
        """Abort the transaction; if that fails, forget the producer: the next one aborts it.

        Raises
        ------
        FencedError
            If another process has taken this one's place; a new producer would take it back.
        """
        if not self._begun or self._writer is None:
            return
        self._begun = False
        try:
            self._writer.abort(min(self._timeout, _ABORT))
        except (AbortedError, FencedError) as error:
            if isinstance(error, FencedError) and self._cluster.named:
                raise
            _LOG.warning(
                "the transaction could not be aborted, so its producer is replaced: %s", error
            )
            writer, self._writer = self._writer, None
            writer.discard()

    @contextlib.contextmanager
    def _own_fence(self) -> Iterator[None]:
        """Take a fence for an abort where nobody else can have set it."""
        try:
            yield
        except FencedError as error:
            if self._cluster.named:
                raise
            raise AbortedError(str(error)) from error

    def close(self, timeout: float) -> None:
        """Disconnect; a transaction that is open is aborted."""
        with contextlib.suppress(FencedError):
            self.abort()
        if self._writer is not None:
            self._writer.close(timeout)
