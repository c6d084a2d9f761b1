"""Naive Bayes with correlation factor: NBCF. Each message counts a little for every class."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.errors import shown
from streamnb.families.independent import Multinomial
from streamnb.model.choices import Factor
from streamnb.model.composition import BuildContext, Composition, Estimate, parameter
from streamnb.model.hooks import Hook, PendingUpdate, PeriodicStatistic, Scorer, Tuning
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import check_above_zero, number_or
from streamnb.statistics.counts import Counts, Floats
from streamnb.text.labels import L, Label, Labels

GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""The values for `"auto"`; Proposition 6.1 requires 1/|S| ≤ t ≤ 1."""

PAPER_FACTOR = 0.1
"""The factor of the paper's experiments (section 6.1)."""


_check_factor = number_or(
    ("auto", "optimal"), 'a number from 0 to 2**53, "auto" or "optimal"', 0, 2**53
)


@dataclasses.dataclass(frozen=True)
class CorrelationFactor(Estimate, name="correlation"):
    """Each message also counts t times for every other class.

    `NBCF` documents the parameters.

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equations 3.1 and 4.5, Theorem 5.1.
    """

    decays: ClassVar[bool] = True
    scoring: ClassVar[Mapping[str, Any]] = {"estimate": "correlation"}

    factor: Factor = parameter(PAPER_FACTOR, _check_factor, compare=False)
    bias_weight: float = parameter(1.0, check_above_zero, compare=False)

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the scoring with this factor."""
        if self.factor == "auto":
            return (LearnedFactor(context.make_scoring),)
        if self.factor == "optimal":
            return (OptimalFactor(context.make_scoring, self.bias_weight),)
        return (Scorer(context.make_scoring(factor=self.factor)),)


class LearnedFactor(Scorer, Tuning):
    """The factor of the grid with the fewest errors so far, on a tie the nearest to the paper's.

    Each factor classifies each message before it is learned. Log loss would not work: naive Bayes
    is overconfident, the more so the smaller the factor. So the largest factor nearly always has
    the least log loss. `costs` are the weights of the messages that each factor has misclassified.
    """

    name = "factor"
    grid: ClassVar[tuple[float, ...]] = GRID

    def __init__(self, make: Callable[..., _core.ScoringConfig]) -> None:
        self.costs: list[float] = [0.0] * len(self.grid)
        self.candidates: list[_core.ScoringConfig] = self._candidates(make)
        self.choose()

    def _candidates(self, make: Callable[..., _core.ScoringConfig]) -> list[_core.ScoringConfig]:
        """Return the scoring of each value of the grid."""
        return [make(factor=factor) for factor in self.grid]

    @property
    def factor(self) -> float:
        """The current factor."""
        return self.grid[self._place]

    def judge(
        self,
        store: _core.CountStore,
        scoring: _core.ScoringConfig,
        labels: Labels,
        x: Any,
        y: Label,
    ) -> PendingUpdate | None:
        """Score a message that is about to be learned with each value of the grid."""
        if len(labels.order) < 2:
            return None
        return functools.partial(self.record, self._costs(store, x, labels.ids[y]))

    def _costs(self, store: _core.CountStore, x: Any, class_id: int) -> list[float]:
        """Return the cost of each value of the grid on a message of a class: 1 for an error."""
        return [float(decision != class_id) for decision in store.decisions(x, self.candidates)]

    def record(self, wrong: Sequence[float], weight: float) -> None:
        """Add the errors on a message of this weight, and choose the factor again."""
        self.costs = [old + weight * new for old, new in zip(self.costs, wrong, strict=True)]
        self.choose()

    def merge(self, other: LearnedFactor) -> None:
        """Add the errors of another model."""
        self.record(other.costs, 1.0)

    def state(self) -> list[str]:
        """Return the errors for a model file."""
        return [cost.hex() for cost in self.costs]

    def restore(self, state: list[str]) -> None:
        """Restore the errors that `state` returned."""
        costs = [float.fromhex(cost) for cost in state]
        if len(costs) != len(self.grid) or not all(0 <= cost < math.inf for cost in costs):
            raise ValueError(f"invalid costs of {self.name}: {shown(state)}")
        self.costs = costs
        self.choose()

    def choose(self) -> None:
        """Use the factor with the fewest errors."""

        def cost(place: int) -> tuple[float, float]:
            return self.costs[place], abs(math.log(self.grid[place] / PAPER_FACTOR))

        self._place = min(range(len(self.grid)), key=cost)
        self.scoring: _core.ScoringConfig = self.candidates[self._place]


class OptimalFactor(Scorer, PeriodicStatistic):
    """The factor of each class by Theorem 5.1, from the counts at the last refresh.

    A class that is newer has the paper's factor, also if it takes the id of an emptied class.
    """

    def __init__(self, make: Callable[..., _core.ScoringConfig], bias_weight: float) -> None:
        super().__init__(make(factor=PAPER_FACTOR))
        self._make = make
        self._bias_weight = bias_weight
        self._factors: dict[int, tuple[float, float]] = {}

    def compute(self, sample: _core.Sample) -> list[tuple[float, float]]:
        """Compute the factors."""
        found = optimal_factors(Counts.of(sample), self._bias_weight).tolist()
        return [(own, rest) for own, rest in found]

    def swap(
        self, store: _core.CountStore, sample: _core.Sample, found: list[tuple[float, float]]
    ) -> bool:
        """Use the factors."""
        self._use(dict(zip(sample.class_ids, found, strict=True)))
        return True

    def forget_class(self, class_id: int) -> None:
        """Forget the factor of a class."""
        if class_id in self._factors:
            self._use({each: of for each, of in self._factors.items() if each != class_id})

    def state(self, class_ids: list[int]) -> list[list[str] | None]:
        """Return the current factors."""
        known = self._factors
        return [
            [factor.hex() for factor in known[class_id]] if class_id in known else None
            for class_id in class_ids
        ]

    def restore(self, state: Any) -> None:
        """Restore the factors that `state` returned."""
        factors = {}
        for class_id, hexed in enumerate(state):
            if hexed is not None:
                own, rest = map(float.fromhex, hexed)
                factors[class_id] = own, rest
        if not all(0 <= factor <= 2**53 for each in factors.values() for factor in each):
            raise ValueError(f"invalid factors: {shown(state)}")
        self._use(factors)

    def _use(self, factors: dict[int, tuple[float, float]]) -> None:
        self._factors = factors
        none = (PAPER_FACTOR, PAPER_FACTOR)
        by_id = [factors.get(class_id, none) for class_id in range(max(factors, default=-1) + 1)]
        self.scoring: _core.ScoringConfig = self._make(factor=PAPER_FACTOR, factors=by_id)


def optimal_factors(counts: Counts, bias_weight: float = 1.0) -> Floats:
    """Return the optimal correlation factor of each class, and of its complement.

    Theorem 5.1 with counted in place of true values. The formula itself has a factor
    for each word, which is 0 for a word that the class does not have, and may be negative. So the
    loss is summed over all words of a class before it is minimised, which sums numerator and
    denominator:

        t_c = (1 − p_c) Σ_j θ_cj (1 − θ_cj) / Σ_j [A_j − θ_cj (1 − θ_cj) + b N_·· (θ_·j − θ_cj)²]
        A_j = Σ_l p_l θ_lj (1 − θ_lj)

    with θ_cj = N_cj / N_c·, θ_·j = N_·j / N_··, and p_c = N_c· / N_··: because documents differ in
    length, a class's share of the tokens replaces its share of documents. The factor is clipped to
    1/|S| and 1, as Proposition 6.1 requires. It is 1 if the denominator is not positive, because
    the loss then only falls. For the complement, the class and the rest are the two classes.

    Parameters
    ----------
    counts
        Counts of any number of documents.
    bias_weight
        b = c₁ / c₂ of Equation 5.1, above 0: how much the squared bias weighs next to the variance.

    Returns
    -------
    Factors, shape `(classes, 2)`: of the class, of its complement.

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
    # Σ_j N_cj², Σ_j N_cj N_·j and Σ_j N_·j², which all sums over words consist of.
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
        numerator, denominator = (1 - p) * own, mean - own + bias_weight * all_tokens * bias
        ratio = np.divide(numerator, denominator, out=np.ones(n_classes), where=denominator > 0)
        return np.clip(ratio, least, 1.0)

    def bias(squares: Floats, products: Floats, tokens: Floats) -> Floats:
        """Return Σ_j (θ_·j − θ_j)²; 0 for a side without tokens."""
        some = np.where(tokens > 0, tokens, 1.0)
        away = square / all_tokens**2 - 2 * products / (all_tokens * some) + squares / some**2
        return np.where(tokens > 0, away, 0.0)

    rest = all_tokens - tokens
    rest_squares, rest_products = square - 2 * products + squares, square - products
    own, own_rest = spread(squares, tokens), spread(rest_squares, rest)
    of_class = factors(p, own, np.full(n_classes, p @ own), bias(squares, products, tokens))
    of_rest = factors(
        1 - p, own_rest, p * own + (1 - p) * own_rest, bias(rest_squares, rest_products, rest)
    )
    return np.column_stack([of_class, of_rest])


@dataclasses.dataclass(eq=False, repr=False)
class NBCF(TextNaiveBayes[L]):
    """Naive Bayes with correlation factor (NBCF).

    Multinomial naive Bayes in which each document also counts a little for every other class:

        ln P(c) + Σ_j f_j ln θ_cj
        θ_cj = (N_cj + t N_·j) / (N_c· + t N_··)

    with f_j the count of word j in the message, N_cj its count in class c, N_·j in all classes, and
    N_c· and N_·· the same for all words. Counts are not smoothed otherwise, and words that no class
    has seen are skipped. The model needs fewer messages than one with additive smoothing,
    especially with many classes.

    Parameters
    ----------
    factor
        t. A number from 0 on; the paper uses 0.1. `"auto"`: the factor of a grid from 0.001 to 1
        that would have made the fewest errors so far; learning a message then costs seven
        predictions. `"optimal"`: one factor for each class by Theorem 5.1, refreshed as
        `refresh_every` says (see `streamnb.families.correlation.optimal_factors`). With 0, a class
        is impossible for a message with a word that it never had: its score is the limit for t → 0.
    bias_weight
        c₁ / c₂ of Equation 5.1, above 0, for `"optimal"`: the weight of the squared bias next to
        the variance. A larger one gives smaller factors. The paper has 1.
    alpha, oov, vocabulary_size
        No effect, because `factor` smooths the counts.

    Notes
    -----
    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Examples
    --------
    >>> from streamnb import NBCF
    >>> model = NBCF()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equations 3.1 and 4.5, Theorem 5.1.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), estimate=CorrelationFactor())

    factor: Factor = PAPER_FACTOR
    bias_weight: float = 1.0
