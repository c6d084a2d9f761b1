"""Stores of shared snapshots: a folder, or a URL of fsspec (s3://, gs://, abfs://, …)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from streamnb.errors import (
    MissingDependencyError,
    hide_credentials,
    needed_for,
    without_credentials,
)
from streamnb.model.persistence import write
from streamnb_consumers.daemon.snapshots.local import read_regular, sync_folder
from streamnb_consumers.errors import SettingsError, SnapshotError

# Seconds after which an incomplete file is removed: no write takes longer.
_LEFT = 3600.0


class Store(Protocol):
    """Named bytes that appear atomically, or carry a checksum."""

    def names(self) -> list[str]:
        """Return the existing names."""

    def read(self, name: str, largest: int) -> bytes:
        """Return the bytes of a name.

        Raises
        ------
        SnapshotError
            If they exceed `largest`, or cannot be read.
        """

    def write(self, name: str, data: bytes) -> None:
        """Write bytes under a name; repeating it is harmless."""

    def remove(self, name: str) -> None:
        """Remove a name, if it still exists."""


class FolderStore:
    """A folder, possibly mounted by several machines; created if missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the existing names; incomplete files begin with a dot."""
        try:
            return [path.name for path in self._folder.iterdir() if path.name[0] != "."]
        except FileNotFoundError:
            return []

    def read(self, name: str, largest: int) -> bytes:
        """Return the bytes of a regular file."""
        return read_regular(self._folder / name, largest)

    def write(self, name: str, data: bytes) -> None:
        """Write a temporary file, sync it and rename it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for left in self._folder.glob(".shared-*"):  # what a killed process left half-written
            with contextlib.suppress(OSError):
                if left.stat().st_mtime < time.time() - _LEFT:
                    left.unlink()
        write(self._folder / name, data)
        sync_folder(self._folder)

    def remove(self, name: str) -> None:
        """Remove a file, if it still exists."""
        with contextlib.suppress(FileNotFoundError):
            (self._folder / name).unlink()


class ObjectStore:
    """A folder of an fsspec file system, where objects appear atomically.

    Exceptions of fsspec's drivers become `OSError`.
    """

    def __init__(self, url: str) -> None:
        with needed_for("a URL in shared_snapshots", "shared"):
            import fsspec
        try:
            self._files: Any
            self._files, self._root = fsspec.core.url_to_fs(url)
            self._url = url
        except ImportError as error:
            # The driver of its protocol: s3fs for s3://, gcsfs for gs://, adlfs for abfs://.
            raise MissingDependencyError(_problem(url, error)) from None
        except ValueError as error:
            raise SettingsError(_problem(url, error)) from None

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextlib.contextmanager
    def _as_os_error(self) -> Iterator[None]:
        """Convert exceptions of drivers to `OSError`, without the credentials of the URL."""
        try:
            yield
        except SnapshotError:
            raise
        except Exception as error:
            kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
            text = hide_credentials(f"{type(error).__name__}: {error}", self._url)
            raise kind(text[:500]) from None

    def names(self) -> list[str]:
        """Return the existing names."""
        with self._as_os_error():
            self._files.invalidate_cache()
            try:
                found = self._files.ls(self._root, detail=False)
            except FileNotFoundError:
                return []
            return [str(path).rstrip("/").rpartition("/")[2] for path in found]

    def read(self, name: str, largest: int) -> bytes:
        """Return the bytes of an object."""
        with self._as_os_error():
            size = self._files.info(self._path(name))["size"]
            if size is None or size > largest:
                raise SnapshotError(f"it has {size} bytes; snapshot_bytes is {largest:,}")
            return bytes(self._files.cat_file(self._path(name)))

    def write(self, name: str, data: bytes) -> None:
        """Put an object."""
        with self._as_os_error():
            with contextlib.suppress(FileExistsError):
                self._files.makedirs(self._root, exist_ok=True)
            self._files.pipe_file(self._path(name), data)

    def remove(self, name: str) -> None:
        """Remove an object, if it still exists."""
        with self._as_os_error(), contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))


def _problem(url: str, error: Exception) -> str:
    shown = without_credentials(url)
    return f"shared_snapshots: {shown}: {hide_credentials(str(error), url)}"


def open_store(url: str) -> Store:
    """Return the store of a setting: a URL of fsspec, or a folder.

    Raises
    ------
    SettingsError
        If fsspec does not know the URL.
    MissingDependencyError
        If fsspec or the driver is not installed.

    Examples
    --------
    >>> type(open_store("/mnt/snapshots")).__name__, type(open_store("memory://x")).__name__
    ('FolderStore', 'ObjectStore')
    """
    if url.startswith("file://"):
        return FolderStore(Path(url.removeprefix("file://")))
    return ObjectStore(url) if "://" in url else FolderStore(Path(url))
