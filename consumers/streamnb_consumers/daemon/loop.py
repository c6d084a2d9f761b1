"""The loop: records from a source through the filter to a sink, one batch a transaction.

What a batch gave and the offsets of its records become visible together or not at all. The
filter's state is no part of the transaction: it is a fold over the records, so after an abort or
a crash it is taken from the newest snapshot and the records since then are replayed. Where filters
share their state through logs, these are the records it is a fold over.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from streamnb_consumers.daemon.breaker import Breaker
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.metrics import Metrics
from streamnb_consumers.daemon.setbacks import Setbacks
from streamnb_consumers.daemon.snapshots.keeping import Keeping
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.shared import SharedSnapshots
from streamnb_consumers.daemon.watchdog import Watchdog
from streamnb_consumers.errors import AbortedError, BadInputError, TruncatedError
from streamnb_consumers.io.protocols import Batch, Sink, Source, TrainingLog
from streamnb_consumers.pipeline.filter import Filter
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
    gather
        Time from the beginning of a transaction that was not full to the next one.
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
        Longest wait between two of these, and while the cluster is away.
    """

    batch: int = 500
    gather: float = 0.0
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
    snapshots, shared, log
        What the filter begins with and goes back to (`keeping`).
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
        shared: SharedSnapshots | None = None,
        log: TrainingLog | None = None,
        limits: Limits | None = None,
        breaker: Breaker | None = None,
        metrics: Metrics | None = None,
        watchdog: Watchdog | None = None,
        health: Health | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source, self.sink, self.worker = source, sink, worker
        self.keeping = Keeping(worker, snapshots, shared, log)
        self.limits = limits or Limits()
        self.breaker = breaker or Breaker()
        self.metrics = metrics or Metrics()
        self.watchdog = watchdog or Watchdog()
        self.health = health or Health()
        self.health.watch(self.watchdog.busy)
        self._clock, self._sleep = clock, sleep
        self._stopping = False
        self._committed: dict[Partition, int] = {}
        self._due = self._lag_due = 0.0
        self._next = -math.inf  # when a transaction may begin
        self._unsaved = False
        self.setbacks = Setbacks(self.limits.aborts, self.limits.pause, clock)

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
            if self.keeping.loaded:  # else it would be a snapshot of nothing
                self._save()
        except BadInputError:
            self._save()
            raise
        finally:
            self._close()

    def _step(self) -> bool:
        """Handle one batch; tell whether there may be another."""
        limits = self.limits
        if (wait := self._next - self._clock()) > 0:
            self._sleep(min(wait, limits.gather))
        with self.watchdog.limit("poll", limits.poll + limits.commit):
            batch = self.source.poll(limits.batch, limits.poll)
        self.health.beat()
        waiting = self.source.waiting
        missing = waiting or ("" if self.worker.begun else "the training events are checked")
        self.health.ready(not missing, missing)
        self._tell_lag()
        self.worker.forget(batch.dropped)
        if batch.records or batch.offsets:
            self._transact(batch, lambda: self._handle(batch))
            self.breaker.check(self.metrics.last_error)
        elif self.source.ended:
            self._transact(Batch([]), self.worker.finish)
            return False
        elif not waiting:
            self.setbacks.over()  # whatever failed, there is nothing left to try again
        if not waiting and not self.worker.begun:
            self.worker.begin()
            self.health.ready()
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
        # A transaction costs a broker about the same whatever is in it.
        if len(batch.records) < self.limits.batch:
            self._next = started + self.limits.gather
        self.sink.begin()
        try:
            outputs = handle()
            if outputs.training and self.worker.identity is not None:
                outputs.settings = self.worker.identity.header
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
        except AbortedError as error:
            self.health.ready(False, str(error))
            self.sink.abort()
            raise
        if any(record.is_input for record in batch.records):
            self.setbacks.over()
        self._unsaved = self._unsaved or bool(batch.records)
        self.metrics.committed(batch.records, outputs, self.worker, self._clock() - started)

    def _handle(self, batch: Batch) -> Outputs:
        """Return the outputs of the records that were not committed before."""
        return self.worker.handle_many(batch.records, self._committed, self.breaker.note)

    # --- snapshots and recovery -----------------------------------------------------------------

    def _start(self) -> None:
        with self.watchdog.limit("start", 4 * self.limits.commit):
            if self.keeping.begin(self.limits.commit):
                self.metrics.started(self.worker, self.keeping.size)
            self.sink.start(self.limits.commit)
            try:
                committed = self.source.start(dict(self.worker.offsets), self.limits.commit)
            except TruncatedError:
                # This worker stood still while the others went on: they have what it needs.
                self.keeping.catch_up()
                committed = self.source.start(dict(self.worker.offsets), self.limits.commit)
        self._committed = dict(committed)
        self._due = self._clock() + self.limits.snapshot

    def _recover(self, error: AbortedError) -> None:
        """Go back to the state before the aborted transaction: what the records since then make."""
        self.health.beat()
        self.health.ready(False, str(error))
        self.metrics.aborted()
        pause = self.setbacks.note(error)
        self.keeping.go_back()
        until = self._clock() + pause
        while not self._stopping and self._clock() < until:
            self._sleep(min(0.1, pause))

    def _save(self) -> None:
        """Take a snapshot: every output of the records in it is committed."""
        with self.watchdog.limit("snapshot", 2 * self.limits.commit):
            size = self.keeping.save()
        self.metrics.saved(size)
        self._unsaved = False
        self._due = self._clock() + self.limits.snapshot

    def _close(self) -> None:
        with self.watchdog.limit("stop", 3 * self.limits.stop):
            self.keeping.close(self.limits.stop)
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
