"""Weights of attributes that are measured: information, tree depth, forward selection.

The measures use the recent rows, with numbers in bins, and

    I(X; Y) = H(X) + H(Y) − H(X, Y)

Forward selection is a wrapper: it uses the classifier itself.
"""

from __future__ import annotations

import numpy as np

from streamnb.columns.examples import (
    TIE,
    ExampleTable,
    description_length_cuts,
    equal_width_cuts,
    members,
    weighted_entropies,
)
from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.relevance import forward_search, uncertainties

# Maximum number of cells of a dense table of two attributes (8 MB); larger tables are sparse.
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
    """Return the weights of `kullback_leibler` over their mean; 1 if all are 0."""
    return relative(kullback_leibler(table))


def correlation_filter(table: ExampleTable) -> Floats:
    """Return 1 / (1 + exp(−D_i)): relevance to the class minus redundancy with other attributes.

    D_i is I(A_i; C) over its mean, minus the mean over the other attributes of I(A_i; A_j) over its
    mean of all pairs. Where a mean is 0, relevance is 1 and redundancy is 0.

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
        # The sum is over the other attributes, the mean over all pairs.
        redundancy *= count / summed
    return 1.0 / (1.0 + np.exp(redundancy - relevance))


def selected_twice(table: ExampleTable) -> Floats:
    """Return 2 for the attributes that correlation-based selection selects, 1 for the others.

    Forward search adds attributes to the set S while its merit grows:

        Σ_i SU(A_i, C) / √(|S| + Σ_{i ≠ j} SU(A_i, A_j)),  SU(X, Y) = 2 I(X; Y) / (H(X) + H(Y))

    Ties are broken by name.

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
    relevance = uncertainties(informations(values, table.classes, weights), own, of_class)

    def between(best: int) -> Floats:
        told = informations(values, values[:, best], weights)
        return uncertainties(told, own, own[best])

    found = np.ones(len(own))
    found[forward_search(relevance, between)] = 2.0
    return found


def own_entropies(values: Integers, weights: Floats) -> Floats:
    """Return the entropy of each column, in bits."""
    found = np.zeros(values.shape[1])
    for j, column in enumerate(values.T):
        counts: Floats = np.bincount(column, weights).astype(np.float64)
        found[j] = weighted_entropies(counts[None, :])[0]
    return found / weights.sum()


def informations(values: Integers, other: Integers, weights: Floats) -> Floats:
    """Return the mutual information of each column and `other`, in bits."""
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
    """Return values over their mean; 1 if all are 0."""
    mean = values.mean() if len(values) else 0.0
    return values / mean if mean > 0 else np.ones_like(values)


def tree_depth(table: ExampleTable) -> Floats:
    """Return 1 / √d of each attribute, where d is the least depth of its tests; 0 if not tested.

    The tree grows level by level, until no split has information gain or each attribute was
    tested. The root has depth 1. A node tests the attribute with the highest gain (ties by name).
    Numbers are split in two at the boundary with the highest gain (ties: the lowest); categories
    have one branch per value.

    References
    ----------
    [^1]: Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """
    rows = np.arange(len(table.classes))
    weights = members(table.classes, table.weights, table.n_classes)
    # All numbers of an attribute count as one value; each node searches its own boundary.
    values = np.where(np.isnan(table.numbers), table.codes, len(table.words))
    depths = np.full(len(table.names), np.inf)
    level, depth = [rows], 1
    while level and np.isinf(depths).any():
        below: list[Integers] = []
        for node in level:
            found = _best_split(values[node], table.numbers[node], weights[node])
            if found is not None:
                attribute, branch = found
                depths[attribute] = min(depths[attribute], depth)
                below += [node[branch == side] for side in np.unique(branch)]
        level, depth = below, depth + 1
    return np.where(np.isinf(depths), 0.0, 1.0 / np.sqrt(depths))


def _best_split(values: Integers, numbers: Floats, weights: Floats) -> tuple[int, Integers] | None:
    """Return the attribute to test and the branch of each row; None without a gain."""
    whole = weights.sum(axis=0)
    uncertain = float(weighted_entropies(whole[None, :])[0])
    if uncertain <= TIE:
        return None
    best: tuple[int, Integers] | None = None
    highest = TIE
    for j in range(values.shape[1]):
        column, there = values[:, j], ~np.isnan(numbers[:, j])
        _, branch = np.unique(column, return_inverse=True)
        if there.any():
            cut = _best_cut(numbers[there, j], weights[there])
            if cut is not None:
                branch = branch.copy()
                branch[there] = branch.max() + 1 + (numbers[there, j] > cut)
        sides = np.array([np.bincount(branch, each) for each in weights.T], dtype=np.float64).T
        gain = (uncertain - float(weighted_entropies(sides).sum())) / whole.sum()
        if gain > highest + TIE:
            highest, best = gain, (j, branch)
    return best


def _best_cut(numbers: Floats, weights: Floats) -> float | None:
    """Return the boundary with the highest gain; None if all numbers are equal."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    places = np.flatnonzero(ordered[:-1] < ordered[1:])
    if not len(places):
        return None
    below = weights[order].cumsum(axis=0)
    left, right = below[places], below[-1] - below[places]
    rest = weighted_entropies(left) + weighted_entropies(right)
    best = places[int(np.argmax(rest <= rest.min() + TIE))]
    return float(0.5 * ordered[best] + 0.5 * ordered[best + 1])


def forward_selection(terms: Floats, priors: Floats, classes: Integers, weights: Floats) -> Floats:
    """Return 1 for the selected attributes and 0 for the others.

    The search begins with the priors alone. Each step adds the attribute that gives the highest
    accuracy on the examples (ties: the first), while accuracy grows. The parameters are as in
    `streamnb.columns.fits.fit`.

    References
    ----------
    [^1]: Langley and Sage (1994), Induction of selective Bayesian classifiers.
    """
    by_attribute = np.ascontiguousarray(terms.transpose(2, 0, 1))
    scores = np.broadcast_to(priors, terms.shape[:2])

    def right(each: Floats) -> float:
        return float(weights[each.argmax(axis=1) == classes].sum())

    selected = np.zeros(len(by_attribute))
    most = right(scores)
    while not selected.all():
        left = np.flatnonzero(selected == 0)
        found = [right(scores + by_attribute[j]) for j in left]
        best = int(np.argmax(found))
        if found[best] <= most:
            break
        most = found[best]
        selected[left[best]] = 1.0
        scores = scores + by_attribute[left[best]]
    return selected
