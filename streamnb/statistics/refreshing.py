"""Statistics: what a model computes periodically, aside, and swaps into its store."""

from __future__ import annotations

import dataclasses

from streamnb import _core
from streamnb.columns.fits import Weighing
from streamnb.columns.store import attributes_of
from streamnb.online.correlation_factor import CorrelationFactor, OptimalFactor
from streamnb.online.package_threshold import Packaging
from streamnb.parts import Composition
from streamnb.statistics.counts import Counts
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.swap import swap_in
from streamnb.statistics.weights_in_use import WeightsInUse


@dataclasses.dataclass(frozen=True)
class Statistics:
    """The statistics of one model.

    Attributes
    ----------
    parts
        Its parts.
    setting
        What its scores depend on.
    weights
        Weights of words and documents.
    factor, weighing, packaging
        Its correlation factor, what gives attributes their weights, and its bags, if any.
    """

    parts: Composition
    setting: ScoringParameters
    weights: WeightsInUse
    factor: CorrelationFactor | None
    weighing: Weighing | None
    packaging: Packaging | None

    @property
    def periodic(self) -> bool:
        """Whether anything is computed now and then."""
        return (
            self.weighing is not None
            or isinstance(self.factor, OptimalFactor)
            or self.weights.periodic
            or self.parts.neighbourhood.periodic
            or self.parts.estimate.substitutes
            or self.parts.dependence.hidden is not None
        )

    def refresh(self, store: _core.CountStore, scoring: _core.Scoring) -> None:
        """Compute them from the counts of a store, and swap them in.

        Parameters
        ----------
        store
            The counts.
        scoring
            How messages are scored.
        """
        attributes = attributes_of(store)
        if attributes is not None:
            if self.weighing is not None:
                attributes.refit(self.weighing, scoring)
            return
        if isinstance(self.factor, OptimalFactor):
            self.factor.refresh(Counts.of(store))
        # A tree that grows online is grown anew here too.
        self.parts.neighbourhood.refresh(store)
        if not store.n_documents:
            return
        if self.weights.periodic:
            self.weights.refresh(store, self.setting)
        swap_in(lambda: self.parts.estimate.refresh(store, self.setting.alpha))
        swap_in(lambda: self._find_parents(store))

    def _find_parents(self, store: _core.CountStore) -> bool:
        words = max(self.setting.vocabulary_size, float(store.n_words))
        dependence = self.parts.dependence
        return dependence.hidden is None or dependence.refresh(store, words, self.packaging)
