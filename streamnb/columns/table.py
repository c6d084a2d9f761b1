"""The state of models of attribute tables with numbers, and their scores.

The core counts categories. This module adds exact moments of numbers, recent rows and the weights
of attributes. It scores rows in Python: each attribute costs a few operations per class.
"""

from __future__ import annotations

import dataclasses
import json
import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.columns.examples import Example, Examples, ExampleTable
from streamnb.columns.moments import NumberTable
from streamnb.columns.reading import Row
from streamnb.columns.weights import AttributeWeights, Terms
from streamnb.errors import InputError, ModelFileError, shown
from streamnb.headers import refuse_constant
from streamnb.parameters import is_weight

Weighting = Callable[
    [ExampleTable, "AttributeTable", list[int], _core.ScoringConfig], AttributeWeights
]
"""Computes the weights of attributes.

It takes the examples of at least two classes, the counts, the class ids in the order of their
labels, and the scoring of categories.
"""


# With `window_size`: the window bounds words and attributes.
_UNBOUNDED = 2**53


class AttributeTable:
    """Everything that a model of attribute tables with numbers has learned.

    Parameters
    ----------
    categories
        The core's counts of categories.
    bounds
        `max_features` bounds words, and attributes with numbers; `index_size` bounds examples.
    windowed
        Whether only the examples count: a new one makes the oldest leave. They bound words and
        attributes then, because a pruned one could not leave exactly.

    Attributes
    ----------
    numbers
        Moments of the numbers of each attribute and class.
    examples
        Recent rows.
    in_use
        Weights of attributes.
    halved
        The scoring with half the smoothing, for attributes that count each row twice.
    order
        Class ids, in the order of their labels.
    """

    def __init__(
        self, categories: _core.CountStore, bounds: Mapping[str, int], windowed: bool
    ) -> None:
        self.categories = categories
        self.windowed = windowed
        self.numbers: NumberTable = NumberTable(bounds["max_features"])
        self.examples: Examples = Examples(bounds["index_size"])
        self.in_use: AttributeWeights = AttributeWeights()
        self.halved: _core.ScoringConfig | None = None
        self.order: list[int] = []
        # The rank of the label of each class.
        self._ranks: dict[int, int] = {}
        self._emptied: list[int] = []

    @classmethod
    def open(
        cls, tokenizer: _core.NativeTokenizer, options: Mapping[str, Any], snapshot: bytes | None
    ) -> AttributeTable:
        """Return an empty table with the options of a count store, or the table of a snapshot."""
        windowed = options.get("windowed", False)
        bounds = {name: options[name] for name in ("max_features", "index_size")}
        if windowed:
            bounds["max_features"] = _UNBOUNDED

        def empty() -> AttributeTable:
            # The core's index holds words only; examples are kept here.
            most = bounds["max_features"]
            native = _core.CountStore(tokenizer, max_features=most, columns=True)
            return cls(native, bounds, windowed)

        if snapshot is None:
            return empty()
        end = 8 + int.from_bytes(snapshot[:8], "little")
        try:
            kept = json.loads(snapshot[8:end], parse_constant=refuse_constant)
            if windowed:
                table, learned = empty(), Examples(bounds["index_size"])
                learned.restore(kept["examples"], len(kept["examples"]))
                for each in learned.order:
                    table.learn(each.row, each.class_id, each.weight)
            else:
                restored = _core.CountStore.restore(tokenizer, snapshot[end:])
                table = cls(restored, bounds, windowed)
                if not restored.has_settings_of(empty().categories):
                    raise ModelFileError("corrupt model file: counts and parameters disagree")
                classes = len(table.class_documents)
                table.numbers.restore(kept["numbers"], classes)
                table.examples.restore(kept["examples"], classes)
            if kept["weights"] is not None:
                table.in_use = AttributeWeights.restored(kept["weights"])
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"corrupt model file: invalid table state: {error}") from error
        return table

    def snapshot(self, statistics: bool) -> bytes:
        """Return the state as canonical bytes, with the weights in use if `statistics`."""
        ranks = {class_id: rank for rank, class_id in enumerate(self.order)}
        kept = {
            # In a window, all counts follow from the examples.
            "numbers": None if self.windowed else self.numbers.state(ranks),
            "examples": self.examples.state(ranks),
            "weights": self.in_use.state(ranks) if statistics else None,
        }
        encoded = json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()
        head = len(encoded).to_bytes(8, "little")
        counts = b"" if self.windowed else self.categories.snapshot(statistics=False)
        return head + encoded + counts

    # --- learning -----------------------------------------------------------------------------

    def learn(self, row: Any, class_id: int, weight: Any) -> None:
        """Learn one row."""
        self.categories.learn(row.words, class_id, weight)
        if weight:
            self._learn(row, class_id, float(weight))

    def learn_many(
        self, rows: Any, class_ids: array[int], weight: Any, start: int, stop: int, threads: int
    ) -> None:
        """Learn the rows of a batch from `start` up to `stop`."""
        words = _core.Batch([row.words for row in rows])
        self.categories.learn_many(words, class_ids, weight, start, stop, threads)
        if weight:
            for row, class_id in zip(rows[start:stop], class_ids[start:stop], strict=True):
                self._learn(row, class_id, float(weight))

    def _learn(self, row: Row, class_id: int, weight: float) -> None:
        self.numbers.learn(row.numbers, class_id, weight)
        self.examples.order.append(Example(row, class_id, weight))
        self._evict()

    def _evict(self) -> None:
        """Remove the oldest examples if there are too many; in a window, unlearn them."""
        while len(self.examples.order) > self.examples.most:
            oldest = self.examples.order.popleft()
            if self.windowed:
                numbers, class_id = oldest.row.numbers, oldest.class_id
                left = self.numbers.without(numbers, class_id, oldest.weight)
                if not self.categories.unlearn(oldest.row.words, class_id, oldest.weight):
                    self._emptied.append(class_id)
                self.numbers.replace(left, class_id)

    def take_emptied(self) -> list[int]:
        """Return the classes whose last row has left the window since the last call."""
        emptied, self._emptied = self._emptied, []
        return [class_id for class_id in dict.fromkeys(emptied) if class_id not in self.learned]

    @property
    def indexed_weights(self) -> list[float]:
        """The weights of the recent rows, oldest first."""
        return [each.weight for each in self.examples.order]

    @property
    def learned(self) -> dict[int, float]:
        """The weight of the rows of each class that has any."""
        return {i: n for i, n in enumerate(self.class_documents) if n > 0}

    def unlearn(self, row: Any, class_id: int, weight: Any) -> bool:
        """Unlearn one row; return whether its class has rows left. An error changes nothing."""
        if not is_weight(weight):
            raise InputError(
                f"the weight of a message must be a number from 0 to 2**53, not {shown(weight)}"
            )
        taken = float(weight)
        if not taken:
            return self.categories.unlearn(row.words, class_id, weight)
        evicted = self.learned.get(class_id, 0.0) - self.examples.weight_of(class_id)
        examples = self.examples.unlearn(row, class_id, taken, evicted)
        moments = self.numbers.without(row.numbers, class_id, taken)
        exists = self.categories.unlearn(row.words, class_id, weight)
        self.numbers.replace(moments, class_id)
        self.examples.replace(examples)
        return exists

    def merge(self, other: AttributeTable, class_ids: list[int]) -> None:
        """Add the state of another table, whose examples are treated as the more recent.

        `class_ids` has the class id here of each class id there.
        """
        changed = self.numbers.merged(other.numbers, class_ids, 1)
        examples = [
            dataclasses.replace(each, class_id=class_ids[each.class_id])
            for each in other.examples.order
        ]
        self.categories.merge(other.categories, class_ids)
        self.numbers.change(changed)
        self.examples.replace([*self.examples.order, *examples])
        self._evict()

    def subtract(self, other: AttributeTable, class_ids: list[int]) -> None:
        """Remove the state of another table, and its examples that are still in the index.

        An error changes nothing.
        """
        changed = self.numbers.merged(other.numbers, class_ids, -1)
        self.categories.subtract(other.categories, class_ids)
        self.numbers.change(changed)
        for each in reversed(other.examples.order):
            mine = class_ids[each.class_id]
            self.examples.replace(self.examples.unlearn(each.row, mine, each.weight, math.inf))

    def set_ranks(self, ranks: list[tuple[int, int]]) -> None:
        """Set the ranks of the labels of some classes."""
        self.categories.set_ranks(ranks)
        self._ranks = self._ranks | dict(ranks)  # swapped: other threads read it
        self.order = sorted(self.learned, key=self._ranks.__getitem__)
        self.in_use = self.in_use.of_classes(self.order)

    def refit(self, weighting: Weighting, scoring: _core.ScoringConfig) -> None:
        """Compute the weights of attributes from the examples, and use them from now on."""
        # During a batch, some classes may not have a rank yet.
        order = sorted(self.learned, key=lambda i: (i not in self._ranks, self._ranks.get(i, i)))
        rows = ExampleTable.of(list(self.examples.order), order)
        self.in_use = (
            weighting(rows, self, order, scoring) if rows.informative else AttributeWeights()
        )

    # --- scores -------------------------------------------------------------------------------

    def _terms(self, row: Row, scoring: _core.ScoringConfig) -> tuple[list[float], Terms]:
        """Return ln P(c), and ln P(x_j|c) of each value, for the classes in their order."""
        order, twice = self.order, self.in_use.twice
        priors, words, _ = self.categories.explain(row.words, scoring)
        owners = dict(zip(row.words, row.attributes, strict=True))
        if twice and self.halved is not None:
            heavy = {word: 1.0 for word, name in owners.items() if name in twice}
            estimated = dict(self.categories.explain(heavy, self.halved)[1]) if heavy else {}
            words = [(word, estimated.get(word, by_id)) for word, by_id in words]
        terms = [
            (word, owners[word], [by_id[class_id] for class_id in order]) for word, by_id in words
        ]
        for name, number in row.numbers.items():
            densities = self.numbers.log_densities(name, number, order, name in twice)
            if densities is not None:
                terms.append((name, name, densities))
        return [priors[class_id] for class_id in order], terms

    def _ordered_scores(self, row: Row, scoring: _core.ScoringConfig) -> list[float]:
        priors, terms = self._terms(row, scoring)
        return self.in_use.scores(self.order, priors, terms)

    def _by_id(self, values: Sequence[float]) -> list[float]:
        found = [0.0] * len(self._ranks)
        for class_id, value in zip(self.order, values, strict=True):
            found[class_id] = value
        return found

    def predict(self, row: Any, scoring: _core.ScoringConfig) -> int | None:
        """Return the class with the highest score, the first of equal ones; None without any."""
        if not self.order:
            return None
        scores = self._ordered_scores(row, scoring)
        return self.order[scores.index(max(scores))]

    def scores(self, row: Row, scoring: _core.ScoringConfig, probable: bool = True) -> list[float]:
        """Return the score of each class id. Their softmax gives the probabilities."""
        return self._by_id(self._ordered_scores(row, scoring))

    def probabilities(self, row: Row, scoring: _core.ScoringConfig) -> list[float]:
        """Return the probability of each class id."""
        scores = self._ordered_scores(row, scoring)
        highest = max(scores, default=0.0)
        raised = [math.exp(score - highest) for score in scores]
        total = sum(raised)
        return self._by_id([share / total for share in raised])

    def predict_many(
        self, rows: Any, scoring: _core.ScoringConfig, labels: list[Any], threads: int
    ) -> list[Any]:
        """Return the label of each row, on one thread."""
        found = [self.predict(row, scoring) for row in rows]
        return [None if class_id is None else labels[class_id] for class_id in found]

    def scores_many(
        self, rows: Any, scoring: _core.ScoringConfig, threads: int, probable: bool
    ) -> bytes:
        """Return the scores of each row as float64: shape `(rows, class ids)`."""
        return np.array([self.scores(row, scoring) for row in rows], dtype=float).tobytes()

    def predictions_many(self, rows: Any, scoring: _core.ScoringConfig, threads: int) -> bytes:
        """Return scores twice, then probabilities: float64, shape `(rows, 3, class ids)`."""
        found = [
            [self.scores(row, scoring)] * 2 + [self.probabilities(row, scoring)] for row in rows
        ]
        return np.array(found, dtype=float).tobytes()

    def explain(
        self, row: Any, scoring: _core.ScoringConfig
    ) -> tuple[list[float], list[Any], list[Any]]:
        """Return the baseline, the contribution of each value, and no corrections."""
        priors, terms = self._terms(row, scoring)
        baseline, parts = self.in_use.explain(self.order, priors, terms)
        return self._by_id(baseline), [(name, self._by_id(part)) for name, part in parts], []

    # --- sizes --------------------------------------------------------------------------------

    @property
    def class_documents(self) -> list[float]:
        """The weight of the rows of each class, by class id."""
        return self.categories.class_documents

    @property
    def n_documents(self) -> float:
        """Weight of the rows learned."""
        return self.categories.n_documents

    @property
    def n_cells(self) -> int:
        """Nonzero counts of categories, and Gaussians."""
        numbers = list(self.numbers.moments.values())
        return self.categories.n_cells + sum(len(by_class) for by_class in numbers)

    def __sizeof__(self) -> int:
        # A Gaussian takes about 400 bytes, and a value of an example about 100.
        values = sum(len(e.row.words) + len(e.row.numbers) for e in list(self.examples.order))
        return self.categories.__sizeof__() + 400 * self.n_cells + 100 * values
