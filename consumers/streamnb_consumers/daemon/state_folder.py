"""The folder of a filter's state between runs, and its lock."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from streamnb_consumers.daemon.snapshots.local import Snapshots, make_private, private
from streamnb_consumers.errors import BusyError, SettingsError, SnapshotError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter

_PAUSE = 0.01  # seconds between two tries for the lock


def default_folder(kind: str = "spam", environment: Mapping[str, str] | None = None) -> Path:
    """Return the default state folder of a user's filter.

    Examples
    --------
    >>> default_folder("spam", {"XDG_DATA_HOME": "/home/ann/data"}).as_posix()
    '/home/ann/data/streamnb/spam'
    """
    environment = os.environ if environment is None else environment
    base = environment.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "streamnb" / kind


@contextmanager
def held(folder: Path, seconds: float) -> Iterator[None]:
    """Hold the lock of a state folder, which is created if it is missing.

    The lock is on a file that remains; it ends with its process.

    Raises
    ------
    BusyError
        If another process holds the lock for longer than `seconds`.
    """
    make_private(folder)
    with open(folder / ".lock", "ab", opener=private) as file:
        until = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise BusyError(
                        f"another process has locked the state in {folder} for {seconds:g} "
                        f"seconds: a running filter, or a mail being learned; try again later"
                    ) from None
                time.sleep(_PAUSE)
        yield


def load(worker: Filter, folder: Path, largest: int, to_change: bool = False) -> None:
    """Restore the newest state of a folder, if there is one; the folder stays unchanged.

    This takes no lock: if snapshots were replaced during the read, the folder is read again.
    `to_change` means that the state will be changed and written back.

    Raises
    ------
    SnapshotError
        If snapshots exist and none is usable.
    SettingsError
        If it is not a folder, or it would be changed but belongs to a worker on topics.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SettingsError(f"snapshots is {folder}, which is not a folder")

    def restore(data: bytes) -> None:
        if to_change and state.header_of(data).identity is not None:
            raise SettingsError(
                f"the state in {folder} belongs to a worker on topics, which learns only from "
                f"its topic of training events: send the label to its feedback topic"
            )
        state.restore(worker, data)

    snapshots = Snapshots(folder, largest=largest, tidy=False)
    while True:
        before = snapshots.paths()
        try:
            snapshots.load(restore)
        except SnapshotError:
            if snapshots.paths() == before:
                raise
        else:
            return
