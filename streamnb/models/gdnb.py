"""Generalised deviance naive Bayes."""

from __future__ import annotations

from streamnb.models.attribute_bayes import WeightedAttributes
from streamnb.parts import MINIMISED_GENERALISED


class GDNB(WeightedAttributes):
    """Generalised deviance naive Bayes (GDNB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = w₀ ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 20)

    with the weights that minimise the same loss as those of `LNB`, with a weight for the prior too:

        Σ_i ln (1 + exp[−y_i f(x_i)])      (Equation 19)

    which is the deviance with a multiplier α of its own (Equation 18).

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.attribute_bayes.WeightedAttributes`.

    Examples
    --------
    >>> from streamnb import GDNB
    >>> model = GDNB()
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
          Classifiers, Equations 18 to 21.
    """

    weights = MINIMISED_GENERALISED
