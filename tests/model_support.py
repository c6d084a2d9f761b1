"""Models by name, among them one that is no class of its own."""

from __future__ import annotations

from typing import Any

from reference import MODELS, RATIOS

import streamnb

ALL_MODELS = (*MODELS, RATIOS)


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
