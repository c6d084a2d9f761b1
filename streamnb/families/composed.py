"""Any event model with any dependence, estimate, weights and neighbourhood: ComposedNB."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb.errors import InputError, shown
from streamnb.families.hidden import Hidden
from streamnb.families.independent import Multinomial
from streamnb.model.choices import Factor, Grow, Multiclass, PackageThreshold
from streamnb.model.composition import (
    AXES,
    Composition,
    Dependence,
    DocumentWeights,
    Estimate,
    Event,
    Neighbourhood,
    Weights,
)
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import is_default
from streamnb.text.labels import L


@dataclasses.dataclass(eq=False, repr=False)
class _Positional:
    """The first positional parameters."""

    event: str | Event = "multinomial"
    dependence: str | Dependence = "independent"


@dataclasses.dataclass(eq=False, repr=False)
class ComposedNB(TextNaiveBayes[L], _Positional):
    """Naive Bayes composed of components, by name or as objects of `streamnb.families`.

    Parameters
    ----------
    event
        `"bernoulli"`, `"multinomial"`, `"complement"`, `"one-versus-all"`;
        `"normalised-complement"` (`TWCNB`), with plain components only; or, for messages that map
        attributes to values, `"attributes"`, which bins numbers (`PHNB` with `columns=True`), or
        `"gaussian"`, which does not (`LNB`).
    dependence
        `"independent"`, `"hidden"` (`HMNB`), `"hidden-ratios"`, `"one-dependence"` (`SEMNB`) or
        `"packaged"` (`PHNB`). All except the first need word counts, which excludes `"bernoulli"`.
        `"attributes"` allows packages only, `"gaussian"` independence only. Hidden ratios mix
        P(w|c̄) / P(w|c), so they need `"one-versus-all"`. With `prior="uniform"` they reproduce the
        published figures of HOVA (see `streamnb.families.HiddenRatios`).
    estimate
        `"additive"`, smoothing by `alpha`; `"correlation"` (`NBCF`), with independent words and any
        event model except `"bernoulli"`; or paths instead of documents (`HONB`), with `"bernoulli"`
        only: `"paths"`, `"pure-paths"`, `"paths-3"` or `"paths-4"`.
    weights
        Of words: `"uniform"`, `"chi-square"` (`RwcMNB`), `"gain-ratio"` (`GRWMNB`), `"selection"`
        (`GRSMNB`), `"correlation-based"` (`DFWMNB`), `"tree-depth"` (`DTWMNB`) or `"online"`
        (`OnlineNB`). They weight word counts, so `"bernoulli"` and columns are excluded, and they
        need the estimate `"additive"`. If words depend on one another, weights are exponents of the
        score alone, W_i f_i for f_i; the counts of messages with a parent are not weighted.

        Of attributes, with `"gaussian"`: `"kullback-leibler"` (`KLNB`; `"kullback-leibler-raw"`
        omits the normalisation by the mean), `"correlation-filter"` (`CBFWNB`), `"deep-selection"`
        (`DFWNB`), `"tree-depth"` (`TreeNB`), `"forward-selection"` (`SBC`), or a loss to minimise:
        `"exponential"` (`ENB`), `"deviance"` (`DNB`), `"likelihood"` (`LNB`), `"generalised"`
        (`GDNB`) or `"squared"` (`MSENB`). With other events these losses weight words, as in
        `LossMNB`.
    document_weights
        `"uniform"`; `"discriminative"` (`DWMNB`), with independent words, under the same conditions
        as weights of words.
    neighbourhood
        Messages that a prediction is based on: `"stream"`, all; `"tree"`, those in its leaf of a
        tree (`MNBTree`); or `"nearest"` (`LWWMNB`). The last two allow any event model of texts,
        with independent words, the estimate `"additive"` and uniform weights.
    factor
        As in `NBCF`.
    bag_threshold, max_links, bins, values
        As in `PHNB`.
    max_parents, min_df
        As in `HMNB`. Packages have no `min_df`.
    rounds
        As in `DWMNB`.
    max_candidates
        As in `DFWMNB`.
    max_depth, min_samples_leaf
        As in `MNBTree` and `DTWMNB`. `min_samples_leaf=None` means 50 for the tree and 2 for the
        weights.
    grow, delta, tau, grace_period
        As in `MNBTree`.
    untested
        As in `DTWMNB`.
    n_neighbors
        As in `LWWMNB`.
    multiclass, ridge
        As in `ENB` and `LossMNB`. None is the default of the model with these weights.
    leave_one_out
        As in `LossMNB`.

    Notes
    -----
    The parameters from `factor` on belong to components given by name. A component given as an
    object has its own: `Packaged(bag_threshold=0.5)`. `streamnb.model.base.NaiveBayes`
    documents the other parameters, methods and errors.

    Raises
    ------
    InputError
        If a parameter is out of range, components cannot be combined, or no component given by name
        has the parameter.

    Examples
    --------
    >>> from streamnb import HCNB, ComposedNB
    >>> from streamnb.families import Complement, Hidden
    >>> by_name = ComposedNB(event="complement", dependence="hidden")
    >>> composed, named = ComposedNB(Complement(), dependence=Hidden()), HCNB()
    >>> for model in (by_name, composed, named):
    ...     model.learn_one("win cash now", "spam")
    ...     model.learn_one("see you at noon", "ham")
    >>> composed.predict_proba_one("cash at noon") == named.predict_proba_one("cash at noon")
    True
    >>> by_name.to_bytes() == composed.to_bytes()
    True
    >>> ComposedNB(event="complement", n_neighbors=5)
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: n_neighbors=5 has no effect: no component given by name has this \
parameter; leave it at 50, or choose neighbourhood='nearest'
    """

    composition: ClassVar[Composition] = Composition(Multinomial())

    estimate: str | Estimate = "additive"
    factor: Factor = 0.1
    bag_threshold: PackageThreshold = "average"
    bins: int = 10
    values: Mapping[str, int] | None = None
    max_links: int = 1_000_000
    max_parents: int | None = None
    min_df: int = Hidden.min_df
    weights: str | Weights = "uniform"
    document_weights: str | DocumentWeights = "uniform"
    rounds: int = 20
    max_candidates: int = 1_000
    neighbourhood: str | Neighbourhood = "stream"
    max_depth: int = 64
    min_samples_leaf: float | None = None
    grow: Grow = "periodic"
    delta: float = 1e-7
    tau: float = 0.05
    grace_period: float = 200.0
    n_neighbors: int = 50
    multiclass: Multiclass | None = None
    ridge: float | None = None
    leave_one_out: bool = True
    untested: float = 1.0

    def _composition(self) -> Composition:
        values = self._parameters()
        components = {name: axis.named(values[name]) for name, axis in AXES.items()}
        by_name = {name: each for name, each in components.items() if each is not values[name]}
        for name, default in _DEFAULTS.items():
            used = any(component.has(name) for component in by_name.values())
            if not used and not is_default(values[name], default):
                raise InputError(
                    f"{name}={shown(values[name])} has no effect: no component given by name has "
                    f"this parameter; leave it at {default!r}, or choose {_choices(name)}"
                )
        # Unset parameters keep the component's own default. The type matters: 1 is not True.
        given = {
            name: values[name]
            for name, default in _DEFAULTS.items()
            if not (type(values[name]) is type(default) and is_default(values[name], default))
        }
        chosen: Any = {name: component.given(given) for name, component in by_name.items()}
        return Composition(**{**components, **chosen})


# The parameters of components, and their defaults.
_DEFAULTS: dict[str, Any] = {
    field.name: field.default
    for field in dataclasses.fields(ComposedNB)
    if field.name not in AXES
    and field.name not in {common.name for common in dataclasses.fields(TextNaiveBayes)}
}


def _choices(parameter: str) -> str:
    """Return the components that have a parameter."""
    return " or ".join(
        f"{axis.axis}={name!r}"
        for axis in AXES.values()
        for name, (found, meant) in sorted(axis.known.items())
        if found.has(parameter) and parameter not in meant
    )
