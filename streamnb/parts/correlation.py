"""The correlation factor of NBCF: each message counts a little for every class, too."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.online.tuning import Judgement
from streamnb.parameters import check_number
from streamnb.parts.axes.choice import InUse, MakeScoring, Scorer
from streamnb.parts.axes.composition import Estimate, Setup
from streamnb.statistics.correlation import PAPER_FACTOR, optimal_factors
from streamnb.statistics.counts import Counts
from streamnb.statistics.refreshing import Refresher
from streamnb.text.labels import Label, Labels

GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""What `"auto"` chooses from: Proposition 6.1 has 1/|S| ≤ t ≤ 1."""


def check_factor(name: str, value: Any) -> float | str:
    """Return a factor, or how it is found.

    Raises
    ------
    InputError
        If it is no number, nor `"auto"` or `"optimal"`. The core refuses negative ones.
    """
    if not isinstance(value, str):
        return check_number(name, value)
    if value not in ("auto", "optimal"):
        raise InputError(
            f'{name} must be a number from 0 on, "auto" or "optimal", not {shown(value)}'
        )
    return value


@dataclasses.dataclass(frozen=True)
class CorrelationFactor(Estimate, name="correlation"):
    """Each message counts t times for the classes that it is not of, too.

    Attributes
    ----------
    factor
        t: a number from 0 on; `"auto"`, that of `GRID` with the fewest errors so far; or
        `"optimal"`, each class's by Theorem 5.1.

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equations 3.1 and 4.5, Theorem 5.1.
    """

    decays: ClassVar[bool] = True

    factor: float | str = dataclasses.field(default=PAPER_FACTOR, compare=False)

    def __post_init__(self) -> None:
        self._check("factor", check_factor)

    def in_use(self, setup: Setup) -> InUse:
        """Keep the factor."""
        if self.factor == "auto":
            learned = LearnedFactor(setup.make_scoring)
            return InUse(tuning=learned, scorer=learned)
        if self.factor == "optimal":
            optimal = OptimalFactor(setup.make_scoring)
            return InUse(optimal, scorer=optimal)
        return InUse(scorer=Scorer(setup.make_scoring(factor=self.factor)))


class LearnedFactor(Scorer):
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
        super().__init__(make(factor=PAPER_FACTOR))
        self.candidates = [make(factor=factor) for factor in GRID]
        self.errors = [0.0] * len(GRID)
        self._choose()

    @property
    def factor(self) -> float:
        """The factor in use."""
        return GRID[self._place]

    def judge(
        self, store: _core.CountStore, scoring: _core.Scoring, labels: Labels, x: Any, y: Label
    ) -> Judgement | None:
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


class OptimalFactor(Scorer, Refresher[_core.CountStore]):
    """The factor of each class by Theorem 5.1, from the counts at the last refresh.

    A class that has come since has the paper's factor.
    """

    def __init__(self, make: MakeScoring) -> None:
        super().__init__(make(factor=PAPER_FACTOR))
        self._make = make
        self._factors: list[tuple[float, float]] = []

    def refresh(self, store: _core.CountStore, scoring: _core.Scoring) -> None:
        """Compute the factors anew."""
        found = optimal_factors(Counts.of(store)).tolist()
        self._use([(own, rest) for own, rest in found])

    def state(self, store: _core.CountStore, class_ids: list[int]) -> list[tuple[float, float]]:
        """Return the factors in use."""
        none = (PAPER_FACTOR, PAPER_FACTOR)
        known = dict(enumerate(self._factors))
        return [known.get(class_id, none) for class_id in class_ids]

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take factors, by class id."""
        self._use(state)

    def _use(self, factors: list[tuple[float, float]]) -> None:
        self._factors = factors
        self.scoring = self._make(factor=PAPER_FACTOR, factors=factors)
