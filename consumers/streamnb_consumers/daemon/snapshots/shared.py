"""Snapshots shared by workers: written by any of them, read by all, named after their content.

A snapshot of a filter on topics follows from the training events it has read, so equal events give
equal bytes, whichever worker writes them. The name states the number of training events, the log
and the settings. The store's own listing is the only index, so it cannot be out of date.
"""

from __future__ import annotations

import hashlib
import logging
import random
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import NamedTuple

from streamnb.model.compression import compressed
from streamnb_consumers.daemon.snapshots.local import content
from streamnb_consumers.daemon.snapshots.stores import Store
from streamnb_consumers.errors import ForeignError, SnapshotError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.records import Partition
from streamnb_consumers.threads import in_thread

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"shared-(\d{16})-([0-9a-f]{8})-([0-9a-f]{16})\.bin")


class _Named(NamedTuple):
    """The fields of a snapshot's name, ordered by progress."""

    total: int
    places: str
    settings: str

    @property
    def name(self) -> str:
        return f"shared-{self.total:016d}-{self.places}-{self.settings}.bin"


def name_of(offsets: Mapping[Partition, int], settings: str) -> _Named:
    """Return the name of a snapshot taken at these offsets under these settings.

    Examples
    --------
    >>> name_of({Partition("sms-training", 0): 1_000_000}, "0123456789abcdef").name
    'shared-0000000001000000-d1c01764-0123456789abcdef.bin'
    """
    places = canonical([[*place, offset] for place, offset in sorted(offsets.items())])
    return _Named(sum(offsets.values()), hashlib.sha256(places).hexdigest()[:8], settings)


def events_of(name: str) -> int | None:
    """Return the number of training events in the snapshot with a name; None for another name.

    Examples
    --------
    >>> events_of("shared-0000000001000000-d1c01764-0123456789abcdef.bin"), events_of("x")
    (1000000, None)
    """
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


class SharedSnapshots:
    """The snapshots of all workers of a group, in one store.

    Parameters
    ----------
    store
        The storage.
    keep, largest
        Number of snapshots kept for these settings, 1 or more, and maximum bytes of one. Others
        are not touched.
    every
        Seconds between two snapshots of any worker.
    truncate
        Called with the offsets of the oldest kept snapshot, once `keep` snapshots exist and this
        one was read back: it contains all earlier training events.
    clock, draw
        Monotonic seconds; random numbers from 0 to 1.
    spawn
        Starts a function next to the loop, because a hanging store must not stop the stream.
    """

    def __init__(
        self,
        store: Store,
        keep: int = 3,
        largest: int = 2**33,
        every: float = 300.0,
        truncate: Callable[[Mapping[Partition, int]], None] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
        spawn: Callable[[str, Callable[[], None]], Future[None]] = in_thread,
    ) -> None:
        self._store, self._keep, self._largest = store, max(keep, 1), largest
        self._every, self._truncate = every, truncate
        self._clock, self._draw, self._spawn = clock, draw, spawn
        self._seen: _Named | None = None
        self._due = clock() + self._wait()
        self._writing: Future[None] | None = None

    def _wait(self) -> float:
        """Return a random waiting time, so that workers do not all write at the same time."""
        return self._every * (0.75 + 0.5 * self._draw())

    def _there(self) -> list[_Named]:
        """Return the existing snapshots, the newest first; other names are ignored."""
        matches = (_NAME.fullmatch(name) for name in self._store.names())
        return sorted((_Named(int(m[1]), m[2], m[3]) for m in matches if m), reverse=True)

    # --- reading --------------------------------------------------------------------------------

    def load(
        self, settings: str, restore: Callable[[bytes], None], after: int = -1, adopt: bool = False
    ) -> str | None:
        """Restore the newest usable snapshot; return its name, or None if none is newer.

        Damaged snapshots and unreachable stores are skipped with a warning. Then more training
        events are read from their log, and a log that is too short is refused there.

        Parameters
        ----------
        settings
            Digest of the filter's settings.
        restore
            Function that gives the state to the filter.
        after
            Number of training events that the filter has already read.
        adopt
            Whether snapshots of other settings may be usable, which `restore` checks.

        Raises
        ------
        ForeignError
            If snapshots exist, and all belong to other settings or another log.
        """
        try:
            there = self._there()
        except OSError as error:
            _LOG.warning("shared snapshots can't be listed, so none is taken: %s", error)
            return None
        ours = [each for each in there if adopt or each.settings == settings]
        if there and not ours and after < 0:
            raise self._foreign(there[0], restore)
        if len(ours) < len(there):
            _LOG.warning("%d shared snapshots are of other settings", len(there) - len(ours))
        for each in ours:
            if each.total <= after:
                return None
            try:
                data = self._read(each)
                self._check(each, data)
                restore(data)
            except (SnapshotError, OSError) as error:
                _LOG.warning("skipping the shared snapshot %s: %s", each.name, error)
            else:
                self._seen = each
                return each.name
        return None

    def _read(self, named: _Named) -> bytes:
        return content(self._store.read(named.name, self._largest), self._largest)

    def _foreign(self, newest: _Named, restore: Callable[[bytes], None]) -> ForeignError:
        """Return the difference to the settings of an existing snapshot."""
        why = "its content does not match its name"
        try:
            restore(self._read(newest))
        except ForeignError as error:
            why = str(error)
        except (SnapshotError, OSError) as error:
            why = f"it can't be read: {error}. Set shared_snapshots to an empty folder"
        return ForeignError(
            f"shared_snapshots contains only foreign snapshots, such as {newest.name}: {why}"
        )

    @staticmethod
    def _check(named: _Named, data: bytes) -> dict[Partition, int]:
        """Return the offsets of a snapshot if they match its name."""
        found = state.header_of(data).places()
        if name_of(found, named.settings) != named:
            raise SnapshotError("the content does not match the name")
        return found

    # --- writing --------------------------------------------------------------------------------

    def offer(self, data: bytes, offsets: Mapping[Partition, int], settings: str) -> None:
        """Write a snapshot if it is due and no other worker has written one since."""
        if self._clock() < self._due or (self._writing is not None and not self._writing.done()):
            return
        self._due = self._clock() + self._wait()
        mine = name_of(offsets, settings)
        self._writing = self._spawn("shared snapshots", lambda: self._write(mine, data))

    def _write(self, mine: _Named, data: bytes) -> None:
        try:
            ours = [each for each in self._there() if each.settings == mine.settings]
            before, self._seen = self._seen, ours[0] if ours else None
            if self._seen is not None and (self._seen != before or self._seen >= mine):
                return  # another worker has written one, or nothing was learned
            self._store.write(mine.name, compressed(data))
            self._seen = mine
            ours.insert(0, mine)
            for old in ours[self._keep :]:
                self._store.remove(old.name)
            _LOG.info("wrote the shared snapshot %s", mine.name)
        except Exception as error:  # the stream continues; a later snapshot may succeed
            _LOG.warning("can't write a shared snapshot: %s", error)
            return
        if self._truncate is not None and len(ours) >= self._keep:
            self._shorten(ours[self._keep - 1], self._truncate)

    def _shorten(self, oldest: _Named, truncate: Callable[[Mapping[Partition, int]], None]) -> None:
        """Delete the training events in the oldest kept snapshot, if it can be read back."""
        try:
            truncate(self._check(oldest, self._read(oldest)))
        except Exception as error:  # as above: they are deleted another time
            _LOG.warning("no training events were deleted, for %s: %s", oldest.name, error)

    def close(self, timeout: float) -> None:
        """Wait for the snapshot that is being written, up to `timeout` seconds."""
        if self._writing is not None:
            wait([self._writing], timeout)
