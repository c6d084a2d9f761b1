"""Deviance naive Bayes."""

from __future__ import annotations

from streamnb.models.attribute_bayes import WeightedAttributes
from streamnb.parts import MINIMISED_DEVIANCE


class DNB(WeightedAttributes):
    """Deviance naive Bayes (DNB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise the binomial deviance over the recent messages:

        Σ_i ln (1 + exp[−2 y_i f(x_i)])      (Equation 13)

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.attribute_bayes.WeightedAttributes`.

    Examples
    --------
    >>> from streamnb import DNB
    >>> model = DNB()
    >>> for x, y in [
    ...     ({"size": 1.2, "noise": 0.1, "colour": "red"}, "apple"),
    ...     ({"size": 9.5, "noise": 0.3, "colour": "green"}, "melon"),
    ...     ({"size": 1.4, "noise": 0.3, "colour": "green"}, "apple"),
    ...     ({"size": 8.9, "noise": 0.1, "colour": "green"}, "melon"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"size": 7.0, "noise": 0.2, "colour": "red"})
    'melon'
    >>> sorted(model.weights_)
    ['colour', 'noise', 'size']

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 8, 12 and 13.
    """

    weights = MINIMISED_DEVIANCE
