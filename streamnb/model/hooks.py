"""Work that model components add to a running model: periodic statistics and online tuning."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar

from streamnb import _core
from streamnb.text.labels import Label, Labels


class _State(Protocol):
    @property
    def n_documents(self) -> float: ...


Store = TypeVar("Store", bound=_State, contravariant=True)
"""Where messages are learned and scored: the core's counts, or an attribute table."""


class MakeScoring(Protocol):
    """Makes a native scoring from the settled options and a few more."""

    def __call__(self, **options: Any) -> _core.Scoring:
        """Return the scoring with these options."""


@dataclasses.dataclass
class Scorer:
    """The scoring in use; tuning replaces it."""

    scoring: _core.Scoring


class PeriodicStatistic(Generic[Store]):
    """A statistic that a model computes from its counts from time to time.

    It is computed on a copy of the counts while other threads learn and predict, then swapped in.

    Attributes
    ----------
    periodic
        Whether the model's schedule refreshes it. If not, it is computed when a model is saved,
        loaded or merged, or when the user calls `refresh`.
    """

    periodic: bool = True

    def refresh(self, store: Store, scoring: _core.Scoring) -> None:
        """Compute the statistic from a store and swap it in."""
        # Repeat if ids were reused for other words or classes in the meantime.
        while store.n_documents and not self.swap(store):
            pass

    def swap(self, store: Store) -> bool:
        """Compute the statistic from a store that has messages, and swap it in.

        Returns
        -------
        False, with the store unchanged, if ids were reused for other words or classes in the
        meantime.
        """
        raise NotImplementedError

    def state(self, store: Store, class_ids: list[int]) -> Any:
        """Return the current statistic for a copy of the model, unless the snapshot contains it.

        Parameters
        ----------
        store
            The counts.
        class_ids
            Ids of the classes in the order of their labels, which become the ids in the copy.
        """
        return None

    def restore(self, store: Store, state: Any) -> None:
        """Restore the statistic that `state` returned."""

    def weights(self, store: Store) -> dict[str, float]:
        """Return the weight of each word or attribute; empty if the statistic is not a weight."""
        return {}


PendingUpdate = Callable[[float], None]
"""Adds an evaluated message to a tuning record; takes the weight of the message."""


class Tuning(Protocol[Store]):
    """A parameter that is tuned by evaluating each message before the model learns it.

    Attributes
    ----------
    name
        Name of its record in a model file.
    """

    name: str

    def judge(
        self, store: Store, scoring: _core.Scoring, labels: Labels, x: Any, y: Label
    ) -> PendingUpdate | None:
        """Evaluate a message that is about to be learned, without changing the record.

        All errors must occur here. The model calls the returned update after it has learned the
        message. None means that there is nothing to record.
        """

    def merge(self, other: Self) -> None:
        """Add the record of another model."""

    def state(self) -> Any:
        """Return the record as JSON-compatible values."""

    def restore(self, state: Any) -> None:
        """Restore the record that `state` returned.

        Raises
        ------
        ValueError
            If the record is invalid.
        """


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class RuntimeHooks:
    """Functions and statistics that one component adds to a running model; all are optional.

    Attributes
    ----------
    statistic
        Statistic that the model refreshes periodically.
    tuning
        Parameter that is tuned along the stream.
    scorer
        Replaces the scoring that the components describe.
    """

    statistic: PeriodicStatistic[Any] | None = None
    tuning: Tuning[Any] | None = None
    scorer: Scorer | None = None
