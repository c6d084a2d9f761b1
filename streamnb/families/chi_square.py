"""Chi-square word weights: RwcMNB, RwcCNB and RwcOVA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb.families.independent import Multinomial
from streamnb.model.composition import Composition, Weights
from streamnb.model.texts import TextNaiveBayes
from streamnb.text.labels import L


class ChiSquare(Weights, name="chi-square"):
    """P(w|c) is multiplied by max(R_wc, 1), which follows from the counts and is always current.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c).
    """

    decays: ClassVar[bool] = True
    scoring: ClassVar[Mapping[str, Any]] = {"weights": "chi-square"}


class ChiSquareNB(TextNaiveBayes[L]):
    """Naive Bayes in which words that are over-represented in a class count more for it.

    `streamnb.model.base.NaiveBayes` documents the parameters, methods and errors.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), weights=ChiSquare())


class RwcMNB(
    ChiSquareNB[L], event="multinomial", equations="section 2.1 (R_w,c), Equations 1 and 6"
):
    """Multinomial naive Bayes with chi-square word weights (RwcMNB).

    A word counts more for a class if it occurs in its messages more often than by chance:

        ln P(c) + Σ_i f_i [ln P(w_i|c) + ln max(R_ic, 1)]
        R_ic = n df_ic / (n_c df_i)

    with df_ic the number of messages of class c that contain word i, and df_i the number over all
    classes. R_ic is the ratio of the observed to the expected number if word and class are
    independent, on which the χ² statistic is based. It follows from the current counts, so nothing
    is refreshed.
    """


class RwcCNB(
    ChiSquareNB[L], event="complement", equations="section 2.1 (R_w,c), Equations 2 and 7"
):
    """Complement naive Bayes with chi-square word weights (RwcCNB).

        −ln P(c̄) − Σ_i f_i [ln P(w_i|c̄) + ln max(R_ic̄, 1)]

    with R as in `RwcMNB`, over the messages outside the class: R_ic̄ = n df_ic̄ / (n_c̄ df_i).
    """


class RwcOVA(ChiSquareNB[L], event="one-versus-all", equations="section 2.1 (R_w,c), Equation 3"):
    """One-versus-all naive Bayes with chi-square word weights (RwcOVA).

    The sum of the scores of `RwcMNB` and `RwcCNB`: the log-ratio of the two sides, each with its
    own ratios R.
    """
