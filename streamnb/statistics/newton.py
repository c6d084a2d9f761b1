"""Newton's method for weights of 0 or more that minimise a loss to the last digits.

The result of L-BFGS depends on the start, on the order of the examples and on the processor's BLAS.
Newton's method converges quadratically, so its result is the minimum up to rounding.

`dense_step` minimises the quadratic model exactly, for some dozens of attributes. `SparseSteps`
uses conjugate gradients, for tens of thousands of words.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
# Minimum pivot of a positive definite matrix with a diagonal of ones.
_LEAST_PIVOT = 1e-14


def least(
    objective: Objective,
    start: Floats,
    step: Callable[[Point], Floats],
) -> Floats:
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
    """Return the step to the minimum of the quadratic model with weights of 0 or more."""
    slopes, damping = point.objective.slopes, 0.0
    matrix = slopes.matrix(point.curvature())
    while (step := _model_step(point, matrix, damping)) is None:
        if not damping and not point.objective.loss.convex:
            matrix = slopes.matrix(point.curvature(bowl=True))
        damping = max(100.0 * damping, 1e-12)
    return step


def _model_step(point: Point, matrix: Floats, damping: float) -> Floats | None:
    """Return the step for these second derivatives; None if they are not convex."""
    diagonal = np.diagonal(matrix) + point.ridge
    # Scale the weights so that the diagonal is 1.
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    damped = (matrix + point.ridge * np.eye(len(scale))) / (scale[:, None] * scale[None, :])
    damped += damping * np.eye(len(scale))
    at, gradient = point.w * scale, point.gradient / scale
    found = _least_quadratic(damped, gradient - _product(damped, at), point.w > 0)
    return None if found is None else (found - at) / scale


def _product(matrix: Floats, vector: Floats) -> Floats:
    return np.einsum("ij,j->i", matrix, vector)


def _least_quadratic(matrix: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats | None:
    """Return the x ≥ 0 that minimises ½ xᵀA x + bᵀx; None if A is not positive definite.

    Principal pivoting finds the x_j that are 0. Infeasible variables change sides: all
    of them while their number falls, otherwise only the last one.

    References
    ----------
    [^1]: Júdice and Pires (1994), A block principal pivoting algorithm for large-scale strictly
          monotone linear complementarity problems.
    """
    free = free.copy()
    fewest, tries = len(slope) + 1, 3
    while True:
        x = np.zeros_like(slope)
        lower = cholesky(matrix[np.ix_(free, free)])
        if lower is None:
            return None
        x[free] = solved(lower, -slope[free])
        grows = _product(matrix, x) + slope
        # The tolerance ignores rounding.
        wrong = np.where(free, x < 0, grows < -1e-14 * np.abs(slope).max(initial=0.0))
        count = int(wrong.sum())
        if not count:
            return x
        if count < fewest:
            fewest, tries = count, 3
        else:
            tries -= 1
        if tries >= 0:
            free ^= wrong
        else:
            free[np.flatnonzero(wrong)[-1]] ^= True


def cholesky(matrix: Floats) -> Floats | None:
    """Return the lower triangle L with L Lᵀ = A, without BLAS; None if it does not exist.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    rest, lower = matrix.copy(), np.zeros_like(matrix)
    for j in range(len(matrix)):
        pivot = rest[j, j]
        if not pivot > _LEAST_PIVOT:
            return None
        column = rest[j:, j] / np.sqrt(pivot)
        lower[j:, j] = column
        rest[j + 1 :, j + 1 :] -= column[1:, None] * column[None, 1:]
    return lower


def solved(lower: Floats, right: Floats) -> Floats:
    """Return x with L Lᵀ x = b."""
    x = right.copy()
    for j in range(len(x)):
        x[j] = (x[j] - (lower[j, :j] * x[:j]).sum()) / lower[j, j]
    for j in range(len(x) - 1, -1, -1):
        x[j] = (x[j] - (lower[j + 1 :, j] * x[j + 1 :]).sum()) / lower[j, j]
    return x


def exact_gram(rows: Floats, factors: Floats) -> Floats:
    """Return Σ_n f_n x_n x_nᵀ of rows x and factors f, with the same bits on every processor.

    Each √|f_n| x_n is split into two integers that are small enough for BLAS to add their products
    without rounding, in any order. The error is below 10⁻¹⁰ of the maximum of a column; it only
    changes the length of a Newton step slightly.

    References
    ----------
    [^1]: Ozaki, Ogita, Oishi and Rump (2012), Error-free transformations of matrix multiplication
          by using fast routines of matrix multiplication and its applications.

    Examples
    --------
    >>> exact_gram(np.array([[1.0, 2.0], [3.0, 0.5]]), np.array([1.0, -4.0]))
    array([[-35.,  -4.],
           [ -4.,   3.]])
    """
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for sign in (1.0, -1.0):
        some = sign * factors > 0
        if not some.any():
            continue
        scaled = rows[some] * np.sqrt(np.abs(factors[some]))[:, None]
        bits = (53 - len(scaled).bit_length()) // 2
        exponents = np.frexp(np.abs(scaled).max(axis=0))[1] - bits
        units = np.ldexp(scaled, -exponents[None, :])
        high = np.rint(units)
        low = np.rint(np.ldexp(units - high, bits))
        crossed = np.ldexp(high.T @ low, -bits)
        found = high.T @ high + (crossed + crossed.T)
        total += sign * np.ldexp(found, exponents[:, None] + exponents[None, :])
    return total


# --- steps of many weights ------------------------------------------------------------------------


class SparseSteps:
    """Truncated Newton steps by conjugate gradients, projected to weights of 0 or more.

    All steps together have at most `most_rounds` rounds of conjugate gradients.

    References
    ----------
    [^1]: Bertsekas (1982), Projected Newton methods for optimization problems with simple
          constraints.
    [^2]: Dembo and Steihaug (1983), Truncated-Newton algorithms for large-scale unconstrained
          optimization.
    """

    def __init__(self, most_rounds: int) -> None:
        self.left = most_rounds

    def __call__(self, point: Point) -> Floats:
        """Return the step; 0 if no rounds are left."""
        if self.left <= 0:
            return np.zeros_like(point.w)
        slopes, curvature, gradient = point.objective.slopes, point.curvature(), point.gradient
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
