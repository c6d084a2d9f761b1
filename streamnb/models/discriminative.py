"""What models with discriminative document weights have in common: how often they weigh."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.document_weights import PAPER_ROUNDS
from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import DISCRIMINATIVE


class DiscriminativeNB(NaiveBayes):
    """Base of the models whose documents have discriminative weights.

    Parameters
    ----------
    rounds
        How often the indexed messages are weighed at each refresh, 0 (never) or more.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    document_weights = DISCRIMINATIVE

    def __init__(
        self,
        rounds: int = PAPER_ROUNDS,
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
        self.rounds = rounds
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
