"""The state of a user's own program, such as offsets of a topic, in the file of a model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from streamnb.errors import InputError, shown
from streamnb.headers import MOST

MOST_BYTES = 1 << 20
"""Longest state as JSON: offsets of some ten thousand partitions."""
_DEEPEST = 16


def read_state(state: Any) -> dict[str, Any]:
    """Return a state whose file gives back an equal one.

    Parameters
    ----------
    state
        A mapping from texts to values of JSON: texts, whole numbers of 64 bits, finite floats,
        True, False and None, and lists and dicts of them; at most 16 levels and a MiB as JSON.

    Raises
    ------
    InputError
        If a value is of another kind, or the state is too deep or too large.

    Examples
    --------
    >>> read_state({"messages-0": 17, "ended": [3, 5]})
    {'messages-0': 17, 'ended': [3, 5]}
    >>> read_state({"ended": {3, 5}})
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: state['ended'] must be a value of JSON (a text, a whole number of \
64 bits, a finite float, True, False, None, a list or a dict), not set: {3, 5}
    """
    if not isinstance(state, Mapping):
        raise InputError(
            "the state must be a mapping from texts to values of JSON, such as "
            f"{{'messages-0': 17}}, not {type(state).__name__}: {shown(state)}"
        )
    plain: dict[str, Any] = _plain("state", state, 0)
    size = len(json.dumps(plain, separators=(",", ":")))
    if size > MOST_BYTES:
        raise InputError(
            f"the state has {size} bytes as JSON, and a model file holds {MOST_BYTES}: keep "
            "offsets and counters in it, and larger data in a file of its own"
        )
    return plain


def _plain(where: str, value: Any, depth: int) -> Any:
    """Return a copy of plain dicts and lists."""
    if depth > _DEEPEST:
        raise InputError(f"the state must have at most {_DEEPEST} levels of lists and dicts")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and -MOST - 1 <= value <= MOST:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list):
        return [_plain(f"{where}[{i}]", each, depth + 1) for i, each in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(
                    f"a key of {where} must be a text, not {type(key).__name__}: {shown(key)}; "
                    f"use {shown(str(key))}"
                )
        return {k: _plain(f"{where}[{shown(k)}]", v, depth + 1) for k, v in value.items()}
    raise InputError(
        f"{where} must be a value of JSON (a text, a whole number of 64 bits, a finite float, "
        f"True, False, None, a list or a dict), not {type(value).__name__}: {shown(value)}"
    )
