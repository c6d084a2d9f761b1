"""The nearest messages count for a prediction, each as much as it is near."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb.parameters import check_bound
from streamnb.parts.axes.composition import Composition, Neighbourhood


@dataclasses.dataclass(frozen=True)
class Nearest(Neighbourhood, name="nearest"):
    """The messages nearest to the message by the cosine of their word counts.

    What a message counts for falls linearly with its distance, 1 − cosine, to 0 at the first
    message that is not near, and is 1 on average. Where the nearest are no nearer than that one,
    all that are as near count for 1. Messages that share no word with this one never count. Most
    classes may have none among the nearest, so P(c) is Laplace's.

    Attributes
    ----------
    n_neighbors
        How many messages, 1 or more.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    """

    prior: ClassVar[str | None] = "laplace"
    indexed: ClassVar[int] = 65_536

    n_neighbors: int = 50

    def __post_init__(self) -> None:
        self._check("n_neighbors", check_bound, 1)

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for no table of pairs."""
        return {"max_pairs": 0}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for the nearest messages."""
        return {"neighbourhood": "nearest", "n_neighbors": self.n_neighbors}
