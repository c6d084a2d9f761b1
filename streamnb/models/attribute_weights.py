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

    with one weight for all classes. Weights are computed over the most recent `max_documents`
    messages as `refresh_every` says; what they are multiplied with is never stale. To measures of
    information a number is its bin among those of the recent messages, and a missing value is one
    of its own. An attribute that has come since weighs 1.

    Parameters
    ----------
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.
    max_documents
        Messages kept for the weights, 0 or more, past which the oldest are evicted; None is
        10,000.
    vocabulary_size, tokenizer, max_pairs
        Without effect: there is no text.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.
    """


class KLNB(MeasuredAttributesNB):
    """Naive Bayes with weights by the Kullback-Leibler measure (KLNB).

    An attribute A of columns weighs what its values tell of the class, over what they are
    uncertain themselves, relative to the mean of that over the attributes:

        w = Σ_a P(a) KL(C|a) / (−Σ_a P(a) ln P(a)),  KL(C|a) = Σ_c P(c|a) ln [P(c|a) / P(c)]

    Numbers are cut into ten bins of equal width for it. The weights go into the score of Equations
    5 and 6, here and in reference 1. Not relative to the mean, weights are far below 1, so that the
    prior decides: that is what the figures of reference 1 were computed with, and
    `ComposedNB("gaussian", weights="kullback-leibler-raw")` has it.

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

    An attribute of columns weighs the more, the more it tells of the class and the less of the
    other attributes:

        w_i = 1 / (1 + exp(−D_i)),  D_i = N(A_i; C) − mean over j ≠ i of N(A_i; A_j)

    N is mutual information, relative to its mean over the attributes, or over all pairs of them.
    Numbers are cut for it where that makes the class certain enough (Fayyad and Irani). The
    weights go into the score of Equations 5 and 6 of reference 1.

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

    Attributes that correlation-based selection takes weigh 2, the others 1: in the score, that of
    Equations 5 and 6 of reference 1, and in the estimate, where each message counts twice for them:

        P(x_j|c) = (w_j n_ic + α) / (w_j n_c + α v)

    of a category, and likewise the deviation of a number, Σ w_j (x − μ)² / (w_j n_c − 1). Selection
    is Hall's: the set that tells much of the class and little of one another, found by forward
    search. Numbers are cut for it where that makes the class certain enough (Fayyad and Irani).
    `DFWMNB` and its kin do the same with words.

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

    An attribute of columns weighs 1 / √d, where d is the least depth at which a decision tree
    tests it, the root having depth 1; one that is not tested weighs 0. The tree is grown over the
    recent messages, on information gain, until no node can be split. The weights go into the score
    of Equations 5 and 6 of reference 1, which describes it with one tree: reference 2 takes the
    mean over ten trees, each of a sample.

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

    Naive Bayes on some of the attributes of columns: they weigh 1 in the score of Equations 5 and 6
    of reference 1, and the others 0. A greedy search begins with none of them. Each step takes the
    attribute with which most of the recent messages are decided right, as long as that is more
    than without it. Where no attribute alone is better than the prior, none is taken.

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
