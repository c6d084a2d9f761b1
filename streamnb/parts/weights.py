"""Weights: how much each word and each document counts."""

from __future__ import annotations

import dataclasses
from typing import Any

from streamnb.columns.filters import (
    correlation_filter,
    kullback_leibler,
    relative_kullback_leibler,
    selected_twice,
)
from streamnb.columns.fits import Fit, Measured, Searched, Weighing, check_event
from streamnb.columns.search import forward_selection
from streamnb.columns.tree import tree_depth as attribute_depth
from streamnb.statistics.document_weights import ExtraCounts, discriminative
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.losses import DEVIANCE, EXPONENTIAL, GENERALISED, LIKELIHOOD, SQUARED, Loss
from streamnb.statistics.weighting import (
    WordWeights,
    correlation_based,
    relative_gain_ratios,
    selection,
    tree_depth,
)
from streamnb.statistics.word_fits import WordFit


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
    fitted
        Whether they are fitted to the indexed messages, and weigh words in the score alone.
    """

    name: str
    chi_square: bool = False
    max_documents: int = 0
    periodic: bool = False
    ordered: bool = False
    fitted: bool = False

    def weigh(self, indexed: Documents, setting: ScoringParameters) -> WordWeights | None:
        """Return the weight of each word, where they are statistics."""
        return None

    def of_attributes(self, multiclass: Any, ridge: Any, numbers: bool) -> Weighing | None:
        """Return how attributes of columns get their weights, if they have any.

        Parameters
        ----------
        multiclass, ridge
            As a model was given them.
        numbers
            Whether the event model is that of columns whose numbers stay numbers.

        Raises
        ------
        InputError
            If something is out of range, or there is nothing to weigh.
        """
        return None

    def of_words(
        self, multiclass: Any, ridge: Any, leave_one_out: Any, documents: DocumentWeights
    ) -> WordFit | None:
        """Return how words get weights in the score alone, if they have any.

        Parameters
        ----------
        multiclass, ridge, leave_one_out
            As a model was given them.
        documents
            What weighs documents.

        Raises
        ------
        InputError
            If something is out of range, or documents have weights too.
        """
        return None


@dataclasses.dataclass(frozen=True)
class GainRatioWeights(Weights):
    """Each word weighs its gain ratio relative to the mean (GRW)."""

    periodic: bool = True

    def weigh(self, indexed: Documents, setting: ScoringParameters) -> WordWeights:
        """Return the gain ratios over their mean."""
        return relative_gain_ratios(indexed.counts, setting.vocabulary_size)


@dataclasses.dataclass(frozen=True)
class Selection(Weights):
    """Words count or not: the share of them by gain ratio that leave-one-out chooses (GRS)."""

    periodic: bool = True

    def weigh(self, indexed: Documents, setting: ScoringParameters) -> WordWeights:
        """Return 1 for the words selected, 0 for the others."""
        return selection(indexed, setting)


@dataclasses.dataclass(frozen=True)
class CorrelationWeights(Weights):
    """Words that correlation-based selection takes weigh 2, the others 1 (DFW)."""

    periodic: bool = True
    ordered: bool = True

    def weigh(self, indexed: Documents, setting: ScoringParameters) -> WordWeights:
        """Return the weights 2 and 1."""
        return correlation_based(indexed, setting)


@dataclasses.dataclass(frozen=True)
class TreeDepthWeights(Weights):
    """Words, or attributes of columns, weigh the more, the nearer to its root a tree tests them."""

    periodic: bool = True
    ordered: bool = True

    def weigh(self, indexed: Documents, setting: ScoringParameters) -> WordWeights:
        """Return what the words weigh by the depths of their tests (DTW)."""
        return tree_depth(indexed, setting)

    def of_attributes(self, multiclass: Any, ridge: Any, numbers: bool) -> Weighing | None:
        """Return what measures the depths of attributes (TreeNB)."""
        return Measured(attribute_depth) if numbers else None


@dataclasses.dataclass(frozen=True)
class MinimisedWeights(Weights):
    """Words, or attributes of columns, weigh what minimises a loss over the recent messages.

    References
    ----------
    [^1]: Loss-minimised weights (ENB, DNB, LNB, GDNB, MSENB), Equations 8 to 24.
    """

    loss: Loss = LIKELIHOOD
    max_documents: int = 10_000
    fitted: bool = True

    def of_attributes(self, multiclass: Any, ridge: Any, numbers: bool) -> Weighing | None:
        """Return the fit of attributes."""
        return Fit.of(self.loss, multiclass, ridge) if numbers else None

    def of_words(
        self, multiclass: Any, ridge: Any, leave_one_out: Any, documents: DocumentWeights
    ) -> WordFit:
        """Return the fit of words."""
        return WordFit.of(self.loss, multiclass, ridge, leave_one_out, documents.name)


_RELATIVE = Measured(relative_kullback_leibler)


@dataclasses.dataclass(frozen=True)
class AttributeFilter(Weights):
    """Attributes of columns weigh what the recent messages tell, or what a search finds.

    Attributes
    ----------
    weighing
        What gives the weights.
    """

    weighing: Weighing = _RELATIVE
    max_documents: int = 10_000

    def of_attributes(self, multiclass: Any, ridge: Any, numbers: bool) -> Weighing:
        """Return what gives the weights."""
        check_event(self.name, numbers)
        return self.weighing


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
    online
        Whether each document is weighed as it is learned, natively.
    """

    name: str
    max_documents: int = 0
    periodic: bool = False
    online: bool = False

    def extra(
        self,
        indexed: Documents,
        setting: ScoringParameters,
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
        setting: ScoringParameters,
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
TREE_DEPTH = TreeDepthWeights("tree-depth", max_documents=65_536)
MINIMISED_EXPONENTIAL = MinimisedWeights("exponential", loss=EXPONENTIAL)
MINIMISED_DEVIANCE = MinimisedWeights("deviance", loss=DEVIANCE)
MINIMISED_LIKELIHOOD = MinimisedWeights("likelihood", loss=LIKELIHOOD)
MINIMISED_GENERALISED = MinimisedWeights("generalised", loss=GENERALISED)
MINIMISED_SQUARED = MinimisedWeights("squared", loss=SQUARED)
KULLBACK_LEIBLER = AttributeFilter("kullback-leibler")
KULLBACK_LEIBLER_RAW = AttributeFilter("kullback-leibler-raw", weighing=Measured(kullback_leibler))
CORRELATION_FILTER = AttributeFilter("correlation-filter", weighing=Measured(correlation_filter))
DEEP_SELECTION = AttributeFilter(
    "deep-selection", weighing=Measured(selected_twice, in_estimate=True)
)
FORWARD_SELECTION = AttributeFilter("forward-selection", weighing=Searched(forward_selection))

UNIFORM_DOCUMENTS = DocumentWeights("uniform")
DISCRIMINATIVE = Discriminative("discriminative", max_documents=65_536)
# Once, when it is learned, by what was learned before it.
DISCRIMINATIVE_ONLINE = DocumentWeights("discriminative-online", max_documents=65_536, online=True)

WEIGHTS = {
    weights.name: weights
    for weights in (
        *(UNIFORM, CHI_SQUARE, GAIN_RATIO, SELECTION, CORRELATION_BASED, TREE_DEPTH),
        *(MINIMISED_EXPONENTIAL, MINIMISED_DEVIANCE, MINIMISED_LIKELIHOOD),
        *(MINIMISED_GENERALISED, MINIMISED_SQUARED),
        *(KULLBACK_LEIBLER, KULLBACK_LEIBLER_RAW, CORRELATION_FILTER, DEEP_SELECTION),
        FORWARD_SELECTION,
    )
}
DOCUMENT_WEIGHTS = {
    weights.name: weights for weights in (UNIFORM_DOCUMENTS, DISCRIMINATIVE, DISCRIMINATIVE_ONLINE)
}
