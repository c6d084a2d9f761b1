"""Exponential naive Bayes."""

from __future__ import annotations

from streamnb.models.attribute_bayes import WeightedAttributes
from streamnb.parts import MINIMISED_EXPONENTIAL


class ENB(WeightedAttributes):
    """Exponential naive Bayes (ENB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise the exponential loss of the margins over the recent messages:

        Σ_i exp[−y_i f(x_i)]      (Equation 10)

    What is minimised is its logarithm, which has the same minimum. Of the four it is the most
    sensitive to wrong labels.

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.attribute_bayes.WeightedAttributes`.

    Examples
    --------
    >>> from streamnb import ENB
    >>> model = ENB()
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
          Classifiers, Equations 8 to 11.
    """

    weights = MINIMISED_EXPONENTIAL
