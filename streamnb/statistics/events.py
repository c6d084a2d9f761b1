"""Priors and log terms of words in numpy, for statistics that score messages.

A message of words i with counts f_i has for class c the score

    multinomial       ln P(c) + Σ_i f_i ln P(w_i|c),    P(w_i|c) = (N_ci + α) / (N_c + α m)
    complement      − ln P(c̄) − Σ_i f_i ln P(w_i|c̄),    c̄: all messages of other classes
    one-versus-all    the sum of both

Each is a difference of logarithms of counts of the class and of the rest. `log_counts` computes it:
numerators from the counts of words, denominators from totals. The core has the same terms in
`core/src/scoring/events.rs`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamnb.statistics.counts import Floats


@dataclasses.dataclass(frozen=True)
class ScoringParameters:
    """The parameters of a model's scores that its statistics depend on.

    Attributes
    ----------
    event, prior
        Names, as in `ComposedNB`; the prior is not None.
    alpha
        α, the smoothing.
    vocabulary_size
        m, at least the number of learned words.
    chi_square
        Whether P(w|c) is multiplied by max(R_wc, 1).
    """

    event: str
    prior: str
    alpha: float
    vocabulary_size: float
    chi_square: bool = False

    @property
    def scores_class(self) -> bool:
        """Whether a score has terms of the class: all event models except the complement."""
        return self.event != "complement"

    @property
    def scores_rest(self) -> bool:
        """Whether a score has terms of the other classes: all except the multinomial."""
        return self.event != "multinomial"


def log_priors(documents: Floats, n_classes: int, parameters: ScoringParameters) -> Floats:
    """Return the prior terms of the scores: shape `(…, classes)`.

    `documents` has the weight of the documents of each class: shape `(…, classes)`. A class without
    documents has no term. `n_classes` is s, the number of classes with documents: the prior
    `"laplace"` is (n_c + 1) / (n + s).

    Examples
    --------
    >>> log_priors(np.array([1.0, 3.0]), 2, ScoringParameters("multinomial", "empirical", 1, 5))
    array([-1.38629436, -0.28768207])
    """
    n = documents.sum(axis=-1, keepdims=True)

    def log(of_side: Floats) -> Floats:
        if parameters.prior == "laplace":
            return np.log((of_side + 1) / (n + n_classes))
        share = np.divide(of_side, n, out=np.zeros_like(of_side), where=n > 0)
        return np.log(share, out=np.zeros_like(share), where=share > 0)

    terms = np.zeros_like(documents)
    if parameters.prior == "uniform":
        return terms
    if parameters.scores_class:
        terms += log(documents)
    if parameters.scores_rest:
        terms -= log(np.maximum(n - documents, 0))
    return terms


def log_counts(
    of_class: Floats,
    of_all: Floats,
    smoothing: float,
    parameters: ScoringParameters,
    out_of_class: Floats | float = 0.0,
    out_of_rest: Floats | float = 0.0,
) -> Floats:
    """Return ln (N_c + a) − ln (N_c̄ + a), or the terms of these that the event model has.

    All shapes broadcast.

    Parameters
    ----------
    of_class
        N_c, counts in each class: shape `(…, classes)`.
    of_all
        Counts in all classes, which may be more than the given ones.
    smoothing
        a, above 0.
    parameters
        The event model.
    out_of_class, out_of_rest
        Counts to leave out of each class, and of the rest: a message that is scored without its own
        counts.
    """
    terms: Floats = np.zeros(
        np.broadcast_shapes(*map(np.shape, (of_class, of_all, out_of_class, out_of_rest)))
    )
    if parameters.scores_class:
        terms += np.log(np.maximum(of_class - out_of_class, 0) + smoothing)
    if parameters.scores_rest:
        terms -= np.log(np.maximum(of_all - of_class - out_of_rest, 0) + smoothing)
    return terms


def log_numerators(
    of_class: Floats, of_all: Floats, parameters: ScoringParameters, *out: Floats | float
) -> Floats:
    """Return the numerator terms of word counts, by word and class, as `log_counts` does."""
    return log_counts(of_class, of_all, parameters.alpha, parameters, *out)


def log_denominators(
    totals: Floats, all_totals: Floats, parameters: ScoringParameters, *out: Floats | float
) -> Floats:
    """Return the denominator terms of the tokens of each class, for one word of a message."""
    smoothing = parameters.alpha * parameters.vocabulary_size
    return -log_counts(totals, all_totals, smoothing, parameters, *out)


def log_chi_square_ratios(
    documents: Floats, class_documents: Floats, parameters: ScoringParameters
) -> Floats:
    """Return ln max(R_wc, 1) of the sides that the event model has: shape `(words, classes)`.

    R_wc is the number of documents of the class with the word, over the number expected if word and
    class are independent. `documents` has the documents of each class that contain each word.
    """
    in_all = documents.sum(axis=1)[:, None]
    n = class_documents.sum()
    table: Floats = np.zeros_like(documents)
    for sign, side, own in (
        (parameters.scores_class, documents, class_documents),
        (-parameters.scores_rest, in_all - documents, n - class_documents),
    ):
        chance = in_all * own
        more = (n * side > chance) & (chance > 0)
        table += sign * np.log(np.where(more, n * side, 1) / np.where(more, chance, 1))
    return table
