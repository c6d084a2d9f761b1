"""Naive Bayes with correlation factor: each message counts a little for every class."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Composition, CorrelationFactor, Multinomial

__all__ = ["NBCF"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    factor: float | str = CorrelationFactor.factor


@dataclasses.dataclass(eq=False, repr=False)
class NBCF(TextNaiveBayes, _Parameters):
    """Naive Bayes with correlation factor (NBCF).

    Multinomial naive Bayes in which each document counts a little for every class, too:

        ln P(c) + Σ_j f_j ln θ_cj
        θ_cj = (N_cj + t N_·j) / (N_c· + t N_··)

    with f_j the count of word j in the message, N_cj its count in class c, N_·j in all classes, and
    N_c· and N_·· the same for all words. There is no other smoothing: words that no class has seen
    are left out. The model needs fewer messages than one with additive smoothing, above all where
    there are many classes.

    Parameters
    ----------
    factor
        t. A number from 0 on: 0.1 is the paper's. `"auto"`, of a grid from 0.001 to 1 the factor
        that would have made the fewest errors so far: learning a message then decides it seven
        times before. `"optimal"`, each class's own by Theorem 5.1, refreshed as `refresh_every`
        says (see `streamnb.statistics.correlation.optimal_factors`). At 0, a class is impossible
        for a message with a word that it never had: its score is the limit for t → 0.

    Notes
    -----
    `alpha`, `oov` and `vocabulary_size` have no effect. The other parameters, methods and errors
    are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import NBCF
    >>> model = NBCF()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equations 3.1 and 4.5, Theorem 5.1.
    """

    parts = Composition(Multinomial(), estimate=CorrelationFactor())
