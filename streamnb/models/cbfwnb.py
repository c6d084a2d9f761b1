"""Naive Bayes with correlation-based filter weights."""

from __future__ import annotations

from streamnb.models.attribute_bayes import FilteredAttributes
from streamnb.parts import CORRELATION_FILTER


class CBFWNB(FilteredAttributes):
    """Naive Bayes with correlation-based filter weights (CBFWNB).

    An attribute of columns weighs the more, the more it tells of the class and the less of the
    other attributes:

        w_i = 1 / (1 + exp(−D_i)),  D_i = N(A_i; C) − mean over j ≠ i of N(A_i; A_j)

    N is mutual information, relative to its mean over the attributes, or over all pairs of them.
    Numbers are cut for it where that makes the class certain enough (Fayyad and Irani). The
    weights go into the score of Equations 5 and 6 of reference 1.

    Parameters and columns are those of `streamnb.models.attribute_bayes.FilteredAttributes`.

    Examples
    --------
    >>> from streamnb import CBFWNB
    >>> model = CBFWNB()
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
    {'colour': 0.313, 'noise': 0.5, 'size': 0.687}

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 to 6 and Table 2.
    [^2]: Jiang, L., Zhang, L., Li, C. and Wu, J.: A Correlation-Based Feature Weighting Filter for
          Naive Bayes. IEEE Transactions on Knowledge and Data Engineering 31(2), 2019.
    """

    weights = CORRELATION_FILTER
