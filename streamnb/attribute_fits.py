"""Fits of the weights of attributes to the recent examples."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.attribute_counts import AttributeCounts
from streamnb.attribute_weights import AttributeWeights
from streamnb.errors import InputError
from streamnb.examples import Example
from streamnb.losses import Loss, fit
from streamnb.moments import FARTHEST
from streamnb.parameters import check_number
from streamnb.statistics import Floats

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
        As in `streamnb.losses.objective`.
    """

    loss: Loss
    multiclass: str
    ridge: float

    @classmethod
    def of(cls, loss: Loss | None, multiclass: Any, ridge: Any) -> Fit | None:
        """Check what a model was given; None where it has no weights.

        Raises
        ------
        InputError
            If something is out of range.
        """
        if loss is None:
            return None
        multiclass = "pairs" if multiclass is None else multiclass
        if multiclass not in ("pairs", "direct"):
            raise InputError(f"multiclass must be 'pairs' or 'direct', not {multiclass!r}")
        ridge = COLUMN_RIDGE if ridge is None else check_number("ridge", ridge)
        if not 0 <= ridge < math.inf:
            raise InputError(f"ridge must be 0 or more, and finite, not {ridge!r}")
        return cls(loss, multiclass, ridge)

    @property
    def begin(self) -> float:
        """The weight that an attribute without one begins with.

        A convex loss has its least value wherever a fit begins. But where classes are told apart
        whatever the weights, and no ridge says which of those to take, weights stay where they
        began: from 0 on, only what helps gets any.
        """
        return 0.0 if self.loss.convex and not self.ridge else 1.0

    def weights(
        self,
        counts: AttributeCounts,
        order: list[int],
        scoring: _core.Scoring,
        before: AttributeWeights,
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
        before
            Weights to start from. A loss that is not convex has several minima: there each fit
            starts anew, so that weights follow from the counts and not from the fits before.
        """
        examples = list(counts.examples.order)
        if not self.loss.convex:
            before = AttributeWeights()
        if len(order) < 2 or not examples:
            return AttributeWeights()
        names, priors, terms = _table(counts, examples, order, scoring)
        place = {class_id: i for i, class_id in enumerate(order)}
        classes = np.array([place[each.class_id] for each in examples])
        weights = np.array([each.weight for each in examples])
        fitted: dict[tuple[int, int] | None, Floats] = {}
        if self.multiclass == "direct" or len(order) == 2:
            start = before.start(None, names, self.begin)
            fitted[None] = fit(self.loss, terms, priors, classes, weights, start, self.ridge)
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
                    before.start(pair, names, self.begin),
                    self.ridge,
                )
        return AttributeWeights.of(names, fitted, votes=True)


def _table(
    counts: AttributeCounts, examples: list[Example], order: list[int], scoring: _core.Scoring
) -> tuple[list[str], Floats, Floats]:
    """Return attributes, ln P(c), and ln P(x_j|c): `(examples, classes, attributes)`."""
    words = {word: 1.0 for each in examples for word in each.row.words}
    priors, found = counts.native.explain(words, scoring)
    code = {word: i for i, (word, _) in enumerate(found)}
    # The last row is that of no word.
    logs = np.array([[by_id[i] for i in order] for _, by_id in found] + [[0.0] * len(order)])
    names = sorted(
        {name for each in examples for name in (*each.row.attributes, *each.row.numbers)}
    )
    place = {name: j for j, name in enumerate(names)}
    codes = np.full((len(examples), len(names)), len(found))
    numbers = np.full(codes.shape, np.nan)
    for i, each in enumerate(examples):
        for word, name in zip(each.row.words, each.row.attributes, strict=True):
            codes[i, place[name]] = code.get(word, len(found))
        for name, number in each.row.numbers.items():
            numbers[i, place[name]] = number
    terms = logs[codes].transpose(0, 2, 1).copy()
    for name, j in place.items():
        normals = counts.numbers.normals(name, order)
        if normals is not None:
            mean, constant, deviation = (np.array(each) for each in zip(*normals, strict=True))
            away = np.abs(numbers[:, j, None] - mean) / deviation
            density = constant - 0.5 * np.minimum(away, FARTHEST) ** 2
            terms[:, :, j] += np.where(np.isnan(density), 0.0, density)
    return names, np.array([priors[i] for i in order]), terms
