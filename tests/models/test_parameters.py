"""Parameters out of range are named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb import families
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


def test_names_that_are_required_do_not_offer_none() -> None:
    with pytest.raises(InputError, match=r"^loss must be one of 'logistic', .*, not None$"):
        streamnb.OnlineNB(loss=None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^correction must be one of .*, not 1$"):
        streamnb.OnlineNB(correction=1)  # type: ignore[arg-type]


def test_statistics_get_the_checked_alpha() -> None:
    model = streamnb.GRSMNB(alpha=np.int64(2))  # type: ignore[arg-type]
    (weights,) = model._statistics
    alpha = weights.context.parameters.alpha  # type: ignore[attr-defined]
    assert (type(alpha), alpha) == (float, 2.0)
    model = streamnb.HONB(alpha=np.float32(0.5))  # type: ignore[arg-type]
    (paths,) = model._statistics
    assert type(paths.context.parameters.alpha) is float  # type: ignore[attr-defined]


def test_a_row_is_read_once_if_its_label_disappears_meanwhile() -> None:
    """The prediction is repeated with the row as it was read, not read again."""
    model = streamnb.HNB(columns=True)
    for sky, label in [("clear", "play"), ("rain", "stay"), ("rain", "stay")]:
        model.learn_one({"sky": sky}, label)  # type: ignore[dict-item]

    class Names(list[Any]):
        """The labels by class id; the first read finds that the label is gone."""

        missing = 1

        def __getitem__(self, place: Any) -> Any:
            if self.missing:
                self.missing -= 1
                return None
            return super().__getitem__(place)

    rows, read = [], model._reader
    assert read is not None

    def reader(x: Any) -> Any:
        rows.append(x)
        return read(x)

    model._reader = reader
    model._labels.names = Names(model._labels.names)
    assert model.predict_one({"sky": "clear"}) == "play"  # type: ignore[dict-item]
    assert rows == [{"sky": "clear"}]


@pytest.mark.parametrize("name", families.MODELS)
def test_errors_of_a_call_name_the_model(name: str) -> None:
    """Not its family, which shares the code: MNBTree, not LeafNB."""
    with pytest.raises(TypeError, match=rf"^{name}\.__init__\(\) got an unexpected keyword"):
        families.MODELS[name](nonsense=1)
