"""Attributes of columns with weights that are measured, or searched for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import AttributeWeights, Composition, Gaussian, TreeDepth

__all__ = ["CBFWNB", "DFWNB", "KLNB", "SBC", "TreeNB"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    values: Mapping[str, int] | None = None


@dataclasses.dataclass(eq=False, repr=False)
class MeasuredAttributesNB(NaiveBayes, _Parameters):
    """Base of models whose attributes have weights that follow from the recent messages.

    Columns, and P(x_j|c), are those of `streamnb.ENB`. A class has the score

        ln P(c) + Σ_j w_j ln P(x_j|c)      (Equations 5 and 6)

    with one weight for all classes. Weights are computed over the most recent `index_size`
    messages when `refresh_every` says so; the estimates that they multiply are never stale.
    Measures of information see a number as its bin among the numbers of the recent messages, and a
    missing value as a value of its own. An attribute that first appears after a refresh weighs 1
    until the next one.

    Parameters
    ----------
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.
    index_size
        Messages kept for the weights, 0 or more, past which the oldest are evicted; None is
        10,000.
    vocabulary_size, tokenizer, max_pairs
        Without effect: there is no text.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """


class KLNB(MeasuredAttributesNB):
    """Naive Bayes with weights by the Kullback-Leibler measure (KLNB).

    The weight of an attribute A is how much its values tell about the class, divided by the entropy
    of these values, and divided by the mean of that over the attributes:

        w = Σ_a P(a) KL(C|a) / (−Σ_a P(a) ln P(a)),  KL(C|a) = Σ_c P(c|a) ln [P(c|a) / P(c)]

    For this measure numbers are cut into ten bins of equal width. The weights go into the score of
    Equations 5 and 6, as in reference 1. Without the division by the mean, weights are far below 1,
    and the prior decides almost alone: the figures of reference 1 were computed so, and
    `ComposedNB("gaussian", weights="kullback-leibler-raw")` does so.

    Parameters and columns are those of `streamnb.models.attribute_weights.MeasuredAttributesNB`.

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

    parts = Composition(Gaussian(), weights=AttributeWeights("kullback-leibler"))


class CBFWNB(MeasuredAttributesNB):
    """Naive Bayes with correlation-based filter weights (CBFWNB).

    The weight of an attribute is the higher, the more the attribute tells about the class and the
    less it tells about the other attributes:

        w_i = 1 / (1 + exp(−D_i)),  D_i = N(A_i; C) − mean over j ≠ i of N(A_i; A_j)

    N is mutual information divided by its mean: over the attributes for N(A_i; C), over all pairs
    of them for N(A_i; A_j). For this measure numbers are cut into intervals where that makes the
    class certain enough (Fayyad and Irani). The weights go into the score of Equations 5 and 6 of
    reference 1.

    Parameters and columns are those of `streamnb.models.attribute_weights.MeasuredAttributesNB`.

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

    parts = Composition(Gaussian(), weights=AttributeWeights("correlation-filter"))


class DFWNB(MeasuredAttributesNB):
    """Deep feature weighting naive Bayes (DFWNB), on columns.

    The attributes that correlation-based selection chooses weigh 2, the others 1. The weights are
    used in the score of Equations 5 and 6 of reference 1, and in the estimates, where each message
    counts twice for an attribute of weight 2:

        P(x_j|c) = (w_j n_ic + α) / (w_j n_c + α v)

    for a category, and likewise the variance of a number, Σ w_j (x − μ)² / (w_j n_c − 1). The
    selection is Hall's: a forward search for a set of attributes that tell much about the class and
    little about one another. For it numbers are cut into intervals where that makes the class
    certain enough (Fayyad and Irani). `DFWMNB`, `DFWCNB` and `DFWOVA` do the same with words.

    Parameters and columns are those of `streamnb.models.attribute_weights.MeasuredAttributesNB`.

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

    parts = Composition(Gaussian(), weights=AttributeWeights("deep-selection"))


class TreeNB(MeasuredAttributesNB):
    """Naive Bayes with weights by tree depth (TreeNB).

    The weight of an attribute is 1 / √d, where d is the least depth at which a decision tree tests
    it, the root having depth 1. An attribute that is not tested weighs 0. The tree is grown over
    the recent messages by information gain, until no node can be split. The weights go into the
    score of Equations 5 and 6 of reference 1, which describes the model with one tree; reference 2
    takes the mean of the weights over ten trees, each grown over a sample.

    Parameters and columns are those of `streamnb.models.attribute_weights.MeasuredAttributesNB`.

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

    parts = Composition(Gaussian(), weights=TreeDepth())


class SBC(MeasuredAttributesNB):
    """Selective Bayesian classifier (SBC).

    Naive Bayes on some of the attributes: these weigh 1 in the score of Equations 5 and 6 of
    reference 1, the others 0. A greedy search begins without any attribute. Each step adds the
    attribute with which most of the recent messages are classified correctly, as long as they are
    more than without it. Where no attribute alone is better than the prior, none is chosen.

    Parameters and columns are those of `streamnb.models.attribute_weights.MeasuredAttributesNB`.

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

    parts = Composition(Gaussian(), weights=AttributeWeights("forward-selection"))
