"""Rows of attribute tables: each value becomes a word, and numbers fall into bins or stay numbers.

A word is `name=value`, with a backslash before each `=` and backslash of the name. Bins have equal
widths, which are powers of two, and begin at multiples of the width. So when a range grows, two
old bins become one new bin, and counts stay exact.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.columns.moments import LARGEST, check_number
from streamnb.errors import InputError, shown
from streamnb.parameters import check_bound
from streamnb.text import frames, inputs

Words = dict[str, float]
Range = tuple[float, float]

# For nearly equal numbers, a bin is at least 2**-30 of the largest of them.
_FINEST = 30
# Exponent of the smallest float.
_LEAST = -1074
# Maximum number of values of an attribute.
_MOST_VALUES = 2**32 - 1


class Columns:
    """Turns the attributes of a message into words; keeps the ranges of the numbers learned.

    An attribute has at most `bins` bins; `values` are the known numbers of values by attribute.

    Examples
    --------
    >>> columns = Columns(bins=10, values=None)
    >>> columns.ranges["age"] = (0.0, 99.0)
    >>> columns.read({"age": 41.5, "job": "clerk", "home": True, "note": None})
    {'age=[32.0, 48.0)': 1.0, 'job=clerk': 1.0, 'home=True': 1.0}
    """

    def __init__(self, bins: int, values: Mapping[str, int] | None) -> None:
        self.bins: int = check_bound("bins", bins, least=2)
        if values is not None and not isinstance(values, Mapping):
            raise InputError(
                f"values must map attributes to numbers of values, not {shown(values)}"
            )
        self.declared: dict[str, int] = {
            column_name(attribute): min(
                check_bound(f"values[{attribute!r}]", count, least=1), _MOST_VALUES
            )
            for attribute, count in (values or {}).items()
        }
        self.ranges: dict[str, Range] = {}

    def read(self, x: Any) -> Words:
        """Return the words of a message."""
        return self._words(x, self.ranges)

    def learn(self, store: Any, messages: Sequence[Any]) -> list[Words]:
        """Widen the ranges to contain these messages, and return their words, or change nothing."""
        ranges = self._widened(messages)
        words = [self._words(x, ranges or self.ranges) for x in messages]
        if ranges is not None:
            self.widen(store, ranges)
        return words

    def widen(self, store: Any, ranges: Mapping[str, Range]) -> None:
        """Widen ranges to contain these, and rename the bins in the core's store."""
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
        """Return whether these ranges contain the ranges of other columns."""
        nothing = math.inf, -math.inf
        return all(
            self.ranges.get(name, nothing)[0] <= low and high <= self.ranges[name][1]
            for name, (low, high) in other.ranges.items()
        )

    def copy(self) -> Columns:
        """Return columns with a copy of the ranges."""
        columns = Columns(self.bins, None)
        columns.ranges = dict(self.ranges)
        return columns

    def _widened(self, messages: Iterable[Any]) -> dict[str, Range] | None:
        """Return the ranges including these messages; None if they do not change."""
        ranges = None
        for x in messages:
            for attribute, value, is_number in _values(x):
                if not is_number:
                    continue
                number, name = _finite(attribute, value), column_name(attribute)
                low, high = (ranges or self.ranges).get(name, (math.inf, -math.inf))
                if not low <= number <= high:
                    ranges = ranges or dict(self.ranges)
                    ranges[name] = min(low, number), max(high, number)
        return ranges

    def _words(self, x: Any, ranges: Mapping[str, Range]) -> Words:
        words = {}
        for attribute, value, is_number in _values(x):
            name = column_name(attribute)
            if not is_number:
                words[category(attribute, name, value)] = 1.0
            elif name in ranges:
                # Numbers beyond the range go into the outermost bin.
                low, high = ranges[name]
                power = _power(low, high, self.bins)
                number = min(max(_finite(attribute, value), low), high)
                words[_bin(name, _place(number, power), power)] = 1.0
        return words

    def batch(self, messages: Sequence[Any]) -> Any:
        """Return messages read before as a batch."""
        return _core.Batch(list(messages))


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A message whose numbers stay numbers.

    `words` are the words of its categories, each with count 1, and `attributes` their attributes.
    Rows with another order of attributes are equal.
    """

    words: dict[str, float]
    attributes: tuple[str, ...] = dataclasses.field(compare=False)
    numbers: dict[str, float]

    def __iter__(self) -> Iterator[str]:
        """Yield the words, and the attributes of the numbers."""
        return itertools.chain(self.words, self.numbers)


class NumberColumns(Columns):
    """Turns categories into words, and keeps numbers.

    Examples
    --------
    >>> row = NumberColumns(None).read({"age": 41.5, "job": "clerk", "home": True, "note": None})
    >>> row.words, row.numbers
    ({'job=clerk': 1.0, 'home=True': 1.0}, {'age': 41.5})
    """

    def __init__(self, values: Mapping[str, int] | None) -> None:
        super().__init__(2, values)

    def read(self, x: Any) -> Any:
        """Return the row of a message; raise the errors of `Columns.read`."""
        words: dict[str, str] = {}
        numbers = {}
        for attribute, value, is_number in _values(x):
            name = column_name(attribute)
            if is_number:
                numbers[name] = check_number(attribute, value)
            else:
                words[category(attribute, name, value)] = name
        return Row(dict.fromkeys(words, 1.0), tuple(words.values()), numbers)

    def learn(self, store: Any, messages: Sequence[Any]) -> list[Any]:
        """Return the rows of messages."""
        return [self.read(x) for x in messages]

    def batch(self, messages: Sequence[Any]) -> Any:
        """Return rows as a batch."""
        return list(messages)


def _values(x: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Yield the attributes and values of a message that are not missing, and which are numbers."""
    if isinstance(x, str):
        raise InputError(
            f"this model reads tables: a message must map attributes to values, not be a text: "
            f"{shown(x)}"
        )
    for attribute, value in inputs.as_dict(x).items():
        is_number = isinstance(value, (float, np.floating))
        if value is not None and not (is_number and value != value):
            yield attribute, value, is_number


def category(attribute: Any, name: str, value: Any) -> str:
    """Return the word of a category: the value (str, bool or int) of the attribute `name`."""
    if isinstance(value, str):
        return f"{name}={inputs.token_name(value)}"
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        return f"{name}={value}"
    raise InputError(
        f"the value of attribute {attribute!r} is {shown(value)} ({type(value).__name__}): "
        f"give a str, bool or int (a category), a float (a number), or None (missing)"
    )


def attributes_of(
    record: Mapping[str, Any], categories: Collection[str] = (), typed: bool = True
) -> dict[str, str | bool | float | None]:
    """Return the attributes of a record of a file or a stream, for a model of tables.

    Every number is a float, because the kind of an attribute must not depend on how a number is
    written. Texts and booleans are categories, and so is every value of the attributes
    `categories`. Null, NaN and an empty text are missing.

    Parameters
    ----------
    record
        Values by attribute.
    categories
        Attributes whose numbers are names, such as postal codes.
    typed
        Whether values have types, as in JSON. Otherwise texts of numbers are numbers, as in CSV.

    Raises
    ------
    InputError
        If a value is an object or an array, or a number is too large.

    Examples
    --------
    >>> attributes_of({"age": 41, "job": "clerk", "code": 8, "note": ""}, categories=["code"])
    {'age': 41.0, 'job': 'clerk', 'code': '8', 'note': None}
    >>> attributes_of({"age": "41", "job": "clerk"}, typed=False)
    {'age': 41.0, 'job': 'clerk'}
    """
    return {name: _attribute(name, value, categories, typed) for name, value in record.items()}


def _attribute(
    name: str, value: Any, categories: Collection[str], typed: bool
) -> str | bool | float | None:
    if value is None or value != value:
        return None
    if not isinstance(value, (str, bool, int, float)):
        raise InputError(
            f"the value of attribute {name!r} must be a text, a number, true, false or null, not "
            f"{shown(value)}"
        )
    if isinstance(value, str):
        if not value.strip():
            return None
        if typed or name in categories or (number := _number(value)) is None:
            return value
        return None if number != number else check_number(name, number)
    if name in categories:
        return json.dumps(value)
    if isinstance(value, bool):
        return value
    # A large integer is not a float.
    number = value if abs(value) < LARGEST else math.inf if value > 0 else -math.inf
    return check_number(name, number)


def _number(text: str) -> float | None:
    """Return the number that a text is, if any; Python also reads `1_000`."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def messages_of(X: Any, vocabulary: Sequence[Any] | None) -> tuple[list[Any], Any]:
    """Return the messages of a batch, and the pandas index of `X` (None if it has none)."""
    is_pandas = frames.frame_names(X) is None and (hasattr(X, "columns") or hasattr(X, "to_frame"))
    index = getattr(X, "index", None) if is_pandas else None
    X = frames.rows(X)
    if isinstance(X, Mapping) or not (inputs.is_batch(X) or getattr(X, "ndim", 0) > 0):
        raise InputError(
            f"messages must be a list of mappings or a pandas DataFrame, not {type(X).__name__}"
        )
    return list(inputs.each(X, vocabulary)), index


def column_name(attribute: Any) -> str:
    """Return the name of an attribute, escaped as in words."""
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
        raise InputError(f"the value of attribute {attribute!r} is {value!r}: give a finite number")
    return number


def _power(low: float, high: float, bins: int) -> int:
    """Return the exponent of the bin width of a range; the width is a power of two."""
    # Half the spread: the difference itself may overflow.
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
