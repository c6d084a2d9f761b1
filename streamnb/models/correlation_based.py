"""What models with correlation-based word weights have in common: how far they search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import CORRELATION_BASED
from streamnb.statistics.events import MAX_CANDIDATES


class CorrelationBasedNB(NaiveBayes):
    """Base of the models whose words have correlation-based weights.

    Parameters
    ----------
    max_candidates
        Words that the search looks at, 1 or more: those that tell most of the class.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    weights = CORRELATION_BASED

    def __init__(
        self,
        max_candidates: int = MAX_CANDIDATES,
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
        self.max_candidates = max_candidates
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
