"""Losses of margins, and the objective of fitted weights: ENB, DNB, LNB, GDNB and MSENB.

The margin of an example of class y over another class c is linear in the weights,

    m = w₀ ln [P(y) / P(c)] + Σ_j w_j ln [P(x_j|y) / P(x_j|c)]

For two classes it is y f(x) of Equation 9. w₀ is 1, except in GDNB.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from streamnb.statistics.counts import Floats

LEAST_RIDGE = 1e-6
"""The first ridge of `ridge=0` for attributes, and its only ridge for words. If attributes are
redundant, the loss has many minima, and a small ridge towards 0 selects the smallest weights."""

_VANISHING = (1e-9, 1e-12)
# If a minimum exists, the weights of a vanishing ridge converge; if not, each ridge moves them by
# about the same distance.
_CONVERGES = 0.5

# Minimum loss, so that its logarithm exists.
_LEAST = 1e-300


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Curvature:
    """Second derivatives by the margins of each example: diag(d) + r s sᵀ.

    Attributes
    ----------
    diagonal, shares
        d and s: shape `(examples, classes - 1)`. d is 0 or more.
    rank_one
        r, positive or negative: shape `(examples,)`.
    """

    diagonal: Floats
    shares: Floats
    rank_one: Floats


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Loss:
    """A loss of margins.

    Attributes
    ----------
    name
        Its name in `ComposedNB`.
    multiplier
        λ, the factor of margins; None for the exponential loss.
    weighs_prior
        Whether the prior has a weight: w₀ of Equation 19.
    squared
        Whether the loss is (1 − P(right class))².

    References
    ----------
    [^1]: Exponential loss minimisation for weighted naive Bayes, Equations 10, 13, 14, 19.
    """

    name: str
    multiplier: float | None = 1.0
    weighs_prior: bool = False
    squared: bool = False

    @property
    def convex(self) -> bool:
        """Whether the loss is convex."""
        return not self.squared

    def _shares(self, margins: Floats, multiplier: float) -> tuple[Floats, Floats, Floats]:
        """Return the probabilities of the other classes and of the right one, and −ln P(right)."""
        scaled = -multiplier * margins
        highest = np.maximum(scaled.max(axis=1), 0.0)
        shares = np.exp(scaled - highest[:, None])
        # e⁰ = 1 is the term of the right class.
        right = np.exp(-highest)
        summed = shares.sum(axis=1) + right
        return shares / summed[:, None], right / summed, highest + np.log(summed)

    def value(self, margins: Floats, weights: Floats) -> tuple[float, Floats]:
        """Return the loss of all examples, and its derivative by each margin.

        `margins` over the other classes have the shape `(examples, classes - 1)`.
        """
        if self.multiplier is None:
            shares = weights[:, None] * np.exp(-margins)
            return float(shares.sum()), -shares
        shares, right, deviance = self._shares(margins, self.multiplier)
        if self.squared:
            lacks = 1.0 - right
            slope = -2.0 * self.multiplier * weights * lacks * right
            return float((weights * lacks**2).sum()), shares * slope[:, None]
        return float((weights * deviance).sum()), shares * (-self.multiplier * weights[:, None])

    def curvature(self, margins: Floats, weights: Floats, bowl: bool = False) -> Curvature:
        """Return the second derivatives by the margins.

        `bowl` uses the Gauss-Newton approximation, which is at least 0, for examples at which the
        loss is not convex.
        """
        if self.multiplier is None:
            shares = weights[:, None] * np.exp(-margins)
            return Curvature(shares, shares, np.zeros(len(weights)))
        shares, right, _ = self._shares(margins, self.multiplier)
        square = self.multiplier**2 * weights
        if self.squared:
            square = 2.0 * square * right
            diagonal, rank_one = square * (1.0 - right), -square * (2.0 - 3.0 * right)
            if bowl:
                far = right < 0.5
                diagonal, rank_one = (
                    np.where(far, 0.0, diagonal),
                    np.where(far, square * right, rank_one),
                )
            return Curvature(diagonal[:, None] * shares, shares, rank_one)
        return Curvature(square[:, None] * shares, shares, -square)


EXPONENTIAL = Loss("exponential", multiplier=None)
DEVIANCE = Loss("deviance", multiplier=2.0)
LIKELIHOOD = Loss("likelihood")
GENERALISED = Loss("generalised", weighs_prior=True)
SQUARED = Loss("squared", squared=True)


def without_ridge(fit: Callable[[Floats, float], Floats], start: Floats) -> Floats:
    """Return the weights with the least loss, if there are any.

    If weights separate some messages of the classes, the loss has no minimum: it falls for ever
    while the weights grow. The result is then the minimum with the ridge `LEAST_RIDGE` towards 0.
    `fit` takes the weights to start from and a ridge towards 0, and returns the best weights.
    """
    first = last = fit(start, LEAST_RIDGE)
    moves = []
    for ridge in _VANISHING:
        last, before = fit(last, ridge), last
        moves.append(float(np.abs(last - before).max()))
    return last if moves[1] <= _CONVERGES * moves[0] else first


class Slopes(Protocol):
    """The derivatives of the margins by the weights."""

    def margins(self, weights: Floats) -> Floats:
        """Return the weighted part of the margins: shape `(examples, classes - 1)`."""

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight from the derivative by each margin."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class DenseSlopes:
    """Derivatives of the margins by a few dozen weights.

    Attributes
    ----------
    table
        Shape `(examples, classes - 1, weights)`.
    """

    table: Floats

    def margins(self, weights: Floats) -> Floats:
        """Return the weighted part of the margins: shape `(examples, classes - 1)`."""
        return np.einsum("nbj,j->nb", self.table, weights)

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight from the derivative by each margin."""
        return np.einsum("nb,nbj->j", by_margin, self.table)

    def matrix(self, curvature: Curvature) -> Floats:
        """Return the second derivatives by the weights: shape `(weights, weights)`."""
        flat = self.table.reshape(-1, self.table.shape[2])
        mixed = np.einsum("nb,nbj->nj", curvature.shares, self.table)
        found: Floats = flat.T @ (curvature.diagonal.reshape(-1, 1) * flat)
        return found + mixed.T @ (curvature.rank_one[:, None] * mixed)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Objective:
    """The function of the weights that a fit minimises.

    It is the mean loss plus `ridge` / 2 times the squared distance of the weights from `centre`,
    divided by the number of examples. For the exponential loss it is the logarithm of this sum,
    which has the same minimum and does not overflow.

    Attributes
    ----------
    loss
        The loss.
    offsets
        Margins if all weights are 0: shape `(examples, classes - 1)`.
    slopes
        Derivatives of the margins by the weights.
    weights
        Weights of the examples.
    ridge
        In units of one example's loss, above 0, so that a convex loss has one minimum.
    centre
        Weights without penalty.
    """

    loss: Loss
    offsets: Floats
    slopes: Slopes
    weights: Floats
    ridge: float
    centre: float = 1.0

    def at(self, w: Floats) -> Point:
        """Return the value and its derivatives at the weights `w`."""
        margins = self.offsets + self.slopes.margins(w)
        away = w - self.centre
        penalty = 0.5 * self.ridge * float((away * away).sum())
        total = self.total
        if self.loss.multiplier is None:
            # In units of e^highest, at least 1, so that nothing overflows.
            highest = max(float((-margins).max()), 0.0)
            unit = math.exp(-min(highest, 700.0))
            margins = margins + highest
            losses, by_margin = self.loss.value(margins, self.weights)
            losses = max(losses + penalty * unit, _LEAST)
            value = highest + math.log(losses / total)
            return Point(self, w, margins, value, by_margin / losses, 1.0 / losses, unit / losses)
        losses, by_margin = self.loss.value(margins, self.weights)
        scale = 1.0 / total
        return Point(self, w, margins, (losses + penalty) / total, by_margin * scale, scale, scale)

    @functools.cached_property
    def total(self) -> float:
        """The weight of all examples."""
        return float(self.weights.sum())


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Point:
    """An objective at the weights `w`.

    Attributes
    ----------
    objective
        The objective.
    w
        The weights.
    margins
        The margins; for the exponential loss, all are shifted by the same number.
    value
        The value.
    by_margin
        Derivative by each margin.
    loss_scale, ridge_scale
        Factors of the loss and of the ridge in derivatives.
    """

    objective: Objective
    w: Floats
    margins: Floats
    value: float
    by_margin: Floats
    loss_scale: float
    ridge_scale: float

    @property
    def ridge(self) -> float:
        """The second derivative of the penalty by each weight."""
        return self.objective.ridge * self.ridge_scale

    @functools.cached_property
    def gradient(self) -> Floats:
        """The derivative by each weight."""
        of_loss = self.objective.slopes.gradient(self.by_margin)
        return of_loss + self.ridge * (self.w - self.objective.centre)

    def curvature(self, bowl: bool = False) -> Curvature:
        """Return the second derivatives by the margins; `bowl` as in `Loss`.

        For the exponential loss, they are the derivatives of the loss instead of its logarithm.
        They are at least 0, and equal at the minimum.
        """
        found = self.objective.loss.curvature(self.margins, self.objective.weights, bowl)
        return dataclasses.replace(
            found,
            diagonal=self.loss_scale * found.diagonal,
            rank_one=self.loss_scale * found.rank_one,
        )
