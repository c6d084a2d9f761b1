"""Words with weights that minimise a loss: LossMNB, LossCNB and LossOVA."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb.families.fitted_weights import Fitted
from streamnb.families.independent import Multinomial
from streamnb.model.choices import FittedLoss
from streamnb.model.composition import Composition
from streamnb.model.texts import TextNaiveBayes
from streamnb.statistics.word_fits import TEXT_RIDGE
from streamnb.text.labels import L


@dataclasses.dataclass(eq=False, repr=False)
class FittedWordsNB(TextNaiveBayes[L]):
    """Naive Bayes on texts whose word weights minimise a loss over recent messages.

    For two classes, y = ±1, Equation 8 with the words of a text as attributes:

        f(x) = ln [P(+1) / P(−1)] + Σ_i v_i f_i ln [P(w_i|+1) / P(w_i|−1)]      (Equation 8)

    A word has one weight v_i ≥ 0 for all classes, and the estimates P(w_i|c) stay unchanged. The
    margin of a message of class y over each other class c is the difference of their scores. A
    refresh (`refresh_every`) fits the weights to the margins of the last `index_size` messages:

        "exponential"    Σ exp(−margin)                                   ENB, Equation 10
        "deviance"       Σ ln (1 + Σ_c exp(−2 margin_c))                  DNB, Equation 13
        "likelihood"     Σ ln (1 + Σ_c exp(−margin_c))                    LNB, Equation 14
        "generalised"    as "likelihood", and a multiplier of all terms   GDNB, Equations 18 and 19
        "squared"        Σ (1 − P(y|x))²                                  MSE, Table 2

    Counts are always current; weights lag by at most `refresh_every`. A word that first appears
    after a refresh has weight 1 until the next one. `weights_` contains the weights by word. A fit
    makes at most 300 rounds of conjugate gradients over the indexed messages. It depends on these
    messages alone: not on their order, on earlier fits or on the processor.

    `streamnb.model.texts.TextNaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    loss
        The loss to minimise: `"exponential"`, `"deviance"`, `"likelihood"`, `"generalised"` or
        `"squared"`. `"generalised"` is best on long texts. Its multiplier α, from e⁻⁹ to 2, is the
        one with the least log loss if all weights are 1. Words depend on one another, so margins
        are too large without it.
    ridge
        Penalty for the distance of a weight from 1, 0 or more: `ridge` / 2 times its square, in
        units of one message's loss. 0 counts as 10⁻⁶, towards 1.
    leave_one_out
        Whether a message is scored without its own counts in the fit. Otherwise a word that occurs
        in one message determines its class.
    index_size
        Messages that a fit uses, 0 or more. None is 10,000. A refresh costs their words × classes
        for each round.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), weights=Fitted())
    paper = (
        "Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes\n"
        "      Classifiers"
    )

    loss: FittedLoss = "generalised"
    ridge: float = TEXT_RIDGE
    leave_one_out: bool = True


class LossMNB(FittedWordsNB[L], event="multinomial", equations="Equations 8 to 21"):
    """Multinomial naive Bayes with word weights that minimise a loss (LossMNB).

    α [ln P(c) + Σ_i v_i f_i ln P(w_i|c)], with α = 1 unless `loss="generalised"`.
    """


class LossCNB(FittedWordsNB[L], event="complement", equations="Equations 8 to 21"):
    """Complement naive Bayes with word weights that minimise a loss (LossCNB).

    −α [ln P(c̄) + Σ_i v_i f_i ln P(w_i|c̄)], with α = 1 unless `loss="generalised"`.
    """


class LossOVA(FittedWordsNB[L], event="one-versus-all", equations="Equations 8 to 21"):
    """One-versus-all naive Bayes with word weights that minimise a loss (LossOVA).

    The sum of the scores of `LossMNB` and `LossCNB`, with weights of its own.
    """
