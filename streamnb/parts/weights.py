"""Weights: how much each word and each document counts."""

from __future__ import annotations

import dataclasses

from streamnb.document_weights import ExtraCounts, discriminative
from streamnb.documents import Documents
from streamnb.losses import DEVIANCE, EXPONENTIAL, GENERALISED, LIKELIHOOD, SQUARED, Loss
from streamnb.weighting import (
    Setting,
    WordWeights,
    correlation_based,
    relative_gain_ratios,
    selection,
)


@dataclasses.dataclass(frozen=True)
class Weights:
    """How much each word counts, in the estimate and in the score: all the same.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows them.
    chi_square
        Whether P(w|c) is multiplied by max(R_wc, 1), which follows from the counts: never stale.
    max_documents
        What `max_documents=None` means: documents kept in the index.
    periodic
        Whether they are statistics, computed at each refresh.
    ordered
        Whether they need the order of the words' bytes.
    """

    name: str
    chi_square: bool = False
    max_documents: int = 0
    periodic: bool = False
    ordered: bool = False

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights | None:
        """Return the weight of each word, where they are statistics."""
        return None

    @property
    def minimises(self) -> Loss | None:
        """The loss over recent messages that the weights minimise, if any."""
        return None


@dataclasses.dataclass(frozen=True)
class GainRatioWeights(Weights):
    """Each word weighs its gain ratio relative to the mean (GRW)."""

    periodic: bool = True

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights:
        """Return the gain ratios over their mean."""
        return relative_gain_ratios(indexed.counts, setting.vocabulary_size)


@dataclasses.dataclass(frozen=True)
class Selection(Weights):
    """Words count or not: the share of them by gain ratio that leave-one-out chooses (GRS)."""

    periodic: bool = True

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights:
        """Return 1 for the words selected, 0 for the others."""
        return selection(indexed, setting)


@dataclasses.dataclass(frozen=True)
class CorrelationWeights(Weights):
    """Words that correlation-based selection takes weigh 2, the others 1 (DFW)."""

    periodic: bool = True
    ordered: bool = True

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights:
        """Return the weights 2 and 1."""
        return correlation_based(indexed, setting)


@dataclasses.dataclass(frozen=True)
class MinimisedWeights(Weights):
    """Words, or attributes of columns, weigh what minimises a loss over the recent messages.

    References
    ----------
    [^1]: Loss-minimised weights (ENB, DNB, LNB, GDNB, MSENB), Equations 8 to 24.
    """

    loss: Loss = LIKELIHOOD
    max_documents: int = 10_000

    @property
    def minimises(self) -> Loss:
        """The loss."""
        return self.loss


@dataclasses.dataclass(frozen=True)
class DocumentWeights:
    """How much each document counts when it is learned: as much as it was given to.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows them.
    max_documents
        What `max_documents=None` means: documents kept in the index.
    periodic
        Whether they are statistics, computed at each refresh.
    """

    name: str
    max_documents: int = 0
    periodic: bool = False

    def extra(
        self,
        indexed: Documents,
        setting: Setting,
        words: WordWeights | None,
        rounds: int,
    ) -> ExtraCounts | None:
        """Return what the indexed documents count for besides, where they do."""
        return None


@dataclasses.dataclass(frozen=True)
class Discriminative(DocumentWeights):
    """A document weighs the more, the less probable its class is where it was learned (DW)."""

    periodic: bool = True

    def extra(
        self,
        indexed: Documents,
        setting: Setting,
        words: WordWeights | None,
        rounds: int,
    ) -> ExtraCounts:
        """Return what they count for after so many rounds."""
        return discriminative(indexed, setting, words, rounds)


UNIFORM = Weights("uniform")
CHI_SQUARE = Weights("chi-square", chi_square=True)
GAIN_RATIO = GainRatioWeights("gain-ratio")
SELECTION = Selection("selection", max_documents=65_536)
CORRELATION_BASED = CorrelationWeights("correlation-based", max_documents=65_536)
MINIMISED_EXPONENTIAL = MinimisedWeights("exponential", loss=EXPONENTIAL)
MINIMISED_DEVIANCE = MinimisedWeights("deviance", loss=DEVIANCE)
MINIMISED_LIKELIHOOD = MinimisedWeights("likelihood", loss=LIKELIHOOD)
MINIMISED_GENERALISED = MinimisedWeights("generalised", loss=GENERALISED)
MINIMISED_SQUARED = MinimisedWeights("squared", loss=SQUARED)

UNIFORM_DOCUMENTS = DocumentWeights("uniform")
DISCRIMINATIVE = Discriminative("discriminative", max_documents=65_536)

WEIGHTS = {
    weights.name: weights
    for weights in (
        *(UNIFORM, CHI_SQUARE, GAIN_RATIO, SELECTION, CORRELATION_BASED),
        *(MINIMISED_EXPONENTIAL, MINIMISED_DEVIANCE, MINIMISED_LIKELIHOOD),
        *(MINIMISED_GENERALISED, MINIMISED_SQUARED),
    )
}
DOCUMENT_WEIGHTS = {weights.name: weights for weights in (UNIFORM_DOCUMENTS, DISCRIMINATIVE)}
