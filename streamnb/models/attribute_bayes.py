"""The bases of models that weigh the attributes of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import GAUSSIAN


class WeightedAttributes(NaiveBayes):
    """Base of models whose attributes have weights that minimise a loss over recent messages.

    A message maps attributes to values: a str, a bool or an int is a category, a float is a
    number (up to 2**400), None and NaN are missing and take no part. With n_ic messages of class
    c that have the value, and v values of the attribute,

        P(x_j|c) = (n_ic + α) / (n_c + α v)                         of a category (Equation 4)
        P(x_j|c) = exp[−(x_j − μ)² / 2s²] / (s √2π)                 of a number (Equation 3)

    where μ and s are the mean and the sample's standard deviation of the numbers of the attribute
    in the class: sums kept exactly, so that unlearning leaves nothing behind. A deviation of 0
    counts as 1; a class without a number of the attribute has the μ and s of all classes.

    Weights are fitted by Newton's method, with 0 as their bound, to the most recent `max_documents`
    messages, as `refresh_every` says. They follow from those messages alone, in whatever order they
    were learned. Between two fits counts go on and weights stay.

    Parameters
    ----------
    multiclass
        What is done with three classes or more. `"pairs"`: weights for each two classes, and each
        class has the votes Σ_j p_ij of Equations 22 to 24. `"direct"`: one vector of weights,
        fitted over all classes at once, with the margins over every other class in the loss.
    ridge
        What it costs a weight to be away from 1, 0 or more: `ridge` / 2 times the square, in
        units of one message's loss. It keeps weights finite while a few messages are easily told
        apart, and is soon outweighed. The paper has none: 0.
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.
    max_documents
        Messages kept for the fits, 0 or more, past which the oldest are evicted; None is 10,000.
    vocabulary_size, tokenizer, max_pairs
        Without effect: there is no text.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    event = GAUSSIAN

    def __init__(
        self,
        multiclass: str = "pairs",
        ridge: float = 0.01,
        values: Mapping[str, int] | None = None,
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
    ) -> None:
        self.multiclass = multiclass
        self.ridge = ridge
        self.values = values
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


class FilteredAttributes(NaiveBayes):
    """Base of models whose attributes have weights that follow from the recent messages.

    Columns, and P(x_j|c), are those of `WeightedAttributes`. A class has the score

        ln P(c) + Σ_j w_j ln P(x_j|c)      (Equations 5 and 6)

    with one weight for all classes. Weights are computed over the most recent `max_documents`
    messages as `refresh_every` says; what they are multiplied with is never stale. To measures of
    information a number is its bin among those of the recent messages, and a missing value is one
    of its own. An attribute that has come since weighs 1.

    Parameters
    ----------
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.
    max_documents
        Messages kept for the weights, 0 or more, past which the oldest are evicted; None is
        10,000.
    vocabulary_size, tokenizer, max_pairs
        Without effect: there is no text.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    event = GAUSSIAN

    def __init__(
        self,
        values: Mapping[str, int] | None = None,
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
    ) -> None:
        self.values = values
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
