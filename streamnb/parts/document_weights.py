"""Discriminative weights of messages: the less probable its class, the more a message counts."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb import _core
from streamnb.parameters import check_bound
from streamnb.parts.axes.composition import Composition, DocumentWeights, Setup
from streamnb.statistics.document_weights import PAPER_ROUNDS, InstanceWeights, discriminative
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.weighting import WordWeights


@dataclasses.dataclass(frozen=True)
class Discriminative(DocumentWeights, name="discriminative"):
    """Indexed messages are weighed at each refresh, in rounds (DW).

    Attributes
    ----------
    rounds
        How often, 0 (never) or more.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW).
    """

    periodic: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    rounds: int = dataclasses.field(default=PAPER_ROUNDS, compare=False)

    def __post_init__(self) -> None:
        self._check("rounds", check_bound, 0)

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for weights of messages."""
        return {"instance_weights": True}

    def added(
        self, indexed: Documents, parameters: ScoringParameters, words: WordWeights | None
    ) -> InstanceWeights:
        """Return the weights of the messages."""
        return discriminative(indexed, parameters, words, self.rounds)


@dataclasses.dataclass(frozen=True)
class DiscriminativeOnline(DocumentWeights, name="discriminative-online"):
    """Each message is weighed once, as it is learned, by what was learned before it."""

    weighs: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for messages that are weighed as they come."""
        return {"instance_weights": True}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for weights of messages."""
        return {"instance_weights": True}

    def prepare(self, store: _core.CountStore, setup: Setup) -> None:
        """Say how messages are scored that are about to be learned."""
        store.weigh_instances(setup.make_scoring())
