"""Weights of attributes that minimise a loss over examples: ENB, DNB, LNB, GDNB and MSENB.

All losses are of margins. The margin of an example of class y over another class c is

    m = w₀ ln [P(y) / P(c)] + Σ_j w_j ln [P(x_j|y) / P(x_j|c)]

which for two classes is y f(x) of Equation 9; w₀ is 1 but for GDNB.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from streamnb.statistics.counts import Floats

Integers = NDArray[np.int64]

# A mean loss that is as good as none: where classes are told apart, it falls for ever.
_NEGLIGIBLE = 1e-12


@dataclasses.dataclass(frozen=True)
class Loss:
    """A loss of margins.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows it.
    multiplier
        The factor of margins; None is the exponential loss.
    weighs_prior
        Whether the prior has a weight too: w₀ of Equation 19.
    squared
        Whether it is the square of what the probability of the right class lacks.
    """

    name: str
    multiplier: float | None = 1.0
    weighs_prior: bool = False
    squared: bool = False

    @property
    def convex(self) -> bool:
        """Whether there is but one minimum, or one flat set of them."""
        return not self.squared

    def value(self, margins: Floats, weights: Floats) -> tuple[float, Floats]:
        """Return the loss of all examples, and its derivative by each margin.

        Parameters
        ----------
        margins
            Over each other class: shape `(examples, classes - 1)`.
        weights
            Of the examples.

        References
        ----------
        [^1]: Exponential loss minimisation for weighted naive Bayes, Equations 10, 13, 14, 19.
        """
        if self.multiplier is None:
            shares = weights[:, None] * np.exp(-margins)
            return float(shares.sum()), -shares
        scaled = -self.multiplier * margins
        highest_each = np.maximum(scaled.max(axis=1), 0.0)
        shares = np.exp(scaled - highest_each[:, None])
        # 1 is e⁰: the right class beside the others.
        right = np.exp(-highest_each)
        summed_each = shares.sum(axis=1) + right
        shares /= summed_each[:, None]
        right /= summed_each
        if self.squared:
            lacks = 1.0 - right
            slope = -2.0 * self.multiplier * weights * lacks * right
            return float(weights @ lacks**2), shares * slope[:, None]
        value = weights @ (highest_each + np.log(summed_each))
        return float(value), shares * (-self.multiplier * weights[:, None])


EXPONENTIAL = Loss("exponential", multiplier=None)
DEVIANCE = Loss("deviance", multiplier=2.0)
LIKELIHOOD = Loss("likelihood")
GENERALISED = Loss("generalised", weighs_prior=True)
SQUARED = Loss("squared", squared=True)


class Slopes(Protocol):
    """What margins grow by with the weight of each attribute, or of each word."""

    def margins(self, weights: Floats) -> Floats:
        """Return what the weights add to the margins: shape `(examples, classes - 1)`."""

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight, from that by each margin."""


@dataclasses.dataclass(frozen=True)
class DenseSlopes:
    """Slopes that are all there.

    Attributes
    ----------
    table
        Shape `(examples, classes - 1, attributes)`.
    """

    table: Floats

    def margins(self, weights: Floats) -> Floats:
        """Return what the weights add to the margins."""
        flat = self.table.reshape(-1, self.table.shape[-1])
        return (flat @ weights).reshape(self.table.shape[:2])

    def gradient(self, by_margin: Floats) -> Floats:
        """Return the derivative by each weight."""
        return by_margin.ravel() @ self.table.reshape(-1, self.table.shape[-1])


def objective(
    loss: Loss,
    offsets: Floats,
    slopes: Slopes,
    weights: Floats,
    ridge: float,
) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function of the attributes' weights that a fit minimises, with its gradient.

    It is the mean loss, and `ridge` / 2 times the squared distance of the weights from 1 (over the
    number of examples). Of the exponential loss it is the logarithm of that, which has the same
    minimum and does not overflow.

    Parameters
    ----------
    offsets
        What margins are with weights of 0: shape `(examples, classes - 1)`.
    slopes
        What they grow by with the weight of each attribute.
    weights
        Of the examples.
    ridge
        In units of one example's loss, 0 or more.
    """
    total = weights.sum()

    def value(w: Floats) -> tuple[float, Floats]:
        margins = offsets + slopes.margins(w)
        away = w - 1.0
        if loss.multiplier is None:
            # In units of e^highest. As what is far below 1 has no weight beside a ridge, those
            # units are no smaller than 1 where there is one.
            penalty = 0.5 * ridge * float(away @ away)
            highest = float((-margins).max())
            if penalty:
                highest = max(highest, 0.0)
            losses, by_margin = loss.value(margins + highest, weights)
            unit = math.exp(-min(max(highest, 0.0), 700.0))
            losses += penalty * unit
            slope = (slopes.gradient(by_margin) + ridge * unit * away) / losses
            return highest + math.log(losses / total), slope
        losses, by_margin = loss.value(margins, weights)
        gradient: Floats = (slopes.gradient(by_margin) + ridge * away) / total
        return (losses + 0.5 * ridge * float(away @ away)) / total, gradient

    return value


def fit(
    loss: Loss,
    terms: Floats,
    priors: Floats,
    classes: Integers,
    weights: Floats,
    start: Floats,
    ridge: float,
) -> Floats:
    """Return the weights, 0 or more, of the prior and of each attribute with the least loss.

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
    start
        Weights of the prior and of each attribute to start from.
    ridge
        As in `objective`.

    Returns
    -------
    Weights of the prior (1 where the loss does not weigh it) and of each attribute.
    """
    n, k, _ = terms.shape
    if not n or k < 2 or not terms.shape[2]:
        return start
    each = np.arange(n)
    others = np.ones((n, k), dtype=bool)
    others[each, classes] = False
    prior_margins = (priors[classes][:, None] - priors[None, :])[others].reshape(n, k - 1)
    slopes = (terms[each, classes][:, None, :] - terms)[others].reshape(n, k - 1, -1)
    if loss.weighs_prior:
        slopes = np.concatenate([prior_margins[:, :, None], slopes], axis=2)
        prior_margins = np.zeros_like(prior_margins)
    best = least_loss(
        loss,
        objective(loss, prior_margins, DenseSlopes(slopes), weights, ridge),
        start if loss.weighs_prior else start[1:],
        ftol=1e-15,
        gtol=1e-9,
        maxiter=1000,
    )
    return best if loss.weighs_prior else np.concatenate([[1.0], best])


def least_loss(
    loss: Loss,
    value: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    **options: Any,
) -> Floats:
    """Return the weights, 0 or more, where an objective is least; `start` if none are finite.

    Parameters
    ----------
    loss
        Of the objective.
    value
        What `objective` returned.
    start
        Weights to start from.
    options
        Of L-BFGS-B: when it ends.
    """
    enough = math.log(_NEGLIGIBLE) if loss.multiplier is None else _NEGLIGIBLE

    def stop_at_nothing(intermediate_result: optimize.OptimizeResult) -> None:
        if intermediate_result.fun <= enough:
            raise StopIteration

    found = optimize.minimize(
        value,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(start),
        callback=stop_at_nothing,
        options={"maxcor": 10, "maxfun": 5000, **options},
    )
    best: Floats = found.x
    return best if np.all(np.isfinite(best)) else start
