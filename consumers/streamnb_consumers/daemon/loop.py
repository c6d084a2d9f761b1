"""The loop: records pass from a source through the filter to a sink, one batch per transaction.

Records of several transactions may be polled together. Then the filter handles the records of the
next transaction while the sink commits the previous one. The next poll follows the last commit.

The outputs of a batch and the offsets of its records become visible together or not at all. The
filter's state is not part of the transaction: it is a fold over the records. After an abort or a
crash, the newest snapshot is restored and later records are replayed. Filters that share their
state fold over the records of the logs instead.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from streamnb_consumers.daemon.backoff import Backoff, BatchBounds, Breaker
from streamnb_consumers.daemon.health import ASKING, Health
from streamnb_consumers.daemon.label_watch import LabelWatch
from streamnb_consumers.daemon.metrics import Metrics
from streamnb_consumers.daemon.operator_log import BacklogLog, DeadLetterLog
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.shared import SharedSnapshots
from streamnb_consumers.daemon.snapshots.state_manager import StateManager
from streamnb_consumers.daemon.snapshots.windows import WindowSnapshots
from streamnb_consumers.daemon.watchdog import Watchdog
from streamnb_consumers.errors import (
    AbortedError,
    BadInputError,
    LostMemberError,
    RebalanceError,
    RefusedError,
    TruncatedError,
)
from streamnb_consumers.io.protocols import BATCH_BYTES, Batch, Sink, Source, TrainingLog
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.records import Outputs, Partition
from streamnb_consumers.threads import in_thread

_LOG = logging.getLogger(__name__)

# Exit status after SIGTERM without an orderly end, as in shells: 128 + SIGTERM.
TERMINATED = 128 + signal.SIGTERM
# Seconds. Prometheus scrapes every few seconds; batches may take milliseconds.
_LAG_EVERY = 1.0
_SAVE_EVERY = 5.0  # also if a snapshot is due because of its size and fails


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Sizes and times of the loop; times in seconds."""

    batch: int = 500  # maximum records of one transaction
    polled: int = 1  # maximum number of full transactions that are polled together
    gather: float = 0.0  # between the starts of transactions that are not full
    poll: float = 0.5  # longest wait for records
    commit: float = 60.0  # longest wait for a commit, and for a start
    stop: float = 10.0  # longest time for closing
    snapshot: float = 60.0  # between snapshots
    aborts: int = 20  # consecutive aborted transactions before the loop gives up
    authorization: float = 600.0  # longest refusal by a cluster that accepted the worker before
    pause: float = 5.0  # longest wait between attempts, also during outages
    batch_bytes: int = BATCH_BYTES  # maximum bytes of the records of one transaction
    transaction: float = math.inf  # seconds until brokers abort a transaction


class Loop:
    """Carry records from a source through a filter to a sink until the source ends.

    Parameters
    ----------
    source, sink, worker
        Input of records, output of results, and the filter between them.
    snapshots, shared, log
        Sources of the state, see `StateManager`.
    limits, breaker, metrics, watchdog, health
        Optional parts; by default new ones with their defaults.
    clock, sleep
        Monotonic seconds, and a function that waits.
    reload
        Reads lists again after SIGHUP, between two batches.
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
        reload: Callable[[], None] = lambda: None,
    ) -> None:
        self.source, self.sink, self.worker = source, sink, worker
        folder = snapshots.folder / "windows" if snapshots and worker.shared else None
        self.windows = WindowSnapshots(folder)
        source.join, source.windows = worker.join, self.windows
        self.reload = reload
        self.state = StateManager(worker, snapshots, shared, log)
        self.limits = limits or Limits()
        self.breaker = breaker or Breaker()
        self.metrics = metrics or Metrics()
        self.watchdog = watchdog or Watchdog()
        self.health = health or Health()
        self.health.watch(self.watchdog.busy)
        self.watchdog.also = self._tell_outage
        self.dead_letters, self.labels = DeadLetterLog(), LabelWatch()
        self.backlog = BacklogLog()
        self.signal: int | None = None  # that stopped the loop
        self.metrics.watch(self.health.problem_of_readiness, self.source.table)
        self._clock, self._sleep = clock, sleep
        self._stopping = False
        self._committed: dict[Partition, int] = {}
        self._due = self._lag_due = self._begun = 0.0
        self._reloads = False
        self._next = -math.inf  # when a transaction may begin
        self._unsaved = False  # whether records were committed since the last snapshot
        self._trained = False  # whether labels were learned since then
        self.backoff = Backoff(
            self.limits.aborts, self.limits.pause, self.limits.authorization, clock
        )
        self._call = ""  # the current or last call of the cluster
        self._worked: set[str] = set()  # calls that have worked before
        self.bounds = BatchBounds(
            self.limits.batch, self.limits.batch_bytes, self.limits.transaction
        )

    def stop(self, number: int | None = None, *_: object) -> None:
        """End the loop after the current batch; may be called as a signal handler."""
        self.signal, self._stopping = number, True

    def request_reload(self, *_: object) -> None:
        """Call `reload` after the current batch; may be called from a signal handler."""
        self._reloads = True

    def run(self) -> None:
        """Run until the source ends or `stop` is called; save a snapshot and close source and sink.

        Raises
        ------
        BadInputError
            If most of the input is invalid; all of it is committed as dead letters.
        FencedError
            If another process has taken over; nothing more is written.
        RefusedError
            If the cluster refuses a call that has never worked, or refuses others for too long.
        AbortedError
            If too many consecutive transactions are aborted.
        SnapshotError
            If snapshots exist and none is usable.
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
                except RefusedError as error:
                    if self._call not in self._worked:
                        raise
                    started = False
                    self._recover(error)
            # Without `loaded`, it would be a snapshot of nothing.
            if self.state.loaded and self.state.is_stored:
                self._save()
        except BadInputError:
            self._save()
            raise
        finally:
            self._close()

    def _step(self) -> bool:
        """Handle one batch; return whether another may follow."""
        limits = self.limits
        if (wait := self._next - self._clock()) > 0:
            self._sleep(min(wait, limits.gather))
        self._call = "poll"
        with self.watchdog.limit("poll", limits.poll + limits.commit):
            batch = self.source.poll(self.bounds.records * limits.polled, limits.poll)
        self.health.beat()
        self.backoff.answered()
        waiting = self.source.waiting
        if not waiting:
            self._worked.add("poll")
        missing = waiting or ("" if self.worker.begun else "the training events are checked")
        self.health.ready(missing or self.source.table.problem())
        self._tell_lag()
        self.dead_letters.tell()
        self.labels.look(self.worker.join.windows, self.worker.learner.learned)
        self.worker.forget(batch.dropped, batch.windows)
        self.windows.drop(batch.dropped)
        self.worker.expect(batch.ahead)
        self.metrics.missing(batch.missing)
        if batch.records or batch.offsets:
            self._transact(batch, self._handle)
            for place, why in self.breaker.opened(self.metrics.last_error):
                self.source.block(place, why)
        elif self.source.ended:
            self._transact(Batch([]), lambda _: self.worker.finish())
            return False
        elif not waiting:
            self.backoff.over()  # whatever failed, there is nothing left to try again
        if not waiting and not self.worker.begun:
            self.worker.begin()
            self.health.ready(self.source.table.problem())
        if self.state.writing is not None:
            if self.state.writing.done():
                self._finish_save()
        elif self._save_is_due():
            self._begin_save()
        self.windows.go_on()
        if self._reloads:
            self._reloads = False
            self.reload()
        return True

    def _tell_outage(self) -> None:
        """Log a call that the cluster does not answer. The start also has work of its own."""
        call, seconds = self.watchdog.busy()
        self.backoff.tell(*((call, seconds) if call in ASKING[1:] else ("", 0.0)))

    def _save_is_due(self) -> bool:
        """Whether to take a snapshot: something changed that no journal keeps, and it is time."""
        if self._unsaved and self.state.is_due:
            return self._clock() >= min(self._due, self._begun + _SAVE_EVERY)
        changed = self._trained if self.state.has_log else self._unsaved
        return changed and self._clock() >= self._due

    def _tell_lag(self) -> None:
        if self._clock() >= self._lag_due:
            self._lag_due = self._clock() + _LAG_EVERY
            lags = self.source.lag()
            self.metrics.lag(lags)
            self.backlog.tell(lags)
            self.metrics.watched(self.source.differences, self.labels.misplaced)

    def _transact(self, batch: Batch, handle: Callable[[Batch], Outputs]) -> None:
        """Commit the outputs of a batch and its offsets, in one or more transactions."""
        # The cost of a transaction hardly depends on its size.
        if len(batch.records) < self.bounds.records:
            self._next = self._clock() + self.limits.gather
        finish: Callable[[], object] = bool  # nothing is being committed yet
        parts = batch.parts(self.bounds.records, self.bounds.size)
        try:
            for part in parts:
                started = self._clock()
                try:
                    outputs = handle(part)
                finally:
                    finish()
                    finish = bool
                finish = self._commit(part, outputs, started, part is not parts[-1])
            finish()
        except (AbortedError, RefusedError) as error:
            self.health.ready(str(error) or "not ready")
            if not isinstance(error, (RebalanceError, RefusedError)):
                self.bounds.failed()
            self.sink.abort()
            raise

    def _commit(
        self, batch: Batch, outputs: Outputs, started: float, aside: bool
    ) -> Callable[[], None]:
        """Send outputs and commit them, `aside` in another thread; return how to finish that."""
        if outputs.training and self.worker.identity is not None:
            outputs.settings = self.worker.identity.header
        offsets = dict(batch.offsets)
        for record in batch.records:
            if record.offset >= self._committed.get(record.partition, 0):
                offsets[record.partition] = record.offset + 1
        self._call = "commit"
        with self.watchdog.limit("commit", 2 * self.limits.commit):
            self.sink.send(outputs)

        is_new = bool(offsets) or outputs != Outputs()

        def commit() -> None:
            if is_new:
                self.sink.commit(offsets, batch.token, self.limits.commit)
            else:
                self.sink.abort()  # all of it was replayed

        wait = in_thread("commit", commit).result if aside else commit

        def finish() -> None:
            with self.watchdog.limit("commit", 2 * self.limits.commit):
                wait()
            if is_new:
                self._worked.add("commit")
            if is_new and any(record.is_input for record in batch.records):
                self.backoff.over()
                self.bounds.committed(self._clock() - started)
            self._unsaved = self._unsaved or bool(batch.records) or is_new
            self._trained = self._trained or bool(outputs.training)
            self.dead_letters.note(outputs.dead_letters)
            self.metrics.committed(batch.records, outputs, self.worker, self._clock() - started)

        return finish

    def _handle(self, batch: Batch) -> Outputs:
        """Return the outputs of the records that are not committed yet."""
        outputs = self.worker.handle_many(
            batch.records, self._committed, self.breaker.note, batch.offsets
        )
        outputs.dead_letters += batch.skipped
        return outputs

    # --- snapshots and recovery -----------------------------------------------------------------

    def _start(self) -> None:
        self._call = "start"
        with self.watchdog.limit("start", 4 * self.limits.commit):
            if self.state.begin(self.limits.commit):
                self.metrics.started(self.worker, self.state.size)
            self.sink.start(self.limits.commit)
            try:
                committed = self.source.start(dict(self.worker.offsets), self.limits.commit)
            except TruncatedError:
                # This worker was paused while others continued: they have the records it needs.
                self.state.catch_up()
                committed = self.source.start(dict(self.worker.offsets), self.limits.commit)
        self._worked.add("start")
        self._committed = dict(committed)
        self.worker.join.partitions = self.source.partitions
        self._due = self._clock() + self.limits.snapshot

    def _recover(self, error: AbortedError | RefusedError) -> None:
        """Restore the state before the aborted transaction, by replaying later records."""
        self.health.beat()
        self.health.ready(str(error) or "not ready")
        self.metrics.aborted()
        pause = self.backoff.note(error)
        self.state.go_back()
        self.windows.drop()
        if isinstance(error, LostMemberError):
            self.source.close(self.limits.stop)  # the next start joins the group as a new member
        self.wait(pause)

    def wait(self, seconds: float) -> None:
        """Wait until `stop` is called, or until the end of the time."""
        until = self._clock() + seconds
        while not self._stopping and self._clock() < until:
            self._sleep(min(0.1, seconds))

    def _save(self) -> None:
        """Save a snapshot: every output of the records in it is committed."""
        if self.state.writing is not None:
            self._finish_save()
        self.windows.drop()
        if self._unsaved:
            self._begin_save()
            self._finish_save()
        else:
            self.windows.begin(self.source, self.worker.join)
        with self.watchdog.limit("snapshot", 2 * self.limits.commit):
            self.windows.finish()

    def _begin_save(self) -> None:
        self._unsaved, self._trained, self._begun = False, False, self._clock()
        self._due = self._begun + self.limits.snapshot
        with self.watchdog.limit("snapshot", 2 * self.limits.commit):
            self.state.save()
            self.windows.begin(self.source, self.worker.join)

    def _finish_save(self) -> None:
        with self.watchdog.limit("snapshot", 2 * self.limits.commit):
            size = self.state.finish()
        self.metrics.saved(size)
        failed = size is None
        self._unsaved, self._trained = self._unsaved or failed, self._trained or failed

    def _close(self) -> None:
        with self.watchdog.limit("stop", 3 * self.limits.stop):
            self.state.close(self.limits.stop)
            try:
                self.source.close(self.limits.stop)
            finally:
                self.sink.close(self.limits.stop)
        self.watchdog.close()


@contextmanager
def stopping_on_signals(loop: Loop) -> Iterator[None]:
    """Let SIGTERM and SIGINT end a loop in an orderly way; a second SIGINT ends it immediately.

    SIGHUP lets the loop read its lists again.

    After `Limits.stop` the process ends anyway, in the state of a kill: calls that wait for an
    unreachable cluster take longer, and Python handles no signal during a call of a native client.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    ended, numbers = threading.Event(), (signal.SIGTERM, signal.SIGINT)

    def watch() -> None:
        with receiver:
            while (number := receiver.recv(1)) and number[0] not in numbers:
                pass
        if number and not ended.wait(0.9 * loop.limits.stop):
            _LOG.error(
                "the shutdown did not finish within %g s (stop_seconds): ending the process with "
                "status %d; the next start continues from the last commit",
                loop.limits.stop,
                TERMINATED,
            )
            logging.shutdown()
            os._exit(TERMINATED)

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loop.stop(number)

    before: Mapping[int, Any] = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, loop.stop),
        signal.SIGINT: signal.signal(signal.SIGINT, interrupt),
        signal.SIGHUP: signal.signal(signal.SIGHUP, loop.request_reload),
    }
    wakeup = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=watch, name="shutdown", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(wakeup)
        sender.close()
        for number, handler in before.items():
            signal.signal(number, handler)
