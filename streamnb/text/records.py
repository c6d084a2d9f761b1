"""One message as a record: a mapping with its text, its id, its labels and its fields.

This module decides for all models, data frames, commands and filters whether a mapping is a record
or counts of tokens, and which of its values is the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from streamnb.errors import InputError, shown

TEXT_NAMES = ("text", "body", "message", "content", "sms", "email", "v2", "subject")
"""Usual names of the text; the first one takes precedence."""
# Parts of a record that no model reads.
_ADMINISTRATIVE = ("id", "label", "labels", "time")
_USUAL = ", ".join(map(repr, TEXT_NAMES[:4])) + f" or {TEXT_NAMES[-1]!r}"


@functools.lru_cache(maxsize=256)
def find_name(given: tuple[str, ...], usual: tuple[str, ...]) -> str | None:
    """Return the given name that is the first of the usual names; None if there is none.

    Names also match if they differ in case, or in blanks at their ends.

    Examples
    --------
    >>> find_name(("id", "Body "), TEXT_NAMES)
    'Body '
    """
    folded = {name.strip().casefold(): name for name in reversed(given)}
    folded |= {name: name for name in given}
    return next((folded[name] for name in usual if name in folded), None)


def text_name(names: Collection[Any], fields: Collection[str] = ()) -> str | None:
    """Return the name of the text among the names of a record; None if there is none.

    Parameters
    ----------
    names
        The names of the record's values.
    fields
        The names that a tokenizer reads as fields. They are not the text.
    """
    return find_name(
        tuple(name for name in names if isinstance(name, str) and name not in fields), TEXT_NAMES
    )


def check_read(names: Collection[Any], text: str) -> None:
    """Raise an error if there are fields beside the text, for a tokenizer that reads none.

    Raises
    ------
    InputError
        It names the fields, and the calls that read them or leave them out.
    """
    unread = [name for name in names if name != text and name not in _ADMINISTRATIVE]
    if unread:
        raise InputError(
            f"the message has {', '.join(map(shown, unread[:5]))} beside its text {text!r}, and "
            f"the tokenizer reads no fields: learn from them with "
            f"tokenizer=Tokenizer(fields={(*map(str, unread[:5]),)!r}), with the quantities "
            f"among them also in numbers=…; or pass the text alone, as in x[{text!r}] or "
            f"Select({text!r}) | model"
        )


def record_text(x: Any, fields: Collection[str] | None = None) -> str | None:
    """Return the text of a record; None for counts of tokens, and for other values.

    A mapping is a record if one of its values is a str.

    Parameters
    ----------
    x
        A message.
    fields
        The names that the tokenizer reads besides the text. Other names are then ignored. None if
        it reads none: then only an id, a label and a time may stand beside the text.

    Raises
    ------
    InputError
        If a record has no text under a usual name, or fields that nothing reads.

    Examples
    --------
    >>> record_text({"id": 7, "body": "WIN cash"})
    'WIN cash'
    >>> record_text({"win": 1, "cash": 2}) is None
    True
    >>> record_text({"win": 1, "cash": "two"})
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: the message has a str at 'cash' ('two') and no text under ...
    """
    if not isinstance(x, Mapping):
        return None
    texts = [name for name, value in x.items() if isinstance(value, str)]
    if not texts:
        return None
    name = text_name(texts, fields or ())
    if name is None:
        first = texts[0]
        raise InputError(
            f"the message has a str at {shown(first)} ({shown(x[first])}) and no text under "
            f"{_USUAL}: pass the text alone, as in x[{first!r}], or name it, as in "
            f"{{'text': x[{first!r}]}}; a mapping of tokens to counts has numbers only"
        )
    if fields is None:
        check_read(x, name)
    return str(x[name])


def read_each(
    values: Iterable[Any], read: Callable[[Any], Any], what: str = "message"
) -> list[Any]:
    """Return each value of a batch as a function reads it.

    Raises
    ------
    InputError
        If a value is invalid; the error contains its place in the batch.

    Examples
    --------
    >>> read_each([{"body": "win"}, {"review": "good"}], record_text)
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: message 1 (counted from 0): the message has a str at 'review' ...
    """
    found = []
    for place, value in enumerate(values):
        try:
            found.append(read(value))
        except InputError as error:
            raise InputError(f"{what} {place} (counted from 0): {error}") from error
    return found
