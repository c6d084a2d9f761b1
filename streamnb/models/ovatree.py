"""One-versus-all naive Bayes in the leaves of a tree."""

from __future__ import annotations

from streamnb.models.leaf import LeafNB
from streamnb.parts import ONE_VERSUS_ALL


class OVATree(LeafNB):
    """One-versus-all naive Bayes in the leaves of a tree (OVATree).

        ln P_L(c) + Σ_i f_i ln P_L(w_i | c) − ln P_L(c̄) − Σ_i f_i ln P_L(w_i | c̄)

    with the counts of the messages in the leaf L of a tree that the message falls into, as in
    `MNBTree`, which has the parameters and the cost.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import OVATree
    >>> model = OVATree(min_samples_leaf=2)
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equation 3.
    """

    event = ONE_VERSUS_ALL
