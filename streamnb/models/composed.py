"""Any event model with any dependence, estimate, weights and neighbourhood."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from streamnb.errors import InputError, shown
from streamnb.naive_bayes import NaiveBayes, TextNaiveBayes
from streamnb.parameters import is_default
from streamnb.parts import (
    AXES,
    Composition,
    Dependence,
    DocumentWeights,
    Estimate,
    Event,
    Hidden,
    Multinomial,
    Neighbourhood,
    Weights,
)

__all__ = ["ComposedNB"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parts:
    event: str | Event = "multinomial"
    dependence: str | Dependence = "independent"
    estimate: str | Estimate = "additive"
    factor: float | str = 0.1


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters(NaiveBayes):
    bag_threshold: float | str = "average"
    bins: int = 10
    values: Mapping[str, int] | None = None
    max_links: int = 1_000_000
    max_parents: int | None = None
    min_df: int = Hidden.min_df
    weights: str | Weights = "uniform"
    document_weights: str | DocumentWeights = "uniform"
    rounds: int = 20


@dataclasses.dataclass(eq=False, repr=False)
class ComposedNB(TextNaiveBayes, _Parameters, _Parts):
    """Naive Bayes composed of parts, by their names or as objects of `streamnb.parts`.

    Parameters
    ----------
    event
        `"bernoulli"`, `"multinomial"`, `"complement"`, `"one-versus-all"`;
        `"normalised-complement"` (see `streamnb.TWCNB`), with plain parts only; or, where a message
        maps attributes to values, `"attributes"`, whose numbers fall into bins (see `streamnb.PHNB`
        with `columns=True`), or `"gaussian"`, whose numbers don't (see `streamnb.LNB`).
    dependence
        `"independent"`, `"hidden"`, `"hidden-ratios"`, `"one-dependence"`, or `"packaged"`, the
        packages of `streamnb.PHNB`. All but the first need word counts, so not with `"bernoulli"`.
        Of them only packages go with `"attributes"`, and none with `"gaussian"`. Hidden parents of
        ratios mix P(w|c̄) / P(w|c), so only with `"one-versus-all"`: with `prior="uniform"` that is
        what the published figures of HOVA were computed with (see `streamnb.parts.HiddenRatios`),
        while `HOVA` is the formula as printed.
    estimate
        `"additive"`, smoothing by `alpha`; `"correlation"`, the correlation factor of `NBCF`: with
        any event model but `"bernoulli"`, and words independent; or higher-order paths in the
        place of documents: `"paths"`, `"pure-paths"`, `"paths-3"` or `"paths-4"`, with
        `"bernoulli"` only (see `HONB`).
    weights
        Of words: `"uniform"`; `"chi-square"`, the factor R_wc of `RwcMNB`; `"gain-ratio"`, as in
        `GRWMNB`; `"selection"`, as in `GRSMNB`; `"correlation-based"`, as in `DFWMNB`; or
        `"tree-depth"`, as in `DTWMNB`. They are of word counts: not with `"bernoulli"`, which sums
        over absent words by their document frequencies alone, nor with columns. They need the
        estimate `"additive"`. Where words depend on one another, weights are exponents of the score
        alone, W_i f_i for f_i: the messages that contain a parent are counted without any. With
        `"gaussian"`, what weights of attributes minimise: `"exponential"` (as `streamnb.ENB`),
        `"deviance"` (`DNB`), `"likelihood"` (`LNB`), `"generalised"` (`GDNB`), or `"squared"`
        (`MSENB`); or what measures them: `"kullback-leibler"` (as `streamnb.KLNB`;
        `"kullback-leibler-raw"` leaves out that weights are relative to their mean),
        `"correlation-filter"` (`CBFWNB`), `"deep-selection"` (`DFWNB`), `"tree-depth"` (`TreeNB`),
        or `"forward-selection"` (`SBC`).

        The five that minimise a loss are of words too, with word counts: 0 or more, they multiply
        the terms of the score alone, ± ln P(c or c̄) ± Σ_i w_i f_i ln P(w_i|c or c̄);
        `"generalised"` also multiplies the score by the α of Equation 18 that fits best where all
        weights are 1. They need uniform weights of documents.
    document_weights
        `"uniform"`; `"discriminative"`, as in `DWMNB`, with what weights of words go with, and
        with words independent; or `"discriminative-online"`, as in `DWMNB(online=True)`.
    neighbourhood
        Which messages count for a prediction: `"stream"`, all; `"tree"`, those in its leaf of a
        tree, as in `MNBTree`; or `"nearest"`, those that are like it, as in `LWWMNB`. But for the
        first, with any event model of texts, with words independent, with the estimate
        `"additive"`, and with uniform weights.
    factor
        Of the estimate `"correlation"`, as in `NBCF`.
    bag_threshold, max_links
        Of the dependence `"packaged"`, as in `streamnb.PHNB`.
    max_parents
        Of all dependences but `"independent"`, as in `streamnb.HMNB` and `streamnb.PHNB`.
    min_df
        Of all dependences but `"independent"` and `"packaged"`, as in `streamnb.HMNB`.
    bins, values
        Of columns, as in `streamnb.PHNB`.
    rounds
        Of the document weights `"discriminative"`, as in `DWMNB`.
    max_candidates
        Of the weights `"correlation-based"`, as in `DFWMNB`.
    max_depth, min_samples_leaf
        Of the neighbourhood `"tree"` and the weights `"tree-depth"`, as in `MNBTree` and `DTWMNB`.
        With `min_samples_leaf=None` it is 50 for the one and 2 for the other.
    grow, delta, tau, grace_period
        Of the neighbourhood `"tree"`, as in `MNBTree`.
    n_neighbors
        Of the neighbourhood `"nearest"`, as in `LWWMNB`.
    multiclass
        Of weights that minimise a loss: with attributes, `"pairs"` or `"direct"`, as in
        `streamnb.ENB`; None is `"pairs"`. A word has one weight for all classes: there None is
        `"direct"`, one fit of all.
    ridge
        Of weights that minimise a loss: what it costs one to be away from 1, as in `streamnb.ENB`,
        0 or more; None is 0.01 for attributes and 0.1 for words.
    leave_one_out
        Of weights that minimise a loss: whether those of words are fitted to messages each scored
        without its own counts.
    untested
        Of the weights `"tree-depth"`, as in `DTWMNB`.

    Notes
    -----
    The parameters from `factor` on are those of parts given by their names. A part that is given as
    an object has its own: `Packaged(bag_threshold=0.5)`. The other parameters, methods and errors
    are those of `streamnb.naive_bayes.NaiveBayes`.

    Raises
    ------
    InputError
        If a parameter is out of range, parts do not go together, or a parameter is given that no
        part given by its name has.

    Examples
    --------
    >>> from streamnb import HCNB, ComposedNB
    >>> from streamnb.parts import Complement, Hidden
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
    streamnb.errors.InputError: n_neighbors=5 has no effect: no part that is given by its name has \
it; leave it at 50, or choose neighbourhood='nearest'
    >>> model = ComposedNB(event="one-versus-all", term_weighting="log-unit", alpha=0.01)
    >>> model.learn_one("win cash now, win win", "spam")
    >>> model.counts().tokens.toarray().ravel().round(3)
    array([0.816, 0.408, 0.408])
    >>> model = ComposedNB(event="one-versus-all", term_weighting="log", weights="generalised")
    >>> for text, label in [
    ...     ("win cash now", "spam"), ("see you at noon", "ham"),
    ...     ("cash prize, win now", "spam"), ("at noon you win", "ham"),
    ... ] * 3:
    ...     model.learn_one(text, label)
    >>> model.weights_["cash"] > model.weights_["win"]
    True
    """

    parts = Composition(Multinomial())

    max_candidates: int = 1_000
    neighbourhood: str | Neighbourhood = "stream"
    max_depth: int = 64
    min_samples_leaf: float | None = None
    grow: str = "periodic"
    delta: float = 1e-7
    tau: float = 0.05
    grace_period: float = 200.0
    n_neighbors: int = 50
    multiclass: str | None = None
    ridge: float | None = None
    leave_one_out: bool = True
    untested: float = 1.0

    def _composition(self) -> Composition:
        values = self._parameters()
        parts = {name: axis.named(values[name]) for name, axis in AXES.items()}
        by_name = {name: part for name, part in parts.items() if part is not values[name]}
        for name, default in _DEFAULTS.items():
            if not is_default(values[name], default) and not any(
                part.has(name) for part in by_name.values()
            ):
                raise InputError(
                    f"{name}={shown(values[name])} has no effect: no part that is given by its "
                    f"name has it; leave it at {default!r}, or choose {_choices(name)}"
                )
        # What is not given is the part's own default; 1 is another value than True.
        given = {
            name: values[name]
            for name, default in _DEFAULTS.items()
            if not (type(values[name]) is type(default) and is_default(values[name], default))
        }
        chosen = {name: part.given(given) for name, part in by_name.items()}
        return Composition(**{**parts, **chosen})  # type: ignore[arg-type]

    @classmethod
    def _read_parameters(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Make parts of their descriptions; drop what no part has.

        Until version 0.1 parameters without effect were taken, and written.
        """
        read = dict(parameters)
        for name, axis in AXES.items():
            if isinstance(described := read.get(name), dict):
                read[name] = axis.of_description(described)
        parts = [axis.named(read[name]) for name, axis in AXES.items() if name in read]
        unused = {name for name in _DEFAULTS if not any(part.has(name) for part in parts)}
        return {name: value for name, value in read.items() if name not in unused}


# The parameters of parts, and what each is where it is not given.
_DEFAULTS: dict[str, Any] = {
    field.name: field.default
    for field in dataclasses.fields(ComposedNB)
    if field.name not in AXES
    and field.name not in {common.name for common in dataclasses.fields(TextNaiveBayes)}
}


def _choices(parameter: str) -> str:
    """Return the parts that have a parameter."""
    return " or ".join(
        f"{axis.axis}={name!r}"
        for axis in AXES.values()
        for name, (found, meant) in axis.every().items()
        if found.has(parameter) and parameter not in meant
    )
