"""Models by name, among them one that is no class of its own, and the reference of each."""

from __future__ import annotations

from typing import Any

import reference
import reference_correlation
import reference_neighbourhood
import reference_one_dependence
import reference_paths
import reference_weights
from reference import RATIOS
from reference_packaged import PackagedReference

import streamnb

# Those of `reference_packaged.PackagedReference`, with the thresholds of their bags.
PACKAGED_MODELS = {"HNB": 0.0, "PHNB": "average"}
MODELS = (
    *reference.MODELS,
    *reference_one_dependence.MODELS,
    *PACKAGED_MODELS,
    *reference_paths.MODELS,
    *reference_correlation.MODELS,
    *reference_weights.MODELS,
    *reference_neighbourhood.MODELS,
)
ALL_MODELS = (*MODELS, RATIOS)
# Those of `reference.Reference`.
REFERENCE_MODELS = (*reference.MODELS, RATIOS)
# Those that look at past messages, so that they keep an index.
INDEXED = (
    "HMNB",
    "HCNB",
    "HOVA",
    *reference_one_dependence.MODELS,
    *PACKAGED_MODELS,
    *reference_paths.MODELS,
    *reference_weights.INDEXED,
    *reference_neighbourhood.MODELS,
)
_UNPAIRED = (*reference_paths.MODELS, *reference_weights.INDEXED, *reference_neighbourhood.MODELS)
# Those of them that pair words, and may keep a table of the pairs.
PAIRED = tuple(name for name in INDEXED if name not in _UNPAIRED)
# Those that know nothing of a class from its messages one by one.
BETWEEN_MESSAGES = reference_paths.MODELS
# Those whose reference leaves each message out in turn, or searches words, which takes its time.
SLOW = tuple(name for name in reference_weights.MODELS if name.startswith(("GRS", "DFW")))
# Those whose sums are of weights that are no integers: other ids of classes or another order of
# messages are other orders of adding up, which leave other roundings.
ROUNDED = (
    *(name for name in reference_weights.MODELS if name.startswith(("GRW", "DTW", "DW"))),
    *reference_neighbourhood.NEAREST,
)
# Parameters fit for short streams: how often the slow reference weighs all documents, how small a
# leaf may be, how many documents are near.
OWN: dict[str, dict[str, Any]] = {
    **{name: {"rounds": 3} for name in reference_weights.MODELS if name.startswith("DW")},
    **{name: {"min_samples_leaf": 1.0} for name in reference_weights.MODELS if "DTW" in name},
    **{name: {"min_samples_leaf": 5.0} for name in reference_neighbourhood.TREES},
    **{name: {"n_neighbors": 10} for name in reference_neighbourhood.NEAREST},
}


def _packaged(name: str, **parameters: Any) -> PackagedReference:
    return PackagedReference(PACKAGED_MODELS[name], **parameters)


REFERENCES: dict[str, Any] = (
    dict.fromkeys(REFERENCE_MODELS, reference.Reference)
    | dict.fromkeys(PACKAGED_MODELS, _packaged)
    | dict.fromkeys(reference_paths.MODELS, reference_paths.PathsReference)
    | dict.fromkeys(reference_correlation.MODELS, reference_correlation.CorrelationReference)
    | dict.fromkeys(reference_weights.MODELS, reference_weights.WeightsReference)
    | dict.fromkeys(reference_neighbourhood.MODELS, reference_neighbourhood.NeighbourhoodReference)
    | dict.fromkeys(
        reference_one_dependence.MODELS, reference_one_dependence.OneDependenceReference
    )
)


def make_model(name: str, **parameters: Any) -> Any:
    """Return a new model.

    Parameters
    ----------
    name
        One of `ALL_MODELS`.
    parameters
        As at `streamnb.naive_bayes.NaiveBayes`.
    """
    if name == RATIOS:
        return streamnb.ComposedNB(event="one-versus-all", dependence="hidden-ratios", **parameters)
    return getattr(streamnb, name)(**OWN.get(name, {}) | parameters)


def make_reference(name: str, **parameters: Any) -> Any:
    """Return the slow literal version of a model, with the parameters that `Reference` knows."""
    return REFERENCES[name](name, **OWN.get(name, {}) | parameters)
