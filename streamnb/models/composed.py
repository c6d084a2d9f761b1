"""Any event model with any dependence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import (
    PACKAGED,
    Dependence,
    Estimate,
    Event,
    Weights,
    dependence_named,
    estimate_named,
    event_named,
    packaged,
    weights_named,
)


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
    weights
        `"uniform"`; or, with `"gaussian"`, what the weights of attributes minimise:
        `"exponential"` (as `streamnb.ENB`), `"deviance"` (`DNB`), `"likelihood"` (`LNB`),
        `"generalised"` (`GDNB`), or `"squared"` (`MSENB`).
    multiclass, ridge
        As in `streamnb.ENB`; without such weights they have no effect.
    bag_threshold, max_links
        As in `streamnb.PHNB`; without bags they have no effect.
    bins, values
        As in `streamnb.PHNB`; without columns they have no effect.

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
    """

    def __init__(
        self,
        event: str = "multinomial",
        dependence: str = "independent",
        estimate: str = "additive",
        factor: float | str = 0.1,
        weights: str = "uniform",
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
        multiclass: str = "pairs",
        ridge: float = 0.01,
    ) -> None:
        self.event = event  # type: ignore[misc, assignment]
        self.dependence = dependence  # type: ignore[misc, assignment]
        self.weights = weights  # type: ignore[misc, assignment]
        self.multiclass = multiclass
        self.ridge = ridge
        self.bag_threshold = bag_threshold
        self.bins = bins
        self.values = values
        self.max_links = max_links
        self.estimate = estimate  # type: ignore[misc, assignment]
        self.factor = factor
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
        )

    def _parts(self) -> tuple[Event, Dependence]:
        event, dependence = event_named(self.event), dependence_named(self.dependence)
        if dependence == PACKAGED:
            dependence = packaged(event.columns)
        return event, dependence

    def _weights_part(self) -> Weights:
        return weights_named(self.weights)

    def _estimate_part(self) -> Estimate:
        return estimate_named(self.estimate)
