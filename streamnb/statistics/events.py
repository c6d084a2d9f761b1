"""The numpy twin of the core's events: priors and log terms of words, for statistics that score.

A message of words i with counts f_i has for class c the score

    multinomial       ln P(c) + Σ_i f_i ln P(w_i|c),    P(w_i|c) = (N_ci + α) / (N_c + α m)
    complement      − ln P(c̄) − Σ_i f_i ln P(w_i|c̄),    c̄: all messages of other classes
    one-versus-all    the sum of both

Each is a difference of logarithms of counts of the class and of the rest, so there is one function
of those, `log_counts`: with words' counts it gives numerators, with totals denominators. The core
has the same terms in `core/src/scoring/events.rs`.
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
        Names, as `ComposedNB` knows them; the prior is not None.
    alpha
        α, the smoothing.
    vocabulary_size
        m, at least the number of words learned.
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
        """Whether a score has terms of the class: all events but the complement."""
        return self.event != "complement"

    @property
    def scores_rest(self) -> bool:
        """Whether a score has terms of all other classes: all events but the multinomial."""
        return self.event != "multinomial"


def log_priors(documents: Floats, n_classes: int, parameters: ScoringParameters) -> Floats:
    """Return the prior terms of a score.

    Parameters
    ----------
    documents
        Weight of the documents of each class: shape `(…, classes)`. A class without any has no
        term.
    n_classes
        s, how many classes have documents.
    parameters
        The event, and the prior: `"laplace"` is (n_c + 1) / (n + s).

    Returns
    -------
    Terms, shape `(…, classes)`.

    Examples
    --------
    >>> log_priors(np.array([1.0, 3.0]), 2, ScoringParameters("multinomial", "empirical", 1, 5))
    array([-1.38629436, -0.28768207])
    """
    n = documents.sum(axis=-1, keepdims=True)

    def log(of_side: Floats) -> Floats:
        if parameters.prior == "laplace":
            smoothed: Floats = np.log((of_side + 1) / (n + n_classes))
            return smoothed
        share = np.divide(of_side, n, out=np.zeros_like(of_side), where=n > 0)
        logs: Floats = np.log(share, out=np.zeros_like(share), where=share > 0)
        return logs

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
    """Return ln (N_c + a) − ln (N_c̄ + a), or the one of them that the event has.

    Parameters
    ----------
    of_class
        N_c, counts in each class: shape `(…, classes)`.
    of_all
        Counts in all classes together, which may be more than those given: of a shape that
        broadcasts with it.
    smoothing
        a, above 0.
    parameters
        The event.
    out_of_class, out_of_rest
        What is left out of the counts of a class, and of those of the rest: a message that is
        scored without its own counts. They broadcast too.

    Returns
    -------
    Differences, of the shape that all broadcast to.
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
    of_class: Floats,
    of_all: Floats,
    parameters: ScoringParameters,
    out_of_class: Floats | float = 0.0,
    out_of_rest: Floats | float = 0.0,
) -> Floats:
    """Return the numerator terms of each word and class.

    Parameters
    ----------
    of_class
        N_ci, occurrences of each word in each class: shape `(words, classes)`.
    of_all
        Occurrences in all classes: shape `(words, 1)`.
    parameters, out_of_class, out_of_rest
        As in `log_counts`.

    Returns
    -------
    Terms, shape `(words, classes)`.
    """
    return log_counts(of_class, of_all, parameters.alpha, parameters, out_of_class, out_of_rest)


def log_denominators(
    totals: Floats,
    all_totals: Floats,
    parameters: ScoringParameters,
    out_of_class: Floats | float = 0.0,
    out_of_rest: Floats | float = 0.0,
) -> Floats:
    """Return the denominator terms, which are added once for each word of a message.

    Parameters
    ----------
    totals
        N_c, tokens of each class: shape `(…, classes)`.
    all_totals
        Tokens of all classes: of a shape that broadcasts with it.
    parameters, out_of_class, out_of_rest
        As in `log_counts`.

    Returns
    -------
    Terms, shape `(…, classes)`.
    """
    smoothing = parameters.alpha * parameters.vocabulary_size
    return -log_counts(totals, all_totals, smoothing, parameters, out_of_class, out_of_rest)


def log_chi_square_ratios(
    documents: Floats, class_documents: Floats, parameters: ScoringParameters
) -> Floats:
    """Return ln max(R_wc, 1) of the sides that the event has.

    R_wc is how many times more documents of the class have the word than chance would have it.

    Parameters
    ----------
    documents
        Documents of each class that have each word: shape `(words, classes)`.
    class_documents
        Documents of each class: shape `(classes,)`.
    parameters
        The event.

    Returns
    -------
    Terms, shape `(words, classes)`.
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
