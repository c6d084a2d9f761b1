"""Weights of attributes by the depth at which a tree tests them first."""

from __future__ import annotations

import numpy as np

from streamnb.columns.example_table import ExampleTable, members, weighted_entropies
from streamnb.statistics.counts import Floats, Integers

# Gains this near are the same but for rounding.
TIE = 1e-9


def tree_depth(table: ExampleTable) -> Floats:
    """Return 1 / √d of each attribute, d the least depth of its tests; 0 of those not tested.

    The tree is grown until no split of a node tells more of the class. A node, the first at depth
    1, tests the attribute with the highest information gain, of equal ones the first by name: a
    number by the cut with the highest gain, of equal ones the lowest, and anything else by its
    value. Rows without a number go where their value goes.

    The tree grows level by level, and only until each attribute has been tested.

    References
    ----------
    [^1]: Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """
    rows = np.arange(len(table.classes))
    weights = members(table.classes, table.weights, table.n_classes)
    # A number is one value here; its cuts are looked for in each node.
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
    """Return the attribute to test, and the branch of each row; None where nothing gains."""
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
    """Return the number up to which the one side goes; None where all are the same."""
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
