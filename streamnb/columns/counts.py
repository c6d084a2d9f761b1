"""What is counted of columns with numbers: categories in the core, exact sums for Gaussians."""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.columns.examples import Example, Examples, Row, Rows
from streamnb.columns.moments import NumberTable
from streamnb.columns.weights import Terms
from streamnb.errors import InputError


class AttributeCounts:
    """Counts of categories, moments of numbers, and recent examples.

    Parameters
    ----------
    native
        The counts of categories.
    bounds
        Bounds: `max_features` of words and of attributes with numbers, `index_size` of examples.
    """

    def __init__(self, native: _core.CountStore, bounds: Mapping[str, int]) -> None:
        self.native = native
        self.numbers = NumberTable(bounds["max_features"])
        self.examples = Examples(bounds["index_size"])
        # Weight of each class learned.
        self.learned: dict[int, float] = {}

    def learn(self, row: Row, class_id: int, weight: Any) -> None:
        """Learn one row."""
        self.native.learn(row.words, class_id, weight)
        if weight:
            self._learned(row, class_id, float(weight))

    def learn_many(
        self, batch: Rows, class_ids: array[int], weight: Any, start: int, stop: int, threads: int
    ) -> None:
        """Learn some rows of a batch."""
        words = _core.Batch([row.words for row in batch])
        self.native.learn_many(words, class_ids, weight, start, stop, threads)
        if weight:
            for row, class_id in zip(batch[start:stop], class_ids[start:stop], strict=True):
                self._learned(row, class_id, float(weight))

    def _learned(self, row: Row, class_id: int, weight: float) -> None:
        self.numbers.learn(row.numbers, class_id, weight)
        self.examples.learn(Example(row, class_id, weight))
        self.learned[class_id] = self.learned.get(class_id, 0.0) + weight

    def unlearn(self, row: Row, class_id: int, weight: Any) -> bool:
        """Unlearn one row; return whether its class has any left."""
        taken = _weight(weight)
        if not taken:
            return self.native.unlearn(row.words, class_id, weight)
        learned = self.learned.get(class_id, 0.0)
        evicted = learned - self.examples.weight_of(class_id)
        examples = self.examples.unlearn(row, class_id, taken, evicted)
        moments = self.numbers.without(row.numbers, class_id, taken)
        exists = self.native.unlearn(row.words, class_id, weight)
        self.numbers.replace(moments, class_id)
        self.examples.replace(examples)
        self.learned[class_id] = learned - taken
        if not exists:
            del self.learned[class_id]
        return exists

    def merge(self, other: AttributeCounts, class_ids: list[int]) -> None:
        """Learn what other counts have learned; its examples are the younger."""
        changed = self.numbers.merged(other.numbers, class_ids, 1)
        examples = [
            dataclasses.replace(each, class_id=class_ids[each.class_id])
            for each in other.examples.order
        ]
        learned = {class_ids[theirs]: weight for theirs, weight in other.learned.items()}
        self.native.merge(other.native, class_ids)
        self.numbers.change(changed)
        self.examples.replace([*self.examples.order, *examples])
        for class_id, weight in learned.items():
            self.learned[class_id] = self.learned.get(class_id, 0.0) + weight

    def subtract(self, other: AttributeCounts, class_ids: list[int]) -> None:
        """Unlearn what other counts have learned; of its examples, those that are still here."""
        changed = self.numbers.merged(other.numbers, class_ids, -1)
        self.native.subtract(other.native, class_ids)
        self.numbers.change(changed)
        for each in reversed(other.examples.order):
            mine = class_ids[each.class_id]
            kept = self.examples.unlearn(each.row, mine, each.weight, math.inf)
            self.examples.replace(kept)
        documents = np.frombuffer(self.native.counts()[2])
        self.learned = {i: float(n) for i, n in enumerate(documents) if n > 0}

    def terms(
        self,
        row: Row,
        order: list[int],
        scoring: _core.Scoring,
        twice: frozenset[str] = frozenset(),
        halved: _core.Scoring | None = None,
    ) -> tuple[list[float], Terms]:
        """Return ln P(c), and ln P(x_j|c) of each value, for each of the classes.

        Parameters
        ----------
        row
            The values.
        order
            The classes.
        scoring
            Of the categories.
        twice
            Attributes that are estimated as if each message had been learned twice.
        halved
            The scoring with half the smoothing, which does that for categories.
        """
        priors, words = self.native.explain(row.words, scoring)
        owners = dict(zip(row.words, row.attributes, strict=True))
        if twice and halved is not None:
            heavy = {word: 1.0 for word, name in owners.items() if name in twice}
            estimated = dict(self.native.explain(heavy, halved)[1]) if heavy else {}
            words = [(word, estimated.get(word, by_id)) for word, by_id in words]
        terms = [
            (word, owners[word], [by_id[class_id] for class_id in order]) for word, by_id in words
        ]
        for name, number in row.numbers.items():
            densities = self.numbers.log_densities(name, number, order, name in twice)
            if densities is not None:
                terms.append((name, name, densities))
        return [priors[class_id] for class_id in order], terms

    @property
    def n_cells(self) -> int:
        """Nonzero counts of categories, and Gaussians."""
        numbers = list(self.numbers.moments.values())
        return self.native.n_cells + sum(len(by_class) for by_class in numbers)

    def __sizeof__(self) -> int:
        # A Gaussian takes about 400 bytes, a value of an example about 100.
        values = sum(len(e.row.words) + len(e.row.numbers) for e in list(self.examples.order))
        return self.native.__sizeof__() + 400 * self.n_cells + 100 * values

    def state(self, places: Mapping[int, int]) -> dict[str, Any]:
        """Return what the core does not count, canonically; classes by their places."""
        return {"numbers": self.numbers.state(places), "examples": self.examples.state(places)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what `state` returned, beside the core's counts.

        Raises
        ------
        ValueError
            If it returned nothing like that; also an ArithmeticError, AttributeError, LookupError
            or TypeError.
        """
        documents = np.frombuffer(self.native.counts()[2]).tolist()
        self.numbers.restore(state["numbers"], len(documents))
        self.examples.restore(state["examples"], len(documents))
        self.learned = {i: n for i, n in enumerate(documents) if n > 0}


def _weight(weight: Any) -> float:
    """Return a weight that can be taken away.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        taken = float(weight)
    except (TypeError, ValueError, OverflowError):
        taken = math.nan
    if not 0 <= taken <= 2.0**53:
        raise InputError("the weight of a message must be a number from 0 to 2**53")
    return taken
