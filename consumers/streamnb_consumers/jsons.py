"""Read and write JSON as bytes."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder()
_SORTED = msgspec.json.Encoder(order="sorted")


def canonical(value: Any) -> bytes:
    """Encode as JSON with sorted keys, without spaces: equal values give equal bytes.

    Examples
    --------
    >>> canonical({"b": 1.5, "a": "x"})
    b'{"a":"x","b":1.5}'
    """
    try:
        return _SORTED.encode(value)
    except UnicodeEncodeError:  # lone surrogates
        return _with_surrogates(value, sort_keys=True)


def compact(value: Any) -> bytes:
    """Encode as JSON without spaces; keys keep their order.

    Examples
    --------
    >>> compact({"b": [1.5, None], "a": "x"})
    b'{"b":[1.5,null],"a":"x"}'
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _with_surrogates(value)


def _with_surrogates(value: Any, **options: Any) -> bytes:
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), **options).encode()


def parse(value: bytes) -> Any:
    r"""Decode JSON in UTF-8, like the `json` module.

    That module also accepts lone surrogates, NaN and a byte order mark. It therefore reads again
    the bytes that msgspec refuses.

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
    try:
        return msgspec.json.decode(value)
    except ValueError:
        return json.loads(value.decode().removeprefix("\ufeff"))
