"""Naive Bayes in the leaves of a tree: MNBTree, CNBTree and OVATree."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.errors import InputError
from streamnb.families.independent import Multinomial
from streamnb.model.choices import Grow
from streamnb.model.composition import BuildContext, Composition, Neighbourhood, parameter
from streamnb.model.hooks import ComponentStatistic, Hook
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import check_above_zero, check_from_zero, one_of, whole
from streamnb.text.labels import L


class GrownTree(ComponentStatistic):
    """The tree over the indexed messages of a store."""

    def compute(self, sample: _core.Sample) -> None:
        """Do nothing: the core grows the tree from the copy."""

    def swap(self, store: _core.CountStore, sample: _core.Sample, found: None) -> bool:
        """Grow the tree from scratch, and use it."""
        tree = self.component
        return store.grow_tree(sample, tree.max_depth, tree.min_samples_leaf)


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
    statistic: ClassVar[type[ComponentStatistic] | None] = GrownTree
    scoring: ClassVar[Mapping[str, Any]] = {"neighbourhood": "tree"}

    max_depth: int = parameter(64, whole(0))
    min_samples_leaf: float = parameter(50.0, check_above_zero)
    grow: Grow = parameter("periodic", one_of("periodic", "hoeffding"))
    delta: float = parameter(1e-7, check_above_zero)
    tau: float = parameter(0.05, check_from_zero)
    grace_period: float = parameter(200.0, check_above_zero)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta >= 1:
            raise InputError(f"delta must be a probability between 0 and 1, not {self.delta!r}")

    def prepare(self, store: _core.CountStore, context: BuildContext) -> None:
        """Give a new store a tree of one leaf."""
        store.init_tree()
        if self.grow == "hoeffding":
            limits = self.max_depth, self.min_samples_leaf
            store.grow_online(*limits, self.delta, self.tau, self.grace_period)

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic that grows the tree, unless it grows online."""
        return super().hooks(context) if self.grow == "periodic" else ()


@dataclasses.dataclass(eq=False, repr=False)
class LeafNB(TextNaiveBayes[L]):
    """Naive Bayes among the messages in one leaf of a binary tree over the presence of words.

        P_L(c) = (n_Lc + 1) / (n_L + s),  P_L(w | c) = (f_Lwc + α) / (Σ_w f_Lwc + α m),

    with L the leaf of the message and its counts; s counts all classes and m all words. A node is
    split on the word whose presence has the highest information gain for the class. It is a leaf if
    all its messages have one class, no word has a gain, or the split would leave less than
    `min_samples_leaf` on one side.

    The tree is grown over the indexed messages when statistics are refreshed, which costs the sum
    of their words at each depth. The counts in the leaves are always current: a message is learned
    into its leaf, and leaves it when the index evicts it. Leaves take about 50 bytes for each
    different word of each leaf. A prediction costs as much as one of `MNB` and the depth of its
    leaf.

    With `grow="hoeffding"` the tree grows as messages arrive, and nothing is refreshed. This is not
    part of the paper. After each `grace_period`, a leaf with n messages of s classes is split
    permanently if the best word leads the second by more than √(ln² s ln(1/δ) / 2n), Hoeffding's
    bound for the range ln s of the gain, or if this bound is below τ. A split walks the index once.

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
        `"periodic"`, from scratch when statistics are refreshed, or `"hoeffding"`, online.
    delta
        δ, the probability that a split of an online tree uses a wrong word: above 0, below 1.
    tau
        τ in nats, 0 or more. Words with gains so close that the bound is smaller are equal.
    grace_period
        Weight of the messages that a leaf learns between two checks, above 0.
    index_size
        Recent messages that the tree is grown over and that count in its leaves, 0 or more. None
        is 65,536.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), neighbourhood=Tree())
    arguments = "min_samples_leaf=2"

    max_depth: int = Tree.max_depth
    min_samples_leaf: float = Tree.min_samples_leaf
    grow: Grow = Tree.grow
    delta: float = Tree.delta
    tau: float = Tree.tau
    grace_period: float = Tree.grace_period


class MNBTree(LeafNB[L], event="multinomial", equations="section 2.4; Equations 1, 4 and 6"):
    """Multinomial naive Bayes in the leaves of a tree (MNBTree).

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c)

    with the counts of the messages in the same leaf L of a tree over the presence of words.
    """


class CNBTree(LeafNB[L], event="complement", equations="section 2.4; Equations 2, 5 and 7"):
    """Complement naive Bayes in the leaves of a tree (CNBTree).

        −ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the same leaf L of a tree, as in `MNBTree`.
    """


class OVATree(LeafNB[L], event="one-versus-all", equations="section 2.4; Equation 3"):
    """One-versus-all naive Bayes in the leaves of a tree (OVATree).

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c) − ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the same leaf L of a tree, as in `MNBTree`.
    """
