"""A search for attributes with which the classifier itself decides best."""

from __future__ import annotations

import numpy as np

from streamnb.statistics.counts import Floats, Integers


def forward_selection(terms: Floats, priors: Floats, classes: Integers, weights: Floats) -> Floats:
    """Return 1 for the attributes selected and 0 for the others.

    The search begins with none of them, which leaves the priors. Each step takes the attribute
    with which most examples are decided right, of equal ones the first, as long as that is more
    than without it.

    Parameters
    ----------
    terms
        ln P(x_j|c) of each example: shape `(examples, classes, attributes)`.
    priors
        ln P(c) of each class.
    classes
        The class of each example, as its place in `terms`.
    weights
        Of the examples.

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
