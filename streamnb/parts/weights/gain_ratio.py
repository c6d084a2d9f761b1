"""Words weighted by gain ratio."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb.parts.axes.composition import Weights
from streamnb.statistics import weighting
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters


@dataclasses.dataclass(frozen=True)
class GainRatio(Weights, name="gain-ratio"):
    """Each word weighs its gain ratio relative to the mean (GRW).

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW) and Equation 12.
    """

    periodic: ClassVar[bool] = True

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> weighting.WordWeights:
        """Return the gain ratios over their mean."""
        return weighting.relative_gain_ratios(indexed.counts, parameters.vocabulary_size)
