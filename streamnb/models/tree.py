"""What models in the leaves of a tree have in common: how far it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.neighbourhood import TREE


class TreeNB(NaiveBayes):
    """Base of the models in the leaves of a tree.

    Parameters
    ----------
    max_depth
        Splits between the root and a leaf, 0 (one leaf: all indexed messages) or more.
    min_samples_leaf
        The least weight of messages on either side of a split, above 0.
    max_documents
        Recent messages that the tree is grown over and that count in its leaves, 0 or more. None
        is 65,536.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    neighbourhood = TREE

    def __init__(
        self,
        max_depth: int = TREE.max_depth,
        min_samples_leaf: float = TREE.min_samples_leaf,
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
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
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
