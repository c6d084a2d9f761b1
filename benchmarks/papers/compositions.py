"""Which composition is best: each event model with each term weighting and each kind of weights.

This is not an experiment of a paper. Choose on some collections and confirm on the others;
docs/internals/compositions.md has the commands and the findings.
"""

from __future__ import annotations

import itertools
from typing import Any

from benchmarks.papers.experiment import Experiment, ModelRecipe
from benchmarks.papers.hmnb import HMNB_PAPER

_EVENTS = {"MNB": "multinomial", "CNB": "complement", "OVA": "one-versus-all"}
# Counts of unit length are small: alpha = 1 would dominate them.
_TERM_WEIGHTINGS = (
    *(("counts", 1.0), ("counts", 0.1), ("log", 1.0), ("log", 0.1)),
    *(("log-unit", 0.1), ("log-unit", 0.01)),
)
_WEIGHTS = ("uniform", "gain-ratio")
# Rounds of discriminative document weights; the paper's 20 rounds are a column of its tables.
_ROUNDS = (0, 2)
# Compute the statistics once, after a fold is learned, and keep every document.
_SETTINGS: dict[str, Any] = {"refresh_every": 10**9, "index_size": 10**6, "prior": "laplace"}


def _composition(
    event: str, term_weighting: str, weights: str, alpha: float = 1.0, rounds: int = 0
) -> ModelRecipe:
    parts = {
        "event": _EVENTS[event],
        "term_weighting": term_weighting,
        "alpha": alpha,
        "weights": weights,
        **({"document_weights": "discriminative", "rounds": rounds} if rounds else {}),
    }
    words = [
        event,
        *([term_weighting] if term_weighting != "counts" else []),
        *([weights] if weights != "uniform" else []),
        *([f"rounds-{rounds}"] if rounds else []),
        *([f"alpha-{alpha}"] if alpha != 1.0 else []),
    ]
    return ModelRecipe("+".join(words), "ComposedNB", {**parts, **_SETTINGS})


COMPOSITIONS = Experiment(
    name="compositions",
    paper="none: compositions of the parts of several papers",
    summary="event models x term weightings x word weights x document weights",
    tables=("hmnb-table3",),
    collections=HMNB_PAPER.collections,
    models=(
        HMNB_PAPER.model("HCNB"),
        *(
            _composition(event, weighting, weights, alpha, rounds)
            for event, (weighting, alpha), weights, rounds in itertools.product(
                _EVENTS, _TERM_WEIGHTINGS, _WEIGHTS, _ROUNDS
            )
        ),
        # Word weights that minimise a loss: those of LossMNB, LossCNB and LossOVA.
        *(
            _composition(event, weighting, "generalised")
            for event, weighting in itertools.product(_EVENTS, ("counts", "log"))
        ),
    ),
    notes=("choose on fbis, la1s, oh0, oh5 and re1; confirm the choice on re0 and oh15",),
)
