"""Weights of attributes from the recent rows: filters, wrappers, and fits that minimise a loss."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from streamnb import _core
from streamnb.columns.examples import ExampleTable
from streamnb.columns.filters import forward_selection
from streamnb.columns.moments import FARTHEST
from streamnb.columns.table import AttributeTable
from streamnb.columns.weights import AttributeWeights
from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.losses import (
    LEAST_RIDGE,
    LIKELIHOOD,
    DenseSlopes,
    Loss,
    Objective,
    without_ridge,
)
from streamnb.statistics.newton import dense_step, least

COLUMN_RIDGE = 0.01
"""The ridge of tables if `ridge=None`; the paper has none."""


def measured(
    rows: ExampleTable,
    table: AttributeTable,
    order: list[int],
    scoring: _core.ScoringConfig,
    *,
    measure: Callable[[ExampleTable], Floats],
    in_estimate: bool = False,
) -> AttributeWeights:
    """Return the weights that a measure of the examples gives, for all classes together.

    With `in_estimate`, attributes of weight 2 are estimated as if each message had been learned
    twice. `Weighting` describes the other parameters.
    """
    found = measure(rows)
    twice = {name for name, each in zip(rows.names, found, strict=True) if each == 2.0}
    return dataclasses.replace(
        _for_all_classes(rows, found), twice=frozenset(twice if in_estimate else ())
    )


def searched(
    rows: ExampleTable, table: AttributeTable, order: list[int], scoring: _core.ScoringConfig
) -> AttributeWeights:
    """Return the weights of forward selection, for all classes together."""
    priors, terms = log_terms(rows, table, order, scoring)
    return _for_all_classes(rows, forward_selection(terms, priors, rows.classes, rows.weights))


def _for_all_classes(rows: ExampleTable, found: Floats) -> AttributeWeights:
    return AttributeWeights.of(rows.names, {None: np.concatenate([[1.0], found])}, votes=False)


def fitted(
    rows: ExampleTable,
    table: AttributeTable,
    order: list[int],
    scoring: _core.ScoringConfig,
    *,
    loss: Loss,
    multiclass: str,
    ridge: float,
) -> AttributeWeights:
    """Return the weights that minimise a loss over the examples.

    With the multiclass mode `"pairs"` there is one fit for each two classes, which vote; with
    `"direct"` one fit of all classes. `Weighting` describes the first four parameters.
    """
    names, classes, weights = rows.names, rows.classes, rows.weights
    priors, terms = log_terms(rows, table, order, scoring)
    found: dict[tuple[int, int] | None, Floats] = {}
    if multiclass == "direct" or len(order) == 2:
        found[None] = fit(loss, terms, priors, classes, weights, ridge)
        return AttributeWeights.of(names, found, votes=False)
    for i, one in enumerate(order):
        for j in range(i):
            two, both = order[j], np.array([j, i])
            some = np.flatnonzero((classes == i) | (classes == j))
            own = (classes[some] == i).astype(np.int64)
            found[min(one, two), max(one, two)] = fit(
                loss, terms[np.ix_(some, both)], priors[both], own, weights[some], ridge
            )
    return AttributeWeights.of(names, found, votes=True)


def log_terms(
    rows: ExampleTable, table: AttributeTable, order: list[int], scoring: _core.ScoringConfig
) -> tuple[Floats, Floats]:
    """Return ln P(c), and ln P(x_j|c) of the examples: `(examples, classes, attributes)`."""
    priors, found, _ = table.categories.explain(dict.fromkeys(rows.words, 1.0), scoring)
    by_word = dict(found)
    # Words that the model does not score contribute 0, and so does the last row: no word.
    zeros = [0.0] * (max(order) + 1)
    each_word = [by_word.get(word, zeros) for word in rows.words]
    logs = np.array([[by_id[i] for i in order] for by_id in (*each_word, zeros)])
    terms = logs[rows.codes].transpose(0, 2, 1).copy()
    for j, name in enumerate(rows.names):
        normals = table.numbers.normals(name, order)
        if normals is not None:
            mean, constant, deviation = (np.array(each) for each in zip(*normals, strict=True))
            away = np.abs(rows.numbers[:, j, None] - mean) / deviation
            density = constant - 0.5 * np.minimum(away, FARTHEST) ** 2
            terms[:, :, j] += np.where(np.isnan(density), 0.0, density)
    return np.array([priors[i] for i in order]), terms


def fit(
    loss: Loss, terms: Floats, priors: Floats, classes: Integers, weights: Floats, ridge: float
) -> Floats:
    """Return the weights, 0 or more, of the prior and of each attribute with the least loss.

    The result depends on the examples alone. A convex loss has one minimum. Other losses have
    several: their fit begins at the minimum of the log loss and descends from there. The weight of
    the prior is 1 if the loss does not weigh it. All weights are 1 if there is nothing to fit.

    Parameters
    ----------
    loss
        The loss.
    terms
        ln P(x_j|c) of each example: shape `(examples, classes, attributes)`.
    priors
        ln P(c) of each class.
    classes, weights
        Index of the class of each example, and its weight.
    ridge
        The ridge of `streamnb.statistics.losses.Objective`; 0 for no ridge.
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
    dense = DenseSlopes(slopes)

    def of(loss: Loss, start: Floats, ridge: float, centre: float) -> Floats:
        return least(Objective(loss, offsets, dense, weights, ridge, centre), start, dense_step)

    def begin(ridge: float, centre: float) -> Floats:
        start = np.zeros(slopes.shape[2])
        return start if loss.convex else of(LIKELIHOOD, start, ridge, centre)

    if ridge:
        best = of(loss, begin(ridge, 1.0), ridge, 1.0)
    else:
        best = without_ridge(functools.partial(of, loss, centre=0.0), begin(LEAST_RIDGE, 0.0))
    return best if loss.weighs_prior else np.concatenate([[1.0], best])
