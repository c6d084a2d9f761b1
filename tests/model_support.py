"""Models by name, among them one that is no class of its own, and their references."""

from __future__ import annotations

from typing import Any

from reference import MODELS, RATIOS, Reference
from reference_packaged import PackagedReference

import streamnb

# Those of `reference.Reference`.
REFERENCE_MODELS = (*MODELS, RATIOS)
# Those of `reference_packaged.PackagedReference`, with the thresholds of their bags.
PACKAGED_MODELS = {"HNB": 0.0, "PHNB": "average"}
# Every class with a formula of its own, and every formula.
NAMED_MODELS = (*MODELS, *PACKAGED_MODELS)
ALL_MODELS = (*REFERENCE_MODELS, *PACKAGED_MODELS)


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
    """Return the slow literal version of a model, with the same parameters."""
    if name in PACKAGED_MODELS:
        return PackagedReference(PACKAGED_MODELS[name], **parameters)
    return Reference(name, **parameters)
