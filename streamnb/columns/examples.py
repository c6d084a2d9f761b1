"""Rows of columns, and the bounded index of the most recent ones with their labels."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamnb.columns.moments import check_number
from streamnb.columns.reading import Columns, category, column_name
from streamnb.errors import InputError, NotLearnedError
from streamnb.statistics.store import AnyStore
from streamnb.text import inputs


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A message of columns.

    Attributes
    ----------
    words
        The words of its categories, each once: what the core counts.
    attributes
        The attribute of each word. The words name them too, so rows are compared without: that two
        messages name their attributes in another order makes no other row.
    numbers
        The numbers, by attribute.
    """

    words: dict[str, float]
    attributes: tuple[str, ...] = dataclasses.field(compare=False)
    numbers: dict[str, float]


class Rows(list[Row]):
    """A batch of rows."""


class NumberColumns(Columns):
    """How the attributes of a message become words, where numbers stay numbers.

    Parameters
    ----------
    values
        Attribute → how many values it has, where that is known beforehand.

    Examples
    --------
    >>> row = NumberColumns(None).read({"age": 41.5, "job": "clerk", "home": True, "note": None})
    >>> row.words, row.numbers
    ({'job=clerk': 1.0, 'home=True': 1.0}, {'age': 41.5})
    """

    def __init__(self, values: Mapping[str, int] | None) -> None:
        super().__init__(2, values)

    def read(self, x: Any) -> Any:
        """Return the row of a message.

        Raises
        ------
        InputError
            If it is no mapping of attributes to values.
        """
        if isinstance(x, str):
            raise InputError(f"with columns a message maps attributes to values, unlike {x!r}")
        words: dict[str, str] = {}
        numbers = {}
        for attribute, value in inputs.as_dict(x).items():
            if value is None:
                continue
            name = column_name(attribute)
            if isinstance(value, (float, np.floating)):
                if value == value:
                    numbers[name] = check_number(attribute, value)
            else:
                words[category(attribute, name, value)] = name
        return Row(dict.fromkeys(words, 1.0), tuple(words.values()), numbers)

    def learn(self, store: AnyStore, messages: Sequence[Any]) -> Any:
        """Return the rows of messages."""
        return [self.read(x) for x in messages]

    def batch(self, messages: Sequence[Any]) -> Any:
        """Return rows as a batch."""
        return Rows(messages)


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """A row that was learned."""

    row: Row
    class_id: int
    weight: float


class Examples:
    """The most recent rows, oldest first.

    Parameters
    ----------
    most
        How many are kept: past it the oldest are evicted. 0 or more.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.order: deque[Example] = deque(maxlen=most)

    def learn(self, example: Example) -> None:
        """Append an example."""
        self.order.append(example)

    def unlearn(self, row: Row, class_id: int, weight: float, evicted: float) -> list[Example]:
        """Return the examples without one of them: the newest that is the same.

        Parameters
        ----------
        row, class_id, weight
            What was learned. Parts of several are taken until the weight is made up.
        evicted
            The weight of the class that is no more in the index.

        Raises
        ------
        NotLearnedError
            If it was neither kept nor can have been evicted.
        """
        left, kept = weight, []
        for example in reversed(self.order):
            if left > 0 and example.class_id == class_id and example.row == row:
                taken = min(left, example.weight)
                left -= taken
                if example.weight > taken:
                    kept.append(dataclasses.replace(example, weight=example.weight - taken))
            else:
                kept.append(example)
        if left > evicted + 1e-9 * weight:
            raise NotLearnedError("no such message was learned with that label and weight")
        return kept[::-1]

    def replace(self, examples: Sequence[Example]) -> None:
        """Keep these instead."""
        self.order = deque(examples, maxlen=self.most)

    def weight_of(self, class_id: int) -> float:
        """Return the weight of the examples of a class."""
        return sum(each.weight for each in list(self.order) if each.class_id == class_id)

    def state(self, ranks: Mapping[int, int]) -> list[Any]:
        """Return everything, canonically; classes by their ranks."""
        return [
            [
                sorted(zip(each.row.words, each.row.attributes, strict=True)),
                {name: number.hex() for name, number in each.row.numbers.items()},
                ranks[each.class_id],
                each.weight.hex(),
            ]
            for each in self.order
        ]

    def restore(self, state: Sequence[Any], classes: int) -> None:
        """Take what `state` returned.

        Raises
        ------
        ValueError
            If it returned nothing like that.
        """
        for words, numbers, rank, weight in state:
            row = Row(
                {str(word): 1.0 for word, _ in words},
                tuple(str(attribute) for _, attribute in words),
                {name: check_number(name, float.fromhex(each)) for name, each in numbers.items()},
            )
            example = Example(row, int(rank), float.fromhex(weight))
            if not (0 <= example.class_id < classes and 0 < example.weight <= 2.0**53):
                raise ValueError("an example of an unknown class or weight")
            self.learn(example)
