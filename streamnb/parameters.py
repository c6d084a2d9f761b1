"""Checks of parameters: each says what was given and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError
from streamnb.text.tokenizer import Tokenizer


def check_number(name: str, value: Any) -> float:
    """Return a number.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is too large: {value!r}") from None


def check_bound(name: str, value: Any, least: int) -> int:
    """Return a whole number.

    Raises
    ------
    InputError
        If it is none, or below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number from {least} on, not {value!r}")
    return min(int(value), 2**53)


def check_above_zero(name: str, value: Any) -> float:
    """Return a number above 0.

    Raises
    ------
    InputError
        If it is none, or not finite.
    """
    number = check_number(name, value)
    if not (number > 0 and math.isfinite(number)):
        raise InputError(f"{name} must be a number above 0, not {value!r}")
    return number


def check_from_zero(name: str, value: Any) -> float:
    """Return a number from 0 on.

    Raises
    ------
    InputError
        If it is none, or not finite.
    """
    number = check_number(name, value)
    if not (number >= 0 and math.isfinite(number)):
        raise InputError(f"{name} must be a number from 0 on, not {value!r}")
    return number


def check_weight_of_words(name: str, value: Any) -> float:
    """Return a weight of words, to which something may be added.

    Raises
    ------
    InputError
        If it is none.
    """
    weight = check_number(name, value)
    if not 0 <= weight <= 2**52:
        raise InputError(f"{name} must be a number from 0 to 2**52, not {value!r}")
    return weight


def check_flag(name: str, value: Any) -> bool:
    """Return a flag.

    Raises
    ------
    InputError
        If it is none.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def check_choice(name: str, value: Any) -> str:
    """Return a name; the core knows which there are.

    Raises
    ------
    InputError
        If it is no str.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be None or a name, not {value!r}")
    return value


def check_tokenizer(
    tokenizer: Any,
    default: Tokenizer,
) -> tuple[_core.NativeTokenizer, Callable[[str], Iterable[Any]] | None]:
    """Return the native tokeniser to use, and the user's function, if it is one.

    Parameters
    ----------
    tokenizer
        A `Tokenizer`, a function, or None for the default.
    default
        The tokenizer that None means.

    Raises
    ------
    InputError
        If it is neither.
    """
    if tokenizer is None or isinstance(tokenizer, Tokenizer):
        return (tokenizer or default).native(), None
    if callable(tokenizer):
        return Tokenizer().native(), tokenizer
    raise InputError(
        f"tokenizer must be None, a Tokenizer or a function from a str to its tokens, "
        f"not {tokenizer!r}"
    )


def is_weight(value: Any) -> bool:
    """Return whether a message may have this weight."""
    return isinstance(value, (int, float, np.number)) and bool(0 <= value <= 2**53)
