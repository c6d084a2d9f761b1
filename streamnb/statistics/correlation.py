"""The correlation factor t of NBCF: given, chosen along the stream, or computed from the counts."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from streamnb import _core
from streamnb.errors import InputError
from streamnb.online.tuning import Note
from streamnb.parameters import check_number
from streamnb.statistics.counts import Counts, Floats
from streamnb.text.labels import Label, Labels

PAPER_FACTOR = 0.1
"""The factor of the paper's experiments (section 6.1)."""

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


def optimal_factors(counts: Counts) -> Floats:
    """Return the optimal correlation factor of each class, and of its complement.

    Theorem 5.1 (c₁ = c₂ = 1) with what was counted in place of what is true. By itself the formula
    has a factor for each word, which is 0 for a word that the class does not have, and may be
    negative. So the loss is summed over all words of a class before it is minimised, which sums
    numerator and denominator:

        t_c = (1 − p_c) Σ_j θ_cj (1 − θ_cj) / Σ_j [A_j − θ_cj (1 − θ_cj) + N_·· (θ_·j − θ_cj)²]
        A_j = Σ_l p_l θ_lj (1 − θ_lj)

    with θ_cj = N_cj / N_c·, θ_·j = N_·j / N_··, and p_c = N_c· / N_··: where documents differ in
    length, a class's share of the tokens takes the place of its share of documents. It is kept
    between 1/|S| and 1, as Proposition 6.1 has it; 1 where the denominator is not positive, since
    the loss then only falls. For its complement, a class and the rest are the two classes.

    Parameters
    ----------
    counts
        Counts of any number of documents.

    Returns
    -------
    Factors, shape `(classes, 2)`: of the class, of its complement.

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equation 5.2 and Theorem 5.1.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> for x, y in [("win cash now", "spam"), ("see you at noon now", "ham")]:
    ...     model.learn_one(x, y)
    >>> optimal_factors(model.counts()).round(3)
    array([[0.5 , 0.75],
           [0.75, 0.5 ]])
    """
    tokens, all_tokens = counts.class_tokens, counts.class_tokens.sum()
    n_classes = len(tokens)
    if all_tokens == 0:
        return np.full((n_classes, 2), PAPER_FACTOR)
    cells = counts.tokens
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    totals = np.bincount(rows, cells.data, minlength=cells.shape[0])
    # Σ_j N_cj², Σ_j N_cj N_·j and Σ_j N_·j²: all that the sums over words are made of.
    squares, products = (
        np.bincount(cells.indices, cells.data * other, minlength=n_classes).astype(np.float64)
        for other in (cells.data, totals[rows])
    )
    square = float(totals @ totals)
    p = tokens / all_tokens
    least = min(1.0, 1.0 / counts.class_documents.sum())

    def spread(squares: Floats, tokens: Floats) -> Floats:
        """Return Σ_j θ_j (1 − θ_j); 0 for a side without tokens."""
        concentration: Floats = np.divide(
            squares, tokens**2, out=np.ones(n_classes), where=tokens > 0
        )
        return 1 - concentration

    def factors(p: Floats, own: Floats, mean: Floats, bias: Floats) -> Floats:
        numerator, denominator = (1 - p) * own, mean - own + all_tokens * bias
        ratio = np.divide(numerator, denominator, out=np.ones(n_classes), where=denominator > 0)
        kept: Floats = np.clip(ratio, least, 1.0)
        return kept

    def bias(squares: Floats, products: Floats, tokens: Floats) -> Floats:
        """Return Σ_j (θ_·j − θ_j)²; 0 for a side without tokens."""
        some = np.where(tokens > 0, tokens, 1.0)
        away = square / all_tokens**2 - 2 * products / (all_tokens * some) + squares / some**2
        distance: Floats = np.where(tokens > 0, away, 0.0)
        return distance

    rest = all_tokens - tokens
    rest_squares, rest_products = square - 2 * products + squares, square - products
    own, own_rest = spread(squares, tokens), spread(rest_squares, rest)
    of_class = factors(p, own, np.full(n_classes, p @ own), bias(squares, products, tokens))
    of_rest = factors(
        1 - p, own_rest, p * own + (1 - p) * own_rest, bias(rest_squares, rest_products, rest)
    )
    return np.column_stack([of_class, of_rest])
