"""Naive Bayes with weights by tree depth."""

from __future__ import annotations

from streamnb.models.attribute_bayes import FilteredAttributes
from streamnb.parts import TREE_DEPTH


class TreeNB(FilteredAttributes):
    """Naive Bayes with weights by tree depth (TreeNB).

    An attribute of columns weighs 1 / √d, where d is the least depth at which a decision tree
    tests it, the root having depth 1; one that is not tested weighs 0. The tree is grown over the
    recent messages, on information gain, until no node can be split. The weights go into the score
    of Equations 5 and 6 of reference 1, which describes it with one tree: reference 2 takes the
    mean over ten trees, each of a sample.

    Parameters and columns are those of `streamnb.models.attribute_bayes.FilteredAttributes`.

    Examples
    --------
    >>> from streamnb import TreeNB
    >>> model = TreeNB()
    >>> for x, y in [
    ...     ({"size": 1.2, "noise": 0.1, "colour": "red"}, "apple"),
    ...     ({"size": 9.5, "noise": 0.3, "colour": "green"}, "melon"),
    ...     ({"size": 1.4, "noise": 0.3, "colour": "green"}, "apple"),
    ...     ({"size": 8.9, "noise": 0.1, "colour": "green"}, "melon"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.refresh()
    >>> model.predict_one({"size": 7.0, "noise": 0.2, "colour": "red"})
    'melon'
    >>> {name: round(weight, 3) for name, weight in sorted(model.weights_.items())}
    {'colour': 0.0, 'noise': 0.0, 'size': 1.0}

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Hall, M.: A Decision Tree-Based Attribute Weighting Filter for Naive Bayes. Research and
          Development in Intelligent Systems XXIII, 2007.
    """

    weights = TREE_DEPTH
