"""Work that components add to a running model: periodic statistics, tuned parameters, scorings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from streamnb import _core
from streamnb.text.labels import Label, Labels

PendingUpdate = Callable[[float], None]
"""Adds an evaluated message to a tuning record; takes the weight of the message."""


@dataclasses.dataclass
class Scorer:
    """The scoring in use; tuning replaces it."""

    scoring: _core.ScoringConfig


class PeriodicStatistic:
    """A statistic that a model computes from its counts from time to time.

    It is computed on a copy of the counts while other threads learn and predict, then swapped in.
    The store is a `_core.CountStore` or an `AttributeTable`.
    """

    def refresh(self, store: Any, scoring: _core.ScoringConfig) -> None:
        """Compute the statistic from a store and swap it in."""
        # Repeat if ids were reused for other words or classes in the meantime.
        while store.n_documents and not self.swap(store):
            pass

    def swap(self, store: Any) -> bool:
        """Compute the statistic from a store that has messages, and swap it in.

        Return False, with the store unchanged, if ids were reused in the meantime.
        """
        raise NotImplementedError

    def state(self, store: Any, class_ids: list[int]) -> Any:
        """Return the current statistic for a copy of the model, unless the snapshot contains it.

        `class_ids` are in the order of the labels, and become 0, 1, … in the copy.
        """
        return None

    def restore(self, store: Any, state: Any) -> None:
        """Restore the statistic that `state` returned."""

    def weights(self, store: Any) -> dict[str, float]:
        """Return the weight of each word or attribute; empty if the statistic is not a weight."""
        return {}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ComponentStatistic(PeriodicStatistic):
    """The statistic of a component.

    Attributes
    ----------
    component
        The component, with its parameters.
    context
        The `BuildContext` of the model.
    """

    component: Any
    context: Any


class Tuning:
    """A parameter that is tuned by evaluating each message before the model learns it.

    Attributes
    ----------
    name
        Name of its record in a model file.
    """

    name: str

    def judge(
        self, store: Any, scoring: _core.ScoringConfig, labels: Labels, x: Any, y: Label
    ) -> PendingUpdate | None:
        """Evaluate a message that is about to be learned, without changing the record.

        All errors must occur here. The model calls the returned update after it has learned the
        message. None means that there is nothing to record.
        """
        raise NotImplementedError

    def merge(self, other: Any) -> None:
        """Add the record of another model."""
        raise NotImplementedError

    def state(self) -> Any:
        """Return the record as JSON-compatible values."""
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        """Restore the record that `state` returned; any error means that it is invalid."""
        raise NotImplementedError


Hook = PeriodicStatistic | Tuning | Scorer
