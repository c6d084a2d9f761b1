"""The state manager of a worker: its own snapshots, shared ones, and the training log."""

from __future__ import annotations

import logging
from concurrent.futures import Future, wait

from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.shared import SharedSnapshots
from streamnb_consumers.errors import ForeignError, SnapshotError
from streamnb_consumers.io.protocols import TrainingLog
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, SharedFilter
from streamnb_consumers.threads import in_thread

_LOG = logging.getLogger(__name__)


class StateManager:
    """The state of a filter outside of the process: its snapshots, shared ones and training log.

    Without `snapshots` the last one is kept in memory, for aborted transactions. Without `log` the
    identity of the training log is not checked.
    """

    def __init__(
        self,
        worker: Filter,
        snapshots: Snapshots | None = None,
        shared: SharedSnapshots | None = None,
        log: TrainingLog | None = None,
    ) -> None:
        self._worker = worker
        self.snapshots, self.shared, self.log = snapshots, shared, log
        self.loaded = False
        self.size = 0  # bytes of the snapshot that was taken
        self._base = b""  # what an abort goes back to; nothing where state is shared
        self._dumping: Future[bytes | None] | None = None  # of the snapshot that is being taken
        self.writing: Future[None] | None = None  # of the same snapshot, until it is on disk

    @property
    def is_stored(self) -> bool:
        """Whether snapshots are written anywhere."""
        return self.snapshots is not None or self.shared is not None

    @property
    def has_log(self) -> bool:
        """Whether a journal keeps all records since the last snapshot."""
        return self.snapshots is not None and self.snapshots.has_log

    @property
    def is_due(self) -> bool:
        """Whether a snapshot is due before its time."""
        return self.snapshots is not None and self.snapshots.is_due()

    def begin(self, timeout: float) -> bool:
        """Identify the training log; restore the newest snapshot once; return True if restored.

        Raises
        ------
        AbortedError
            If the log cannot be identified.
        SnapshotError
            If snapshots exist and none is usable, or the log is another one.
        """
        self._identify(timeout)
        if self.loaded:
            return False
        if self.snapshots is not None:
            path = self.snapshots.load(self._restore)
            _LOG.info("starting with the snapshot %s", path.name if path else None)
        self.catch_up()
        if not self._worker.shared:
            self._base = state.dump(self._worker)
        self.loaded = True
        return True

    def _identify(self, timeout: float) -> None:
        """Identify the training log on each call, because it may have been recreated."""
        if self.log is None or not isinstance(self._worker, SharedFilter):
            return
        before = self._worker.identity
        now = self._worker.belong(self.log.identity(timeout))
        if self.loaded and before is not None and before != now:
            raise ForeignError(
                f"the topic of training events was recreated while this worker ran "
                f"({now.differences(before.to_json())}): the model comes from the "
                f"old log. To use the new log, set snapshots to an empty folder and restart"
            )

    def catch_up(self) -> None:
        """Restore the newest shared snapshot, if it has more training events than the filter."""
        if self.shared is not None and self._worker.identity is not None:
            offsets = self._worker.offsets
            after = sum(offsets.values()) if offsets else -1
            name = self.shared.load(
                self._worker.identity.digest, self._restore, after, self._worker.options.adopt
            )
            _LOG.info("starting with the shared snapshot %s", name)

    def _restore(self, data: bytes) -> None:
        state.restore(self._worker, data)
        self.size = len(data)

    def go_back(self) -> None:
        """Undo the effects of an aborted transaction on the filter."""
        if not self.loaded:
            return
        if self._worker.shared:
            # Training events are read after they are committed, so no abort affects them; the join
            # windows are restored from their log.
            self._worker.forget(list(self._worker.join.windows))
        else:
            self._taken()
            state.restore(self._worker, self._base)

    def save(self) -> None:
        """Write a snapshot of committed records, in another thread; `finish` has the result.

        The worker continues while its state is copied, compressed and written.
        """
        identity = self._worker.identity
        self._place = dict(self._worker.offsets), "" if identity is None else identity.digest
        dumping = in_thread("state", state.begin(self._worker))
        self._dumping = dumping
        self.writing = in_thread("snapshot", lambda: self._write(dumping.result()))

    def _write(self, data: bytes | None) -> None:
        if self.snapshots is not None and data is not None:
            self.snapshots.save(data)

    def _taken(self) -> bytes | None:
        """Wait until the state is copied, and return it; None without one."""
        if self._dumping is None:
            return None
        data = self._dumping.result()
        if data is not None:
            self.size = len(data)
            if not self._worker.shared:
                self._base = data
        return data

    def finish(self) -> int | None:
        """Wait for the snapshot; return its size in bytes, or None if it was not written.

        Raises
        ------
        SnapshotError
            If the only copy of the state cannot be written.
        """
        writing, self.writing = self.writing, None
        if writing is None:
            return self.size
        data, self._dumping = self._taken(), None
        if data is None:
            return None  # another copy has begun: a later snapshot has this state
        offsets, digest = self._place
        if self.shared is not None and digest:
            self.shared.offer(data, offsets, digest)
        if self.snapshots is None:
            return self.size
        try:
            writing.result()
            self.snapshots.wrote()
        except OSError as error:
            text = f"can't write a snapshot to {self.snapshots.folder}: {error}"
            if not (self._worker.shared or self.snapshots.has_log):
                raise SnapshotError(f"{text}. Free some space, or change snapshots") from error
            _LOG.warning(
                "%s. This worker continues, because its log has the model, but its next start "
                "takes longer",
                text,
            )
            return None
        return self.size

    def close(self, timeout: float) -> None:
        """Wait for a snapshot that is being written; up to `timeout` seconds for a shared one."""
        if self.writing is not None:
            wait([self.writing])
        if self.shared is not None:
            self.shared.close(timeout)
