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

    It depends on a copy of the counts alone, whose words are in the order of their bytes and whose
    classes are in the order of their labels. So it has the same bits in every copy of a model.
    Other threads learn and predict while it is computed. The store is a `_core.CountStore` or an
    `AttributeTable`.

    Attributes
    ----------
    reads_index
        Whether it is computed from the indexed messages, not from the whole stream.
    may_wait
        Whether the store can follow the stream with it before it is used.
    """

    reads_index: bool = False
    may_wait: bool = False

    def refresh(self, store: Any, scoring: _core.ScoringConfig) -> None:
        """Compute the statistic from a store and swap it in."""
        # Repeat if ids were reused for other words or classes in the meantime.
        while store.n_documents:
            sample = store.sample(self.reads_index)
            if self.swap(store, sample, self.compute(sample)):
                return
        store.clear_statistics()

    def compute(self, sample: _core.Sample) -> Any:
        """Compute the statistic from a copy of a store that has messages."""
        raise NotImplementedError

    def swap(self, store: Any, sample: _core.Sample, found: Any) -> bool:
        """Use what `compute` returned for a copy of the store.

        Return False, with the store unchanged, if ids were reused in the meantime.
        """
        raise NotImplementedError

    def forget_class(self, class_id: int) -> None:
        """Forget a class without messages: its id may belong to another class later."""

    def state(self, class_ids: list[int]) -> Any:
        """Return the statistic as JSON-compatible values, unless the store's snapshot contains it.

        `class_ids` are in the order of the labels, and become 0, 1, … in the copy.
        """
        return None

    def restore(self, state: Any) -> None:
        """Restore the statistic that `state` returned; any error means that it is invalid."""

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

    @property
    def reads_index(self) -> bool:  # type: ignore[override]
        """Whether the component needs messages in the index."""
        return bool(self.component.indexed)

    @property
    def may_wait(self) -> bool:  # type: ignore[override]
        """Whether words are counted: bins of numbers may become coarser meanwhile."""
        return not self.context.composition.event.columns


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
