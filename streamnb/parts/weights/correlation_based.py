"""Words weighted by correlation-based selection."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb.parameters import check_bound
from streamnb.parts.axes.composition import Weights
from streamnb.statistics import weighting
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters


@dataclasses.dataclass(frozen=True)
class CorrelationBased(Weights, name="correlation-based"):
    """Words that correlation-based selection takes weigh 2, the others 1 (DFW).

    Attributes
    ----------
    max_candidates
        Words that the search looks at, 1 or more: those that tell most of the class.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW).
    """

    periodic: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    max_candidates: int = dataclasses.field(default=weighting.MAX_CANDIDATES, compare=False)

    def __post_init__(self) -> None:
        self._check("max_candidates", check_bound, 1)

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> weighting.WordWeights:
        """Return the weights 2 and 1."""
        return weighting.correlation_based(indexed, self.max_candidates)
