"""Selective Bayesian classifier."""

from __future__ import annotations

from streamnb.models.attribute_bayes import FilteredAttributes
from streamnb.parts import FORWARD_SELECTION


class SBC(FilteredAttributes):
    """Selective Bayesian classifier (SBC).

    Naive Bayes on some of the attributes of columns: they weigh 1 in the score of Equations 5 and 6
    of reference 1, and the others 0. A greedy search begins with none of them. Each step takes the
    attribute with which most of the recent messages are decided right, as long as that is more
    than without it. Where no attribute alone is better than the prior, none is taken.

    Parameters and columns are those of `streamnb.models.attribute_bayes.FilteredAttributes`.

    Examples
    --------
    >>> from streamnb import SBC
    >>> model = SBC()
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
    [^2]: Langley, P. and Sage, S.: Induction of Selective Bayesian Classifiers. UAI 1994.
    """

    weights = FORWARD_SELECTION
