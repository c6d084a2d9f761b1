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
from streamnb.columns.fits import FilterWeighting, Weighting, WrapperWeighting, check_event
from streamnb.columns.search import forward_selection
from streamnb.columns.store import AttributeStore
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Setup, Weights
from streamnb.statistics.refreshing import Refresher

MEASURES: dict[str, Weighting] = {
    "kullback-leibler": FilterWeighting(relative_kullback_leibler),
    "kullback-leibler-raw": FilterWeighting(kullback_leibler),
    "correlation-filter": FilterWeighting(correlation_filter),
    "deep-selection": FilterWeighting(selected_twice, in_estimate=True),
    "forward-selection": WrapperWeighting(forward_selection),
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
class WeightedAttributes(Refresher[AttributeStore]):
    """The weights of attributes in the store of columns; its snapshot has them.

    Attributes
    ----------
    weighting
        How they are found.
    """

    weighting: Weighting

    def refresh(self, store: AttributeStore, scoring: _core.Scoring) -> None:
        """Weigh the attributes anew."""
        store.refit(self.weighting, scoring)

    def weights(self, store: AttributeStore) -> dict[str, float]:
        """Return the weight of each attribute, on average over pairs of classes."""
        return store.in_use.mean()
