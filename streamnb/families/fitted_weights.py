"""Weights that minimise a loss: ENB, DNB, LNB, GDNB and MSENB on columns, or weights of words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb.columns.fits import COLUMN_RIDGE, Fit
from streamnb.families.fitted_words import FittedWords, WordFit
from streamnb.families.gaussian import AttributeStatistic, Gaussian
from streamnb.model.base import NaiveBayes
from streamnb.model.composition import BuildContext, Composition, Weights
from streamnb.model.hooks import RuntimeHooks
from streamnb.statistics.losses import DEVIANCE, EXPONENTIAL, GENERALISED, LIKELIHOOD, SQUARED, Loss

__all__ = ["DNB", "ENB", "GDNB", "LNB", "MSENB", "Fitted"]

LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (EXPONENTIAL, DEVIANCE, LIKELIHOOD, GENERALISED, SQUARED)
}
"""The losses by name."""


@dataclasses.dataclass(frozen=True)
class Fitted(Weights, names={name: {"loss": name} for name in LOSSES}):
    """Weights of words, or of attributes of columns, that minimise a loss over recent messages.

    Attributes
    ----------
    loss
        A name of `LOSSES`.
    multiclass
        For attributes, `"pairs"` or `"direct"`, as in `streamnb.ENB`; None is `"pairs"`. A word
        has one weight for all classes; None is `"direct"`, one fit of all classes.
    ridge
        Penalty for the distance of a weight from 1, 0 or more; None is 0.01 for attributes and 0.1
        for words.
    leave_one_out
        Whether weights of words are fitted to messages that are each scored without their own
        counts.

    References
    ----------
    [^1]: Loss-minimised weights (ENB, DNB, LNB, GDNB, MSENB), Equations 8 to 24.
    """

    weighs: ClassVar[bool] = True
    indexed: ClassVar[int] = 10_000

    loss: str
    multiclass: str | None = dataclasses.field(default=None, compare=False)
    ridge: float | None = dataclasses.field(default=None, compare=False)
    leave_one_out: bool = dataclasses.field(default=True, compare=False)

    def scoring_options(self, composition: Composition) -> dict[str, Any]:
        """Return that words are weighted in the score alone; attributes have no words."""
        return {} if composition.event.numbers else {"weights": "fitted"}

    def hooks(self, context: BuildContext) -> RuntimeHooks:
        """Return the statistic of the weights of words or attributes.

        Raises
        ------
        InputError
            If a parameter is out of range, or documents have weights too.
        """
        loss = LOSSES[self.loss]
        if context.composition.event.numbers:
            return RuntimeHooks(AttributeStatistic(Fit.of(loss, self.multiclass, self.ridge)))
        documents = context.composition.document_weights.name
        fit = WordFit.of(loss, self.multiclass, self.ridge, self.leave_one_out, documents)
        return RuntimeHooks(FittedWords(fit, context.parameters))


@dataclasses.dataclass(eq=False, repr=False)
class FittedAttributesNB(NaiveBayes):
    """Naive Bayes on columns whose attribute weights minimise a loss over recent messages.

    A message maps attributes to values. A str, a bool or an int is a category, a float is a number
    (up to 2**400), and None and NaN are missing and ignored. With n_ic messages of class c that
    have the value, and v values of the attribute,

        P(x_j|c) = (n_ic + α) / (n_c + α v)                         of a category (Equation 4)
        P(x_j|c) = exp[−(x_j − μ)² / 2s²] / (s √2π)                 of a number (Equation 3)

    where μ and s are the mean and the sample standard deviation of the attribute's numbers in the
    class, from exact sums, so that unlearning leaves no trace. A deviation of 0 counts as 1. A
    class without a number of the attribute uses the μ and s of all classes. For two classes,
    y = ±1, the model decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    A refresh (`refresh_every`) fits the weights w_j ≥ 0 to the last `index_size` messages by
    Newton's method. They depend on these messages and the counts alone, not on the previous fit.
    Counts are always current; weights lag by at most `refresh_every`.

    Parameters
    ----------
    multiclass
        For three classes or more. `"pairs"`: weights for each two classes, and each class has the
        votes Σ_j p_ij of Equations 22 to 24. `"direct"`: one vector of weights, fitted over all
        classes together, with the margins over every other class in the loss.
    ridge
        Penalty for the distance of a weight from 1, 0 or more: `ridge` / 2 times its square, in
        units of one message's loss. It keeps weights finite while the few first messages are
        separable, and its influence soon vanishes. The paper has none: 0.
    values
        Attribute → number of its values, if it is known; otherwise the learned values are counted.
    index_size
        Messages kept for the fits, 0 or more. The oldest are evicted. None is 10,000.
    vocabulary_size, tokenizer, max_pairs
        No effect, because there is no text.

    Notes
    -----
    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.
    """

    multiclass: str = "pairs"
    ridge: float = COLUMN_RIDGE
    values: Mapping[str, int] | None = None


class ENB(FittedAttributesNB):
    """Exponential naive Bayes (ENB).

    Naive Bayes on columns with f(x) of Equation 8 and the attribute weights that minimise the
    exponential loss of the margins over the recent messages:

        Σ_i exp[−y_i f(x_i)]      (Equation 10)

    The fit minimises its logarithm, which has the same minimum. This loss is the most sensitive of
    the five to wrong labels.

    `streamnb.families.fitted_weights.FittedAttributesNB` documents parameters, columns
    and multiclass decisions.

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

    composition = Composition(Gaussian(), weights=Fitted("exponential"))


class DNB(FittedAttributesNB):
    """Deviance naive Bayes (DNB).

    Naive Bayes on columns with f(x) of Equation 8 and the attribute weights that minimise the
    binomial deviance over the recent messages:

        Σ_i ln (1 + exp[−2 y_i f(x_i)])      (Equation 13)

    `streamnb.families.fitted_weights.FittedAttributesNB` documents parameters, columns
    and multiclass decisions.

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

    composition = Composition(Gaussian(), weights=Fitted("deviance"))


class LNB(FittedAttributesNB):
    """Log-likelihood naive Bayes (LNB).

    Naive Bayes on columns with f(x) of Equation 8 and the attribute weights that minimise the
    negative log-likelihood of the labels over the recent messages:

        Σ_i ln (1 + exp[−y_i f(x_i)])      (Equation 14)

    They are the maximum likelihood estimate of P(y|x) (Theorem 1).

    `streamnb.families.fitted_weights.FittedAttributesNB` documents parameters, columns
    and multiclass decisions.

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

    composition = Composition(Gaussian(), weights=Fitted("likelihood"))


class GDNB(FittedAttributesNB):
    """Generalised deviance naive Bayes (GDNB).

    Naive Bayes on columns with a weight for the prior too:

        f(x) = w₀ ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 20)

    with the weights that minimise the loss of `LNB`:

        Σ_i ln (1 + exp[−y_i f(x_i)])      (Equation 19)

    which is the deviance with a separate multiplier α (Equation 18).

    `streamnb.families.fitted_weights.FittedAttributesNB` documents parameters, columns
    and multiclass decisions.

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

    composition = Composition(Gaussian(), weights=Fitted("generalised"))


class MSENB(FittedAttributesNB):
    """Naive Bayes with weights that minimise the mean squared error (MSENB).

    Naive Bayes on columns with f(x) of Equation 8 and the attribute weights that minimise the
    squared error of the probabilities over the recent messages:

        Σ_i (1 − p_i)²,  p_i = 1 / (1 + exp[−y_i f(x_i)])

    A message costs at most 1, so the fit gives up messages that no weights classify correctly, such
    as noise. The loss has several minima; a fit starts from the weights of `LNB` and finds one near
    them. The paper calls this model MSE.

    `streamnb.families.fitted_weights.FittedAttributesNB` documents parameters, columns
    and multiclass decisions.

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

    composition = Composition(Gaussian(), weights=Fitted("squared"))
