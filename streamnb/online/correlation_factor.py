"""The correlation factor t of NBCF: given, chosen along the stream, or computed from the counts."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Protocol

from streamnb import _core
from streamnb.errors import InputError
from streamnb.online.tuning import Note
from streamnb.parameters import check_number
from streamnb.statistics.correlation import PAPER_FACTOR, optimal_factors
from streamnb.statistics.counts import Counts
from streamnb.text.labels import Label, Labels

GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""What `"auto"` chooses from: Proposition 6.1 has 1/|S| ≤ t ≤ 1."""


class MakeScoring(Protocol):
    """Make a scoring with all but the factors settled."""

    def __call__(
        self,
        *,
        factor: float | None = None,
        factors: list[tuple[float, float]] | None = None,
        alpha: float = 1.0,
    ) -> _core.Scoring:
        """Return it for a factor, and those of classes that have their own, by class id."""


def parse_factor(factor: Any, make: MakeScoring) -> CorrelationFactor:
    """Return what the parameter `factor` describes.

    Raises
    ------
    InputError
        If it is no number from 0 on, nor `"auto"` or `"optimal"`.
    """
    if isinstance(factor, str):
        if factor == "auto":
            return LearnedFactor(make)
        if factor == "optimal":
            return OptimalFactor(make)
        raise InputError(f'factor must be a number from 0 on, "auto" or "optimal", not {factor!r}')
    return CorrelationFactor(make, check_number("factor", factor))


class CorrelationFactor:
    """A factor that is given: one for all classes.

    Attributes
    ----------
    scoring
        How to score with it, immutable; another one takes its place when the factor changes.
    """

    def __init__(self, make: MakeScoring, factor: float) -> None:
        self.scoring = make(factor=factor)


class LearnedFactor(CorrelationFactor):
    """The factor of `GRID` with the fewest errors so far.

    Each decides each message before it is learned. Of several, it is the one nearest to the
    paper's. Log loss would not do: naive Bayes is too sure of itself, the more so the smaller the
    factor, and so the largest of the grid nearly always has the least.

    Attributes
    ----------
    candidates
        How to score with each factor of the grid.
    errors
        Weight of the messages that each has decided wrongly.
    """

    name = "factor"

    def __init__(self, make: MakeScoring) -> None:
        super().__init__(make, PAPER_FACTOR)
        self.candidates = [make(factor=factor) for factor in GRID]
        self.errors = [0.0] * len(GRID)
        self._choose()

    @property
    def factor(self) -> float:
        """The factor in use."""
        return GRID[self._place]

    def judge(
        self, store: _core.CountStore, scoring: _core.Scoring, labels: Labels, x: Any, y: Label
    ) -> Note | None:
        """Decide a message that is about to be learned with each factor of the grid."""
        if len(labels.order) < 2:
            return None
        decisions = store.decisions(x, self.candidates)
        return functools.partial(self.record, decisions, labels.ids[y])

    def record(self, decisions: Sequence[int | None], class_id: int, weight: float) -> None:
        """Note what each factor decided for a message of this class."""
        for place, decision in enumerate(decisions):
            if decision != class_id:
                self.errors[place] += weight
        self._choose()

    def state(self) -> list[float]:
        """Return the errors."""
        return list(self.errors)

    def restore(self, state: list[Any]) -> None:
        """Take the errors of another record."""
        if len(state) != len(GRID):
            raise ValueError(f"{len(state)} factors in the record, not {len(GRID)}")
        self.errors = [float(errors) for errors in state]
        self._choose()

    def merge(self, other: LearnedFactor) -> None:
        """Add another record."""
        self.errors = [sum(pair) for pair in zip(self.errors, other.errors, strict=True)]
        self._choose()

    def _choose(self) -> None:
        def cost(place: int) -> tuple[float, float]:
            return self.errors[place], abs(math.log(GRID[place] / PAPER_FACTOR))

        self._place = min(range(len(GRID)), key=cost)
        self.scoring = self.candidates[self._place]


class OptimalFactor(CorrelationFactor):
    """The factor of each class by Theorem 5.1, from the counts at the last refresh.

    A class that has come since has the paper's factor.
    """

    def __init__(self, make: MakeScoring) -> None:
        super().__init__(make, PAPER_FACTOR)
        self._make = make
        self._factors: list[tuple[float, float]] = []

    def refresh(self, counts: Counts) -> None:
        """Compute the factors anew."""
        self.use([(own, rest) for own, rest in optimal_factors(counts).tolist()])

    def in_use(self, class_ids: list[int]) -> list[tuple[float, float]]:
        """Return the factors in use, classes in this order."""
        none = (PAPER_FACTOR, PAPER_FACTOR)
        known = dict(enumerate(self._factors))
        return [known.get(class_id, none) for class_id in class_ids]

    def use(self, factors: list[tuple[float, float]]) -> None:
        """Take factors, by class id."""
        self._factors = factors
        self.scoring = self._make(factor=PAPER_FACTOR, factors=factors)
