"""The table of models: the family, the slow reference and the test properties of each model.

All lists of models in the tests derive from `ROWS`, and a test compares `ROWS` with
`streamnb.families.MODELS`: a new model needs a new row. `make soak` runs all models in each test.
`make test` runs the representative of each family in tests of scores (`matrix`), a model of each
structure in tests that do not depend on formulas (`structures`), and all models in one test of
equality with the slow reference (`every`). The models of a family differ only in their event model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

import streamnb
from references.correlation import CorrelationReference
from references.filters import FilterReference
from references.hidden import HiddenReference, RatiosReference
from references.higher_order import PathsReference
from references.independent import Reference
from references.losses import LossReference
from references.neighbourhood import NeighbourhoodReference
from references.normalised import NormalisedReference
from references.one_dependence import OneDependenceReference
from references.online_weights import OnlineWeightsReference
from references.packaged import PackagedReference
from references.weights import WeightsReference
from references.word_fits import WordFitReference

# The ratio of hidden parents behind the published figures of HOVA: a composition without a class.
RATIOS = "HOVA ratios"


@dataclass(frozen=True)
class Row:
    """A model.

    Attributes
    ----------
    name
        Name of the class or the composition.
    family
        Family of models, which share all code except the event model.
    reference
        Returns the slow reference for given parameters.
    make
        Returns the model for given parameters; None means the class of that name.
    representative
        Whether tests of the whole matrix run the model in `make test`.
    parameters
        Parameters for short streams: rounds of weighting, size of a leaf, number of neighbours.
    columns
        Whether messages are rows of a table, not texts.
    indexed
        Whether the model keeps an index of past messages.
    messages
        Number of real messages that the slow reference follows; fewer for slow references.
    rounded
        Whether sums have fractional weights, so that the order of summation changes the rounding.
    between_messages
        Whether single messages carry no information about a class.
    presence
        Whether the model uses the presence of words, not their counts.
    corrected
        Whether each message takes a step by its score, so that the order of messages matters.
        Unlearning keeps the steps, and merging averages them: see
        `tests/models/test_online_corrections.py`.
    """

    name: str
    family: str
    reference: Callable[..., Any]
    make: Callable[..., Any] | None = None
    representative: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: bool = False
    indexed: bool = False
    messages: int = 300
    rounded: bool = False
    between_messages: bool = False
    presence: bool = False
    corrected: bool = False


def _rows(family: str, *names: str, reference: Any, represented_by: str, **facts: Any) -> list[Row]:
    """Return the rows of a family; its reference takes the name of the model."""
    return [
        Row(
            name,
            family,
            partial(reference, name),
            representative=name == represented_by,
            **facts,
        )
        for name in names
    ]


def _weights(prefix: str, family: str, represented_by: str, **facts: Any) -> list[Row]:
    """Return the rows of a family of weights, on each event model."""
    names = [f"{prefix}{event}" for event in ("MNB", "CNB", "OVA")]
    return _rows(family, *names, reference=WeightsReference, represented_by=represented_by, **facts)


def _online(**parameters: Any) -> Any:
    """Return the model with the default tokenizer of the other models."""
    return streamnb.OnlineNB(**{"tokenizer": streamnb.Tokenizer(), **parameters})


_ALL = [
    *(
        Row(name, "independent", partial(Reference, name), representative=True)
        for name in ("MNB", "CNB", "OVA")
    ),
    Row("BNB", "independent", partial(Reference, "BNB"), representative=True, presence=True),
    Row(
        "OnlineNB", "online-weights", OnlineWeightsReference, _online, representative=True,
        messages=150, presence=True, corrected=True,
    ),
    Row("TWCNB", "normalised", partial(NormalisedReference, "CNB"), representative=True),
    Row("ComposedNB", "composed", partial(Reference, "MNB")),
    *_rows(
        "hidden", "HMNB", "HCNB", "HOVA",
        reference=HiddenReference, represented_by="HMNB", indexed=True,
    ),
    Row(
        RATIOS, "hidden-ratios", partial(RatiosReference, "HOVA"),
        partial(streamnb.ComposedNB, event="one-versus-all", dependence="hidden-ratios"),
        representative=True,
    ),
    *_rows(
        "one-dependence", "SEMNB", "SECNB", "SEOVA",
        reference=OneDependenceReference, represented_by="SECNB", indexed=True,
    ),
    Row(
        "HNB", "packaged", partial(PackagedReference, 0.0),
        indexed=True, messages=80,
    ),
    Row(
        "PHNB", "packaged", partial(PackagedReference, "average"),
        representative=True, indexed=True, messages=80,
    ),
    Row(
        "HONB", "higher-order", partial(PathsReference, "HONB"), representative=True,
        indexed=True, between_messages=True, presence=True,
    ),
    Row("NBCF", "correlation", partial(CorrelationReference, "NBCF"), representative=True),
    *_weights("Rwc", "chi-square", "RwcOVA"),
    *_weights("GRW", "gain-ratio", "GRWMNB", rounded=True),
    *_weights("GRS", "selection", "GRSCNB", indexed=True, messages=200),
    *_weights("DFW", "correlation-based", "DFWOVA", indexed=True, messages=60),
    *_weights(
        "DTW", "tree-depth", "DTWMNB",
        indexed=True, rounded=True, messages=100, parameters={"min_samples_leaf": 1.0},
    ),
    *_weights(
        "DW", "discriminative", "DWCNB", indexed=True, rounded=True, parameters={"rounds": 3}
    ),
    *_rows(
        "tree", "MNBTree", "CNBTree", "OVATree",
        reference=NeighbourhoodReference, represented_by="OVATree",
        indexed=True, parameters={"min_samples_leaf": 5.0},
    ),
    *_rows(
        "nearest", "LWWMNB", "LWWCNB", "LWWOVA",
        reference=NeighbourhoodReference, represented_by="LWWMNB",
        indexed=True, rounded=True, parameters={"n_neighbors": 10},
    ),
    *_rows(
        "word-fits", "LossMNB", "LossCNB", "LossOVA",
        reference=WordFitReference, represented_by="LossOVA",
        indexed=True, rounded=True, messages=60, parameters={},
    ),
    *_rows(
        "losses", "ENB", "DNB", "LNB", "GDNB", "MSENB",
        reference=LossReference, represented_by="LNB", columns=True, indexed=True,
    ),
    *_rows(
        "filters", "KLNB", "CBFWNB", "DFWNB", "TreeNB", "SBC",
        reference=FilterReference, represented_by="KLNB", columns=True, indexed=True,
    ),
]  # fmt: skip
ROWS = {row.name: row for row in _ALL}


def names(**facts: Any) -> tuple[str, ...]:
    """Return the names of models with these properties: `names(columns=False, indexed=True)`."""
    return tuple(
        row.name
        for row in ROWS.values()
        if all(getattr(row, fact) == value for fact, value in facts.items())
    )


def family(*families: str) -> tuple[str, ...]:
    """Return the names of the models of some families."""
    return tuple(row.name for row in ROWS.values() if row.family in families)


# Models of text that have a class.
MODELS = tuple(name for name in names(columns=False) if name not in (RATIOS, "ComposedNB"))
# With the composition that has no class.
ALL_MODELS = (*MODELS, RATIOS)
# Models of attribute tables.
COLUMNS = names(columns=True)
INDEPENDENT = names(family="independent")
INDEXED = tuple(name for name in MODELS if ROWS[name].indexed)
# Models whose state does not depend on the order of messages.
EXACT = tuple(name for name in MODELS if not ROWS[name].corrected)
BETWEEN_MESSAGES = names(between_messages=True)
ROUNDED = names(rounded=True)
COUNTING = tuple(name for name in ALL_MODELS if not ROWS[name].presence)
# Models with weights of words and of documents.
WEIGHTED = family(
    "chi-square", "gain-ratio", "selection", "correlation-based", "tree-depth", "discriminative"
)
# Event models by the suffix of a model's name.
EVENTS = {"MNB": "multinomial", "CNB": "complement", "OVA": "one-versus-all"}
# Word weights by the prefix of a model's name.
WORD_WEIGHTS = {
    "Rwc": "chi-square",
    "GRW": "gain-ratio",
    "GRS": "selection",
    "DFW": "correlation-based",
    "DTW": "tree-depth",
}


# Models of texts that differ in their state, their documents or their schedule. All others differ
# from one of them in formulas only.
STRUCTURES = ("MNB", "BNB", "OnlineNB", "HMNB", "PHNB", "HONB", "NBCF", "GRWMNB", "OVATree")


def matrix(models: Iterable[str] = MODELS) -> pytest.MarkDecorator:
    """Parametrise a test by models: representatives in `make test`, all of them in `make soak`."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=mark(name)) for name in models]
    )


def structures(models: Iterable[str] = MODELS) -> pytest.MarkDecorator:
    """Parametrise a test by models: one of each structure in `make test`, all in `make soak`."""
    cases = [pytest.param(name, marks=structure_mark(name)) for name in models]
    return pytest.mark.parametrize("name", cases)


def every(models: Iterable[str] = MODELS) -> pytest.MarkDecorator:
    """Parametrise a test by models, all of them in `make test`."""
    return pytest.mark.parametrize("name", models)


def mark(name: str) -> pytest.MarkDecorator:
    """Return the mark of a model's tests; a model outside the table is its own representative."""
    if name in ROWS and not ROWS[name].representative:
        return pytest.mark.soak
    return pytest.mark.matrix


def structure_mark(name: str) -> pytest.MarkDecorator:
    """Return the mark of a model's tests that do not depend on formulas; see `mark`."""
    return mark(name) if name in STRUCTURES or name not in MODELS else pytest.mark.soak


def make_model(name: str, **parameters: Any) -> Any:
    """Return a new model.

    Parameters
    ----------
    name
        One of `ROWS`.
    parameters
        As at the model, beside those of its row.
    """
    return makes(name)(**{**ROWS[name].parameters, **parameters})


def makes(name: str) -> Callable[..., Any]:
    """Return the constructor of a model with given parameters, and its defaults."""
    return ROWS[name].make or getattr(streamnb, name)  # type: ignore[no-any-return]


def make_reference(name: str, **parameters: Any) -> Any:
    """Return the slow literal version of a model, with the parameters that references know."""
    row = ROWS[name]
    return row.reference(**{**row.parameters, **parameters})
