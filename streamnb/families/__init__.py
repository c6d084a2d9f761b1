"""The families of models: one file with the formula, the components and the models of each."""

import functools
import types
from typing import Any

from streamnb.families.attribute_weights import AttributeWeights
from streamnb.families.chi_square import ChiSquare
from streamnb.families.composed import ComposedNB
from streamnb.families.correlation import CorrelationFactor
from streamnb.families.correlation_based import CorrelationBased
from streamnb.families.document_weights import Discriminative
from streamnb.families.fitted_weights import Fitted
from streamnb.families.fitted_words import FittedWordsNB
from streamnb.families.gain_ratio import GainRatio
from streamnb.families.gaussian import Gaussian
from streamnb.families.hidden import Hidden, HiddenRatios
from streamnb.families.higher_order import HigherOrderPaths
from streamnb.families.independent import (
    Bernoulli,
    Complement,
    Multinomial,
    NormalisedComplement,
    OneVersusAll,
)
from streamnb.families.nearest import Nearest
from streamnb.families.one_dependence import OneDependence
from streamnb.families.online_weights import OnlineWeights
from streamnb.families.packaged import Attributes, Packaged
from streamnb.families.selection import Selection
from streamnb.families.tree import Tree
from streamnb.families.tree_depth import TreeDepth
from streamnb.model import docstrings
from streamnb.model.base import NaiveBayes
from streamnb.model.composition import (
    Additive,
    Component,
    Composition,
    Dependence,
    DocumentWeights,
    Estimate,
    Event,
    Independent,
    Neighbourhood,
    UniformDocuments,
    UniformWeights,
    Weights,
    WholeStream,
)
from streamnb.model.texts import TextNaiveBayes

MODELS = {
    name: model
    for name, model in sorted(NaiveBayes.known.items())
    if issubclass(model, NaiveBayes) and not model.__subclasses__()
}
"""All models by name: the classes that no other class of this package derives from."""


def _with_own_init(model: Any) -> None:
    """Give a model its own `__init__`, so that errors of a call name the model, not its family."""
    init = model.__init__
    own: Any = types.FunctionType(
        init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__
    )
    functools.update_wrapper(own, init).__qualname__ = f"{model.__name__}.__init__"
    del own.__wrapped__
    model.__init__ = own


for _model in MODELS.values():
    _with_own_init(_model)
    docstrings.complete(_model, NaiveBayes.known)

TEXT_MODELS = {name: model for name, model in MODELS.items() if issubclass(model, TextNaiveBayes)}
"""The models that read texts, by name; the others read attributes of columns."""
