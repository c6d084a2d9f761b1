"""Snapshots on disk: written whole, checksummed, the last few kept, the newest good one loaded."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from streamnb.errors import ModelFileError
from streamnb.model.compression import compressed, decompressed
from streamnb.model.persistence import write
from streamnb_consumers.errors import SnapshotError

__all__ = ["Snapshots", "content", "read_regular", "sync_folder"]

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"snapshot-(\d{12})\.bin")


class Snapshots:
    """A folder of snapshots, numbered in the order in which they were taken.

    Parameters
    ----------
    folder
        Made if it is not there. One process at a time may write to it.
    keep
        How many to keep, 1 or more.
    largest
        Bytes of the largest snapshot.
    tidy
        Whether the folder is made, and freed of what a killed process left; a process that only
        reads changes nothing, for another may be writing.
    """

    def __init__(
        self, folder: str | Path, keep: int = 3, largest: int = 2**33, tidy: bool = True
    ) -> None:
        self.folder = Path(folder)
        self.keep, self.largest = keep, largest
        if not tidy:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        # What a killed process left half-written.
        for left in self.folder.glob(".snapshot-*"):
            with contextlib.suppress(OSError):
                left.unlink()

    def paths(self) -> list[Path]:
        """Return the snapshots there are, the newest first."""
        found = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda path: path.name, reverse=True)

    def read(self, path: Path) -> bytes:
        """Return the snapshot that a file holds.

        Raises
        ------
        SnapshotError
            If it is no regular file, damaged or too large.
        """
        return content(read_regular(path, self.largest), self.largest)

    def save(self, data: bytes) -> Path:
        """Write a snapshot that survives a crash at any moment; forget the oldest.

        The bytes carry their own checksum. Compressed, they are written to a temporary file, which
        is synced and renamed, and the folder is synced.

        Raises
        ------
        SnapshotError
            If it is larger than what is read again.
        """
        if len(data) > self.largest:
            raise SnapshotError(
                f"the snapshot has {len(data):,} bytes, more than the {self.largest:,} that are "
                f"read again: raise snapshot_bytes, or bound the model (max_features)"
            )
        paths = self.paths()
        newest = int(paths[0].name[len("snapshot-") :].partition(".")[0]) if paths else 0
        path = self.folder / f"snapshot-{newest + 1:012d}.bin"
        write(path, compressed(data))
        sync_folder(self.folder)
        for old in paths[max(self.keep, 1) - 1 :]:
            with contextlib.suppress(OSError):
                old.unlink()
        return path

    def load(self, restore: Callable[[bytes], None]) -> Path | None:
        """Restore the newest good snapshot; return its path, or None where there is no snapshot.

        Raises
        ------
        SnapshotError
            If there are snapshots and none of them is good: nothing is thrown away in silence.
        """
        errors = []
        for path in self.paths():
            try:
                restore(self.read(path))
            except (SnapshotError, OSError) as error:
                _LOG.warning("%s is passed over: %s", path.name, error)
                errors.append(f"{path.name}: {error}")
            else:
                return path
        if errors:
            raise SnapshotError(
                f"none of the snapshots in {self.folder} can be used; move them away to begin "
                f"anew. {'; '.join(errors)}"
            )
        return None


def content(written: bytes, largest: int) -> bytes:
    """Return the snapshot that a file or an object holds, compressed or from before that.

    Raises
    ------
    SnapshotError
        If it is truncated or altered, or has more bytes than `largest`.
    """
    try:
        return decompressed(written, largest)
    except ModelFileError as error:
        raise SnapshotError(str(error)) from error


def read_regular(path: Path, largest: int) -> bytes:
    """Return the bytes of a regular file; a pipe or a device could keep its reader for ever.

    Raises
    ------
    SnapshotError
        If it is something else, or too large.
    """
    # Opening a pipe waits for its writer, but for this flag; files do not heed it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise SnapshotError("it is no regular file")
        if found.st_size > largest:
            raise SnapshotError(
                f"it has {found.st_size:,} bytes, more than the {largest:,} of snapshot_bytes"
            )
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(largest)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make a rename durable, where folders can be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
