"""Weights of attributes from the recent examples: fitted, measured, or searched for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from streamnb import _core
from streamnb.columns.counts import AttributeCounts
from streamnb.columns.example_table import ExampleTable
from streamnb.columns.moments import FARTHEST
from streamnb.columns.slopes import fit
from streamnb.columns.weights import AttributeWeights
from streamnb.errors import InputError
from streamnb.parameters import check_number, check_one_of
from streamnb.statistics.counts import Floats, Integers
from streamnb.statistics.losses import Loss


class Weighting(Protocol):
    """How attributes get their weights."""

    def weights(
        self, counts: AttributeCounts, order: list[int], scoring: _core.Scoring
    ) -> AttributeWeights:
        """Return the weights.

        Parameters
        ----------
        counts
            The counts and the examples.
        order
            Class ids, in the order of their labels.
        scoring
            Of the categories.
        """


@dataclasses.dataclass(frozen=True)
class FilterWeighting:
    """A filter: weights that a measure of the examples gives, for all classes at once.

    Attributes
    ----------
    measure
        What gives them.
    in_estimate
        Whether an attribute of weight 2 is estimated as if each message had been learned twice.
    """

    measure: Callable[[ExampleTable], Floats]
    in_estimate: bool = False

    def weights(
        self, counts: AttributeCounts, order: list[int], scoring: _core.Scoring
    ) -> AttributeWeights:
        """Return the weights."""
        table = ExampleTable.of(list(counts.examples.order), order)
        if not table.tells:
            return AttributeWeights()
        found = self.measure(table)
        twice = {name for name, each in zip(table.names, found, strict=True) if each == 2.0}
        return dataclasses.replace(
            _of_all(table.names, found), twice=frozenset(twice if self.in_estimate else ())
        )


@dataclasses.dataclass(frozen=True)
class WrapperWeighting:
    """A wrapper: weights with which the classifier decides best, for all classes at once.

    Attributes
    ----------
    search
        Given ln P(x_j|c) of the examples, ln P(c), and classes and weights of the examples.
    """

    search: Callable[[Floats, Floats, Integers, Floats], Floats]

    def weights(
        self, counts: AttributeCounts, order: list[int], scoring: _core.Scoring
    ) -> AttributeWeights:
        """Return the weights."""
        table = ExampleTable.of(list(counts.examples.order), order)
        if not table.tells:
            return AttributeWeights()
        priors, terms = log_terms(table, counts, order, scoring)
        return _of_all(table.names, self.search(terms, priors, table.classes, table.weights))


def _of_all(names: list[str], found: Floats) -> AttributeWeights:
    return AttributeWeights.of(names, {None: np.concatenate([[1.0], found])}, votes=False)


def check_event(name: str, numbers: bool) -> None:
    """Check that there are attributes to weigh.

    Raises
    ------
    InputError
        If there are none.
    """
    if not numbers:
        raise InputError(
            f"{name!r} are weights of attributes: combine them with the event 'gaussian'"
        )


COLUMN_RIDGE = 0.01
"""What `ridge=None` means for columns: little, as the paper has none."""


@dataclasses.dataclass(frozen=True)
class Fit:
    """How weights are fitted.

    Attributes
    ----------
    loss
        What they minimise.
    multiclass
        `"pairs"`: weights for each two classes, which vote; `"direct"`: one fit of all.
    ridge
        As in `streamnb.statistics.losses.Objective`.
    """

    loss: Loss
    multiclass: str
    ridge: float

    @classmethod
    def of(cls, loss: Loss, multiclass: Any, ridge: Any) -> Fit:
        """Check what a model was given.

        Raises
        ------
        InputError
            If something is out of range.
        """
        chosen = "pairs" if multiclass is None else multiclass
        check_one_of("multiclass", chosen, ("pairs", "direct"))
        ridge = COLUMN_RIDGE if ridge is None else check_number("ridge", ridge)
        if not 0 <= ridge < math.inf:
            raise InputError(f"ridge must be 0 or more, and finite, not {ridge!r}")
        return cls(loss, chosen, ridge)

    def weights(
        self, counts: AttributeCounts, order: list[int], scoring: _core.Scoring
    ) -> AttributeWeights:
        """Return the weights with the least loss over the examples.

        Parameters
        ----------
        counts
            The counts and the examples.
        order
            Class ids, in the order of their labels.
        scoring
            Of the categories.
        """
        table = ExampleTable.of(list(counts.examples.order), order)
        if not table.tells:
            return AttributeWeights()
        names, classes, weights = table.names, table.classes, table.weights
        priors, terms = log_terms(table, counts, order, scoring)
        fitted: dict[tuple[int, int] | None, Floats] = {}
        if self.multiclass == "direct" or len(order) == 2:
            fitted[None] = fit(self.loss, terms, priors, classes, weights, self.ridge)
            return AttributeWeights.of(names, fitted, votes=False)
        for i, one in enumerate(order):
            for j in range(i):
                two, both = order[j], np.array([j, i])
                some = np.flatnonzero((classes == i) | (classes == j))
                pair = (min(one, two), max(one, two))
                fitted[pair] = fit(
                    self.loss,
                    terms[np.ix_(some, both)],
                    priors[both],
                    (classes[some] == i).astype(np.int64),
                    weights[some],
                    self.ridge,
                )
        return AttributeWeights.of(names, fitted, votes=True)


def log_terms(
    table: ExampleTable, counts: AttributeCounts, order: list[int], scoring: _core.Scoring
) -> tuple[Floats, Floats]:
    """Return ln P(c), and ln P(x_j|c) of the examples: `(examples, classes, attributes)`."""
    priors, found = counts.native.explain(dict.fromkeys(table.words, 1.0), scoring)
    by_word = dict(found)
    # A word that is none of the model's counts for nothing; the last row is that of no word.
    nothing = [0.0] * (max(order) + 1)
    each_word = [by_word.get(word, nothing) for word in table.words]
    logs = np.array([[by_id[i] for i in order] for by_id in (*each_word, nothing)])
    terms = logs[table.codes].transpose(0, 2, 1).copy()
    for j, name in enumerate(table.names):
        normals = counts.numbers.normals(name, order)
        if normals is not None:
            mean, constant, deviation = (np.array(each) for each in zip(*normals, strict=True))
            away = np.abs(table.numbers[:, j, None] - mean) / deviation
            density = constant - 0.5 * np.minimum(away, FARTHEST) ** 2
            terms[:, :, j] += np.where(np.isnan(density), 0.0, density)
    return np.array([priors[i] for i in order]), terms
