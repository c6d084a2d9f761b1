"""What models of the nearest messages have in common: how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import NEAREST


class NearestNB(NaiveBayes):
    """Base of the models of the nearest messages.

    Parameters
    ----------
    n_neighbors
        How many messages are near, 1 or more.
    max_documents
        Recent messages among which the nearest are looked for, 0 or more. None is 65,536.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    neighbourhood = NEAREST

    def __init__(
        self,
        n_neighbors: int = NEAREST.n_neighbors,
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
