"""Naive Bayes on tables with weights that minimise a loss, slowly and literally.

Equations are those of Kim and Lee, Exponential Loss Minimization for Learning Weighted Naive Bayes
Classifiers. Everything is computed from the rows in plain Python.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from scipy import optimize

Row = tuple[Mapping[str, Any], Hashable, float]
# Weight of the prior, and of each attribute; missing weights are 1.
Weights = tuple[float, Mapping[str, float]]
# The name of a loss, for the weights of `ComposedNB`.
LOSSES = {
    "ENB": "exponential",
    "DNB": "deviance",
    "LNB": "likelihood",
    "GDNB": "generalised",
    "MSENB": "squared",
}


class LossReference:
    """Weighted naive Bayes over a list of rows.

    Parameters
    ----------
    name
        One of `LOSSES`.
    multiclass, ridge, alpha, prior, oov, values
        As at `streamnb.LNB`.
    """

    def __init__(
        self,
        name: str,
        multiclass: str = "pairs",
        ridge: float = 0.01,
        alpha: float = 1.0,
        prior: str = "empirical",
        oov: str = "smooth",
        values: Mapping[str, int] | None = None,
    ) -> None:
        self.name, self.multiclass, self.ridge = name, multiclass, ridge
        self.alpha, self.prior, self.oov = alpha, prior, oov
        self.values = values or {}

    def log_prior(self, rows: Sequence[Row], label: Hashable) -> float:
        """ln P(y)."""
        n = sum(w for _, _, w in rows)
        n_c = sum(w for _, y, w in rows if y == label)
        classes = len({y for _, y, _ in rows})
        return {
            "empirical": math.log(n_c / n),
            "laplace": math.log((n_c + 1) / (n + classes)),
            "uniform": 0.0,
        }[self.prior]

    def terms(self, rows: Sequence[Row], x: Mapping[str, Any], label: Hashable) -> dict[str, float]:
        """ln P(x_j|y) of each present attribute: Equations 3 and 4."""
        terms = {}
        n_c = sum(w for _, y, w in rows if y == label)
        for name, value in x.items():
            if value is None or value != value:
                continue
            if isinstance(value, float):
                of_all = [(row[name], w, y) for row, y, w in rows if is_number(row.get(name))]
                own = [(each, w) for each, w, y in of_all if y == label]
                if not of_all:
                    continue
                mean, deviation = gaussian(own or [(each, w) for each, w, _ in of_all])
                terms[name] = -math.log(deviation * math.sqrt(2 * math.pi)) - (
                    value - mean
                ) ** 2 / (2 * deviation**2)
                continue
            known = {row[name] for row, _, _ in rows if is_category(row.get(name))}
            if not known or (value not in known and self.oov == "skip"):
                continue
            n_j = max(len(known), self.values.get(name, 1))
            count = sum(w for row, y, w in rows if y == label and row.get(name) == value)
            terms[name] = math.log((count + self.alpha) / (n_c + self.alpha * n_j))
        return terms

    def score(
        self, rows: Sequence[Row], weights: Weights, x: Mapping[str, Any], label: Hashable
    ) -> float:
        """w₀ ln P(y) + Σ_j w_j ln P(x_j|y): Equations 5, 6 and 20."""
        first, each = weights
        terms = self.terms(rows, x, label)
        weighted = sum(each.get(name, 1.0) * term for name, term in terms.items())
        return first * self.log_prior(rows, label) + weighted

    def scores(
        self, rows: Sequence[Row], weights: Mapping[Any, Weights], x: Mapping[str, Any]
    ) -> dict[Any, float]:
        """Return the score of each class, with weights for each pair of classes, or for all at
        None.
        """
        classes = list(dict.fromkeys(y for _, y, _ in rows))
        if self.multiclass == "direct" or len(classes) <= 2:
            shared = weights.get(None, (1.0, {}))
            return {y: self.score(rows, shared, x, y) for y in classes}
        votes = dict.fromkeys(classes, 0.0)
        for one, two in itertools.permutations(classes, 2):
            pair = weights[frozenset((one, two))]
            f = self.score(rows, pair, x, one) - self.score(rows, pair, x, two)
            # Equation 22; outside this range it is 0 or 1.
            votes[one] += 1 / (1 + math.exp(-max(-700.0, min(f, 700.0))))
        pairs = len(classes) * (len(classes) - 1) / 2
        return {y: math.log(max(vote / pairs, 1e-300)) for y, vote in votes.items()}

    def examples(
        self, rows: Sequence[Row], recent: Sequence[Row], pair: frozenset[Any] | None
    ) -> list[tuple[float, list[tuple[float, dict[str, float]]]]]:
        """Return the weight of each example, and its margins over other classes."""
        classes = list(dict.fromkeys(y for _, y, _ in rows))
        among = classes if pair is None else [y for y in classes if y in pair]
        examples = []
        for x, y, w in recent:
            if y not in among:
                continue
            own = self.terms(rows, x, y)
            margins = []
            for other in among:
                if other != y:
                    theirs = self.terms(rows, x, other)
                    prior = self.log_prior(rows, y) - self.log_prior(rows, other)
                    margins.append((prior, {name: own[name] - theirs[name] for name in own}))
            examples.append((w, margins))
        return examples

    def loss(self, examples: Any, weights: Weights) -> float:
        """Return the mean loss: Equations 10, 13, 14 and 19; the logarithm for ENB."""
        first, each = weights
        total, n = 0.0, 0.0
        exponents = []
        for w, margins in examples:
            n += w
            f = [
                first * prior + sum(each.get(name, 1.0) * m for name, m in terms.items())
                for prior, terms in margins
            ]
            if self.name == "ENB":
                exponents += [(w, -margin) for margin in f]
            elif self.name == "MSENB":
                total += w * (1 - math.exp(-log_sum_exp([0.0, *(-margin for margin in f)]))) ** 2
            else:
                factor = 2.0 if self.name == "DNB" else 1.0
                total += w * log_sum_exp([0.0, *(-factor * margin for margin in f)])
        away = [weight - 1 for weight in each.values()]
        if self.name == "GDNB":
            away.append(first - 1)
        penalty = self.ridge / 2 * sum(a * a for a in away)
        if self.name == "ENB":
            logs = [math.log(w) + exponent for w, exponent in exponents]
            return log_sum_exp(logs + ([math.log(penalty)] if penalty else [])) - math.log(n)
        return (total + penalty) / n

    def least_loss(self, examples: Any, names: Sequence[str]) -> float:
        """Return the minimum loss that another optimiser finds without a gradient."""
        count = len(names) + 1

        def value(w: Any) -> float:
            first = float(w[0]) if self.name == "GDNB" else 1.0
            return self.loss(examples, (first, dict(zip(names, map(float, w[1:]), strict=True))))

        found = optimize.minimize(
            value,
            [1.0] * count,
            method="SLSQP",
            bounds=[(0, None)] * count,
            options={"maxiter": 300, "ftol": 1e-12},
        )
        return float(found.fun)


def is_number(value: Any) -> bool:
    """Return whether a value is a present number."""
    return isinstance(value, float) and value == value


def is_category(value: Any) -> bool:
    """Return whether a value is a present category."""
    return value is not None and not isinstance(value, float)


def gaussian(numbers: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return mean and deviation of the sample; a deviation of 0 counts as 1."""
    n = math.fsum(w for _, w in numbers)
    mean = math.fsum(w * x for x, w in numbers) / n
    if n <= 1:
        return mean, 1.0
    deviation = math.sqrt(math.fsum(w * (x - mean) ** 2 for x, w in numbers) / (n - 1))
    # If all values are equal, the remaining deviation is a rounding error of the mean.
    same = len({x for x, _ in numbers}) == 1
    return mean, 1.0 if same or not deviation else deviation


def log_sum_exp(exponents: Sequence[float]) -> float:
    """ln Σ exp."""
    highest = max(exponents)
    return highest + math.log(sum(math.exp(each - highest) for each in exponents))
