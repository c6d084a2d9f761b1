"""Naive Bayes with correlation factor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import CORRELATION, MULTINOMIAL


class NBCF(NaiveBayes):
    """Naive Bayes with correlation factor (NBCF).

    Multinomial naive Bayes in which each document counts a little for every class, too:

        ln P(c) + Σ_j f_j ln θ_cj
        θ_cj = (N_cj + t N_·j) / (N_c· + t N_··)

    with f_j the count of word j in the message, N_cj its count in class c, N_·j in all classes, and
    N_c· and N_·· the same of all words. Nothing is smoothed besides: words that no class has seen
    are left out. It needs fewer messages than smoothing does, most where there are many classes.

    Parameters
    ----------
    factor
        t. A number from 0 on: 0.1 is the paper's. `"auto"`, of a grid from 0.001 to 1 the factor
        that would have made the fewest errors so far: learning a message then decides it seven
        times before. `"optimal"`, each class's own by Theorem 5.1, refreshed as `refresh_every`
        says (see `streamnb.statistics.correlation.optimal_factors`). At 0, a class is impossible
        for a message with a word that it never had: its score is the limit for t → 0.

    `alpha`, `unseen` and `vocabulary_size` have no effect. The other parameters, methods and errors
    are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import NBCF
    >>> model = NBCF()
    >>> for x, y in [
    ...     ("Free entry: WIN cash now", "spam"),
    ...     ("see you at noon", "ham"),
    ...     ("win a free phone now", "spam"),
    ...     ("are you free for lunch at noon?", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("free cash, call now")
    'spam'
    >>> model.predict_one("lunch with you")
    'ham'

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equations 3.1 and 4.5, Theorem 5.1.
    """

    event = MULTINOMIAL
    estimate = CORRELATION

    def __init__(
        self,
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
        form: str = "counts",
    ) -> None:
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
            form=form,
        )
