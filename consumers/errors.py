"""The exceptions that the consumers raise on purpose."""

from __future__ import annotations

from streamnb.errors import StreamNBError

__all__ = [
    "AbortedError",
    "BadInputError",
    "BadRecordError",
    "FencedError",
    "SettingsError",
    "SnapshotError",
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
