"""The loop: records from a source through the filter to a sink, one batch a transaction.

What a batch gave and the offsets of its records become visible together or not at all. The
filter's state is no part of the transaction: it is a fold over the records, so after an abort or
a crash it is taken from the newest snapshot and the records since then are replayed. Where filters
share their state through logs, these are the records it is a fold over.
"""

from __future__ import annotations

import dataclasses
import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from streamnb_consumers.daemon.breaker import Breaker
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.metrics import Metrics
from streamnb_consumers.daemon.snapshots import Snapshots
from streamnb_consumers.daemon.watchdog import Watchdog
from streamnb_consumers.errors import AbortedError, BadInputError
from streamnb_consumers.filter import state
from streamnb_consumers.filter.filtering import Filter
from streamnb_consumers.ports.protocols import Batch, Sink, Source
from streamnb_consumers.records import Outputs, Partition

__all__ = ["Limits", "Loop", "stopping_on_signals"]

_LOG = logging.getLogger(__name__)

# Prometheus asks every few seconds, batches may come every few milliseconds. Seconds.
_LAG_EVERY = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Sizes and times of the loop; times in seconds.

    Attributes
    ----------
    batch
        Records of one transaction at most.
    poll
        Longest wait for records; SIGTERM is noticed within it.
    commit
        Longest wait for a commit, and for a start.
    stop
        Longest time for closing, at the end.
    snapshot
        Time between snapshots.
    aborts
        Transactions that may be aborted one after another before the loop gives up.
    pause
        Longest wait between two of these; the first is a hundredth of it, and each is twice the
        one before.
    """

    batch: int = 500
    poll: float = 0.5
    commit: float = 60.0
    stop: float = 10.0
    snapshot: float = 60.0
    aborts: int = 20
    pause: float = 5.0


class Loop:
    """Carry records from a source through a filter to a sink until the source ends.

    Parameters
    ----------
    source, sink
        Where records come from and outputs go to.
    worker
        The filter.
    snapshots
        Where snapshots are kept; None keeps the last one in memory, for aborted transactions.
    limits
        Sizes and times.
    breaker
        Stops the loop when most of the input is bad.
    metrics
        What is measured.
    watchdog
        Ends the process when a call hangs.
    health
        What is told to whoever asks whether this lives and is ready.
    clock, sleep
        Seconds that only go forward, and what waits for some of them.
    """

    def __init__(
        self,
        source: Source,
        sink: Sink,
        worker: Filter,
        *,
        snapshots: Snapshots | None = None,
        limits: Limits | None = None,
        breaker: Breaker | None = None,
        metrics: Metrics | None = None,
        watchdog: Watchdog | None = None,
        health: Health | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source, self.sink, self.worker = source, sink, worker
        self.snapshots = snapshots
        self.limits = limits or Limits()
        self.breaker = breaker or Breaker()
        self.metrics = metrics or Metrics()
        self.watchdog = watchdog or Watchdog()
        self.health = health or Health()
        self._clock, self._sleep = clock, sleep
        self._stopping = False
        self._committed: dict[Partition, int] = {}
        self._base = b""  # what an abort goes back to; nothing where state is shared
        self._due = self._lag_due = 0.0
        self._unsaved = False
        self._aborts = 0

    def stop(self, *_: object) -> None:
        """Ask the loop to end after the present batch; may be called from a signal handler."""
        self._stopping = True

    def run(self) -> None:
        """Run until the source ends or `stop` is called; snapshot, and close source and sink.

        Raises
        ------
        BadInputError
            If most of the input is bad; all of it is committed as dead letters.
        FencedError
            If another process has taken over; nothing more is written.
        AbortedError
            If transactions are aborted again and again.
        SnapshotError
            If there are snapshots and none can be used.
        """
        self.watchdog.start()
        try:
            self._load()
            started = False
            while not self._stopping:
                try:
                    if not started:
                        self._start()
                        started = True
                    if not self._step():
                        break
                except AbortedError as error:
                    started = False
                    self._recover(error)
            self._save()
        except BadInputError:
            self._save()
            raise
        finally:
            self._close()

    def _step(self) -> bool:
        """Handle one batch; tell whether there may be another."""
        limits = self.limits
        with self.watchdog.limit("poll", limits.poll + limits.commit):
            batch = self.source.poll(limits.batch, limits.poll)
        self.health.beat()
        self.health.ready(not self.source.waiting, self.source.waiting)
        self._tell_lag()
        self.worker.forget(batch.dropped)
        if batch.records or batch.offsets:
            self._transact(batch, lambda: self._handle(batch))
            self.breaker.check(self.metrics.last_error)
        elif self.source.ended:
            self._transact(Batch([]), self.worker.finish)
            return False
        elif not self.source.waiting:
            self._aborts = 0  # whatever failed, there is nothing left to try again
        if self._unsaved and self._clock() >= self._due:
            self._save()
        return True

    def _tell_lag(self) -> None:
        if self._clock() >= self._lag_due:
            self._lag_due = self._clock() + _LAG_EVERY
            self.metrics.lag(self.source.lag())

    def _transact(self, batch: Batch, handle: Callable[[], Outputs]) -> None:
        """Commit what handling a batch gives, and its offsets."""
        started = self._clock()
        self.sink.begin()
        try:
            outputs = handle()
            offsets = dict(batch.offsets)
            for record in batch.records:
                if record.offset >= self._committed.get(record.partition, 0):
                    offsets[record.partition] = record.offset + 1
            self.sink.send(outputs)
            if offsets or outputs != Outputs():
                with self.watchdog.limit("commit", 2 * self.limits.commit):
                    self.sink.commit(offsets, batch.token, self.limits.commit)
            else:
                self.sink.abort()  # all of it was replayed
        except AbortedError:
            self.sink.abort()
            raise
        if any(record.is_input for record in batch.records):
            self._aborts = 0
        self._unsaved = self._unsaved or bool(batch.records)
        self.metrics.committed(batch.records, outputs, self.worker, self._clock() - started)

    def _handle(self, batch: Batch) -> Outputs:
        """Return the outputs of the records that were not committed before."""
        outputs = Outputs()
        for record in batch.records:
            given = self.worker.handle(record)
            if record.offset >= self._committed.get(record.partition, 0):
                if record.is_input:
                    self.breaker.note(any(one.record is record for one in given.dead_letters))
                outputs.add(given)
        return outputs

    # --- snapshots and recovery -----------------------------------------------------------------

    def _load(self) -> None:
        if self.snapshots is not None:
            path = self.snapshots.load(lambda data: state.restore(self.worker, data))
            _LOG.info("starting", extra={"snapshot": path.name if path else None})
        if not self.worker.options.shared:
            self._base = state.dump(self.worker)

    def _start(self) -> None:
        with self.watchdog.limit("start", 4 * self.limits.commit):
            self.sink.start(self.limits.commit)
            committed = self.source.start(dict(self.worker.offsets), self.limits.commit)
        self._committed = dict(committed)
        self._due = self._clock() + self.limits.snapshot

    def _recover(self, error: AbortedError) -> None:
        """Go back to the state before the aborted transaction: what the records since then make."""
        self._aborts += 1
        self.health.beat()
        self.health.ready(False, str(error))
        _LOG.warning("a transaction was aborted: %s", error, extra={"aborts": self._aborts})
        self.metrics.aborted()
        if self._aborts > self.limits.aborts:
            raise error
        if self.worker.options.shared:
            # Training events are read when they are committed, so no abort takes them back; the
            # windows come from their log again.
            self.worker.forget(list(self.worker.join.windows))
        else:
            state.restore(self.worker, self._base)
        pause = min(self.limits.pause, self.limits.pause / 100 * 2 ** (self._aborts - 1))
        until = self._clock() + pause
        while not self._stopping and self._clock() < until:
            self._sleep(min(0.1, pause))

    def _save(self) -> None:
        """Take a snapshot: every output of the records in it is committed."""
        with self.watchdog.limit("snapshot", 2 * self.limits.commit):
            data = state.dump(self.worker)
            if self.snapshots is not None:
                self.snapshots.save(data)
            if not self.worker.options.shared:
                self._base = data
        self.metrics.saved(len(data))
        self._unsaved = False
        self._due = self._clock() + self.limits.snapshot

    def _close(self) -> None:
        with self.watchdog.limit("stop", 2 * self.limits.stop):
            try:
                self.source.close(self.limits.stop)
            finally:
                self.sink.close(self.limits.stop)
        self.watchdog.close()


@contextmanager
def stopping_on_signals(loop: Loop) -> Iterator[None]:
    """Let SIGTERM and SIGINT end a loop in an orderly way; a second SIGINT ends it at once."""

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loop.stop()

    before: Mapping[int, Any] = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, loop.stop),
        signal.SIGINT: signal.signal(signal.SIGINT, interrupt),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
