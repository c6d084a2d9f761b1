"""Read and write JSON as bytes; orjson, if installed, makes it faster with equal results."""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import Any

try:
    import orjson
except ImportError:  # the extra `consumers` installs it
    orjson = None  # type: ignore[assignment]

__all__ = ["canonical", "compact", "parse"]

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> bytes:
    r"""Encode as JSON with sorted keys, without spaces, in ASCII: equal values give equal bytes.

    Examples
    --------
    >>> canonical({"b": 1.5, "a": "é"})
    b'{"a":"\\u00e9","b":1.5}'
    """
    if type(value) is str:
        text: str = encode_basestring_ascii(value)  # the same result as the encoder, faster
        return text.encode()
    return _ENCODER.encode(value).encode()


def compact(value: Any) -> bytes:
    """Encode as JSON without spaces, in UTF-8; keys keep their order.

    Examples
    --------
    >>> compact({"b": [1.5, None], "a": "x"})
    b'{"b":[1.5,null],"a":"x"}'
    """
    if orjson is not None:
        try:
            return orjson.dumps(value)
        except TypeError:
            pass  # lone surrogates, or integers of more than 64 bits
    try:
        return _COMPACT.encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def parse(value: bytes) -> Any:
    r"""Decode JSON in UTF-8, like the `json` module.

    That module also accepts lone surrogates, NaN and integers of any length. It therefore reads
    again what orjson refuses.

    Raises
    ------
    UnicodeDecodeError
        If it is not UTF-8.
    ValueError, RecursionError
        If it is not JSON, or nested too deeply.

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
