"""Columns with measured or searched attribute weights: KLNB, CBFWNB, DFWNB, TreeNB and SBC."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from streamnb.columns.filters import (
    correlation_filter,
    forward_selection,
    kullback_leibler,
    relative_kullback_leibler,
    selected_twice,
)
from streamnb.columns.fits import FilterWeighting, WrapperWeighting, check_event
from streamnb.columns.table import Weighting
from streamnb.families.gaussian import AttributeStatistic, Gaussian
from streamnb.families.tree_depth import TreeDepth
from streamnb.model.base import NaiveBayes
from streamnb.model.composition import BuildContext, Composition, Weights
from streamnb.model.hooks import RuntimeHooks

__all__ = ["CBFWNB", "DFWNB", "KLNB", "SBC", "AttributeWeights", "TreeNB"]

MEASURES: dict[str, Weighting] = {
    "kullback-leibler": FilterWeighting(relative_kullback_leibler),
    "kullback-leibler-raw": FilterWeighting(kullback_leibler),
    "correlation-filter": FilterWeighting(correlation_filter),
    "deep-selection": FilterWeighting(selected_twice, in_estimate=True),
    "forward-selection": WrapperWeighting(forward_selection),
}
"""The ways to weight attributes, by name."""


@dataclasses.dataclass(frozen=True)
class AttributeWeights(Weights, names={name: {"measure": name} for name in MEASURES}):
    """Weights of attributes that are measured on, or searched over, recent messages.

    Attributes
    ----------
    measure
        A name of `MEASURES`.
    """

    indexed: ClassVar[int] = 10_000

    measure: str

    def hooks(self, context: BuildContext) -> RuntimeHooks:
        """Return the statistic of the weights.

        Raises
        ------
        InputError
            If the event model has no attributes.
        """
        check_event(self.name, context.composition.event.numbers)
        return RuntimeHooks(AttributeStatistic(MEASURES[self.measure]))


@dataclasses.dataclass(eq=False, repr=False)
class MeasuredAttributesNB(NaiveBayes):
    """Naive Bayes on columns whose attribute weights are measured or searched.

    Columns and P(x_j|c) are defined as in `streamnb.ENB`. A class has the score

        ln P(c) + Σ_j w_j ln P(x_j|c)      (Equations 5 and 6)

    with one weight for all classes. A refresh (`refresh_every`) computes the weights over the last
    `index_size` messages; the estimates that they multiply are always current. Measures of
    information use numbers binned over the recent messages, and treat a missing value as a separate
    value. An attribute that first appears after a refresh has weight 1 until the next one.

    Parameters
    ----------
    values
        Attribute → number of its values, if it is known; otherwise the learned values are counted.
    index_size
        Messages kept for the weights, 0 or more. The oldest are evicted. None is 10,000.
    vocabulary_size, tokenizer, max_pairs
        No effect, because there is no text.

    Notes
    -----
    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.
    """

    values: Mapping[str, int] | None = None


class KLNB(MeasuredAttributesNB):
    """Naive Bayes with weights by the Kullback-Leibler measure (KLNB).

    The weight of an attribute A is the information of its values about the class, divided by the
    entropy of these values, and normalised to mean 1 over the attributes:

        w = Σ_a P(a) KL(C|a) / (−Σ_a P(a) ln P(a)),  KL(C|a) = Σ_c P(c|a) ln [P(c|a) / P(c)]

    For this measure, numbers are divided into ten bins of equal width. The weights enter the score
    of Equations 5 and 6, as in reference 1. Its figures were computed without the division by the
    mean, which leaves weights far below 1, so that the prior decides almost alone:
    `ComposedNB("gaussian", weights="kullback-leibler-raw")`.

    `streamnb.families.attribute_weights.MeasuredAttributesNB` documents parameters
    and columns.

    Examples
    --------
    >>> from streamnb import KLNB
    >>> model = KLNB()
    >>> for x, y in [
    ...     ({"size": 1.2, "noise": 0.1, "colour": "red"}, "apple"),
    ...     ({"size": 9.5, "noise": 0.3, "colour": "green"}, "melon"),
    ...     ({"size": 1.4, "noise": 0.3, "colour": "green"}, "apple"),
    ...     ({"size": 8.9, "noise": 0.1, "colour": "green"}, "melon"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.refresh()
    >>> model.predict_one({"size": 7.0, "noise": 0.2, "colour": "red"})
    'melon'
    >>> {name: round(weight, 3) for name, weight in sorted(model.weights_.items())}
    {'colour': 0.832, 'noise': 0.0, 'size': 2.168}

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Lee, C.-H., Gutierrez, F. and Dou, D.: Calculating Feature Weights in Naive Bayes with
          Kullback-Leibler Measure. ICDM 2011.
    """

    composition = Composition(Gaussian(), weights=AttributeWeights("kullback-leibler"))


class CBFWNB(MeasuredAttributesNB):
    """Naive Bayes with correlation-based filter weights (CBFWNB).

    An attribute has a high weight if it is informative about the class and not about the other
    attributes:

        w_i = 1 / (1 + exp(−D_i)),  D_i = N(A_i; C) − mean over j ≠ i of N(A_i; A_j)

    N is mutual information divided by its mean: over the attributes for N(A_i; C), over all pairs
    of them for N(A_i; A_j). For this measure, numbers are divided into intervals by Fayyad and
    Irani's criterion. The weights enter the score of Equations 5 and 6 of reference 1.

    `streamnb.families.attribute_weights.MeasuredAttributesNB` documents parameters
    and columns.

    Examples
    --------
    >>> from streamnb import CBFWNB
    >>> model = CBFWNB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Jiang, L., Zhang, L., Li, C. and Wu, J.: A Correlation-Based Feature Weighting Filter for
          Naive Bayes. IEEE Transactions on Knowledge and Data Engineering 31(2), 2019.
    """

    composition = Composition(Gaussian(), weights=AttributeWeights("correlation-filter"))


class DFWNB(MeasuredAttributesNB):
    """Deep feature weighting naive Bayes (DFWNB), on columns.

    The attributes that correlation-based selection chooses have weight 2, the others 1. The weights
    enter the score of Equations 5 and 6 of reference 1, and the estimates, where each message
    counts twice for an attribute of weight 2:

        P(x_j|c) = (w_j n_ic + α) / (w_j n_c + α v)

    for a category, and likewise the variance of a number, Σ w_j (x − μ)² / (w_j n_c − 1). The
    selection is Hall's: a forward search for a set of attributes that are informative about the
    class and not redundant. For this search, numbers are divided into intervals by Fayyad and
    Irani's criterion. `DFWMNB`, `DFWCNB` and `DFWOVA` do the same with words.

    `streamnb.families.attribute_weights.MeasuredAttributesNB` documents parameters
    and columns.

    Examples
    --------
    >>> from streamnb import DFWNB
    >>> model = DFWNB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Jiang, L., Li, C., Wang, S. and Zhang, L.: Deep Feature Weighting for Naive Bayes and Its
          Application to Text Classification. Engineering Applications of Artificial Intelligence
          52, 2016.
    [^3]: Hall, M. A.: Correlation-based Feature Selection for Discrete and Numeric Class Machine
          Learning. ICML 2000.
    """

    composition = Composition(Gaussian(), weights=AttributeWeights("deep-selection"))


class TreeNB(MeasuredAttributesNB):
    """Naive Bayes with weights by tree depth (TreeNB).

    The weight of an attribute is 1 / √d, where d is the least depth at which a decision tree tests
    it. The root has depth 1, and an attribute that is not tested has weight 0. The tree is grown
    over the recent messages by information gain until no node can be split. The weights enter the
    score of Equations 5 and 6 of reference 1, which describes the model with one tree. Reference 2
    averages the weights over ten trees, each grown over a sample.

    `streamnb.families.attribute_weights.MeasuredAttributesNB` documents parameters
    and columns.

    Examples
    --------
    >>> from streamnb import TreeNB
    >>> model = TreeNB()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Hall, M.: A Decision Tree-Based Attribute Weighting Filter for Naive Bayes. Research and
          Development in Intelligent Systems XXIII, 2007.
    """

    composition = Composition(Gaussian(), weights=TreeDepth())


class SBC(MeasuredAttributesNB):
    """Selective Bayesian classifier (SBC).

    Naive Bayes on selected attributes: these have weight 1 in the score of Equations 5 and 6 of
    reference 1, the others 0. A greedy search begins without any attribute. Each step adds the
    attribute that raises the number of correctly classified recent messages most, until none does.
    If no attribute alone is better than the prior, none is selected.

    `streamnb.families.attribute_weights.MeasuredAttributesNB` documents parameters
    and columns.

    Examples
    --------
    >>> from streamnb import SBC
    >>> model = SBC()
    >>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
    >>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
    >>> model.predict_one({"size": 7.0, "colour": "green"})
    'melon'

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Langley, P. and Sage, S.: Induction of Selective Bayesian Classifiers. UAI 1994.
    """

    composition = Composition(Gaussian(), weights=AttributeWeights("forward-selection"))
