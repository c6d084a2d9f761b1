"""Typed readers of numbers in the headers of model files: kind, range and finiteness."""

from __future__ import annotations

import math
from typing import Any

from streamnb.errors import ModelFileError, shown

MOST = 2**63 - 1
"""The largest whole number in a header."""


def read_whole(what: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """Return a whole number of a header.

    Raises
    ------
    ModelFileError
        If it is of another type, or out of range.

    Examples
    --------
    >>> read_whole("the bin", 3, most=9)
    3
    >>> read_whole("the bin", 10, most=9)
    Traceback (most recent call last):
    ...
    streamnb.errors.ModelFileError: corrupt model file: the bin must be a whole number from 0 to \
9, not 10
    """
    if type(value) is not int or not least <= value <= most:
        raise ModelFileError(
            f"corrupt model file: {what} must be a whole number from {least} to {most}, "
            f"not {shown(value)}"
        )
    return value


def read_number(what: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number of a header.

    Raises
    ------
    ModelFileError
        If it is of another type, out of range, infinite or NaN.
    """
    is_number = type(value) in (int, float) and least <= value <= most
    if not is_number or not math.isfinite(found := float(value)):
        raise ModelFileError(
            f"corrupt model file: {what} must be a finite number from {least:g} to {most:g}, "
            f"not {shown(value)}"
        )
    return found


def refuse_constant(name: str) -> Any:
    """Refuse the constants that JSON does not have, but Python's reader accepts."""
    raise ValueError(f"{name} is not a number of JSON")
