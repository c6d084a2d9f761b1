"""Naive Bayes in the leaves of a tree."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, Multinomial, OneVersusAll, Tree

__all__ = ["CNBTree", "MNBTree", "OVATree"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    max_depth: int = Tree.max_depth
    min_samples_leaf: float = Tree.min_samples_leaf
    grow: str = Tree.grow
    delta: float = Tree.delta
    tau: float = Tree.tau
    grace_period: float = Tree.grace_period


@dataclasses.dataclass(eq=False, repr=False)
class LeafNB(TextNaiveBayes, _Parameters):
    """Base of the models in the leaves of a tree.

    Parameters are those of `MNBTree`.
    """


class MNBTree(LeafNB):
    """Multinomial naive Bayes in the leaves of a tree (MNBTree).

    Multinomial naive Bayes among the messages of one leaf of a binary tree over the presence of
    words. With L the leaf that the message falls into,

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c)

        P_L(c) = (n_Lc + 1) / (n_L + s),  P_L(w | c) = (f_Lwc + α) / (Σ_w f_Lwc + α m),

    where counts are those of the leaf's messages, but all s classes and m words are known. A node
    is split on the word whose presence has the highest information gain for the class. It is a leaf
    where all its messages are of one class, no word gains anything, or that split would leave less
    than `min_samples_leaf` on one side.

    The tree is grown over the indexed messages when statistics are refreshed, which costs the sum
    of their words at each depth, and kept until the next time; with `max_depth=0` it is one leaf.
    What counts in its leaves is never stale: a message is learned into the leaf it falls into, and
    leaves it when the index evicts it. Leaves take about 50 bytes for each different word of each
    leaf, so at most that for each word of the indexed messages. A prediction costs as that of `MNB`
    and the depth of its leaf.

    With `grow="hoeffding"` it grows as messages arrive, and a leaf is split for good once it is
    nearly sure which word is the best. Nothing is refreshed then, but where a model is saved,
    loaded or merged the tree is grown anew, over the indexed messages in their order.

    Parameters
    ----------
    max_depth
        Splits between the root and a leaf, 0 (one leaf: all indexed messages) or more.
    min_samples_leaf
        The least weight of messages on either side of a split, above 0. The paper does not say
        which; about 50 comes near its figures.
    grow
        `"periodic"`: anew over the indexed messages when statistics are refreshed. `"hoeffding"`:
        online, as messages arrive.
    delta, tau, grace_period
        For `grow="hoeffding"`, as river's trees have them. A leaf looks for a split each time that
        messages of the weight `grace_period`, above 0, have come to it. Its best word must lead the
        second by more than Hoeffding's bound, which the better of two misses with probability
        `delta`, between 0 and 1; where the bound is below `tau` nats, 0 or more, any lead will do.
    index_size
        Recent messages that the tree is grown over and that count in its leaves, 0 or more. None
        is 65,536.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`. With
    `prior="empirical"`, a class without messages in the leaf counts for one.

    Examples
    --------
    >>> from streamnb import MNBTree
    >>> model = MNBTree(min_samples_leaf=2)
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equations 1, 4 and 6.
    [^2]: P. Domingos, G. Hulten: Mining high-speed data streams. KDD 2000.
    """

    parts = Composition(Multinomial(), neighbourhood=Tree())


class CNBTree(LeafNB):
    """Complement naive Bayes in the leaves of a tree (CNBTree).

        −ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the leaf L of a tree that the message falls into, as in
    `MNBTree`, which has the parameters and the cost.

    Parameters are those of `MNBTree`.

    Examples
    --------
    >>> from streamnb import CNBTree
    >>> model = CNBTree(min_samples_leaf=2)
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equations 2, 5 and 7.
    """

    parts = Composition(Complement(), neighbourhood=Tree())


class OVATree(LeafNB):
    """One-versus-all naive Bayes in the leaves of a tree (OVATree).

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c) − ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the leaf L of a tree that the message falls into, as in
    `MNBTree`, which has the parameters and the cost.

    Parameters are those of `MNBTree`.

    Examples
    --------
    >>> from streamnb import OVATree
    >>> model = OVATree(min_samples_leaf=2)
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equation 3.
    """

    parts = Composition(OneVersusAll(), neighbourhood=Tree())
