"""Columns as messages: each attribute's value is a word, and numbers fall into bins.

A word is `name=value`, with a backslash before each `=` and backslash of the name. Bins are of
equal width, a power of two, and begin at multiples of it: so a range that grows makes two old bins
one new bin, and what was counted stays exact.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.parameters import check_bound
from streamnb.text import frames, inputs

Words = dict[str, float]
Range = tuple[float, float]

# Of numbers that are all the same, or nearly, bins are no finer than this share of them.
_FINEST = 30
# No float is finer.
_LEAST = -1074
# No attribute has more values.
_MOST_VALUES = 2**32 - 1


class Columns:
    """How the attributes of a message become words, and the ranges of the numbers seen so far.

    Parameters
    ----------
    bins
        The most bins of a number, 2 or more.
    values
        Attribute → how many values it has, where that is known beforehand.

    Examples
    --------
    >>> columns = Columns(bins=10, values=None)
    >>> columns.ranges["age"] = (0.0, 99.0)
    >>> columns.read({"age": 41.5, "job": "clerk", "home": True, "note": None})
    {'age=[32.0, 48.0)': 1.0, 'job=clerk': 1.0, 'home=True': 1.0}
    """

    def __init__(self, bins: int, values: Mapping[str, int] | None) -> None:
        self.bins = check_bound("bins", bins, least=2)
        if values is not None and not isinstance(values, Mapping):
            raise InputError(
                f"values must map attributes to numbers of values, not {shown(values)}"
            )
        self.declared = {
            column_name(attribute): min(
                check_bound(f"values[{attribute!r}]", count, least=1), _MOST_VALUES
            )
            for attribute, count in (values or {}).items()
        }
        self.ranges: dict[str, Range] = {}

    def read(self, x: Any) -> Words:
        """Return the words of a message.

        Raises
        ------
        InputError
            If it is no mapping of attributes to values.
        """
        return self._words(x, self.ranges)

    def learn(self, store: Any, messages: Sequence[Any]) -> list[Words]:
        """Widen the ranges to hold these messages, and return their words.

        Raises
        ------
        InputError
            If one of them can't be read; nothing has changed.
        """
        ranges = self._widened(messages)
        words = [self._words(x, ranges or self.ranges) for x in messages]
        if ranges is not None:
            self.widen(store, ranges)
        return words

    def widen(self, store: Any, ranges: Mapping[str, Range]) -> None:
        """Make ranges at least as wide as these, and rename the bins of the store.

        That is a `_core.CountStore`: where numbers stay numbers there are no ranges.
        """
        names = {}
        for attribute, (low, high) in ranges.items():
            before = self.ranges.get(attribute)
            if before is None:
                self.ranges[attribute] = (low, high)
                continue
            after = min(low, before[0]), max(high, before[1])
            self.ranges[attribute] = after
            old, new = (_power(*each, self.bins) for each in (before, after))
            if old != new:
                first, last = (_place(value, old) for value in before)
                for place in range(first, last + 1):
                    coarse = place >> (new - old)
                    names[_bin(attribute, place, old)] = _bin(attribute, coarse, new)
        if names and store.n_words:
            store.rename(names)

    def covers(self, other: Columns) -> bool:
        """Return whether these ranges hold all numbers that the others do."""
        nothing = math.inf, -math.inf
        return all(
            self.ranges.get(name, nothing)[0] <= low and high <= self.ranges[name][1]
            for name, (low, high) in other.ranges.items()
        )

    def copy(self) -> Columns:
        """Return the same columns, to be widened apart from these."""
        columns = Columns(self.bins, None)
        columns.ranges = dict(self.ranges)
        return columns

    def _widened(self, messages: Iterable[Any]) -> dict[str, Range] | None:
        """Return the ranges with these messages; None if they are as before."""
        ranges = None
        for x in messages:
            for attribute, value in inputs.as_dict(x).items():
                if isinstance(value, (float, np.floating)) and value == value:
                    number = _finite(attribute, value)
                    name = column_name(attribute)
                    low, high = (ranges or self.ranges).get(name, (number, number))
                    if low <= number <= high and name in (ranges or self.ranges):
                        continue
                    if ranges is None:
                        ranges = dict(self.ranges)
                    ranges[name] = min(low, number), max(high, number)
        return ranges

    def _words(self, x: Any, ranges: Mapping[str, Range]) -> Words:
        if isinstance(x, str):
            raise InputError(f"with columns a message maps attributes to values, unlike {shown(x)}")
        words = {}
        for attribute, value in inputs.as_dict(x).items():
            if value is None:
                continue
            name = column_name(attribute)
            if isinstance(value, (float, np.floating)):
                if value != value or name not in ranges:
                    continue
                # Beyond the range is the outermost bin.
                low, high = ranges[name]
                power = _power(low, high, self.bins)
                number = min(max(_finite(attribute, value), low), high)
                words[_bin(name, _place(number, power), power)] = 1.0
            else:
                words[category(attribute, name, value)] = 1.0
        return words

    def batch(self, messages: Sequence[Words]) -> _core.Batch:
        """Return messages that were read as a batch for the core."""
        return _core.Batch(list(messages))


def category(attribute: Any, name: str, value: Any) -> str:
    """Return the word of a category: a str, bool or int as the value of the attribute so named.

    Raises
    ------
    InputError
        If it is something else.
    """
    if isinstance(value, str):
        return f"{name}={inputs.token_name(value)}"
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        return f"{name}={value}"
    raise InputError(
        f"the value of attribute {attribute!r} is {shown(value)} ({type(value).__name__}): "
        f"give a str, bool or int (a category), a float (a number), or None (missing)"
    )


def messages_of(X: Any, vocabulary: Sequence[Any] | None) -> tuple[list[Any], Any]:
    """Return the messages of a batch, and the pandas index of `X` (None if it has none).

    Raises
    ------
    InputError
        If `X` is no batch.
    """
    X = frames.rows(X)
    if isinstance(X, Mapping) or not (inputs.is_batch(X) or getattr(X, "ndim", 0) > 0):
        raise InputError(
            f"messages must be a list of mappings or a pandas DataFrame, not {type(X).__name__}"
        )
    messages = list(inputs.each(X, vocabulary))
    index = X.index if hasattr(X, "columns") or hasattr(X, "to_frame") else None
    return messages, index


def column_name(attribute: Any) -> str:
    """Return the name of an attribute, as it stands before the `=` of a word."""
    return _escaped(attribute if type(attribute) is str else inputs.token_name(attribute))


@functools.lru_cache(maxsize=4096)
def _escaped(attribute: str) -> str:
    name = inputs.token_name(attribute)
    if "=" in name or "\\" in name:
        return name.replace("\\", "\\\\").replace("=", "\\=")
    return name


def _finite(attribute: Any, value: Any) -> float:
    number = float(value)
    if math.isinf(number):
        raise InputError(f"the value of attribute {attribute!r} is {value!r}: no number for a bin")
    return number


def _power(low: float, high: float, bins: int) -> int:
    """Return the power of two that is the width of the bins of a range."""
    # Half the spread, as the difference of two numbers may be too large for one.
    half, largest = high / 2 - low / 2, max(-low, high)
    power = max(
        math.frexp(half)[1] - bins.bit_length() if half else _LEAST,
        math.frexp(largest)[1] - _FINEST if largest else _LEAST,
        _LEAST,
    )
    while _place(high, power) - _place(low, power) >= bins:
        power += 1
    return power


def _place(value: float, power: int) -> int:
    return math.floor(math.ldexp(value, -power))


def _bin(name: str, place: int, power: int) -> str:
    low, high = (
        math.ldexp(edge, power) if power < 960 else math.inf * edge for edge in (place, place + 1)
    )
    return f"{name}=[{low!r}, {high!r})"
