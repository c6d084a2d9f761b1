"""The chi-square factor: a word counts more for the classes that have it more often than chance."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb.parts.axes.composition import Composition, Weights


@dataclasses.dataclass(frozen=True)
class ChiSquare(Weights, name="chi-square"):
    """P(w|c) is multiplied by max(R_wc, 1), which follows from the counts: it is never stale.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c).
    """

    decays: ClassVar[bool] = True

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for the factor."""
        return {"weights": "chi-square"}
