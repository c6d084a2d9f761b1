"""JSON as bytes, fast where orjson is installed: it reads and writes the same values."""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import Any

try:
    import orjson
except ImportError:  # the extra `consumers` brings it
    orjson = None  # type: ignore[assignment]

__all__ = ["canonical", "compact", "parse"]

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> bytes:
    r"""Return JSON that is the same for equal values: keys sorted, no spaces, ASCII.

    Examples
    --------
    >>> canonical({"b": 1.5, "a": "é"})
    b'{"a":"\\u00e9","b":1.5}'
    """
    if type(value) is str:
        text: str = encode_basestring_ascii(value)  # what the encoder does with it, at once
        return text.encode()
    return _ENCODER.encode(value).encode()


def compact(value: Any) -> bytes:
    """Return JSON without spaces, in UTF-8; keys keep their order.

    Examples
    --------
    >>> compact({"b": [1.5, None], "a": "x"})
    b'{"b":[1.5,null],"a":"x"}'
    """
    if orjson is not None:
        try:
            return orjson.dumps(value)
        except TypeError:
            pass  # lone surrogates, which no UTF-8 has, and whole numbers of more than 64 bits
    try:
        return _COMPACT.encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def parse(value: bytes) -> Any:
    r"""Return the value that JSON in UTF-8 holds, as Python's own reader takes it.

    That reader takes more: lone surrogates, NaN, whole numbers of any length. So it reads again
    what orjson refuses, and says what is wrong.

    Raises
    ------
    UnicodeDecodeError
        If it is no UTF-8.
    ValueError, RecursionError
        If it is no JSON, or nested too deeply.

    Examples
    --------
    >>> parse(b'{"id": 7, "text": "\\ud800"}')
    {'id': 7, 'text': '\ud800'}
    """
    if orjson is not None:
        try:
            return orjson.loads(value)
        except ValueError:
            pass
    return json.loads(value.decode().removeprefix("\ufeff"))
