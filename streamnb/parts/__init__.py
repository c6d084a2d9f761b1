"""The parts that models are composed of: event models, estimates, dependences, weights.

Their arithmetic for each message is native; here they have their names, their parameters, and what
is computed or tuned for them along the stream. A module for each family of models.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from streamnb.lazy import attribute
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

if TYPE_CHECKING:
    from streamnb.parts.column_events import Attributes, Gaussian
    from streamnb.parts.correlation import CorrelationFactor
    from streamnb.parts.document_weights import Discriminative, DiscriminativeOnline
    from streamnb.parts.events import (
        Bernoulli,
        Complement,
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

# A file and its parts. A file is imported when a part of it is first asked for, by its class or, in
# `ComposedNB`, by its name.
_FAMILIES = {
    "correlation": ("CorrelationFactor",),
    "document_weights": ("Discriminative", "DiscriminativeOnline"),
    "column_events": ("Attributes", "Gaussian"),
    "events": ("Bernoulli", "Complement", "Multinomial", "NormalisedComplement", "OneVersusAll"),
    "forgetting": ("Forgetting",),
    "hidden": ("Hidden", "HiddenRatios"),
    "higher_order": ("HigherOrderPaths",),
    "nearest": ("Nearest",),
    "one_dependence": ("OneDependence",),
    "packaged": ("Packaged",),
    "tree": ("Tree",),
    "weights.attribute_weights": ("AttributeWeights",),
    "weights.chi_square": ("ChiSquare",),
    "weights.correlation_based": ("CorrelationBased",),
    "weights.fitted_weights": ("Fitted",),
    "weights.gain_ratio": ("GainRatio",),
    "weights.online_weights": ("OnlineWeights",),
    "weights.selection": ("Selection",),
    "weights.tree_depth": ("TreeDepth",),
}
_HOMES = {name: f".{family}" for family, names in _FAMILIES.items() for name in names}


def __getattr__(name: str) -> object:
    return attribute(globals(), _HOMES, name)


def import_all() -> None:
    """Import the parts of every family, so that their names are known."""
    for family in _FAMILIES:
        importlib.import_module(f"{__name__}.{family}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
