"""A message of a stream, and what the readers of the several formats share."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Fields", "LineError", "Message"]


class Message(NamedTuple):
    """One message of a stream.

    Attributes
    ----------
    id
        What the source calls it; the number of its line where it has no name.
    label
        Its class; empty where it has none.
    text
        The message itself.
    time
        When it was sent, as the source writes it (ISO 8601 in the data folder), or None.
    """

    id: str
    label: str
    text: str
    time: str | None = None


class LineError(Exception):
    """What is wrong with a line; becomes a `BadLine` or a `DataError`."""


class Fields(NamedTuple):
    """Names of the fields to read; None where the usual name is taken if it is there."""

    text: str
    label: str
    id: str | None
    time: str | None
    label_required: bool
