"""The folder that a filter's state is kept in between runs, and who may change it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.errors import BusyError, SettingsError, SnapshotError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter

__all__ = ["default_folder", "held", "load"]

_PAUSE = 0.01  # seconds between two tries for the lock


def default_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return where the state of a user's mail filter is kept where no setting says.

    Examples
    --------
    >>> default_folder({"XDG_DATA_HOME": "/home/ann/data"}).as_posix()
    '/home/ann/data/streamnb/spam'
    """
    environment = os.environ if environment is None else environment
    base = environment.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "streamnb" / "spam"


@contextmanager
def held(
    folder: Path, seconds: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Be the only process that changes the state in a folder, which is made where it is missing.

    The lock is on a file that stays; it ends with the process that has it.

    Parameters
    ----------
    folder
        The folder of snapshots.
    seconds
        Longest wait for another process that holds it.
    clock
        Seconds that only go forward.

    Raises
    ------
    BusyError
        If another process holds it for longer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as file:
        until = clock() + seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if clock() >= until:
                    raise BusyError(
                        f"another process has held the state in {folder} for {seconds:g} seconds: "
                        f"a filter that runs, or a mail that is being learned"
                    ) from None
                time.sleep(_PAUSE)
        yield


def load(worker: Filter, folder: Path, largest: int, to_change: bool = False) -> None:
    """Give a filter the newest state in a folder, if there is one; nothing there is changed.

    Without the lock the snapshots may be replaced meanwhile: then it looks again.

    Parameters
    ----------
    worker
        The filter.
    folder
        Where snapshots are, if there are any.
    largest
        Bytes of the largest snapshot.
    to_change
        Whether something will be learned and written back.

    Raises
    ------
    SnapshotError
        If there are snapshots and none of them is good.
    SettingsError
        If it is no folder, or is to be changed, but is that of a worker on topics.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SettingsError(f"snapshots is {folder}, which is no folder")

    def restore(data: bytes) -> None:
        if to_change and state.is_shared(data):
            raise SettingsError(
                f"the state in {folder} is that of a worker on topics, whose model is made of the "
                f"topic of training events: write a label to the topic of feedback"
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
