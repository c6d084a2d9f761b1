"""The parts that models are composed of: event models, estimates, dependences, weights.

Their arithmetic for each message is native; here they have their names, their parameters, and what
is computed or tuned for them along the stream. A module for each family of models.
"""

from __future__ import annotations

from streamnb.parts.axes.composition import (
    AXES,
    Additive,
    Composition,
    Dependence,
    DocumentWeights,
    Estimate,
    Event,
    Independent,
    Neighbourhood,
    Part,
    UniformDocuments,
    UniformWeights,
    Weights,
    WholeStream,
)
from streamnb.parts.correlation import CorrelationFactor
from streamnb.parts.document_weights import Discriminative, DiscriminativeOnline
from streamnb.parts.events import (
    Attributes,
    Bernoulli,
    Complement,
    Gaussian,
    Multinomial,
    NormalisedComplement,
    OneVersusAll,
)
from streamnb.parts.forgetting import Forgetting
from streamnb.parts.hidden import Hidden, HiddenRatios
from streamnb.parts.higher_order import HigherOrderPaths
from streamnb.parts.nearest import Nearest
from streamnb.parts.one_dependence import OneDependence
from streamnb.parts.packaged import Packaged
from streamnb.parts.tree import Tree
from streamnb.parts.weights.attribute_weights import AttributeWeights
from streamnb.parts.weights.chi_square import ChiSquare
from streamnb.parts.weights.correlation_based import CorrelationBased
from streamnb.parts.weights.fitted_weights import Fitted
from streamnb.parts.weights.gain_ratio import GainRatio
from streamnb.parts.weights.online_weights import OnlineWeights
from streamnb.parts.weights.selection import Selection
from streamnb.parts.weights.tree_depth import TreeDepth

__all__ = [
    "AXES",
    "Additive",
    "AttributeWeights",
    "Attributes",
    "Bernoulli",
    "ChiSquare",
    "Complement",
    "Composition",
    "CorrelationBased",
    "CorrelationFactor",
    "Dependence",
    "Discriminative",
    "DiscriminativeOnline",
    "DocumentWeights",
    "Estimate",
    "Event",
    "Fitted",
    "Forgetting",
    "GainRatio",
    "Gaussian",
    "Hidden",
    "HiddenRatios",
    "HigherOrderPaths",
    "Independent",
    "Multinomial",
    "Nearest",
    "Neighbourhood",
    "NormalisedComplement",
    "OneDependence",
    "OneVersusAll",
    "OnlineWeights",
    "Packaged",
    "Part",
    "Selection",
    "Tree",
    "TreeDepth",
    "UniformDocuments",
    "UniformWeights",
    "Weights",
    "WholeStream",
]
