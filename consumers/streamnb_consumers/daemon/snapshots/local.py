"""Snapshots on disk: written atomically with a checksum; the last few are kept."""

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
from streamnb_consumers.errors import SettingsError, SnapshotError

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"snapshot-(\d{12})\.bin")


class Snapshots:
    """A folder of snapshots, numbered in the order of creation.

    Parameters
    ----------
    folder
        Only one process may write to it at a time.
    keep, largest
        Number of snapshots to keep, 1 or more, and maximum bytes of one.
    tidy
        Whether to create the folder and to remove the incomplete files of a killed process. A
        process that only reads must not do this, because another may be writing.
    wrote
        Called after a snapshot, in the thread of the worker.
    is_due
        Whether a snapshot is due before its time.
    has_log
        Whether a log has all records since the last snapshot, so that one may fail.
    """

    def __init__(
        self,
        folder: str | Path,
        keep: int = 3,
        largest: int = 2**33,
        tidy: bool = True,
        wrote: Callable[[], None] = lambda: None,
        is_due: Callable[[], bool] = lambda: False,
        has_log: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.keep, self.largest, self.wrote = keep, largest, wrote
        self.is_due, self.has_log = is_due, has_log
        if not tidy:
            return
        try:
            make_private(self.folder)
        except OSError as error:
            raise SettingsError(f"snapshots: {folder} can't be created: {error}") from error
        # Incomplete files of a killed process.
        for left in self.folder.glob(".snapshot-*"):
            with contextlib.suppress(OSError):
                left.unlink()

    def paths(self) -> list[Path]:
        """Return the paths of the snapshots, the newest first."""
        found = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda path: path.name, reverse=True)

    def read(self, path: Path) -> bytes:
        """Return the snapshot in a file.

        Raises
        ------
        SnapshotError
            If it is not a regular file, damaged or too large.
        """
        return content(read_regular(path, self.largest), self.largest)

    def save(self, data: bytes) -> Path:
        """Write a snapshot that survives a crash at any moment; delete the oldest.

        The bytes contain a checksum. They are compressed into a temporary file, which is synced and
        renamed, and the folder is synced.

        Raises
        ------
        SnapshotError
            If it exceeds the maximum size for reading.
        """
        if len(data) > self.largest:
            raise SnapshotError(
                f"the snapshot has {len(data):,} bytes, more than the {self.largest:,} that are "
                f"read again: raise snapshot_bytes, or bound the model (max_features)"
            )
        paths = self.paths()
        newest = int(paths[0].name[len("snapshot-") :].partition(".")[0]) if paths else 0
        path = self.folder / f"snapshot-{newest + 1:012d}.bin"
        write(path, compressed(data), mode=0o600)
        sync_folder(self.folder)
        for old in paths[max(self.keep, 1) - 1 :]:
            with contextlib.suppress(OSError):
                old.unlink()
        return path

    def load(self, restore: Callable[[bytes], None]) -> Path | None:
        """Restore the newest usable snapshot; return its path, or None without snapshots.

        Raises
        ------
        SnapshotError
            If snapshots exist and none is usable: nothing is dropped silently.
        """
        errors = []
        for path in self.paths():
            try:
                restore(self.read(path))
            except (SnapshotError, OSError) as error:
                _LOG.warning("skipping the snapshot %s: %s", path.name, error)
                errors.append(f"{path.name}: {error}")
            else:
                return path
        if errors:
            raise SnapshotError(
                f"none of the snapshots in {self.folder} is usable; move them away to start "
                f"without a model. {'; '.join(errors)}"
            )
        return None


def content(written: bytes, largest: int) -> bytes:
    """Return the decompressed snapshot of a file or an object.

    Raises
    ------
    SnapshotError
        If it is truncated or modified, or has more than `largest` bytes.
    """
    try:
        return decompressed(written, largest)
    except ModelFileError as error:
        raise SnapshotError(str(error)) from error


def read_regular(path: Path, largest: int) -> bytes:
    """Return the bytes of a regular file; a pipe or a device could block its reader.

    Raises
    ------
    SnapshotError
        If it is something else, or too large.
    """
    # Without this flag, opening a pipe waits for its writer; regular files ignore it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise SnapshotError("it is not a regular file")
        if found.st_size > largest:
            raise SnapshotError(
                f"it has {found.st_size:,} bytes, more than the {largest:,} of snapshot_bytes"
            )
        with os.fdopen(handle, "rb", closefd=False) as file:
            # A larger request would allocate its size.
            return file.read(min(largest, found.st_size))
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Create a folder of state for its owner only: state contains messages of the last hours.

    A folder and files that others could read before are also closed to them.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in (folder, *folder.iterdir()):
        with contextlib.suppress(PermissionError, FileNotFoundError):  # of another owner, or gone
            found = path.lstat()
            if not stat.S_ISLNK(found.st_mode) and found.st_mode & 0o077:
                path.chmod(found.st_mode & 0o700)


def private(path: str | Path, flags: int) -> int:
    """Open a file that only its owner can read, as the `opener` of `open`."""
    return os.open(path, flags, 0o600)


def sync_folder(folder: Path) -> None:
    """Make a rename durable if folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
