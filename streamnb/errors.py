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


def without_credentials(url: str) -> str:
    """Return a URL for people: without its password, and without the values of a query.

    Examples
    --------
    >>> without_credentials("s3://key:secret@bucket/x?token=abc"), without_credentials("/mnt/x")
    ('s3://***@bucket/x?***', '/mnt/x')
    """
    scheme, found, rest = url.partition("://")
    if not found:
        return url
    _, at, place, query = _parts_of_url(rest)
    return f"{scheme}://{'***@' if at else ''}{place}{'?***' if query else ''}"


def hide_credentials(text: str, url: str) -> str:
    """Return a text that may repeat a URL, without the credentials of the URL.

    Examples
    --------
    >>> url = "ftp://me:secret@host/x"
    >>> hide_credentials(f"cannot read {url}: secret is wrong", url)
    'cannot read ftp://***@host/x: *** is wrong'
    """
    from urllib.parse import unquote

    user, at, _, query = _parts_of_url(url.partition("://")[2])
    text = text.replace(user + at, f"***{at}") if at else text
    password = user.partition(":")[2]
    # Drivers may repeat a password alone, or decoded.
    for secret in (query, password, unquote(password)):
        text = text.replace(secret, "***") if secret else text
    return text


def _parts_of_url(rest: str) -> tuple[str, str, str, str]:
    """Return the user with the password, "@", the place, and the query behind a scheme."""
    place, _, query = rest.partition("?")
    return (*place.rpartition("@"), query)


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
