"""Newton's method for weights of 0 or more that minimise a loss to the last digits.

The result of L-BFGS depends on the start, on the order of the examples and on the processor's BLAS.
Newton's method converges quadratically, so its result is the minimum up to rounding.

Each step minimises the quadratic model exactly, for some dozens of weights.
"""

from __future__ import annotations

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


def least(objective: Objective, start: Floats) -> Floats:
    """Return the weights of 0 or more that minimise an objective, from weights to start from."""
    point, before = objective.at(start), np.inf
    for _ in range(_MOST_STEPS):
        if not np.isfinite(point.value):
            break
        direction = _step(point)
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


def _step(point: Point) -> Floats:
    """Return the step to the minimum of the quadratic model with weights of 0 or more."""
    matrix, damping = point.matrix(), 0.0
    while (step := _model_step(point, matrix, damping)) is None:
        if not damping and not point.objective.loss.convex:
            matrix = point.matrix(bowl=True)
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
