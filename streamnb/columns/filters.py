"""Weights of attributes that say how much each tells of the class, whatever the classifier.

All are computed from information, in the recent rows with their numbers cut into bins:

    I(X; Y) = H(X) + H(Y) − H(X, Y)
"""

from __future__ import annotations

import numpy as np

from streamnb.columns.example_table import (
    ExampleTable,
    description_length_cuts,
    equal_width_cuts,
    weighted_entropies,
)
from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.relevance import forward_search

# Information and merits this near are the same but for rounding.
TIE = 1e-9
# Cells of a dense table of two attributes, 8 MB: beyond, what occurs is counted.
_TABLE = 1 << 20


def kullback_leibler(table: ExampleTable) -> Floats:
    """Return Σ_a P(a) KL(C|a) / H(A) of each attribute A: 0 where all its values are the same.

    KL(C|a) = Σ_c P(c|a) ln [P(c|a) / P(c)], whose mean is I(A; C).

    References
    ----------
    [^1]: Lee, Gutierrez and Dou (2011), Calculating feature weights in naive Bayes with
          Kullback-Leibler measure.
    """
    values = table.binned(equal_width_cuts)
    own = own_entropies(values, table.weights)
    told = informations(values, table.classes, table.weights)
    return np.divide(told, own, out=np.zeros_like(told), where=own > TIE)


def relative_kullback_leibler(table: ExampleTable) -> Floats:
    """Return the same over its mean, as in the reference: 1 where it is 0 for all of them."""
    return relative(kullback_leibler(table))


def correlation_filter(table: ExampleTable) -> Floats:
    """Return 1 / (1 + exp(−D_i)): how much more an attribute tells of the class than of others.

    D_i is I(A_i; C) relative to its mean, minus the mean over the other attributes of I(A_i; A_j)
    relative to its mean over all pairs. A mean of 0 leaves 1 and 0 of them.

    References
    ----------
    [^1]: Jiang, Zhang, Li and Wu (2019), A correlation-based feature weighting filter for naive
          Bayes.
    """
    values = table.binned(description_length_cuts)
    relevance = relative(informations(values, table.classes, table.weights))
    count = values.shape[1]
    between = np.zeros((count, count))
    for j in range(count):
        between[j, :j] = informations(values[:, :j], values[:, j], table.weights)
    redundancy = (between + between.T).sum(axis=0)
    summed = redundancy.sum()
    if summed > TIE:
        # Over the other attributes; the mean is over all pairs.
        redundancy *= count / summed
    found: Floats = 1.0 / (1.0 + np.exp(redundancy - relevance))
    return found


def selected_twice(table: ExampleTable) -> Floats:
    """Return 2 for the attributes that correlation-based selection takes, 1 for the others.

    It searches forward for the set S with the highest merit

        Σ_i SU(A_i, C) / √(|S| + Σ_{i ≠ j} SU(A_i, A_j)),  SU(X, Y) = 2 I(X; Y) / (H(X) + H(Y))

    and ends where no attribute raises it. Of equal attributes it takes the first by name.

    References
    ----------
    [^1]: Jiang, Li, Wang and Zhang (2016), Deep feature weighting for naive Bayes and its
          application to text classification.
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
          learning.
    """
    values, weights = table.binned(description_length_cuts), table.weights
    own = own_entropies(values, weights)
    of_class = float(own_entropies(table.classes[:, None], weights)[0])
    relevance = _uncertainty(informations(values, table.classes, weights), own, of_class)

    def between(best: int) -> Floats:
        told = informations(values, values[:, best], weights)
        return _uncertainty(told, own, own[best])

    found = np.ones(len(own))
    found[forward_search(relevance, between)] = 2.0
    return found


def own_entropies(values: Integers, weights: Floats) -> Floats:
    """Return H of each column, in bits."""
    found = np.zeros(values.shape[1])
    for j, column in enumerate(values.T):
        counts: Floats = np.bincount(column, weights).astype(np.float64)
        found[j] = weighted_entropies(counts[None, :])[0]
    shares: Floats = found / weights.sum()
    return shares


def informations(values: Integers, other: Integers, weights: Floats) -> Floats:
    """Return the information of each column about another value of the rows, in bits."""
    width = int(other.max(initial=0)) + 1
    of_other = float(own_entropies(other[:, None], weights)[0])
    found = own_entropies(values, weights) + of_other
    for j, column in enumerate(values.T):
        both = column * width + other
        if int(column.max(initial=0)) * width > _TABLE:
            both = np.unique(both, return_inverse=True)[1]
        found[j] -= own_entropies(both[:, None], weights)[0]
    return np.where(found > TIE, found, 0.0)


def relative(values: Floats) -> Floats:
    """Return values over their mean; 1 where all are 0."""
    mean = values.mean() if len(values) else 0.0
    return values / mean if mean > 0 else np.ones_like(values)


def _uncertainty(information: Floats, one: Floats, other: float) -> Floats:
    both = one + other
    return np.divide(2 * information, both, out=np.zeros_like(both), where=both > TIE)
