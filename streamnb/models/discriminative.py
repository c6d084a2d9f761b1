"""What models with discriminative document weights have in common: how often they weigh."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parameters import check_flag
from streamnb.parts import DISCRIMINATIVE, DISCRIMINATIVE_ONLINE, Composition
from streamnb.statistics.document_weights import PAPER_ROUNDS


class DiscriminativeNB(NaiveBayes):
    """Base of the models whose documents have discriminative weights.

    Parameters
    ----------
    rounds
        How often the indexed messages are weighed at each refresh, 0 (never) or more.
    online
        Whether each message is weighed once, as it is learned, and never again.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    document_weights = DISCRIMINATIVE

    def __init__(
        self,
        rounds: int = PAPER_ROUNDS,
        online: bool = False,
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
        self.online = online
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
        parts = super()._composition()
        if not check_flag("online", self.online):
            return parts
        return dataclasses.replace(parts, document_weights=DISCRIMINATIVE_ONLINE)
