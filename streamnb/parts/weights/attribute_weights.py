"""Weights of attributes of columns that are measured, or searched for, over recent messages."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb import _core
from streamnb.columns.filters import (
    correlation_filter,
    kullback_leibler,
    relative_kullback_leibler,
    selected_twice,
)
from streamnb.columns.fits import Measured, Searched, Weighing, check_event
from streamnb.columns.search import forward_selection
from streamnb.columns.store import attributes_of
from streamnb.parts.composition import Weights
from streamnb.parts.part import InUse, Setup
from streamnb.statistics.refreshing import Refresher

MEASURES: dict[str, Weighing] = {
    "kullback-leibler": Measured(relative_kullback_leibler),
    "kullback-leibler-raw": Measured(kullback_leibler),
    "correlation-filter": Measured(correlation_filter),
    "deep-selection": Measured(selected_twice, in_estimate=True),
    "forward-selection": Searched(forward_selection),
}
"""How attributes get their weights, by name."""


@dataclasses.dataclass(frozen=True)
class AttributeWeights(Weights, names={name: {"measure": name} for name in MEASURES}):
    """Attributes of columns weigh what the recent messages tell, or what a search finds.

    Attributes
    ----------
    measure
        One of `MEASURES`.
    """

    indexed: ClassVar[int] = 10_000

    measure: str

    def in_use(self, setup: Setup) -> InUse:
        """Keep the weights.

        Raises
        ------
        InputError
            If there are no attributes.
        """
        check_event(self.name, setup.parts.event.numbers)
        return InUse(WeightedAttributes(MEASURES[self.measure]))


@dataclasses.dataclass(frozen=True)
class WeightedAttributes(Refresher):
    """The weights of attributes in the store of columns; its snapshot has them.

    Attributes
    ----------
    weighing
        How they are found.
    """

    weighing: Weighing

    def refresh(self, store: _core.CountStore, scoring: _core.Scoring, anew: bool) -> None:
        """Weigh the attributes anew."""
        attributes = attributes_of(store)
        assert attributes is not None
        attributes.refit(self.weighing, scoring)

    def weights(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each attribute, on average over pairs of classes."""
        attributes = attributes_of(store)
        assert attributes is not None
        return attributes.in_use.mean()
