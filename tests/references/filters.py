"""Attribute weights by filters, a tree and a search, slowly and literally.

Each follows its paper, from the rows, in plain Python. A number is represented by its bin, and a
missing value is a value of its own attribute.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from references.losses import LossReference, Row, gaussian, is_category, is_number

# The weights of `ComposedNB` that a model has.
FILTERS = {
    "KLNB": "kullback-leibler",
    "CBFWNB": "correlation-filter",
    "DFWNB": "deep-selection",
    "TreeNB": "tree-depth",
    "SBC": "forward-selection",
}
TIE = 1e-9


class FilterReference(LossReference):
    """Weighted naive Bayes over a list of rows, with the weights of a model of `FILTERS`.

    Parameters
    ----------
    name
        One of `FILTERS`, or `"raw"`: KLNB without its normalisation.
    parameters
        As at `streamnb.KLNB`.
    """

    def __init__(self, name: str, **parameters: Any) -> None:
        super().__init__(name, multiclass="direct", ridge=0.0, **parameters)

    def weights(self, rows: Sequence[Row], recent: Sequence[Row]) -> dict[str, float]:
        """Return the weight of each attribute, from the most recent rows."""
        names = sorted({name for x, _, _ in recent for name, value in x.items() if is_there(value)})
        if not names or len({y for _, y, _ in rows}) < 2:
            return {}
        find = {
            "KLNB": kullback_leibler, "raw": raw_kullback_leibler, "CBFWNB": correlation_filter,
            "DFWNB": selected_twice, "TreeNB": tree_depth,
        }.get(self.name)  # fmt: skip
        if find is None:
            return self.searched(rows, recent, names)
        return find(recent, names)

    def searched(
        self, rows: Sequence[Row], recent: Sequence[Row], names: list[str]
    ) -> dict[str, float]:
        """Langley and Sage: add the most helpful attribute as long as one helps."""

        labels = sorted({y for _, y, _ in rows})
        known = [({y: self.terms(rows, x, y) for y in labels}, own, w) for x, own, w in recent]
        priors = {y: self.log_prior(rows, y) for y in labels}

        def right(selected: Sequence[str]) -> float:
            found = 0.0
            for terms, own, w in known:
                scores = {
                    y: priors[y] + sum(terms[y].get(name, 0.0) for name in selected) for y in labels
                }
                found += w * (own == max(labels, key=scores.__getitem__))
            return found

        selected: list[str] = []
        while True:
            better = [(right([*selected, name]), name) for name in names if name not in selected]
            most = max((found for found, _ in better), default=0.0)
            if most <= right(selected):
                return {name: float(name in selected) for name in names}
            selected.append(next(name for found, name in better if found == most))

    def weighted_terms(
        self, rows: Sequence[Row], weights: Mapping[str, float], x: Mapping[str, Any], y: Hashable
    ) -> dict[str, float]:
        """ln P(x_j|y), in which deep feature weighting uses the weights too."""
        terms = self.terms(rows, x, y)
        if self.name != "DFWNB":
            return terms
        n_c = sum(w for _, label, w in rows if label == y)
        for name in terms:
            times, value = weights.get(name, 1.0), x[name]
            if is_number(value):
                of_all = [(r[name], times * w, c) for r, c, w in rows if is_number(r.get(name))]
                own = [(each, w) for each, w, c in of_all if c == y]
                mean, deviation = gaussian(own or [(each, w) for each, w, _ in of_all])
                terms[name] = -math.log(deviation * math.sqrt(2 * math.pi)) - (
                    value - mean
                ) ** 2 / (2 * deviation**2)
            else:
                known = {r[name] for r, _, _ in rows if is_category(r.get(name))}
                n_j = max(len(known), self.values.get(name, 1))
                count = sum(w for r, c, w in rows if c == y and r.get(name) == value)
                terms[name] = math.log(
                    (times * count + self.alpha) / (times * n_c + self.alpha * n_j)
                )
        return terms

    def filtered_scores(
        self, rows: Sequence[Row], weights: Mapping[str, float], x: Mapping[str, Any]
    ) -> dict[Any, float]:
        """ln P(y) + Σ_j w_j ln P(x_j|y): Equations 5 and 6."""
        return {
            y: self.log_prior(rows, y)
            + sum(
                weights.get(name, 1.0) * term
                for name, term in self.weighted_terms(rows, weights, x, y).items()
            )
            for y in dict.fromkeys(y for _, y, _ in rows)
        }


def is_there(value: Any) -> bool:
    """Return whether a value is present."""
    return value is not None and value == value


# --- bins -----------------------------------------------------------------------------------------


def column(rows: Sequence[Row], name: str, cuts: Any) -> list[Any]:
    """Return the values of an attribute, its numbers as bins."""
    numbers = [(x[name], y, w) for x, y, w in rows if is_number(x.get(name))]
    places = cuts(numbers) if numbers else []
    return [
        ("bin", sum(cut < x[name] for cut in places))
        if is_number(x.get(name))
        else ("value", repr(x.get(name)) if is_there(x.get(name)) else None)
        for x, _, _ in rows
    ]


def equal_width(numbers: Sequence[tuple[float, Any, float]]) -> list[float]:
    """Return nine cuts between the minimum and the maximum."""
    low, high = min(x for x, _, _ in numbers), max(x for x, _, _ in numbers)
    return [low * (1 - i / 10) + high * (i / 10) for i in range(1, 10)] if low < high else []


def description_length(numbers: Sequence[tuple[float, Any, float]]) -> list[float]:
    """Fayyad and Irani (1993): the best cut if it pays, recursively on both sides."""
    sizes = sorted({x for x, _, _ in numbers})
    n = sum(w for _, _, w in numbers)
    best = None
    for low, high in itertools.pairwise(sizes):
        left = [each for each in numbers if each[0] <= low]
        right = [each for each in numbers if each[0] >= high]
        rest = sum(
            sum(w for _, _, w in side) / n * entropy([y for _, y, _ in side], weights_of(side))
            for side in (left, right)
        )
        if best is None or rest < best[0] - TIE:
            best = rest, low / 2 + high / 2, left, right
    if best is None or n <= 1:
        return []
    rest, cut, left, right = best
    sides = [numbers, left, right]
    k, k1, k2 = (len({y for _, y, _ in side}) for side in sides)
    h, h1, h2 = (entropy([y for _, y, _ in side], weights_of(side)) for side in sides)
    delta = math.log2(3**k - 2) - (k * h - k1 * h1 - k2 * h2)
    if h - rest <= (math.log2(n - 1) + delta) / n:
        return []
    return sorted([*description_length(left), cut, *description_length(right)])


def weights_of(rows: Sequence[tuple[Any, Any, float]]) -> list[float]:
    """Return the weights of rows."""
    return [w for _, _, w in rows]


# --- information ----------------------------------------------------------------------------------


def entropy(values: Sequence[Any], weights: Sequence[float]) -> float:
    """−Σ p log₂ p."""
    mass: dict[Any, float] = defaultdict(float)
    for value, w in zip(values, weights, strict=True):
        mass[value] += w
    n = sum(mass.values())
    return -sum(m / n * math.log2(m / n) for m in mass.values())


def information(one: Sequence[Any], two: Sequence[Any], weights: Sequence[float]) -> float:
    """Σ p(a, b) log₂ [p(a, b) / (p(a) p(b))]."""
    n = sum(weights)
    both: dict[Any, float] = defaultdict(float)
    alone: list[dict[Any, float]] = [defaultdict(float), defaultdict(float)]
    for a, b, w in zip(one, two, weights, strict=True):
        both[a, b] += w / n
        alone[0][a] += w / n
        alone[1][b] += w / n
    found = sum(p * math.log2(p / (alone[0][a] * alone[1][b])) for (a, b), p in both.items())
    return found if found > TIE else 0.0


def raw_kullback_leibler(rows: Sequence[Row], names: list[str]) -> dict[str, float]:
    """Return Lee, Gutierrez and Dou's Σ_a P(a) KL(C|a) / −Σ_a P(a) log P(a)."""
    labels, weights = [y for _, y, _ in rows], weights_of(rows)
    n = sum(weights)
    found = {}
    for name in names:
        values = column(rows, name, equal_width)
        split = entropy(values, weights)
        told = 0.0
        for a in set(values):
            inside = [(y, w) for v, y, w in zip(values, labels, weights, strict=True) if v == a]
            n_a = sum(w for _, w in inside)
            for c in set(labels):
                of_c = sum(w for y, w in zip(labels, weights, strict=True) if y == c) / n
                given = sum(w for y, w in inside if y == c) / n_a
                told += n_a / n * given * math.log2(given / of_c) if given else 0.0
        found[name] = told / split if split > TIE and told > TIE else 0.0
    return found


def kullback_leibler(rows: Sequence[Row], names: list[str]) -> dict[str, float]:
    """Return the raw weights divided by their mean."""
    found = raw_kullback_leibler(rows, names)
    mean = sum(found.values()) / len(found)
    return {name: each / mean if mean else 1.0 for name, each in found.items()}


def correlation_filter(rows: Sequence[Row], names: list[str]) -> dict[str, float]:
    """Jiang, Zhang, Li and Wu: relevance minus redundancy, through the logistic function."""
    labels, weights = [y for _, y, _ in rows], weights_of(rows)
    columns = {name: column(rows, name, description_length) for name in names}
    m = len(names)
    relevance = {name: information(columns[name], labels, weights) for name in names}
    mean = sum(relevance.values()) / m
    pairs = {
        (i, j): information(columns[i], columns[j], weights)
        for i, j in itertools.permutations(names, 2)
    }
    between = sum(pairs.values()) / (m * (m - 1)) if m > 1 else 0.0
    found = {}
    for i in names:
        d = relevance[i] / mean if mean else 1.0
        if between > TIE / (m * (m - 1) if m > 1 else 1):
            d -= sum(pairs[i, j] / between for j in names if j != i) / (m - 1)
        found[i] = 1 / (1 + math.exp(-d))
    return found


def selected_twice(rows: Sequence[Row], names: list[str]) -> dict[str, float]:
    """Jiang, Li, Wang and Zhang, with Hall's selection: forward search for the highest merit."""
    labels, weights = [y for _, y, _ in rows], weights_of(rows)
    columns = {name: column(rows, name, description_length) for name in names}

    def uncertainty(one: Sequence[Any], two: Sequence[Any]) -> float:
        both = entropy(one, weights) + entropy(two, weights)
        return 2 * information(one, two, weights) / both if both > TIE else 0.0

    def merit(chosen: Sequence[str]) -> float:
        relevant = sum(uncertainty(columns[i], labels) for i in chosen)
        repeated = sum(
            uncertainty(columns[i], columns[j]) for i, j in itertools.permutations(chosen, 2)
        )
        return relevant / math.sqrt(len(chosen) + repeated)

    selected: list[str] = []
    highest = 0.0
    while True:
        tried = [(merit([*selected, name]), name) for name in names if name not in selected]
        best = max((each for each, _ in tried), default=0.0)
        if best <= highest + TIE:
            return {name: 2.0 if name in selected else 1.0 for name in names}
        highest = best
        selected.append(next(name for each, name in tried if each >= best - TIE))


def tree_depth(rows: Sequence[Row], names: list[str]) -> dict[str, float]:
    """Hall: 1 / √ of the minimum depth at which a tree tests the attribute."""
    depths: dict[str, int] = {}

    def grow(node: Sequence[Row], depth: int) -> None:
        uncertain = entropy([y for _, y, _ in node], weights_of(node))
        best: tuple[float, str, list[list[Row]]] | None = None
        for name in names:
            branches = split(node, name)
            n = sum(weights_of(node))
            rest = sum(
                sum(weights_of(side)) / n * entropy([y for _, y, _ in side], weights_of(side))
                for side in branches
            )
            gain = uncertain - rest
            if gain > (best[0] if best else TIE) + TIE:
                best = gain, name, branches
        if best is not None:
            depths[best[1]] = min(depths.get(best[1], depth), depth)
            for side in best[2]:
                grow(side, depth + 1)

    grow(rows, 1)
    return {name: 1 / math.sqrt(depths[name]) if name in depths else 0.0 for name in names}


def split(node: Sequence[Row], name: str) -> list[list[Row]]:
    """Return the branches of a node that tests an attribute."""
    numbers = [row for row in node if is_number(row[0].get(name))]
    others: dict[Any, list[Row]] = defaultdict(list)
    for row in node:
        if not is_number(row[0].get(name)):
            others[repr(row[0].get(name)) if is_there(row[0].get(name)) else None].append(row)
    sides = [numbers] if numbers else []
    best = None
    for low, _ in itertools.pairwise(sorted({row[0][name] for row in numbers})):
        parts = [
            [row for row in numbers if row[0][name] <= low],
            [row for row in numbers if row[0][name] > low],
        ]
        rest = sum(
            sum(weights_of(side)) * entropy([y for _, y, _ in side], weights_of(side))
            for side in parts
        )
        if best is None or rest < best - TIE:
            best, sides = rest, parts
    return [*others.values(), *sides]
