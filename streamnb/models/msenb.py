"""Naive Bayes with weights that minimise the squared error."""

from __future__ import annotations

from streamnb.models.attribute_bayes import WeightedAttributes
from streamnb.parts import MINIMISED_SQUARED


class MSENB(WeightedAttributes):
    """Naive Bayes with weights that minimise the mean squared error (MSENB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise what the probabilities of the labels lack over the recent
    messages, squared:

        Σ_i (1 − p_i)²,  p_i = 1 / (1 + exp[−y_i f(x_i)])

    This loss has an end, so a message that is told wrong whatever the weights is given up, as
    noise is. It has several minima, too: fits start from weights of 1 and find the one that is
    near. It is the paper's competitor MSE.

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.attribute_bayes.WeightedAttributes`.

    Examples
    --------
    >>> from streamnb import MSENB
    >>> model = MSENB()
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
          Classifiers, Equation 8 and Table 2.
    [^2]: Zaidi, N. A., Cerquides, J., Carman, M. J. and Webb, G. I.: Alleviating Naive Bayes
          Attribute Independence Assumption by Attribute Weighting. Journal of Machine Learning
          Research 14, 2013.
    """

    weights = MINIMISED_SQUARED
