"""Checks of parameters.

Each check takes the name and the value of a parameter, and returns the checked value. It raises an
`InputError` that names the parameter, the value given and the values allowed.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.text.tokenizer import Tokenizer

Check = Callable[[str, Any], Any]
"""Takes the name and the value of a parameter and returns the checked value."""


@dataclasses.dataclass(frozen=True)
class Checked:
    """A dataclass that applies the `check` in the metadata of each field to its value."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if check := field.metadata.get("check"):
                object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))


def checked(check: Check, **options: Any) -> Any:
    """Return a field of a `Checked` dataclass; `options` are those of `dataclasses.field`."""
    return dataclasses.field(metadata={"check": check}, **options)


def check_number(name: str, value: Any) -> float:
    """Return a number as a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} must be a number, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is too large: {shown(value)}") from None


def check_bound(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`; above 2**53 it becomes 2**53."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        allowed = f"from {least} " + ("on" if most is None else f"to {most:,}")
        raise InputError(f"{name} must be a whole number {allowed}, not {shown(value)}")
    return min(int(value), 2**53)


def check_jobs(name: str, value: Any) -> int:
    """Return a number of threads: None means 1, and -1 one for each available processor."""
    if value is None:
        return 1
    if isinstance(value, int) and value == -1:
        allowed = getattr(os, "sched_getaffinity", None)  # some systems do not have it
        return len(allowed(0)) if allowed else os.cpu_count() or 1
    try:
        return min(check_bound(name, value, 1), 1024)
    except InputError:
        raise InputError(
            f"{name} must be None, -1 for all processors, or a number of threads from 1 on, "
            f"not {shown(value)}"
        ) from None


def within(allowed: str, is_allowed: Callable[[float], bool]) -> Callable[[str, Any], float]:
    """Return the check for a finite number that fulfils a condition, which `allowed` states."""

    def checked(name: str, value: Any) -> float:
        number = check_number(name, value)
        if not (is_allowed(number) and math.isfinite(number)):
            raise InputError(f"{name} must be {allowed}, not {shown(value)}")
        return number

    return checked


check_above_zero: Callable[[str, Any], float] = within(
    "a number above 0", lambda number: number > 0
)
check_from_zero: Callable[[str, Any], float] = within(
    "a number from 0 on", lambda number: number >= 0
)
check_share: Callable[[str, Any], float] = within(
    "a share from 0 to 1", lambda number: 0 <= number <= 1
)


def check_flag(name: str, value: Any) -> bool:
    """Return a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def check_model(name: str, value: Any) -> Any:
    """Return a model: any object that learns, predicts and can be cloned."""
    methods = ("learn_one", "predict_one", "clone")
    if isinstance(value, type) or not all(hasattr(value, method) for method in methods):
        raise InputError(f"{name} must be a model, as in {name}=MNB(), not {shown(value)}")
    return value


def whole(least: int, most: int | None = None) -> Check:
    """Return the check for a whole number from `least` to `most`; None for no maximum."""
    return functools.partial(check_bound, least=least, most=most)


def optional(check: Check) -> Check:
    """Return the check for None or the values of another check."""

    def checked(name: str, value: Any) -> Any:
        try:
            return None if value is None else check(name, value)
        except InputError as error:
            allowed = str(error).partition(" must be")[2]
            raise InputError(f"{name} must be None or{allowed}") from None

    return checked


def one_of(*allowed: str) -> Check:
    """Return the check for one of these names."""

    def checked(name: str, value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        names = ", ".join(map(repr, allowed))
        raise InputError(f"{name} must be one of {names}, not {shown(value)}")

    return checked


def number_or(
    names: tuple[str, ...], allowed: str, least: float = -math.inf, most: float = math.inf
) -> Callable[[str, Any], float | str]:
    """Return the check for a number in a range or one of some names; `allowed` states both."""

    def checked(name: str, value: Any) -> float | str:
        if not isinstance(value, str):
            number = check_number(name, value)
            if least <= number <= most:
                return number
        elif value in names:
            return value
        raise InputError(f"{name} must be {allowed}, not {shown(value)}")

    return checked


def is_default(value: Any, default: Any) -> bool:
    """Return whether a parameter has its default; values that cannot be compared have not."""
    try:
        return bool(value is default or value == default)
    except Exception:  # arrays, and objects whose comparison raises
        return False


def check_tokenizer(
    tokenizer: Any, default: Tokenizer
) -> tuple[_core.NativeTokenizer, Callable[[str], Iterable[Any]] | None]:
    """Return the native tokenizer to use, and the user's function if the tokenizer is one.

    Parameters
    ----------
    tokenizer
        A `Tokenizer`, a function, or None for the default.
    default
        The tokenizer to use for None.
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
