"""Checks of parameters: each says what was given and what is allowed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.text.tokenizer import Tokenizer

# Parameters that came after the first model files were written, with what models did before.
_LATER = {
    "half_life": None,
    "window": None,
    "max_parents": None,
    "min_df": 1,
    "correction": "additive",
}


def parameters_in_use(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that came later and are not used: files stay as they were."""
    return {
        name: value
        for name, value in parameters.items()
        if name not in _LATER or not is_default(value, _LATER[name])
    }


def check_number(name: str, value: Any) -> float:
    """Return a number.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} must be a number, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is too large: {shown(value)}") from None


def check_bound(name: str, value: Any, least: int) -> int:
    """Return a whole number.

    Raises
    ------
    InputError
        If it is none, or below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number from {least} on, not {shown(value)}")
    return min(int(value), 2**53)


def check_most(name: str, value: Any, least: int) -> int | None:
    """Return the most there may be of something; None is any number.

    Raises
    ------
    InputError
        If it is neither None nor a whole number from `least` on.
    """
    if value is None:
        return None
    try:
        return check_bound(name, value, least)
    except InputError as error:
        raise InputError(f"{name} must be None or{str(error).partition(' must be')[2]}") from None


def check_jobs(name: str, value: Any) -> int:
    """Return a number of threads: None is 1, and -1 one for each processor that may be used.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if value is None:
        return 1
    if isinstance(value, int) and value == -1:
        allowed = getattr(os, "sched_getaffinity", None)  # not on every system
        return len(allowed(0)) if allowed else os.cpu_count() or 1
    try:
        return min(check_bound(name, value, 1), 1024)
    except InputError:
        raise InputError(
            f"{name} must be None, -1 for all processors, or a number of threads from 1 on, "
            f"not {shown(value)}"
        ) from None


def check_above_zero(name: str, value: Any) -> float:
    """Return a number above 0.

    Raises
    ------
    InputError
        If it is none, or not finite.
    """
    number = check_number(name, value)
    if not (number > 0 and math.isfinite(number)):
        raise InputError(f"{name} must be a number above 0, not {shown(value)}")
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
        raise InputError(f"{name} must be a number from 0 on, not {shown(value)}")
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
        raise InputError(f"{name} must be a number from 0 to 2**52, not {shown(value)}")
    return weight


def check_flag(name: str, value: Any) -> bool:
    """Return a flag.

    Raises
    ------
    InputError
        If it is none.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def check_choice(name: str, value: Any) -> str:
    """Return a name; the core knows which there are.

    Raises
    ------
    InputError
        If it is no str.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be None or a name, not {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} has a lone surrogate, which is no text: {value!r}") from None
    return value


def check_one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return one of some names.

    Raises
    ------
    InputError
        If it is none of them.
    """
    if not (isinstance(value, str) and value in allowed):
        names = ", ".join(map(repr, allowed))
        raise InputError(f"{name} must be one of {names}, not {shown(value)}")
    return value


def check_model(name: str, value: Any) -> Any:
    """Return a model: whatever learns, predicts and is cloned.

    Raises
    ------
    InputError
        If it is none, or the class of one.
    """
    methods = ("learn_one", "predict_one", "clone")
    if isinstance(value, type) or not all(hasattr(value, method) for method in methods):
        raise InputError(f"{name} must be a model, as in {name}=MNB(), not {shown(value)}")
    return value


def is_default(value: Any, default: Any) -> bool:
    """Return whether a parameter has its default; what cannot be compared, as an array, has not."""
    try:
        return bool(value is default or value == default)
    except Exception:  # whatever the comparison of somebody's object raises
        return False


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
        f"not {shown(tokenizer)}"
    )


def is_weight(value: Any) -> bool:
    """Return whether a message may have this weight."""
    return isinstance(value, (int, float, np.number)) and bool(0 <= value <= 2**53)
