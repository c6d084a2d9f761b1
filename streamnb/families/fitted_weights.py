"""Weights that minimise a loss: of attributes (ENB, DNB, LNB, GDNB, MSENB) or of words."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb.columns.fits import COLUMN_RIDGE, fitted
from streamnb.columns.table import Weighting
from streamnb.errors import InputError
from streamnb.families.gaussian import AttributeStatistic, GaussianNB
from streamnb.model.choices import FittedLoss, Multiclass
from streamnb.model.composition import BuildContext, Composition, Weights, parameter
from streamnb.model.hooks import Hook
from streamnb.model.weighting import CurrentWeights, WordWeights
from streamnb.parameters import check_flag, check_from_zero, one_of, optional
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.losses import DEVIANCE, EXPONENTIAL, GENERALISED, LIKELIHOOD, SQUARED, Loss
from streamnb.statistics.word_fits import TEXT_RIDGE, fitted_words
from streamnb.text.labels import L

LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (EXPONENTIAL, DEVIANCE, LIKELIHOOD, GENERALISED, SQUARED)
}
"""The losses by name."""


@dataclasses.dataclass(frozen=True)
class Fitted(Weights, names={name: {"loss": name} for name in LOSSES}):
    """Weights of attributes, or of words, that minimise a loss over recent messages.

    `FittedAttributesNB` and `streamnb.LossMNB` document the parameters. With None, `multiclass` is
    `"pairs"` for attributes and `"direct"` for words, and `ridge` is 0.01 and 0.1.

    References
    ----------
    [^1]: Loss-minimised weights (ENB, DNB, LNB, GDNB, MSENB), Equations 8 to 24.
    """

    indexed: ClassVar[int] = 10_000
    periodic: ClassVar[bool] = True

    loss: FittedLoss = parameter("generalised", one_of(*LOSSES))
    multiclass: Multiclass | None = parameter(
        None, optional(one_of("pairs", "direct")), compare=False
    )
    ridge: float | None = parameter(None, optional(check_from_zero), compare=False)
    leave_one_out: bool = parameter(True, check_flag, compare=False)

    @property
    def weighting(self) -> Weighting:
        """The fit of attributes."""
        return functools.partial(
            fitted,
            loss=LOSSES[self.loss],
            multiclass=self.multiclass or "pairs",
            ridge=COLUMN_RIDGE if self.ridge is None else self.ridge,
        )

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> WordWeights:
        """Return the fit of words."""
        ridge = TEXT_RIDGE if self.ridge is None else self.ridge
        loss = LOSSES[self.loss]
        words, scale = fitted_words(indexed, parameters, loss, ridge, self.leave_one_out)
        return WordWeights(words, 1.0, scale)

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return that words are weighted in the score alone; the core has no weights of columns."""
        return {} if composition.event.numbers else {"weights": "exponents"}

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic of the weights."""
        if context.composition.event.numbers:
            return (AttributeStatistic(self, context),)
        if self.multiclass == "pairs":
            raise InputError(
                "a word of a text has one weight for all classes: multiclass must be None or "
                "'direct', not 'pairs'"
            )
        return (CurrentWeights(self, context),)


@dataclasses.dataclass(eq=False, repr=False)
class FittedAttributesNB(GaussianNB[L]):
    """Naive Bayes on columns whose attribute weights minimise a loss over recent messages.

    For two classes, y = ±1, the model decides by the sign of

        f(x) = ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 8)

    The weights w_j ≥ 0 are fitted by Newton's method. They depend on the recent messages and the
    counts alone, not on the previous fit.

    Parameters
    ----------
    multiclass
        For three classes or more. `"pairs"`: weights for each two classes, and each class has the
        votes Σ_j p_ij of Equations 22 to 24. `"direct"`: one vector of weights, fitted over all
        classes together, with the margins over every other class in the loss.
    ridge
        Penalty for the distance of a weight from 1, 0 or more: `ridge` / 2 times its square, in
        units of one message's loss. It keeps weights finite while the few first messages are
        separable, and its influence soon vanishes. The paper has none: 0. If some weights separate
        the classes, the loss then has no minimum, and the fit is that of a ridge of 10⁻⁶ towards 0.

    Notes
    -----
    `streamnb.families.gaussian.GaussianNB` documents P(x_j|c) and the other parameters.
    """

    multiclass: Multiclass = "pairs"
    ridge: float = COLUMN_RIDGE


class ENB(FittedAttributesNB[L], weights="exponential", equations="Equations 8 to 11"):
    """Exponential naive Bayes (ENB).

    The attribute weights minimise the exponential loss of the margins over the recent messages:

        Σ_i exp[−y_i f(x_i)]      (Equation 10)

    The fit works with the logarithm of this sum, which has the same minimum. This loss is the most
    sensitive of the five to wrong labels.
    """


class DNB(FittedAttributesNB[L], weights="deviance", equations="Equations 8, 12 and 13"):
    """Deviance naive Bayes (DNB).

    The attribute weights minimise the binomial deviance over the recent messages:

        Σ_i ln (1 + exp[−2 y_i f(x_i)])      (Equation 13)
    """


class LNB(FittedAttributesNB[L], weights="likelihood", equations="Equations 8 and 14 to 17"):
    """Log-likelihood naive Bayes (LNB).

    The attribute weights minimise the negative log-likelihood of the labels over the recent
    messages:

        Σ_i ln (1 + exp[−y_i f(x_i)])      (Equation 14)

    They are the maximum likelihood estimate of P(y|x) (Theorem 1).
    """


class GDNB(FittedAttributesNB[L], weights="generalised", equations="Equations 18 to 21"):
    """Generalised deviance naive Bayes (GDNB).

    The prior has a weight too:

        f(x) = w₀ ln [P(+1) / P(−1)] + Σ_j w_j ln [P(x_j|+1) / P(x_j|−1)]      (Equation 20)

    The weights minimise the loss of `LNB` (Equation 19), which is the deviance with a separate
    multiplier α (Equation 18).
    """


class MSENB(FittedAttributesNB[L], weights="squared", equations="Equation 8 and Table 2"):
    """Naive Bayes with weights that minimise the mean squared error (MSENB).

    The attribute weights minimise the squared error of the probabilities over the recent messages:

        Σ_i (1 − p_i)²,  p_i = 1 / (1 + exp[−y_i f(x_i)])

    A message costs at most 1, so the fit gives up messages that no weights classify correctly, such
    as noise. The loss has several minima; a fit starts from the weights of `LNB` and finds one near
    them. The paper calls this model MSE. See also Zaidi, Cerquides, Carman and Webb (2013),
    Alleviating naive Bayes attribute independence assumption by attribute weighting.
    """
