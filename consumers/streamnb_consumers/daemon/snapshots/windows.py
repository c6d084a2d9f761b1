"""Snapshots of join windows on disk: a start reads only the later changes from their log."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, wait
from pathlib import Path

import msgspec

from streamnb.errors import ModelFileError
from streamnb.model.persistence import opened, sealed, write
from streamnb_consumers.daemon.snapshots.local import read_regular
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.io.protocols import Source, WindowMark
from streamnb_consumers.pipeline.join import Join
from streamnb_consumers.threads import in_thread

_LOG = logging.getLogger(__name__)
_MAGIC, _VERSION = b"streamnb join window\n", 2
# Messages that are encoded between two transactions, in some milliseconds.
_PIECE = 2_000
# Age up to which a snapshot is used, in seconds. Brokers delete the marks of deleted entries after
# `delete.retention.ms` (a day), and then a later read would miss these deletions.
_MOST_AGE = 6 * 3600.0


class _Header(msgspec.Struct):
    saved: float  # seconds since 1970
    mark: WindowMark


class WindowSnapshots:
    """A folder with the newest snapshot of the join window of each partition.

    A snapshot is taken in pieces between transactions. It contains all changes before its mark, and
    some later ones. The changes after the mark are applied again, which gives the same window.

    Parameters
    ----------
    folder
        Only one process may write to it at a time. None: nothing is saved.
    largest
        Maximum bytes of one snapshot.
    clock
        Returns seconds since 1970.
    """

    def __init__(
        self, folder: Path | None, largest: int = 2**33, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._largest, self._clock = folder or Path(), largest, clock
        self._enabled = folder is not None
        self._captures: dict[int, tuple[WindowMark, Iterator[bytes], list[bytes]]] = {}
        self._writing: Future[None] | None = None

    def _path(self, number: int) -> Path:
        return self._folder / f"window-{number}.bin"

    # --- saving -----------------------------------------------------------------------------------

    def begin(self, source: Source, join: Join) -> None:
        """Begin to save the windows of a source, unless some are being saved.

        Call it between transactions.
        """
        if not self._enabled or self._captures:
            return
        marks = source.window_marks()
        self._captures = {
            number: (mark, join.window(number).pieces(_PIECE), []) for number, mark in marks.items()
        }

    def drop(self, numbers: Collection[int] | None = None) -> None:
        """Drop unfinished snapshots: of partitions that moved, or all after an abort."""
        for number in list(self._captures) if numbers is None else numbers:
            self._captures.pop(number, None)

    def go_on(self) -> None:
        """Take the next piece. Call it between transactions."""
        if not self._captures or (self._writing is not None and not self._writing.done()):
            return
        number, (mark, pieces, taken) = next(iter(self._captures.items()))
        piece = next(pieces, None)
        if piece is not None:
            taken.append(piece)
            return
        del self._captures[number]
        header = msgspec.json.encode(_Header(self._clock(), mark))
        self._writing = in_thread("window", lambda: self._write(number, header, taken))

    def _write(self, number: int, header: bytes, pieces: list[bytes]) -> None:
        try:
            self._folder.mkdir(exist_ok=True)
            write(
                self._path(number),
                sealed(header, msgspec.msgpack.encode(pieces), _MAGIC, _VERSION),
            )
        except OSError as error:
            _LOG.warning(
                "can't write the join window of partition %d to %s: %s. This worker continues, but "
                "its next start takes longer",
                *(number, self._folder, error),
            )

    def finish(self) -> None:
        """Take all pieces and wait until they are written."""
        while self._captures or self._writing is not None:
            if self._writing is not None:
                wait([self._writing])
                self._writing = None
            self.go_on()

    # --- reading ----------------------------------------------------------------------------------

    def load(self, number: int, log: str) -> tuple[WindowMark, list[bytes]] | None:
        """Return the newest snapshot of a partition, or None if there is no usable one.

        Parameters
        ----------
        number
            Partition number.
        log
            Id of the topic of the join state.
        """
        if not self._enabled:
            return None
        path = self._path(number)
        try:
            text, rest = opened(read_regular(path, self._largest), _MAGIC, _VERSION, "join window")
            header = msgspec.json.decode(text, type=_Header)
            pieces = msgspec.msgpack.decode(rest, type=list[bytes])
        except FileNotFoundError:
            return None
        except (OSError, ModelFileError, SnapshotError, msgspec.MsgspecError) as error:
            _LOG.warning("skipping the join window %s: %s", path, error)
            return None
        age = self._clock() - header.saved
        if header.mark.log != log or not 0 <= age <= _MOST_AGE:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return header.mark, pieces
