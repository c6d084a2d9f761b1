"""Multinomial naive Bayes with words weighted by depth in a tree."""

from __future__ import annotations

from streamnb.models.tree_depth import TreeDepthNB
from streamnb.parts import MULTINOMIAL


class DTWMNB(TreeDepthNB):
    """Multinomial naive Bayes with words weighted by depth in a tree (DTWMNB).

    Deep weighting as in `GRWMNB`: a word of weight W_i counts W_i times as often, in the message
    and in the estimate. W_i falls with the least depth d_i at which a binary tree over the presence
    of words tests word i, that of the root being 1:

        W_i = 1 + 1/√d_i of the words tested,  1 of all others

    The tree is that of `MNBTree`: a node is split on the word whose presence has the highest
    information gain for the class, down to pure nodes and to `min_samples_leaf`.

    The paper's weight is "inversely proportional to the minimum depth" and, as the attribute
    weighting that it goes back to, 0 of words that are not tested: `untested=0.0`, W_i = 1/√d_i or
    0. A tree tests few of a collection's words, and without the others mean accuracy on four of the
    paper's collections is 70 %, with them 86 (`MNB`: 85). So here, unless told otherwise, they keep
    weight 1 and what is tested counts for more. Where the tree tests no word, each weighs 1.

    The tree is grown as `refresh_every` says, natively, over a copy of the last `max_documents`
    messages, which costs the sum of their words at each depth. A word that came since weighs 1
    until the next time. `weights_` has the weights by word.

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

    Examples
    --------
    >>> from streamnb import DTWMNB
    >>> model = DTWMNB(min_samples_leaf=1)
    >>> for x, y in [
    ...     ("Free entry: WIN cash now", "spam"),
    ...     ("see you at noon", "ham"),
    ...     ("win a free phone now", "spam"),
    ...     ("are you free for lunch at noon?", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("free cash, call now")
    'spam'
    >>> model.predict_one("lunch with you")
    'ham'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DTW), Equations 1, 4 and 6.
    [^2]: Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """

    event = MULTINOMIAL
