"""What a model is composed of: a part of each axis."""

from __future__ import annotations

import dataclasses

from streamnb.parts.dependences import INDEPENDENT, Dependence
from streamnb.parts.estimates import SMOOTHING, Estimate
from streamnb.parts.events import Event
from streamnb.parts.neighbourhoods import WHOLE_STREAM, Neighbourhood
from streamnb.parts.weights import UNIFORM, UNIFORM_DOCUMENTS, DocumentWeights, Weights


@dataclasses.dataclass(frozen=True)
class Composition:
    """A part of each axis. Two models with equal ones count alike.

    Attributes
    ----------
    event, dependence, estimate, weights, document_weights, neighbourhood
        The parts; all but the event model have a plain one.
    """

    event: Event
    dependence: Dependence = INDEPENDENT
    estimate: Estimate = SMOOTHING
    weights: Weights = UNIFORM
    document_weights: DocumentWeights = UNIFORM_DOCUMENTS
    neighbourhood: Neighbourhood = WHOLE_STREAM

    @property
    def max_documents(self) -> int:
        """What `max_documents=None` means: as many documents as some part wants in the index."""
        return max(
            self.dependence.max_documents,
            self.estimate.max_documents,
            self.weights.max_documents,
            self.document_weights.max_documents,
            self.neighbourhood.max_documents,
        )

    @property
    def prior(self) -> str:
        """What `prior=None` means."""
        return self.neighbourhood.prior or self.event.prior

    @property
    def mixes_pairs(self) -> bool:
        """Whether scores look up how words stand together, and so a table of pairs is of use."""
        if self.estimate.substitutes or self.neighbourhood.native is not None:
            return False
        documents = self.document_weights
        weighed = self.weights.periodic or documents.periodic or documents.online
        weighed = weighed or self.weights.fitted
        return self.dependence.hidden is not None or not weighed
