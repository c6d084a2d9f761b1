"""Every combination of parts that the core accepts scores and explains."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest

from streamnb import ComposedNB, _core
from streamnb.errors import InputError
from streamnb.model.composition import AXES
from support.streams import synthetic_stream

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
    ("weights", "exponents"): "generalised",
    ("document_weights", "instance"): "discriminative",
}
# The features of a document that an event model reads.
FORMS = {
    "bernoulli": "presence",
    "multinomial": "counts",
    "complement": "counts",
    "normalised-complement": "counts",
    "one-versus-all": "counts",
    "attributes": "values",
    "gaussian": "numbers",
}


def names_on(axis: str) -> list[str]:
    """Return the core's names of the parts on an axis."""
    with pytest.raises(InputError) as refusal:
        _core.ScoringConfig(**{axis: "?"})  # type: ignore[arg-type]
    return re.findall(r"'([^']+)'", str(refusal.value))


TABLE = {axis: names_on(axis) for axis in ("event", *PLAIN)}
COMBINATIONS = [
    dict(zip(TABLE, names, strict=True)) for names in itertools.product(*TABLE.values())
]


def is_accepted(parts: dict[str, str]) -> bool:
    """Return whether the core accepts a combination; a refusal gives the reason."""
    try:
        _core.ScoringConfig(**parts)  # type: ignore[arg-type]
    except InputError as refusal:
        reason = str(refusal)
    else:
        return True
    assert re.search(r" need.* not '", reason)
    return False


def parts_of(model: Any) -> dict[str, str]:
    """Return the core's names of the parts of a model."""
    options = model._components.scoring_options()
    return {axis: options.get(axis, PLAIN.get(axis)) for axis in TABLE}


def test_the_core_accepts_sound_compositions() -> None:
    """The rules are in `core/tests/compositions.rs`."""
    assert (len(COMBINATIONS), sum(map(is_accepted, COMBINATIONS))) == (3150, 79)


def test_events_of_python_have_the_traits_of_the_core() -> None:
    assert set(FORMS) == set(TABLE["event"])
    for name, (event, _) in AXES["event"].known.items():
        form = FORMS[name]
        assert event.counts == (form == "counts"), name
        assert event.columns == (form in ("values", "numbers")), name
        assert event.numbers == (form == "numbers"), name


OF_TEXTS = [
    parts
    for parts in COMBINATIONS
    if FORMS[parts["event"]] in ("counts", "presence") and is_accepted(parts)
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
