"""Newton's method for weights of 0 or more that minimise a loss to the last digits.

The result of L-BFGS depends on the start, on the order of the examples and on the processor's BLAS.
Newton's method converges quadratically, so its result is the minimum up to rounding.

`dense_step` minimises the quadratic model exactly, for some dozens of weights. `SparseSteps` uses
conjugate gradients, for tens of thousands of weights, and calls no BLAS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streamnb.statistics.counts import Floats
from streamnb.statistics.losses import Objective, Point

# Maximum number of steps of one fit; most fits take 10 to 20.
_MOST_STEPS = 200
# The last step has a predicted gain below this, in units of one example's loss. It reduces the
# remaining error by a factor of at least 10⁵, far below differences that matter for scores.
_ENOUGH = 1e-14
# Rounding hides gains below this share of the value.
_RESOLVED = 1e-11
# A step must gain at least this share of its predicted gain.
_ARMIJO = 1e-4
_MOST_HALVINGS = 60


# Conjugate gradients: rounds of one step near the minimum and far from it, and their accuracy.
_MOST_ROUNDS, _FAR_ROUNDS = 500, 10
_FIRST_ACCURACY, _LAST_ACCURACY, _NEAR = 0.5, 1e-5, 1e-6
# Smaller weights with a positive gradient count as 0.
_ALMOST_ZERO = 1e-3


def least(objective: Objective, start: Floats, step: Callable[[Point], Floats]) -> Floats:
    """Return the weights of 0 or more that minimise an objective.

    `start` are weights of 0 or more to start from, and `step` is `dense_step` or a `SparseSteps`.
    """
    point, before = objective.at(start), np.inf
    for _ in range(_MOST_STEPS):
        if not np.isfinite(point.value):
            break
        direction = step(point)
        target = np.maximum(point.w + direction, 0.0)
        promised = -dot(point.gradient, direction)
        if not promised > 0:
            break
        if promised * objective.total <= _ENOUGH:
            return target
        if promised <= _RESOLVED * abs(point.value):
            if promised > 0.25 * before:
                break
            before, point = promised, objective.at(target)
            continue
        found = _searched(point, direction)
        if found is None:
            break
        point = found
    return point.w


def _searched(point: Point, direction: Floats) -> Point | None:
    """Return a sufficiently better point along a direction, or None."""
    length = 1.0
    for _ in range(_MOST_HALVINGS):
        trial = point.objective.at(np.maximum(point.w + length * direction, 0.0))
        gained = -dot(point.gradient, trial.w - point.w)
        if gained > 0 and trial.value <= point.value - _ARMIJO * gained:
            return trial
        length *= 0.5
    return None


def dot(one: Floats, other: Floats) -> float:
    """Return Σ_j a_j b_j, with the same rounding on every processor."""
    return float((one * other).sum())


# --- steps of few weights -------------------------------------------------------------------------


def dense_step(point: Point) -> Floats:
    """Return the step to the minimum of the quadratic model with weights of 0 or more.

    The slopes of the objective are `DenseSlopes`.
    """
    slopes: Any = point.objective.slopes
    matrix, damping = slopes.matrix(point.curvature()), 0.0
    while (step := _model_step(point, matrix, damping)) is None:
        if not damping and not point.objective.loss.convex:
            matrix = slopes.matrix(point.curvature(bowl=True))
        damping = max(100.0 * damping, 1e-12)
    return step


def _model_step(point: Point, matrix: Floats, damping: float) -> Floats | None:
    """Return the step for these second derivatives; None if they are not convex."""
    from scipy import optimize  # importing it at the top would double the import time

    diagonal = np.diagonal(matrix) + point.ridge
    # Scale the weights so that the diagonal is 1.
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    identity = np.eye(len(scale))
    scaled = (matrix + point.ridge * identity) / (scale[:, None] * scale[None, :])
    scaled += damping * identity
    at, gradient = point.w * scale, point.gradient / scale
    try:
        lower = np.linalg.cholesky(scaled)
        # With A = L Lᵀ, ½ xᵀA x + bᵀx is half the squared length of Lᵀx + L⁻¹b, except a constant.
        found, _ = optimize.nnls(lower.T, np.linalg.solve(lower, scaled @ at - gradient))
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    return (found - at) / scale


# --- steps of many weights ------------------------------------------------------------------------


class SparseSteps:
    """Truncated Newton steps by conjugate gradients, projected to weights of 0 or more.

    All steps together have at most `most_rounds` rounds of conjugate gradients. The slopes of the
    objective also have `product(curvature, direction)`, the second derivatives times a direction,
    and `diagonal(curvature)`, their diagonal, approximately and at least 0.

    References
    ----------
    [^1]: Bertsekas (1982), Projected Newton methods for optimization problems with simple
          constraints.
    [^2]: Dembo and Steihaug (1983), Truncated-Newton algorithms for large-scale unconstrained
          optimization.
    """

    left: int

    def __init__(self, most_rounds: int) -> None:
        self.left = most_rounds

    def __call__(self, point: Point) -> Floats:
        """Return the step; 0 if no rounds are left."""
        if self.left <= 0:
            return np.zeros_like(point.w)
        slopes: Any = point.objective.slopes
        curvature, gradient = point.curvature(), point.gradient
        diagonal = slopes.diagonal(curvature) + point.ridge
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        # The change by a gradient step is small near the minimum.
        moved = np.abs(point.w - np.maximum(point.w - gradient / diagonal, 0.0)).max(initial=0.0)
        held = (point.w <= min(_ALMOST_ZERO, moved)) & (gradient > 0)
        direction = np.zeros_like(gradient)
        left = np.where(held, 0.0, -gradient)
        solved_for = left / diagonal
        towards = solved_for.copy()
        size = first = dot(left, solved_for)
        if first > 0:
            length = np.sqrt(first * point.objective.total)
            accuracy = min(_FIRST_ACCURACY, np.sqrt(length)) if length > _NEAR else _LAST_ACCURACY
            for _ in range(min(self.left, _MOST_ROUNDS if length <= 1.0 else _FAR_ROUNDS)):
                self.left -= 1
                product = slopes.product(curvature, towards) + point.ridge * towards
                product[held] = 0.0
                curved = dot(towards, product)
                if curved <= 0:
                    # Not convex: keep the direction so far, or use the gradient.
                    direction = direction if direction.any() else solved_for
                    break
                direction = direction + (size / curved) * towards
                left = left - (size / curved) * product
                solved_for = left / diagonal
                before, size = size, dot(left, solved_for)
                if size <= accuracy**2 * first:
                    break
                towards = solved_for + (size / before) * towards
        direction[held] = np.maximum(-gradient[held] / diagonal[held], -point.w[held])
        return direction
