"""The refreshes of a model's periodic statistics: due by the log alone, also within batches."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from streamnb.model.hooks import PeriodicStatistic, Scorer
from streamnb.model.schedule import Schedule

# Weights that are multiples of 1 / STEPS, with a sum below MOST, are added without rounding.
STEPS = 2.0**20
MOST = 2.0**32


class Refreshes:
    """The periodic statistics of a model, with their schedule.

    Parameters
    ----------
    statistics
        The statistics, in the order in which they are computed.
    scorer
        The scoring in use, which the statistics may read.
    every
        `refresh_every` of the model.
    store
        The counts: a `_core.CountStore` or an `AttributeTable`.
    store_options
        The options of the store.
    """

    def __init__(
        self,
        statistics: Sequence[PeriodicStatistic],
        scorer: Scorer,
        every: int | float,
        store: Any,
        store_options: dict[str, Any],
    ) -> None:
        self.statistics = statistics
        self.schedule = Schedule(every)
        self._scorer = scorer
        self._store = store
        self._reads_index = any(statistic.reads_index for statistic in statistics)
        self._index_size: int = store_options["index_size"]
        self._windowed: bool = store_options.get("windowed", False)
        self._decays = "half_life" in store_options

    def changed(self, weight: float) -> None:
        """Count one change by a message of this weight, and refresh if this is due."""
        if self.statistics and weight and self.schedule.tick(weight):
            self.refresh()

    def refresh(self) -> None:
        """Compute the statistics from a copy of the counts, and swap them in."""
        for statistic in self.statistics:
            statistic.refresh(self._store, self._scorer.scoring)
        self.schedule.reset(self._weight_that_counts())

    def stops(self, messages: int, weight: float) -> Iterator[int]:
        """Yield how many messages of a batch to learn before the next refresh, all at the end.

        Refreshes take place in between. A refresh that another one follows within the batch only
        moves the schedule.
        """
        done = 0
        while self.statistics and done < messages:
            ahead = self._weight_after(weight)
            step, is_due = self.schedule.advance(messages - done, weight, ahead)
            done += step
            yield done
            if is_due:
                self.schedule.reset(self._weight_that_counts())
                if not self.schedule.is_due_within(messages - done, weight):
                    self.refresh()
        if done < messages:
            yield messages

    def forget_class(self, class_id: int) -> None:
        """Forget a class without messages: its id may belong to another class later."""
        for statistic in self.statistics:
            statistic.forget_class(class_id)

    def state(self, class_ids: list[int]) -> dict[str, Any]:
        """Return the schedule, and the statistics that the snapshot of the store lacks."""
        if not self.statistics:
            return {}
        return {
            "schedule": self.schedule.left.hex(),
            "statistics": [each.state(class_ids) for each in self.statistics],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned; any error means that it is invalid."""
        if self.statistics:
            left = float.fromhex(state["schedule"])
            if not -math.inf < left < math.inf:
                raise ValueError(f"invalid schedule: {left}")
            self.schedule.left = left
            for statistic, kept in zip(self.statistics, state["statistics"], strict=True):
                statistic.restore(kept)

    def weights(self) -> dict[str, float]:
        """Return the weight of each word or attribute, if a statistic is one."""
        weights: dict[str, float] = {}
        for statistic in self.statistics:
            weights |= statistic.weights(self._store)
        return weights

    def _weight_that_counts(self) -> float:
        indexed = math.fsum(self._store.indexed_weights) if self._reads_index else 0.0
        # The order of class ids changes when a model is restored, so the sum is exact.
        return self._weight_of(math.fsum(self._store.class_documents), indexed)

    def _weight_of(self, documents: float, indexed: float) -> float:
        """Return the weight of the messages that the statistics are computed from.

        These are the messages of the index, if a statistic reads it, or all that count.
        """
        return min(documents, indexed) if self._reads_index and indexed else documents

    def _weight_after(self, weight: float) -> Callable[[int], float | None]:
        """Return the weight that will count after a number of messages of this weight.

        It is unknown, None, if sums of weights are rounded: they depend on the order of additions.
        """
        weight = float(weight)

        @functools.cache
        def leaving() -> tuple[float, np.ndarray[Any, np.dtype[np.float64]], bool]:
            by_class, indexed = self._store.class_documents, self._store.indexed_weights
            steps = np.array([*by_class, *indexed, weight]) * STEPS
            left = np.concatenate([[0.0], np.cumsum(indexed)])
            return math.fsum(by_class), left, not (self._decays or (steps % 1).any())

        def weight_after(learned: int) -> float | None:
            documents, left, is_exact = leaving()
            added = learned * weight
            if not (is_exact and documents + float(left[-1]) + added < MOST):
                return None
            surplus = max(0, len(left) - 1 + learned - self._index_size)
            old = min(surplus, len(left) - 1)
            evicted = float(left[old]) + (surplus - old) * weight
            all_of_them = documents + added - (evicted if self._windowed else 0.0)
            return self._weight_of(all_of_them, float(left[-1]) + added - evicted)

        return weight_after
