"""Models by name, among them one that is no class of its own, and the reference of each."""

from __future__ import annotations

from typing import Any

import reference
import reference_correlation
import reference_one_dependence
from reference import RATIOS

import streamnb

MODELS = (*reference.MODELS, *reference_one_dependence.MODELS, *reference_correlation.MODELS)
ALL_MODELS = (*MODELS, RATIOS)
# Those that look at past messages, so that they keep an index.
INDEXED = ("HMNB", "HCNB", "HOVA", *reference_one_dependence.MODELS)

REFERENCES: dict[str, Any] = (
    dict.fromkeys((*reference.MODELS, RATIOS), reference.Reference)
    | dict.fromkeys(reference_correlation.MODELS, reference_correlation.CorrelationReference)
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
    return getattr(streamnb, name)(**parameters)


def make_reference(name: str, **parameters: Any) -> Any:
    """Return the slow literal version of a model, with the parameters that `Reference` knows."""
    return REFERENCES[name](name, **parameters)
