"""The store of models of columns with numbers, which stands in for the core's.

It does what `_core.CountStore` does for texts, message by message, in Python: each attribute costs
a few operations for each class.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb import _core
from streamnb.columns.counts import AttributeCounts
from streamnb.columns.examples import Row, Rows
from streamnb.columns.fits import Weighting
from streamnb.columns.weights import AttributeWeights, Terms
from streamnb.errors import ModelFileError


class AttributeStore:
    """Counts of columns, and the weights in use.

    Parameters
    ----------
    native
        The counts of categories.
    bounds
        Bounds: `max_features` of words and of attributes with numbers, `index_size` of examples.
    """

    def __init__(self, native: _core.CountStore, bounds: Mapping[str, int]) -> None:
        self.counted = AttributeCounts(native, bounds)
        self.bounds = dict(bounds)
        self.in_use = AttributeWeights()
        # The scoring with half the smoothing, for attributes that count each message twice.
        self.halved: _core.Scoring | None = None
        # The rank of each class among the labels, and the classes learned in that order.
        self.ranks: dict[int, int] = {}
        self.order: list[int] = []

    # --- learning -----------------------------------------------------------------------------

    def learn(self, row: Row, class_id: int, weight: Any) -> None:
        """Learn one row."""
        self.counted.learn(row, class_id, weight)

    def learn_known(self, row: Row, handle: int, weight: Any) -> bool:
        """Return False: rows are read before they are learned, by one thread at a time."""
        return False

    def learn_many(
        self, batch: Rows, class_ids: array[int], weight: Any, start: int, stop: int, threads: int
    ) -> None:
        """Learn some rows of a batch."""
        self.counted.learn_many(batch, class_ids, weight, start, stop, threads)

    def expect_times(self, times: list[float]) -> None:
        """Do nothing: columns have no half-life."""

    def have_documents(self, class_ids: list[int]) -> list[bool]:
        """Return of each of some classes whether it has rows."""
        return [self.counted.learned.get(class_id, 0.0) > 0 for class_id in class_ids]

    def unlearn(self, row: Row, class_id: int, weight: Any) -> bool:
        """Unlearn one row; return whether its class has any left."""
        return self.counted.unlearn(row, class_id, weight)

    def merge(self, other: AttributeStore, class_ids: list[int]) -> None:
        """Learn what another store has learned; its examples are the younger."""
        self.counted.merge(other.counted, class_ids)

    def subtract(self, other: AttributeStore, class_ids: list[int]) -> None:
        """Unlearn what another store has learned; of its examples, those that are still here."""
        self.counted.subtract(other.counted, class_ids)

    def set_ranks(self, ranks: list[tuple[int, int]]) -> None:
        """Say in which order the labels of the classes stand: new ranks of some class ids."""
        self.counted.native.set_ranks(ranks)
        self.ranks = self.ranks | dict(ranks)
        self.order = sorted(self.counted.learned, key=self.ranks.__getitem__)

    def take_emptied(self) -> list[int]:
        """Return nothing: columns have no window."""
        return []

    def declare(self, values: Mapping[str, int]) -> None:
        """Say how many values attributes have."""
        self.counted.native.declare(values)

    def refit(self, weighting: Weighting, scoring: _core.Scoring) -> None:
        """Weigh the attributes by the examples, aside, and swap the weights in.

        Parameters
        ----------
        weighting
            Finds the weights.
        scoring
            Of the categories.
        """
        # In the midst of a batch there may be classes whose labels have no order yet.
        learned = self.counted.learned
        order = sorted(learned, key=lambda i: (i not in self.ranks, self.ranks.get(i, i)))
        self.in_use = weighting.weights(self.counted, order, scoring)

    # --- scores -------------------------------------------------------------------------------

    def _terms(self, row: Row, scoring: _core.Scoring) -> tuple[list[float], Terms]:
        return self.counted.terms(row, self.order, scoring, self.in_use.twice, self.halved)

    def _ordered(self, row: Row, scoring: _core.Scoring) -> list[float]:
        priors, terms = self._terms(row, scoring)
        return self.in_use.scores(self.order, priors, terms)

    def _by_id(self, values: Sequence[float]) -> list[float]:
        found = [0.0] * len(self.ranks)
        for class_id, value in zip(self.order, values, strict=True):
            found[class_id] = value
        return found

    def scores(self, row: Row, scoring: _core.Scoring) -> list[float]:
        """Return the score of each class id."""
        return self._by_id(self._ordered(row, scoring))

    def predict(self, row: Row, scoring: _core.Scoring) -> int | None:
        """Return the class with the highest score, of equal ones the first."""
        if not self.order:
            return None
        scores = self._ordered(row, scoring)
        return self.order[scores.index(max(scores))]

    def probable_scores(self, row: Row, scoring: _core.Scoring) -> list[float]:
        """Return the same: their soft maximum is the probability of each class id."""
        return self.scores(row, scoring)

    def probabilities(self, row: Row, scoring: _core.Scoring) -> list[float]:
        """Return the probability of each class id."""
        scores = self._ordered(row, scoring)
        highest = max(scores, default=0.0)
        raised = [math.exp(score - highest) for score in scores]
        total = sum(raised)
        return self._by_id([share / total for share in raised])

    def predict_many(
        self, batch: Rows, scoring: _core.Scoring, labels: list[Any], threads: int
    ) -> list[Any]:
        """Return the label of each row, on one thread: it is Python that scores rows."""
        found = [self.predict(row, scoring) for row in batch]
        return [None if class_id is None else labels[class_id] for class_id in found]

    def scores_many(self, batch: Rows, scoring: _core.Scoring, threads: int) -> bytes:
        """Return the scores of each row."""
        return np.array([self.scores(row, scoring) for row in batch], dtype=float).tobytes()

    def probable_scores_many(self, batch: Rows, scoring: _core.Scoring, threads: int) -> bytes:
        """Return the same: their soft maximum is the probability of each class id."""
        return self.scores_many(batch, scoring, threads)

    def predictions_many(self, batch: Rows, scoring: _core.Scoring, threads: int) -> bytes:
        """Return of each row both, and the probability of each class id."""
        found = [
            [self.scores(row, scoring)] * 2 + [self.probabilities(row, scoring)] for row in batch
        ]
        return np.array(found, dtype=float).tobytes()

    def explain(self, row: Row, scoring: _core.Scoring) -> tuple[list[float], list[Any]]:
        """Return the scores taken apart."""
        priors, terms = self._terms(row, scoring)
        baseline, parts = self.in_use.explain(self.order, priors, terms)
        return self._by_id(baseline), [(name, self._by_id(part)) for name, part in parts]

    def corrections(self, row: Row, scoring: _core.Scoring) -> list[tuple[str, list[float]]]:
        """Return nothing: scores follow from the counts and the weights."""
        return []

    # --- what is known ------------------------------------------------------------------------

    @property
    def term_weighting(self) -> str:
        """The form of documents: columns are counted as they are."""
        return self.counted.native.term_weighting

    def counts(self) -> Any:
        """Return the counts of categories."""
        return self.counted.native.counts()

    def words(self) -> list[str]:
        """Return the categories."""
        return self.counted.native.words()

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self.counted.native.version

    @property
    def n_documents(self) -> float:
        """Weight of what was learned."""
        return self.counted.native.n_documents

    @property
    def n_words(self) -> int:
        """Different categories."""
        return self.counted.native.n_words

    @property
    def n_cells(self) -> int:
        """Nonzero counts of categories, and Gaussians."""
        return self.counted.n_cells

    @property
    def n_indexed(self) -> int:
        """Examples kept."""
        return len(self.counted.examples.order)

    def __sizeof__(self) -> int:
        return self.counted.__sizeof__()

    # --- saving -------------------------------------------------------------------------------

    def snapshot(self, statistics: bool) -> bytes:
        """Return everything as canonical bytes; with `statistics` the weights in use too."""
        places = {class_id: place for place, class_id in enumerate(self.order)}
        weights = self.in_use.state(places) if statistics else None
        kept = {**self.counted.state(places), "weights": weights}
        encoded = json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()
        head = len(encoded).to_bytes(8, "little")
        return head + encoded + self.counted.native.snapshot(statistics=False)

    @classmethod
    def restore(
        cls, tokenizer: _core.NativeTokenizer, snapshot: bytes, bounds: Mapping[str, int]
    ) -> AttributeStore:
        """Return the store that a snapshot holds.

        Raises
        ------
        ModelFileError
            If it holds none.
        """
        end = 8 + int.from_bytes(snapshot[:8], "little")
        store = cls(_core.CountStore.restore(tokenizer, snapshot[end:]), bounds)
        try:
            kept = json.loads(snapshot[8:end])
            store.counted.restore(kept)
            if kept["weights"] is not None:
                store.in_use = AttributeWeights.restored(kept["weights"])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model can't be read: {error}") from error
        return store


if TYPE_CHECKING:
    from streamnb.statistics.store import CountStore

    def _both_are_stores(
        texts: _core.CountStore, columns: AttributeStore
    ) -> tuple[CountStore[Any, _core.Batch], CountStore[Row, Rows]]:
        """Let the type checker see that one store can stand in for the other."""
        return texts, columns


def open_store(
    tokenizer: _core.NativeTokenizer, bounds: Mapping[str, int], snapshot: bytes | None
) -> AttributeStore:
    """Return an empty store, or that of a snapshot."""
    if snapshot is not None:
        return AttributeStore.restore(tokenizer, snapshot, bounds)
    # The native index holds words only: examples are kept here.
    native = _core.CountStore(tokenizer, max_features=bounds["max_features"], columns=True)
    return AttributeStore(native, bounds)
