"""Every combination of parts is accepted or refused as the core's table says."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from streamnb import ComposedNB, _core
from streamnb.errors import InputError
from streamnb.model.composition import AXES
from support.models import ROWS, make_model
from support.streams import synthetic_stream

TABLE = _core.compositions()
PLAIN = {
    "dependence": "independent",
    "estimate": "additive",
    "weights": "uniform",
    "document_weights": "uniform",
    "neighbourhood": "stream",
}
# A part of Python for each part of the core that has another name there.
PARTS = {
    ("estimate", "effective"): "paths",
    ("weights", "multiplied"): "gain-ratio",
    ("document_weights", "instance"): "discriminative",
}
COMBINATIONS = [
    dict(zip(TABLE, names, strict=True)) for names in itertools.product(*TABLE.values())
]


def is_accepted(parts: dict[str, str]) -> bool:
    """Return whether the needs of all parts are met, by the table alone."""
    traits = TABLE["event"][parts["event"]]
    for axis in PLAIN:
        needs = TABLE[axis][parts[axis]]
        if (
            traits["form"] not in needs["forms"]
            or traits["sum"] not in needs["sums"]
            or (needs["both_sides"] and not (traits["own"] and traits["complement"]))
            or any(parts[other] != PLAIN[other] for other in needs["plain"])
        ):
            return False
    return True


def parts_of(model: Any) -> dict[str, str]:
    """Return the core's names of the parts of a model."""
    options = model._components.scoring_options()
    return {axis: options.get(axis, PLAIN.get(axis)) for axis in TABLE}


def test_the_core_accepts_what_the_table_allows() -> None:
    for parts in COMBINATIONS:
        if is_accepted(parts):
            _core.ScoringConfig(**parts)
        else:
            with pytest.raises(InputError, match=r" need.* not '"):
                _core.ScoringConfig(**parts)


@pytest.mark.parametrize("name", ROWS)
def test_models_with_a_slow_reference_are_in_the_table(name: str) -> None:
    """Their scores equal those of the reference in test_prefixes.py."""
    assert is_accepted(parts_of(make_model(name)))


def test_events_of_python_have_the_traits_of_the_core() -> None:
    for name, (event, _) in AXES["event"].known.items():
        form = TABLE["event"][name]["form"]
        assert event.counts == (form == "counts"), name
        assert event.columns == (form in ("values", "numbers")), name
        assert event.numbers == (form == "numbers"), name


OF_TEXTS = [
    parts
    for parts in COMBINATIONS
    if is_accepted(parts) and TABLE["event"][parts["event"]]["form"] in ("counts", "presence")
]


def _id(parts: dict[str, str]) -> str:
    return "-".join(name for axis, name in parts.items() if PLAIN.get(axis) != name)


@pytest.mark.parametrize("parts", OF_TEXTS, ids=_id)
def test_accepted_compositions_score_and_explain(parts: dict[str, str]) -> None:
    names = {axis: PARTS.get((axis, name), name) for axis, name in parts.items()}
    model = ComposedNB(**names, refresh_every=10)
    assert parts_of(model) == parts
    messages = list(synthetic_stream(40))
    for x, y, weight in messages[:30]:
        model.learn_one(x, y, weight)
    for x, *_ in messages[30:]:
        scores = model.joint_log_likelihood_one(x)
        assert all(math.isfinite(score) for score in scores.values())
        assert model.explain_one(x).scores() == pytest.approx(scores, rel=1e-9, abs=1e-9)
