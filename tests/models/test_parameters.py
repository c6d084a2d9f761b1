"""Parameters out of range are named."""

from __future__ import annotations

import math
from typing import Any

import pytest

import streamnb
from streamnb.errors import InputError
from support.models import MODELS

BAD_PARAMETERS = [
    ("alpha", [-1.0, math.nan, math.inf, "1", None]),
    ("prior", ["Laplace", "", 1, True]),
    ("oov", ["ignore", 0]),
    ("vocabulary_size", [0, -1, 2.5, "10", math.nan]),
    ("refresh_every", [0, -1, 0.0, -0.5, math.nan, "1", None]),
    ("threshold", [-0.1, 1.5, math.nan, "automatic", 0.0, 1.0]),
    ("cost_ratio", [0.0, -1.0, math.nan, math.inf, "1"]),
    ("max_features", [0, -1, 2.5, "10"]),
    ("index_size", [-1, 2.5, "10"]),
    ("max_pairs", [-1, 2.5, "10"]),
    ("tokenizer", [1, "words", [str.split]]),
]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [(parameter, value) for parameter, values in BAD_PARAMETERS for value in values],
)
def test_bad_parameters_are_named(parameter: str, value: Any) -> None:
    for name in (*MODELS, "ComposedNB"):
        with pytest.raises(InputError, match=parameter):
            getattr(streamnb, name)(**{parameter: value})


def test_composed_parts_are_checked() -> None:
    with pytest.raises(InputError, match="multinomial"):
        streamnb.ComposedNB(event="poisson")
    with pytest.raises(InputError, match="hidden"):
        streamnb.ComposedNB(dependence="tree")
    with pytest.raises(InputError, match=r"need .* word counts"):
        streamnb.ComposedNB(event="bernoulli", dependence="hidden")
    for event in ("bernoulli", "multinomial", "complement"):
        with pytest.raises(InputError, match=f"event must be 'one-versus-all', not '{event}'"):
            streamnb.ComposedNB(event=event, dependence="hidden-ratios")
