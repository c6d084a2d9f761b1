"""Naive Bayes with weights by the Kullback-Leibler measure."""

from __future__ import annotations

from streamnb.models.attribute_bayes import FilteredAttributes
from streamnb.parts import KULLBACK_LEIBLER


class KLNB(FilteredAttributes):
    """Naive Bayes with weights by the Kullback-Leibler measure (KLNB).

    An attribute A of columns weighs what its values tell of the class, over what they are
    uncertain themselves, relative to the mean of that over the attributes:

        w = Σ_a P(a) KL(C|a) / (−Σ_a P(a) ln P(a)),  KL(C|a) = Σ_c P(c|a) ln [P(c|a) / P(c)]

    Numbers are cut into ten bins of equal width for it. The weights go into the score of Equations
    5 and 6, here and in reference 1. Not relative to the mean, weights are far below 1, so that the
    prior decides: that is what the figures of reference 1 were computed with, and
    `ComposedNB("gaussian", weights="kullback-leibler-raw")` has it.

    Parameters and columns are those of `streamnb.models.attribute_bayes.FilteredAttributes`.

    Examples
    --------
    >>> from streamnb import KLNB
    >>> model = KLNB()
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
    {'colour': 0.832, 'noise': 0.0, 'size': 2.168}

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Lee, C.-H., Gutierrez, F. and Dou, D.: Calculating Feature Weights in Naive Bayes with
          Kullback-Leibler Measure. ICDM 2011.
    """

    weights = KULLBACK_LEIBLER
