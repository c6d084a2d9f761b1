"""The exceptions that the consumers raise on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamnb.errors import MissingDependencyError, StreamNBError

__all__ = [
    "AbortedError",
    "BadInputError",
    "BadRecordError",
    "FencedError",
    "SettingsError",
    "SnapshotError",
    "exit_status",
    "needing_kafka",
]


class BadRecordError(StreamNBError, ValueError):
    """A record is no message and no label; it goes to the dead letters and the stream goes on."""


class BadInputError(StreamNBError, RuntimeError):
    """Most of the input is bad: something before this daemon is wrong, and it stops."""


class AbortedError(StreamNBError, RuntimeError):
    """A transaction could not be committed; nothing of it is visible and it may be tried again."""


class FencedError(StreamNBError, RuntimeError):
    """Another process has taken this one's place; it must stop and touch nothing."""


class SettingsError(StreamNBError, ValueError):
    """A setting is unknown, missing or out of range."""


class SnapshotError(StreamNBError, ValueError):
    """A snapshot is truncated, altered, or of a filter with other settings."""


def exit_status(error: Exception) -> int:
    """Return the exit status of a process that an error ended.

    Examples
    --------
    >>> exit_status(SettingsError()), exit_status(FencedError()), exit_status(OSError())
    (2, 3, 1)
    """
    if isinstance(error, SettingsError):
        return 2
    return 3 if isinstance(error, FencedError) else 1


@contextmanager
def needing_kafka() -> Iterator[None]:
    """Say what to install if what is imported inside needs Kafka's client and it is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("streamnb_consumers"):
            raise
        raise MissingDependencyError(
            "bootstrap_servers needs kafka-python: pip install 'streamnb[consumers,kafka]'"
        ) from error
