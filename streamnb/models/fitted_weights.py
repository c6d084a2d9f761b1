"""Attributes of columns with weights that minimise a loss."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from streamnb.columns.fits import COLUMN_RIDGE
from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import Composition, Fitted, Gaussian

__all__ = ["DNB", "ENB", "GDNB", "LNB", "MSENB"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    multiclass: str = "pairs"
    ridge: float = COLUMN_RIDGE
    values: Mapping[str, int] | None = None


@dataclasses.dataclass(eq=False, repr=False)
class FittedAttributesNB(NaiveBayes, _Parameters):
    """Base of models whose attributes have weights that minimise a loss over recent messages.

    A message maps attributes to values: a str, a bool or an int is a category, a float is a
    number (up to 2**400), None and NaN are missing and take no part. With n_ic messages of class
    c that have the value, and v values of the attribute,

        P(x_j|c) = (n_ic + α) / (n_c + α v)                         of a category (Equation 4)
        P(x_j|c) = exp[−(x_j − μ)² / 2s²] / (s √2π)                 of a number (Equation 3)

    where μ and s are the mean and the sample's standard deviation of the numbers of the attribute
    in the class: sums kept exactly, so that unlearning leaves nothing behind. A deviation of 0
    counts as 1; a class without a number of the attribute has the μ and s of all classes.

    Weights, 0 or more, are fitted by Newton's method to the most recent `index_size` messages,
    when `refresh_every` says so. They follow from these messages and from the counts alone: where
    the last fit ended has no influence. Between two fits the counts go on and the weights stay.

    Parameters
    ----------
    multiclass
        What is done with three classes or more. `"pairs"`: weights for each two classes, and each
        class has the votes Σ_j p_ij of Equations 22 to 24. `"direct"`: one vector of weights,
        fitted over all classes at once, with the margins over every other class in the loss.
    ridge
        What it costs a weight to be away from 1, 0 or more: `ridge` / 2 times the square, in
        units of one message's loss. It keeps weights finite while a few messages are easily told
        apart, and is soon outweighed. The paper has none: 0.
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.
    index_size
        Messages kept for the fits, 0 or more, past which the oldest are evicted; None is 10,000.
    vocabulary_size, tokenizer, max_pairs
        Without effect: there is no text.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """


class ENB(FittedAttributesNB):
    """Exponential naive Bayes (ENB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise the exponential loss of the margins over the recent messages:

        Σ_i exp[−y_i f(x_i)]      (Equation 10)

    The fit minimises its logarithm, which has the same minimum. Of the five losses this one is the
    most sensitive to wrong labels.

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.fitted_weights.FittedAttributesNB`.

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

    parts = Composition(Gaussian(), weights=Fitted("exponential"))


class DNB(FittedAttributesNB):
    """Deviance naive Bayes (DNB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise the binomial deviance over the recent messages:

        Σ_i ln (1 + exp[−2 y_i f(x_i)])      (Equation 13)

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.fitted_weights.FittedAttributesNB`.

    Examples
    --------
    >>> from streamnb import DNB
    >>> model = DNB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 8, 12 and 13.
    """

    parts = Composition(Gaussian(), weights=Fitted("deviance"))


class LNB(FittedAttributesNB):
    """Log-likelihood naive Bayes (LNB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise what the likelihood of the labels lacks over the recent messages:

        Σ_i ln (1 + exp[−y_i f(x_i)])      (Equation 14)

    They are the maximum likelihood estimate of P(y|x) (Theorem 1).

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.fitted_weights.FittedAttributesNB`.

    Examples
    --------
    >>> from streamnb import LNB
    >>> model = LNB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 8 and 14 to 17.
    """

    parts = Composition(Gaussian(), weights=Fitted("likelihood"))


class GDNB(FittedAttributesNB):
    """Generalised deviance naive Bayes (GDNB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = w₀ ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 20)

    with the weights that minimise the same loss as those of `LNB`, with a weight for the prior too:

        Σ_i ln (1 + exp[−y_i f(x_i)])      (Equation 19)

    which is the deviance with a multiplier α of its own (Equation 18).

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.fitted_weights.FittedAttributesNB`.

    Examples
    --------
    >>> from streamnb import GDNB
    >>> model = GDNB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 18 to 21.
    """

    parts = Composition(Gaussian(), weights=Fitted("generalised"))


class MSENB(FittedAttributesNB):
    """Naive Bayes with weights that minimise the mean squared error (MSENB).

    Naive Bayes on columns whose attributes have weights w_j ≥ 0. For two classes, y = ±1, it
    decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    with the weights that minimise what the probabilities of the labels lack over the recent
    messages, squared:

        Σ_i (1 − p_i)²,  p_i = 1 / (1 + exp[−y_i f(x_i)])

    A message costs at most 1 in this loss. So one that no weights would classify right is given up,
    as noise is. The loss has several minima: a fit starts from the weights that `LNB` would have,
    and finds a minimum near them. The paper compares itself with it under the name MSE.

    Parameters, columns, and what is done with more than two classes are those of
    `streamnb.models.fitted_weights.FittedAttributesNB`.

    Examples
    --------
    >>> from streamnb import MSENB
    >>> model = MSENB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equation 8 and Table 2.
    [^2]: Zaidi, N. A., Cerquides, J., Carman, M. J. and Webb, G. I.: Alleviating Naive Bayes
          Attribute Independence Assumption by Attribute Weighting. Journal of Machine Learning
          Research 14, 2013.
    """

    parts = Composition(Gaussian(), weights=Fitted("squared"))
