"""Words selected by gain ratio."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb.parts.axes.composition import Weights
from streamnb.statistics import weighting
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters


@dataclasses.dataclass(frozen=True)
class Selection(Weights, name="selection"):
    """Words count or not: the share of them by gain ratio that leave-one-out chooses (GRS).

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS) and Equation 12.
    """

    periodic: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> weighting.WordWeights:
        """Return 1 for the words selected, 0 for the others."""
        return weighting.selection(indexed, parameters)
