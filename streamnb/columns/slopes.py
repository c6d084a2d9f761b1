"""Margins of rows as functions of attributes' weights, and the weights of the least loss."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.losses import LEAST_RIDGE, Curvature, Loss, Objective
from streamnb.statistics.newton import dense_step, exact_gram, least


@dataclasses.dataclass(frozen=True)
class AttributeSlopes:
    """What margins grow by with the weight of each attribute.

    Attributes
    ----------
    table
        Shape `(examples, classes - 1, attributes)`.
    """

    table: Floats

    def margins(self, weights: Floats) -> Floats:
        """Return what the weights add to the margins: shape `(examples, classes - 1)`."""
        found: Floats = np.einsum("nbj,j->nb", self.table, weights)
        return found

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight, from that by each margin."""
        found: Floats = np.einsum("nb,nbj->j", by_margin, self.table)
        return found

    def matrix(self, curvature: Curvature) -> Floats:
        """Return the second derivatives by the weights: shape `(attributes, attributes)`."""
        n, others, attributes = self.table.shape
        flat, diagonal = self.table.reshape(-1, attributes), curvature.diagonal.ravel()
        if others == 1:
            both = diagonal + curvature.rank_one * curvature.shares[:, 0] ** 2
            return exact_gram(flat, both)
        found = exact_gram(flat, diagonal)
        if curvature.rank_one.any():
            mixed = np.einsum("nb,nbj->nj", curvature.shares, self.table)
            found += exact_gram(mixed, curvature.rank_one)
        return found


def fit(
    loss: Loss, terms: Floats, priors: Floats, classes: Integers, weights: Floats, ridge: float
) -> Floats:
    """Return the weights, 0 or more, of the prior and of each attribute with the least loss.

    They follow from the examples alone. A convex loss is least in one place, wherever its fit
    begins. Without a ridge only what helps gets any weight, and no more than it needs. Another loss
    has several minima: its fit begins with weights of 1, which are naive Bayes, and ends in the
    minimum below.

    Parameters
    ----------
    loss
        What to minimise.
    terms
        ln P(x_j|c) of each example: shape `(examples, classes, attributes)`.
    priors
        ln P(c) of each class.
    classes
        The class of each example, as its place in `terms`.
    weights
        Of the examples.
    ridge
        What being away from 1 costs, as in `streamnb.statistics.losses.Objective`; 0 is none.

    Returns
    -------
    Weights of the prior (1 where the loss does not weigh it) and of each attribute; 1 where there
    is nothing to fit them to.
    """
    n, k, attributes = terms.shape
    if not n or k < 2 or not attributes:
        return np.ones(1 + attributes)
    each = np.arange(n)
    others = np.ones((n, k), dtype=bool)
    others[each, classes] = False
    offsets = (priors[classes][:, None] - priors[None, :])[others].reshape(n, k - 1)
    slopes = (terms[each, classes][:, None, :] - terms)[others].reshape(n, k - 1, -1)
    if loss.weighs_prior:
        slopes = np.concatenate([offsets[:, :, None], slopes], axis=2)
        offsets = np.zeros_like(offsets)
    start = np.full(slopes.shape[2], 0.0 if loss.convex else 1.0)
    centre = 1.0 if ridge else start[0]
    objective = Objective(
        loss, offsets, AttributeSlopes(slopes), weights, max(ridge, LEAST_RIDGE), centre
    )
    best = least(objective, start, dense_step)
    return best if loss.weighs_prior else np.concatenate([[1.0], best])
