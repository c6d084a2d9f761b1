"""Columns with measured or searched attribute weights: KLNB, CBFWNB, DFWNB, TreeNB and SBC."""

from __future__ import annotations

import dataclasses
import functools

from streamnb.columns.filters import (
    correlation_filter,
    kullback_leibler,
    relative_kullback_leibler,
    selected_twice,
)
from streamnb.columns.fits import measured, searched
from streamnb.columns.table import Weighting
from streamnb.families.gaussian import ColumnWeights, GaussianNB
from streamnb.families.tree_depth import TreeDepth
from streamnb.text.labels import L

MEASURES: dict[str, Weighting] = {
    "kullback-leibler": functools.partial(measured, measure=relative_kullback_leibler),
    "kullback-leibler-raw": functools.partial(measured, measure=kullback_leibler),
    "correlation-filter": functools.partial(measured, measure=correlation_filter),
    "deep-selection": functools.partial(measured, measure=selected_twice, in_estimate=True),
    "forward-selection": searched,
}
"""The ways to weight attributes, by name."""

_EQUATIONS = "Equations 3 to 6 and Table 2"


@dataclasses.dataclass(frozen=True)
class AttributeWeights(ColumnWeights, names={name: {"measure": name} for name in MEASURES}):
    """Weights of attributes that are measured on, or searched over, recent messages.

    Attributes
    ----------
    measure
        A name of `MEASURES`.
    """

    measure: str

    @property
    def weighting(self) -> Weighting:
        """The measure."""
        return MEASURES[self.measure]


class MeasuredAttributesNB(GaussianNB[L]):
    """Naive Bayes on columns whose attribute weights are measured or searched.

    A class has the score

        ln P(c) + Σ_j w_j ln P(x_j|c)      (Equations 5 and 6)

    with one weight of an attribute for all classes. Measures of information use numbers binned over
    the recent messages, and treat a missing value as a separate value.

    `streamnb.families.gaussian.GaussianNB` documents P(x_j|c) and the parameters.
    """


class KLNB(MeasuredAttributesNB[L], weights="kullback-leibler", equations=_EQUATIONS):
    """Naive Bayes with weights by the Kullback-Leibler measure (KLNB).

    The weight of an attribute A is the information of its values about the class, divided by the
    entropy of these values, and normalised to mean 1 over the attributes:

        w = Σ_a P(a) KL(C|a) / (−Σ_a P(a) ln P(a)),  KL(C|a) = Σ_c P(c|a) ln [P(c|a) / P(c)]

    For this measure, numbers are divided into ten bins of equal width. The figures of the paper
    were computed without the division by the mean, which leaves weights far below 1, so that the
    prior decides almost alone: `ComposedNB("gaussian", weights="kullback-leibler-raw")`.

    The measure is from Lee, Gutierrez and Dou (2011), Calculating feature weights in naive Bayes
    with Kullback-Leibler measure.
    """


class CBFWNB(MeasuredAttributesNB[L], weights="correlation-filter", equations=_EQUATIONS):
    """Naive Bayes with correlation-based filter weights (CBFWNB).

    An attribute has a high weight if it is informative about the class and not about the other
    attributes:

        w_i = 1 / (1 + exp(−D_i)),  D_i = N(A_i; C) − mean over j ≠ i of N(A_i; A_j)

    N is mutual information divided by its mean: over the attributes for N(A_i; C), over all pairs
    of them for N(A_i; A_j). For this measure, numbers are divided into intervals by Fayyad and
    Irani's criterion.

    The measure is from Jiang, Zhang, Li and Wu (2019), A correlation-based feature weighting filter
    for naive Bayes.
    """


class DFWNB(MeasuredAttributesNB[L], weights="deep-selection", equations=_EQUATIONS):
    """Deep feature weighting naive Bayes (DFWNB), on columns.

    The attributes that correlation-based selection chooses have weight 2, the others 1. The weights
    enter the score, and the estimates, where each message counts twice for an attribute of weight
    2:

        P(x_j|c) = (w_j n_ic + α) / (w_j n_c + α v)

    for a category, and likewise the variance of a number, Σ w_j (x − μ)² / (w_j n_c − 1). The
    selection is Hall's: a forward search for a set of attributes that are informative about the
    class and not redundant. For this search, numbers are divided into intervals by Fayyad and
    Irani's criterion. `DFWMNB`, `DFWCNB` and `DFWOVA` do the same with words.

    The weights are from Jiang, Li, Wang and Zhang (2016), Deep feature weighting for naive Bayes
    and its application to text classification.
    """


class TreeNB(MeasuredAttributesNB[L], weights=TreeDepth(), equations=_EQUATIONS):
    """Naive Bayes with weights by tree depth (TreeNB).

    The weight of an attribute is 1 / √d, where d is the least depth at which a decision tree tests
    it. The root has depth 1, and an attribute that is not tested has weight 0. The tree is grown
    over the recent messages by information gain until no node can be split.

    The paper describes the model with one tree. Hall (2007), A decision tree-based attribute
    weighting filter for naive Bayes, averages the weights over ten trees, each grown over a sample.
    """


class SBC(MeasuredAttributesNB[L], weights="forward-selection", equations=_EQUATIONS):
    """Selective Bayesian classifier (SBC).

    Naive Bayes on selected attributes: these have weight 1 in the score, the others 0. A greedy
    search begins without any attribute. Each step adds the attribute that raises the number of
    correctly classified recent messages most, until none does. If no attribute alone is better than
    the prior, none is selected.

    The search is from Langley and Sage (1994), Induction of selective Bayesian classifiers.
    """
