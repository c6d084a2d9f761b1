"""The exceptions that streamnb raises on purpose.

Each derives from `StreamNBError` and from the builtin exception that says the same thing, so that
both `except StreamNBError` and `except ValueError` do what a reader expects.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "DataError",
    "InputError",
    "MissingDependencyError",
    "ModelFileError",
    "NotLearnedError",
    "StreamNBError",
    "shown",
]

_LONGEST_SHOWN = 80  # characters


class StreamNBError(Exception):
    """Base of all exceptions of this package."""


class InputError(StreamNBError, ValueError):
    """An argument, a message or a weight cannot be used; the state of the model is unchanged."""


class NotLearnedError(StreamNBError, ValueError):
    """Something was asked of a model, or taken from it, that it has not learned."""


class ModelFileError(StreamNBError, ValueError):
    """A saved model is truncated, altered, of another kind or of an unknown version."""


class DataError(StreamNBError, ValueError):
    """A data set is absent, or a file of messages does not hold what it should."""


class MissingDependencyError(StreamNBError, ImportError):
    """An optional dependency is needed and not installed; the message says how to install it."""


def shown(value: Any) -> str:
    """Return a value as an error shows it: short, whatever it is.

    Examples
    --------
    >>> shown("free"), shown(10**5000)
    ("'free'", 'an int that is too long to show')
    """
    try:
        text = repr(value)
    except Exception:  # ints of more than 4,300 digits, objects with a broken repr
        return f"an {type(value).__name__} that is too long to show"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
