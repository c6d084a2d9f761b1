"""A search over the axes: every event model with every form of documents and weights.

Not an experiment of a paper: it asks which composition of their parts is best. Choose on some
collections, confirm on others (see docs/internals/compositions.md).
"""

from __future__ import annotations

import itertools
from typing import Any

from streamnb.reproduce.experiment import Experiment, ModelRecipe, register
from streamnb.reproduce.papers.hmnb import HMNB_PAPER

__all__ = ["COMPOSITIONS"]

_EVENTS = {"MNB": "multinomial", "CNB": "complement", "OVA": "one-versus-all"}
# Values of unit length are small: smoothing by 1 would drown them.
_FORMS = (
    *(("counts", 1.0), ("counts", 0.1), ("log", 1.0), ("log", 0.1)),
    *(("log-unit", 0.1), ("log-unit", 0.01)),
)
_WEIGHTS = ("uniform", "gain-ratio")
# Of discriminative weights of documents; the paper's 20 rounds are a column of its own tables.
_ROUNDS = (0, 2)
# Statistics are computed once, after a fold is learned; no document is forgotten.
_SETTINGS: dict[str, Any] = {
    "refresh_every": 10**9,
    "index_size": 10**6,
    "prior": "laplace",
}


def _composition(
    event: str, term_weighting: tuple[str, float], weights: str, rounds: int
) -> ModelRecipe:
    shape, alpha = term_weighting
    parts = {
        "event": _EVENTS[event],
        "term_weighting": shape,
        "alpha": alpha,
        "weights": weights,
        **({"document_weights": "discriminative", "rounds": rounds} if rounds else {}),
    }
    named = [
        event,
        *([shape] if shape != "counts" else []),
        *([weights] if weights != "uniform" else []),
        *([f"rounds-{rounds}"] if rounds else []),
        *([f"alpha-{alpha}"] if alpha != 1.0 else []),
    ]
    return ModelRecipe("+".join(named), "streamnb:ComposedNB", {**parts, **_SETTINGS})


def _minimised(event: str, term_weighting: str) -> ModelRecipe:
    """Return a composition whose weights of words minimise a loss (GDNB on texts)."""
    parts = {
        "event": _EVENTS[event],
        "term_weighting": term_weighting,
        "weights": "generalised",
    }
    named = [
        event,
        *([term_weighting] if term_weighting != "counts" else []),
        "generalised",
    ]
    return ModelRecipe("+".join(named), "streamnb:ComposedNB", {**parts, **_SETTINGS})


COMPOSITIONS = register(
    Experiment(
        name="compositions",
        paper="none: the parts of several papers, composed",
        summary="event models x forms of documents x weights of words x weights of documents",
        tables=("hmnb-table3",),
        collections=HMNB_PAPER.collections,
        models=(
            HMNB_PAPER.model("HCNB"),
            *(
                _composition(*axes)
                for axes in itertools.product(_EVENTS, _FORMS, _WEIGHTS, _ROUNDS)
            ),
            *(_minimised(*axes) for axes in itertools.product(_EVENTS, ("counts", "log"))),
        ),
        notes=(
            "choose on fbis, la1s, oh0, oh5 and re1; re0 and oh15 are for confirming the choice",
        ),
    )
)
