"""The exceptions that the consumers raise on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamnb.errors import MissingDependencyError, StreamNBError

__all__ = [
    "RESTART",
    "AbortedError",
    "BadInputError",
    "BadRecordError",
    "BusyError",
    "FencedError",
    "ForeignError",
    "LostClientError",
    "RefusedError",
    "SettingsError",
    "SnapshotError",
    "TruncatedError",
    "UnreachableError",
    "exit_status",
    "needing_kafka",
]

# The exit status of a process that did nothing wrong and should be started again (EX_SOFTWARE).
RESTART = 70


class BadRecordError(StreamNBError, ValueError):
    """A record is no message and no label; it goes to the dead letters and the stream goes on."""


class BadInputError(StreamNBError, RuntimeError):
    """Most of the input is bad: something before this daemon is wrong, and it stops."""


class AbortedError(StreamNBError, RuntimeError):
    """A transaction could not be committed; nothing of it is visible and it may be tried again."""


class UnreachableError(AbortedError):
    """The cluster does not answer, or says that it can't yet: it costs time, and nothing else."""


class LostClientError(AbortedError):
    """A client failed for good: it answers nothing any more, and another one may go on."""


class FencedError(StreamNBError, RuntimeError):
    """Another process has taken this one's place; it must stop and touch nothing."""


class BusyError(StreamNBError, RuntimeError):
    """Another process has what this one needs; it may be tried again."""


class SettingsError(StreamNBError, ValueError):
    """A setting is unknown, missing or out of range."""


class RefusedError(SettingsError):
    """The cluster knows this worker and refuses it: a wrong password, or a right is missing."""


class SnapshotError(StreamNBError, ValueError):
    """A snapshot is truncated, altered, or of a filter with other settings."""


class ForeignError(SnapshotError):
    """A snapshot is whole, and of a filter with other settings or of another log."""


class TruncatedError(SnapshotError):
    """Training events were deleted that neither a worker nor its snapshots have."""


def exit_status(error: Exception) -> int:
    """Return the exit status of a process that an error ended.

    2: a setting is wrong, or the cluster refuses this worker. 3: another process has taken its
    place. 70: what it waited for did not come, and a new start may find it. 1: all else, which
    somebody has to look at.

    Examples
    --------
    >>> exit_status(SettingsError()), exit_status(FencedError()), exit_status(OSError())
    (2, 3, 1)
    >>> exit_status(UnreachableError()), exit_status(SnapshotError()), exit_status(RefusedError())
    (70, 1, 2)
    """
    if isinstance(error, SettingsError):
        return 2
    if isinstance(error, AbortedError):
        return RESTART
    return 3 if isinstance(error, FencedError) else 1


@contextmanager
def needing_kafka(client: str = "kafka-python") -> Iterator[None]:
    """Say what to install if what is imported inside needs a client of Kafka that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("streamnb_consumers"):
            raise
        package, extra = _CLIENTS[client]
        raise MissingDependencyError(
            f"bootstrap_servers needs {package}: pip install 'streamnb[consumers,{extra}]'"
        ) from error


# The package of each client of Kafka, and the extra that brings it.
_CLIENTS = {
    "kafka-python": ("kafka-python", "kafka"),
    "confluent": ("confluent-kafka", "confluent"),
}
