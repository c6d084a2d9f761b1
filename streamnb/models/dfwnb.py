"""Naive Bayes with deep feature weighting, on columns."""

from __future__ import annotations

from streamnb.models.attribute_bayes import FilteredAttributes
from streamnb.parts import DEEP_SELECTION


class DFWNB(FilteredAttributes):
    """Deep feature weighting naive Bayes (DFWNB), on columns.

    Attributes that correlation-based selection takes weigh 2, the others 1: in the score, that of
    Equations 5 and 6 of reference 1, and in the estimate, where each message counts twice for them:

        P(x_j|c) = (w_j n_ic + α) / (w_j n_c + α v)

    of a category, and likewise the deviation of a number, Σ w_j (x − μ)² / (w_j n_c − 1). Selection
    is Hall's: the set that tells much of the class and little of one another, found by forward
    search. Numbers are cut for it where that makes the class certain enough (Fayyad and Irani).
    `DFWMNB` and its kin do the same with words.

    Parameters and columns are those of `streamnb.models.attribute_bayes.FilteredAttributes`.

    Examples
    --------
    >>> from streamnb import DFWNB
    >>> model = DFWNB()
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
    {'colour': 1.0, 'noise': 1.0, 'size': 2.0}

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

    weights = DEEP_SELECTION
