"""The weights, 0 or more, of the least loss, found to the last digits by Newton's method.

L-BFGS ends somewhere near: where exactly depends on the weights that it starts from, on the order
of the examples, and on the processor, whose BLAS adds up in an order of its own. Newton's method
ends in the minimum itself, as its last steps square the distance that is left.

There are two kinds of steps: for some dozens of attributes the quadratic model is minimised exactly
(`dense_step`); for tens of thousands of words by conjugate gradients (`SparseSteps`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamnb.statistics.counts import Floats
from streamnb.statistics.losses import Curvature, Objective, Point, Slopes

# Steps of one fit; most take 10 to 20.
_MOST_STEPS = 200
# A step that promises no more, in units of one example's loss, is the last one: it still lessens
# what is left by a factor of 10⁵ or more, far below what scores are told apart by.
_ENOUGH = 1e-14
# Values cannot tell whether a step that promises less, as a share of them, is a good one.
_RESOLVED = 1e-11
# A step is to gain this share of what its slope promises.
_ARMIJO = 1e-4
_MOST_HALVINGS = 60
# Conjugate gradients: rounds of one step, near the minimum and far from it, and by how much they
# lessen what is left.
_MOST_ROUNDS, _FAR_ROUNDS = 500, 10
_FIRST_ACCURACY, _LAST_ACCURACY, _NEAR = 0.5, 1e-5, 1e-6
# Weights this near to 0 that want to be less count as 0.
_ALMOST_ZERO = 1e-3
# The least pivot of a matrix, with a diagonal of ones, that is taken for positive definite.
_LEAST_PIVOT = 1e-14

S = TypeVar("S", bound=Slopes)


class DenseSlopes(Slopes, Protocol):
    """Slopes of so few weights that their second derivatives make a matrix."""

    def matrix(self, curvature: Curvature) -> Floats:
        """Return the second derivatives by the weights: shape `(weights, weights)`."""


class SparseSlopes(Slopes, Protocol):
    """Slopes of so many weights that only products with their second derivatives are computed."""

    def product(self, curvature: Curvature, direction: Floats) -> Floats:
        """Return the second derivatives by the weights times a direction: shape `(weights,)`."""

    def diagonal(self, curvature: Curvature) -> Floats:
        """Return the diagonal of the second derivatives or what is near, 0 or more."""


def least(
    objective: Objective[S],
    start: Floats,
    step: Callable[[Point[S]], Floats],
    most_steps: int = _MOST_STEPS,
) -> Floats:
    """Return the weights, 0 or more, where an objective is least.

    Parameters
    ----------
    objective
        The objective.
    start
        Weights to start from, 0 or more: shape `(weights,)`.
    step
        `dense_step` or a `SparseSteps`.
    most_steps
        After so many steps it ends wherever it is.
    """
    point, before = objective.at(start), np.inf
    for _ in range(most_steps):
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


def _searched(point: Point[S], direction: Floats) -> Point[S] | None:
    """Return a point along a direction that is enough better; None if there is none."""
    length = 1.0
    for _ in range(_MOST_HALVINGS):
        trial = point.objective.at(np.maximum(point.w + length * direction, 0.0))
        gained = -dot(point.gradient, trial.w - point.w)
        if gained > 0 and trial.value <= point.value - _ARMIJO * gained:
            return trial
        length *= 0.5
    return None


def dot(one: Floats, other: Floats) -> float:
    """Return Σ_j a_j b_j, added up in the same order by every processor."""
    return float((one * other).sum())


# --- steps of few weights -------------------------------------------------------------------------


def dense_step(point: Point[DenseSlopes]) -> Floats:
    """Return the step to the least value of the quadratic model among weights of 0 or more."""
    slopes, damping = point.objective.slopes, 0.0
    matrix = slopes.matrix(point.curvature())
    while (step := _model_step(point, matrix, damping)) is None:
        if not damping and not point.objective.loss.convex:
            matrix = slopes.matrix(point.curvature(bowl=True))
        damping = max(100.0 * damping, 1e-12)
    return step


def _model_step(point: Point[DenseSlopes], matrix: Floats, damping: float) -> Floats | None:
    """Return the step that these second derivatives give; None if they are not convex."""
    diagonal = np.diagonal(matrix) + point.ridge
    # Of each weight in such units that the diagonal is 1.
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    damped = (matrix + point.ridge * np.eye(len(scale))) / (scale[:, None] * scale[None, :])
    damped += damping * np.eye(len(scale))
    at, gradient = point.w * scale, point.gradient / scale
    found = _least_quadratic(damped, gradient - _product(damped, at), point.w > 0)
    return None if found is None else (found - at) / scale


def _product(matrix: Floats, vector: Floats) -> Floats:
    found: Floats = np.einsum("ij,j->i", matrix, vector)
    return found


def _least_quadratic(matrix: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats | None:
    """Return x ≥ 0 where ½ xᵀA x + bᵀx is least; None if A is not positive definite.

    Which x_j are 0 is found by principal pivoting: those that are below 0, and those of 0 that
    want to grow, change sides, all at once while that makes them fewer, else the last of them.

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
        # Rounding alone changes no sides.
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
    """Return the lower triangle L with L Lᵀ = A, without BLAS; None if A has no such triangle.

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
    """Return Σ_n f_n x_n x_nᵀ, the same to the last bit whatever adds it up.

    Each √|f_n| x_n becomes two whole numbers, so small that BLAS adds up their products without any
    rounding, in whatever order. What that leaves out is below 10⁻¹⁰ of the greatest number of a
    column, and makes a step of Newton's method a little longer or shorter.

    Parameters
    ----------
    rows
        x: shape `(rows, columns)`.
    factors
        f, of either sign: shape `(rows,)`.

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
    """Steps of truncated Newton by conjugate gradients, which leave at 0 what wants to be less.

    Parameters
    ----------
    most_rounds
        Of conjugate gradients in all steps together: past it there is no further step.

    References
    ----------
    [^1]: Bertsekas (1982), Projected Newton methods for optimization problems with simple
          constraints.
    [^2]: Dembo and Steihaug (1983), Truncated-Newton algorithms for large-scale unconstrained
          optimization.
    """

    def __init__(self, most_rounds: int) -> None:
        self.left = most_rounds

    def __call__(self, point: Point[SparseSlopes]) -> Floats:
        """Return the step; 0 where no rounds are left."""
        if self.left <= 0:
            return np.zeros_like(point.w)
        slopes, curvature, gradient = point.objective.slopes, point.curvature(), point.gradient
        diagonal = slopes.diagonal(curvature) + point.ridge
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        # What a step along the gradient alone would change: little, near the minimum.
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
                    # Not convex here: as far as it was, or along the gradient.
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
