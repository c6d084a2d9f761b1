"""The exceptions of streamnb.

Each derives from `StreamNBError` and from the matching builtin exception, so both
`except StreamNBError` and `except ValueError` work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LONGEST_SHOWN = 80  # characters


class StreamNBError(Exception):
    """Base of all exceptions of this package."""


class InputError(StreamNBError, ValueError):
    """An argument, a message or a weight is invalid; the model is unchanged."""


class UnknownParameterError(StreamNBError, TypeError):
    """A class has no parameter of this name; the message contains the nearest names."""


class NotLearnedError(StreamNBError, ValueError):
    """The operation needs something that the model has not learned."""


class ModelFileError(StreamNBError, ValueError):
    """A model file is truncated, altered, or has another kind or version."""


class DataError(StreamNBError, ValueError):
    """A data set is missing, or a file of messages is invalid."""


class MissingDependencyError(StreamNBError, ImportError):
    """An optional dependency is not installed; the message names the command to install it."""


class TeacherError(StreamNBError, RuntimeError):
    """A teacher has not answered a message."""


class InvalidAnswerError(TeacherError, ValueError):
    """The answer of a teacher is not one of the labels; it is not learned."""


class TeacherAwayError(TeacherError, ConnectionError):
    """A teacher cannot be reached, or does not answer in time."""


class TeacherRefusedError(TeacherError, PermissionError):
    """A teacher refuses every request: its key, the name of its model or its address is wrong."""


@contextmanager
def needed_for(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import into an error that names the extra of streamnb to install.

    Examples
    --------
    >>> with needed_for("drawing", "plots"):
    ...     import no_such_module
    Traceback (most recent call last):
    ...
    streamnb.errors.MissingDependencyError: no_such_module is missing, which drawing needs: pip \
install 'streamnb[plots]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"{error.name} is missing, which {what} needs: pip install 'streamnb[{extra}]'"
        ) from error


# Characters that a terminal may obey, or that reorder the text around them.
_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: object, keep: str = "") -> str:
    r"""Return a text of others for a terminal: control characters are escaped, except `keep`.

    Examples
    --------
    >>> print(printable("ham\x1b[2J\r\n"))
    ham\x1b[2J\r\n
    """

    def escaped(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _OBEYED.sub(escaped, str(text))


def shown(value: Any) -> str:
    """Return the short form of any value for an error message.

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
