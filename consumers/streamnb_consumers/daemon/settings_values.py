"""What a setting may be: readers of values, from TOML or from text, that say what is allowed.

Each raises ValueError or TypeError for anything else; whoever calls says which setting it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = [
    "flag",
    "header",
    "labels",
    "name",
    "number",
    "one_of",
    "optional",
    "text",
    "topic",
    "whole",
]


def text(value: Any) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def topic(value: Any) -> str:
    """Read the name of a topic, by Kafka's rules; `{kind}` stands for sms or spam."""
    name = text(value)
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", name.replace("{kind}", "spam")):
        raise ValueError("must be 1 to 249 letters, digits, dots, underscores or hyphens")
    if name in (".", ".."):
        raise ValueError("must be more than dots")
    return name


def name(value: Any) -> str:
    """Read a name: letters that can be seen."""
    name = text(value)
    if not name.strip() or not name.isprintable():
        raise ValueError("must be a name")
    return name


def header(value: Any) -> str:
    """Read the name of a header of mail."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,75}", text(value)):
        raise ValueError("must be the name of a header: letters, digits and hyphens")
    return str(value)


def optional(read: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a reader that takes an empty string too."""
    return lambda value: "" if value == "" else read(value)


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return a reader of one of several words."""

    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return str(value)

    return read


def labels(value: Any) -> tuple[str, ...]:
    """Read labels: a list, or a string with commas."""
    found = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if not isinstance(found, (list, tuple)) or not all(isinstance(one, str) for one in found):
        raise ValueError("must be labels, separated by commas")
    return tuple(one for one in found if one)


def whole(least: int, most: int = 2**53) -> Callable[[Any], int]:
    """Return a reader of whole numbers within bounds."""

    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least:,} to {most:,}")
        return number

    return read


def flag(value: Any) -> bool:
    """Read true or false."""
    found = {"true": True, "false": False}.get(str(value).lower())
    if found is None:
        raise ValueError("must be true or false")
    return found


def number(least: float, most: float) -> Callable[[Any], float]:
    """Return a reader of numbers within bounds."""

    def read(value: Any) -> float:
        number = float(value) if isinstance(value, (str, int)) else value
        if not isinstance(number, float) or isinstance(value, bool) or not least <= number <= most:
            raise ValueError(f"must be a number from {least:g} to {most:g}")
        return number

    return read
