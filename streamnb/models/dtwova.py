"""One-versus-all naive Bayes with words weighted by depth in a tree."""

from __future__ import annotations

from streamnb.models.tree_depth import TreeDepthNB
from streamnb.parts import ONE_VERSUS_ALL


class DTWOVA(TreeDepthNB):
    """One-versus-all naive Bayes with words weighted by depth in a tree (DTWOVA).

    One-versus-all naive Bayes with weight 1 + 1/√d for the words that a tree tests at depth d and 1
    for the others, in the message and in the estimate; else as `DTWMNB`.

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
    >>> from streamnb import DTWOVA
    >>> model = DTWOVA(min_samples_leaf=1)
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DTW), Equation 3.
    [^2]: Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """

    event = ONE_VERSUS_ALL
