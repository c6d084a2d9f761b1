"""What models with word weights by depth have in common: the tree that the depths are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import TREE, TREE_DEPTH
from streamnb.statistics.events import MIN_SAMPLES_LEAF


class TreeDepthNB(NaiveBayes):
    """Base of the models whose words weigh by the depth at which a tree tests them.

    Parameters
    ----------
    untested
        The weight of words that the tree does not test, 0 to 2**52; those that it tests at depth d
        weigh 1/√d more.
    max_depth
        Splits between the root and a leaf, 0 (no word is tested) or more.
    min_samples_leaf
        The least weight of messages on either side of a split, above 0.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """

    weights = TREE_DEPTH

    def __init__(
        self,
        untested: float = 1.0,
        max_depth: int = TREE.max_depth,
        min_samples_leaf: float = MIN_SAMPLES_LEAF,
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
        self.untested = untested
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
            form=form,
        )
