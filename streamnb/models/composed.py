"""Any event model with any dependence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from streamnb.errors import InputError
from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import (
    DEPENDENCES,
    DOCUMENT_WEIGHTS,
    ESTIMATES,
    EVENTS,
    NEIGHBOURHOODS,
    PACKAGED,
    WEIGHTS,
    Composition,
    packaged,
    with_settings,
)
from streamnb.statistics.document_weights import PAPER_ROUNDS
from streamnb.statistics.events import MAX_CANDIDATES


class ComposedNB(NaiveBayes):
    """Naive Bayes composed of parts by their names.

    Parameters
    ----------
    event
        `"bernoulli"`, `"multinomial"`, `"complement"`, `"one-versus-all"`; or, where a message maps
        attributes to values, `"attributes"`, whose numbers fall into bins (see `streamnb.PHNB` with
        `columns=True`), or `"gaussian"`, whose numbers don't (see `streamnb.LNB`).
    dependence
        `"independent"`, `"hidden"`, `"hidden-ratios"`, `"one-dependence"`, or `"packaged"`, the
        bags of `streamnb.PHNB`. All but the first need word counts, so not with `"bernoulli"`. Of
        them only bags go with `"attributes"`, and none with `"gaussian"`. Hidden parents of ratios
        mix P(w|c̄) / P(w|c), so only with `"one-versus-all"`: with `prior="uniform"` that is what
        the published figures of HOVA were computed with (see `streamnb.parts.HiddenRatios`), while
        `HOVA` is the formula as printed.
    estimate
        `"additive"`, smoothing by `alpha`; `"correlation"`, the correlation factor of `NBCF`: with
        any event model but `"bernoulli"`, and words independent; or higher-order paths in the
        place of documents: `"paths"`, `"pure-paths"`, `"paths-3"` or `"paths-4"`, with
        `"bernoulli"` only (see `HONB`).
    factor
        As in `NBCF`, for the estimate `"correlation"`; without effect otherwise.
    bag_threshold, max_links
        As in `streamnb.PHNB`; without bags they have no effect.
    bins, values
        As in `streamnb.PHNB`; without columns they have no effect.
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
    multiclass
        With weights of attributes, `"pairs"` or `"direct"`, as in `streamnb.ENB`; None is
        `"pairs"`. A word has one weight for all classes: there None is `"direct"`, one fit of all.
    ridge
        What it costs weights that minimise a loss to be away from 1, as in `streamnb.ENB`, 0 or
        more; None is 0.01 for attributes and 0.1 for words.
    leave_one_out
        Whether weights of words that minimise a loss are fitted to messages each scored without
        its own counts.
    document_weights
        `"uniform"`; `"discriminative"`, as in `DWMNB`, with what weights of words go with, and
        with words independent; or `"discriminative-online"`, as in `DWMNB(online=True)`.
    rounds
        As in `DWMNB`; without effect otherwise.
    max_candidates
        As in `DFWMNB`; without effect otherwise.
    untested
        As in `DTWMNB`; without effect otherwise.
    neighbourhood
        Which messages count for a prediction: `"stream"`, all; `"tree"`, those in its leaf of a
        tree, as in `MNBTree`; or `"nearest"`, those that are like it, as in `LWWMNB`. But for the
        first, with any event model of texts, with words independent, with the estimate
        `"additive"`, and with uniform weights.
    max_depth, min_samples_leaf, grow, delta, tau, grace_period, n_neighbors
        As in `MNBTree`, `DTWMNB` and `LWWMNB`; without effect otherwise. With
        `min_samples_leaf=None` it is 50 for `"tree"` and 2 for `"tree-depth"`.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HCNB, ComposedNB
    >>> composed, named = ComposedNB(event="complement", dependence="hidden"), HCNB()
    >>> for model in (composed, named):
    ...     model.learn_one("win cash now", "spam")
    ...     model.learn_one("see you at noon", "ham")
    >>> composed.predict_proba_one("cash at noon") == named.predict_proba_one("cash at noon")
    True
    >>> model = ComposedNB(event="one-versus-all", form="log-unit", alpha=0.01)
    >>> model.learn_one("win cash now, win win", "spam")
    >>> model.counts().tokens.toarray().ravel().round(3)
    array([0.816, 0.408, 0.408])
    >>> model = ComposedNB(event="one-versus-all", form="log", weights="generalised")
    >>> for text, label in [
    ...     ("win cash now", "spam"), ("see you at noon", "ham"),
    ...     ("cash prize, win now", "spam"), ("at noon you win", "ham"),
    ... ] * 3:
    ...     model.learn_one(text, label)
    >>> model.weights_["cash"] > model.weights_["win"]
    True
    """

    def __init__(
        self,
        event: str = "multinomial",
        dependence: str = "independent",
        estimate: str = "additive",
        factor: float | str = 0.1,
        alpha: float = 1.0,
        prior: str | None = None,
        unseen: str | None = None,
        vocabulary_size: int | None = None,
        tokenizer: Callable[[str], Iterable[Any]] | None = None,
        refresh_every: int | float = 0.1,
        threshold: float | str | None = None,
        positive: Any = None,
        cost_ratio: float = 1.0,
        max_words: int = 1_000_000,
        max_documents: int | None = None,
        max_pairs: int = 1_000_000,
        bag_threshold: float | str = "average",
        bins: int = 10,
        values: Mapping[str, int] | None = None,
        max_links: int = 1_000_000,
        weights: str = "uniform",
        document_weights: str = "uniform",
        rounds: int = PAPER_ROUNDS,
        form: str = "counts",
        max_candidates: int = MAX_CANDIDATES,
        neighbourhood: str = "stream",
        max_depth: int = 64,
        min_samples_leaf: float | None = None,
        grow: str = "periodic",
        delta: float = 1e-7,
        tau: float = 0.05,
        grace_period: float = 200.0,
        n_neighbors: int = 50,
        multiclass: str | None = None,
        ridge: float | None = None,
        leave_one_out: bool = True,
        untested: float = 1.0,
    ) -> None:
        self.event = event  # type: ignore[misc, assignment]
        self.dependence = dependence  # type: ignore[misc, assignment]
        self.multiclass = multiclass
        self.ridge = ridge
        self.leave_one_out = leave_one_out
        self.bag_threshold = bag_threshold
        self.bins = bins
        self.values = values
        self.max_links = max_links
        self.estimate = estimate  # type: ignore[misc, assignment]
        self.factor = factor
        self.weights = weights  # type: ignore[misc, assignment]
        self.document_weights = document_weights  # type: ignore[misc, assignment]
        self.rounds = rounds
        self.max_candidates = max_candidates
        self.untested = untested
        self.neighbourhood = neighbourhood  # type: ignore[misc, assignment]
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.grow = grow
        self.delta = delta
        self.tau = tau
        self.grace_period = grace_period
        self.n_neighbors = n_neighbors
        super().__init__(
            alpha=alpha,
            prior=prior,
            unseen=unseen,
            vocabulary_size=vocabulary_size,
            tokenizer=tokenizer,
            refresh_every=refresh_every,
            threshold=threshold,
            positive=positive,
            cost_ratio=cost_ratio,
            max_words=max_words,
            max_documents=max_documents,
            max_pairs=max_pairs,
            form=form,
        )

    def _composition(self) -> Composition:
        event = _named("event", EVENTS, self.event)
        dependence = _named("dependence", DEPENDENCES, self.dependence)
        near = _named("neighbourhood", NEIGHBOURHOODS, self.neighbourhood)
        return Composition(
            event,
            packaged(event.columns) if dependence == PACKAGED else dependence,
            _named("estimate", ESTIMATES, self.estimate),
            _named("weights", WEIGHTS, self.weights),
            _named("document_weights", DOCUMENT_WEIGHTS, self.document_weights),
            with_settings(near, self),
        )


Part = TypeVar("Part")


def _named(kind: str, parts: Mapping[str, Part], name: object) -> Part:
    """Return a part by its name."""
    if isinstance(name, str) and name in parts:
        return parts[name]
    raise InputError(f"{kind} must be one of {', '.join(map(repr, parts))}, not {name!r}")
