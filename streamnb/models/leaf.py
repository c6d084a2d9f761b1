"""What models in the leaves of a tree have in common: how far it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import TREE


class LeafNB(NaiveBayes):
    """Base of the models in the leaves of a tree.

    Parameters
    ----------
    max_depth
        Splits between the root and a leaf, 0 (one leaf: all indexed messages) or more.
    min_samples_leaf
        The least weight of messages on either side of a split, above 0.
    grow
        `"periodic"`: anew over the indexed messages when statistics are refreshed. `"hoeffding"`:
        online, as messages arrive.
    delta, tau, grace_period
        For `grow="hoeffding"`, as river's trees have them. A leaf looks for a split each time that
        messages of the weight `grace_period`, above 0, have come to it. Its best word must lead the
        second by more than Hoeffding's bound, which the better of two misses with probability
        `delta`, between 0 and 1; where the bound is below `tau` nats, 0 or more, any lead will do.
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
        grow: str = TREE.grow,
        delta: float = TREE.delta,
        tau: float = TREE.tau,
        grace_period: float = TREE.grace_period,
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
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.grow = grow
        self.delta = delta
        self.tau = tau
        self.grace_period = grace_period
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
