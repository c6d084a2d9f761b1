"""Naive Bayes in the leaves of a tree: MNBTree, CNBTree and OVATree."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.errors import InputError
from streamnb.families.independent import Multinomial
from streamnb.model.base import TextNaiveBayes
from streamnb.model.composition import BuildContext, Composition, Neighbourhood
from streamnb.model.hooks import Hook, PeriodicStatistic
from streamnb.parameters import Check, check_above_zero, check_from_zero, one_of, whole

__all__ = ["CNBTree", "MNBTree", "OVATree", "Tree"]


@dataclasses.dataclass(frozen=True)
class Tree(Neighbourhood, name="tree"):
    """The messages in the same leaf of a binary tree over the presence of words.

    A node splits on the word whose presence has the highest information gain for the class, ties in
    byte order. A node is a leaf if all its messages have one class, no word has a gain, or the best
    split would leave too few messages on one side. Most classes may have no message in a leaf, so
    P(c) is Laplace's.

    `LeafNB` documents the parameters.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    [^2]: P. Domingos, G. Hulten: Mining high-speed data streams. KDD 2000.
    """

    prior: ClassVar[str | None] = "laplace"
    indexed: ClassVar[int] = 65_536
    store: ClassVar[Mapping[str, Any]] = {"max_pairs": 0}
    scoring: ClassVar[Mapping[str, Any]] = {"neighbourhood": "tree"}
    constraints: ClassVar[Mapping[str, Check]] = {
        "max_depth": whole(0),
        "min_samples_leaf": check_above_zero,
        "grow": one_of("periodic", "hoeffding"),
        "delta": check_above_zero,
        "tau": check_from_zero,
        "grace_period": check_above_zero,
    }

    max_depth: int = 64
    min_samples_leaf: float = 50.0
    grow: str = "periodic"
    delta: float = 1e-7
    tau: float = 0.05
    grace_period: float = 200.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta >= 1:
            raise InputError(f"delta must be a probability between 0 and 1, not {self.delta!r}")

    @property
    def online(self) -> tuple[float, float, float] | None:
        """The parameters of Hoeffding's bound if the tree grows by it."""
        return None if self.grow == "periodic" else (self.delta, self.tau, self.grace_period)

    def prepare(self, store: _core.CountStore, context: BuildContext) -> None:
        """Give the store a tree of one leaf."""
        self.init_tree(store, (b"", b""))

    def init_tree(self, store: _core.CountStore, tree: tuple[bytes, bytes]) -> None:
        """Give the store this tree: its nodes, and the waiting weights of its leaves."""
        nodes, waited = tree
        store.init_tree(
            np.frombuffer(nodes, np.int64),
            np.frombuffer(waited),
            self.max_depth,
            self.min_samples_leaf,
            self.online,
        )

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic that grows the tree."""
        return (GrownTree(self),)


class GrownTree(PeriodicStatistic):
    """The tree over the indexed messages of a store.

    Parameters
    ----------
    tree
        Parameters of the tree.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.periodic = tree.online is None

    def refresh(self, store: _core.CountStore, scoring: _core.ScoringConfig) -> None:
        """Grow the tree from scratch."""
        # Repeat if ids were reused for other words or classes in the meantime.
        while not store.grow_tree(
            self.tree.max_depth, self.tree.min_samples_leaf, self.tree.online
        ):
            pass

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the current tree."""
        return store.tree()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Restore the tree that `state` returned."""
        self.tree.init_tree(store, state)


@dataclasses.dataclass(eq=False, repr=False)
class LeafNB(TextNaiveBayes):
    """Naive Bayes among the messages in one leaf of a binary tree over the presence of words.

        P_L(c) = (n_Lc + 1) / (n_L + s),  P_L(w | c) = (f_Lwc + α) / (Σ_w f_Lwc + α m),

    with L the leaf of the message and its counts; s counts all classes and m all words. A node is
    split on the word whose presence has the highest information gain for the class. It is a leaf if
    all its messages have one class, no word has a gain, or the split would leave less than
    `min_samples_leaf` on one side.

    By default, the tree is grown over the indexed messages when statistics are refreshed, which
    costs the sum of their words at each depth. The counts in the leaves are always current: a
    message is learned into its leaf, and leaves it when the index evicts it. Leaves take about 50
    bytes for each different word of each leaf. A prediction costs as much as one of `MNB` and the
    depth of its leaf.

    With `grow="hoeffding"` the tree grows as messages arrive. A leaf is split permanently once the
    best word is almost certain. Nothing is refreshed, but saving, loading or merging a model grows
    the tree again, over the indexed messages in their order.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors. With
    `prior="empirical"`, a class without messages in the leaf counts as one message.

    Parameters
    ----------
    max_depth
        Splits between the root and a leaf, 0 (one leaf: all indexed messages) or more.
    min_samples_leaf
        Minimum weight of messages on either side of a split, above 0. The paper does not give a
        value; about 50 comes near its figures.
    grow
        `"periodic"`: over the indexed messages when statistics are refreshed. `"hoeffding"`: as
        messages arrive.
    delta, tau, grace_period
        For `grow="hoeffding"`, as in river's trees. A leaf looks for a split each time that
        messages of weight `grace_period`, above 0, have arrived. Its best word must lead the
        second by more than Hoeffding's bound, which fails with probability `delta`, between 0 and
        1. If the bound is below `tau` nats, 0 or more, any lead suffices.
    index_size
        Recent messages that the tree is grown over and that count in its leaves, 0 or more. None
        is 65,536.
    """

    composition = Composition(Multinomial(), neighbourhood=Tree())
    arguments = "min_samples_leaf=2"

    max_depth: int = Tree.max_depth
    min_samples_leaf: float = Tree.min_samples_leaf
    grow: str = Tree.grow
    delta: float = Tree.delta
    tau: float = Tree.tau
    grace_period: float = Tree.grace_period


class MNBTree(LeafNB, event="multinomial", equations="section 2.4; Equations 1, 4 and 6"):
    """Multinomial naive Bayes in the leaves of a tree (MNBTree).

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c)

    with the counts of the messages in the same leaf L of a tree over the presence of words.
    """


class CNBTree(LeafNB, event="complement", equations="section 2.4; Equations 2, 5 and 7"):
    """Complement naive Bayes in the leaves of a tree (CNBTree).

        −ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the same leaf L of a tree, as in `MNBTree`.
    """


class OVATree(LeafNB, event="one-versus-all", equations="section 2.4; Equation 3"):
    """One-versus-all naive Bayes in the leaves of a tree (OVATree).

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c) − ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the same leaf L of a tree, as in `MNBTree`.
    """
