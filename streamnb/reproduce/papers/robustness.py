"""Figures 7 and 8 of the paper on loss-minimised weights: wrong labels, and many attributes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

import streamnb
from streamnb.errors import InputError
from streamnb.families import Fitted, UniformWeights, Weights
from streamnb.reproduce.experiment import accuracy
from streamnb.reproduce.folds import weka_folds
from streamnb.reproduce.papers.attribute_tables import rows_of, values_of
from streamnb.reproduce.papers.loss import LOSS_PAPER
from streamnb.statistics.counts import Floats

__all__ = ["FIGURES", "Figure", "Panel"]

LOSSES = {"ENB": "exponential", "DNB": "deviance", "LNB": "likelihood", "GDNB": "generalised"}
NOISE = tuple(range(0, 41, 5))
"""Shares of wrong labels, in percent; the paper has every percent from 0 to 40."""

NOISY = ("car", "yeast", "wholesale", "tic_tac_toe", "qsar_biodeg", "wdbc")
"""Tables of some hundred to two thousand rows; the choice of the paper is in its pictures only."""

DIMENSIONS = (2, 10, *range(20, 201, 20))
"""Attributes, half of them of each kind; the paper has every even number from 2 to 200."""

LEARNED, TESTED = 100, 1_000


@dataclasses.dataclass(frozen=True)
class Panel:
    """One picture of a figure.

    Attributes
    ----------
    title
        What it is of.
    places
        Along its axis.
    lines
        Name → a value at each place.
    """

    title: str
    places: tuple[int, ...]
    lines: dict[str, list[float]]


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Attributes
    ----------
    name
        As in `streamnb reproduce NAME`.
    summary
        One line on what is reproduced.
    axis, unit
        What is along the axis, and what the values are.
    collections
        What can be chosen; none where there is nothing to choose.
    measure
        Collections, folds (or trials) and the seed → the pictures.
    """

    name: str
    summary: str
    axis: str
    unit: str
    collections: tuple[str, ...]
    measure: Callable[[Sequence[str], int, int], list[Panel]]

    def chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the collections to use, all unless some are named.

        Raises
        ------
        InputError
            One of them is not there.
        """
        for name in names:
            if name not in self.collections:
                known = ", ".join(self.collections) or "none"
                raise InputError(f"{self.name} has no collection {name!r}; it has {known}")
        return tuple(names) or self.collections


def text_of(figure: Figure, panels: Sequence[Panel]) -> str:
    """Return the values as tables."""
    parts = [f"{figure.name}: {figure.summary}\n"]
    for panel in panels:
        wide = max(map(len, panel.lines))
        head = "".join(f"{place:>8}" for place in panel.places)
        parts.append(f"\n{panel.title}, {figure.unit} by {figure.axis}\n{'':{wide}}{head}\n")
        for name, values in panel.lines.items():
            parts.append(f"{name:{wide}}" + "".join(f"{value:8.2f}" for value in values) + "\n")
    return "".join(parts)


def decisions_of_each_loss(
    rows: list[dict[str, Any]],
    labels: list[str],
    tested: list[dict[str, Any]],
    values: dict[str, int] | None,
) -> dict[str, tuple[list[str], dict[str, float]]]:
    """Return what naive Bayes and each weighted model decide, and their weights.

    Parameters
    ----------
    rows, labels
        What is learned.
    tested
        What is decided.
    values
        As at `streamnb.ENB`.
    """
    weights: dict[str, Weights] = {"NB": UniformWeights()}
    weights |= {name: Fitted(loss, "pairs", ridge=0.0) for name, loss in LOSSES.items()}
    found = {}
    for name, weighed in weights.items():
        model = streamnb.ComposedNB(
            "gaussian",
            weights=weighed,
            values=values,
            refresh_every=10**9,
            index_size=len(rows),
        )
        model.learn_many(rows, labels)
        model.refresh()
        found[name] = list(model.predict_many(tested)), model.weights_
    return found


def with_noise(labels: Sequence[str], share: float, rng: np.random.Generator) -> list[str]:
    """Return labels of two classes, that share of them turned into the other.

    Examples
    --------
    >>> noisy = with_noise(["a", "b"] * 50, 0.2, np.random.default_rng(1))
    >>> sum(one != two for one, two in zip(noisy, ["a", "b"] * 50, strict=True))
    20
    """
    first, second = sorted(set(labels))
    other = {first: second, second: first}
    wrong = set(rng.permutation(len(labels))[: round(share * len(labels))].tolist())
    return [other[y] if place in wrong else y for place, y in enumerate(labels)]


def label_noise(names: Sequence[str], folds: int, seed: int) -> list[Panel]:
    """Return the mean accuracy of each model by the share of labels that are wrong.

    Parameters
    ----------
    names
        Collections of Table 2.
    folds
        Of one cross-validation. The labels of each are made wrong once; the paper does it ten
        times.
    seed
        Of folds and of the draws.
    """
    panels = []
    bar = _bar(len(names) * len(NOISE) * folds)
    for name in names:
        collection = LOSS_PAPER.collection(name).load()
        rows = rows_of(collection.matrix, collection.vocabulary)
        values = values_of(collection.vocabulary)
        means: dict[str, list[float]] = {model: [] for model in ("NB", *LOSSES)}
        for percent in NOISE:
            right: dict[str, list[float]] = {model: [] for model in means}
            split = weka_folds(collection.labels, folds, seed)
            for fold, (learned, tested) in enumerate(split):
                rng = np.random.default_rng([seed, percent, fold])
                labels = with_noise([collection.labels[i] for i in learned], percent / 100, rng)
                found = decisions_of_each_loss(
                    [rows[i] for i in learned], labels, [rows[i] for i in tested], values
                )
                truth = [collection.labels[i] for i in tested]
                for model, (decided, _) in found.items():
                    right[model].append(accuracy(truth, decided))
                bar.update(1)
            for model, accuracies in right.items():
                means[model].append(sum(accuracies) / len(accuracies))
        panels.append(Panel(name, NOISE, means))
    bar.close()
    return panels


def _bar(steps: int) -> Any:
    """Return a bar of progress, which shows on a terminal only."""
    from tqdm import tqdm

    return tqdm(total=steps, unit=" step", disable=not sys.stderr.isatty(), leave=False)


def simulated(count: int, attributes: int, rng: np.random.Generator) -> tuple[Any, list[str]]:
    """Return rows of section IV-C, half of each class.

    Attributes `A1`, `A2`, … tell nothing of the class and `B1`, `B2`, … do; each but the first is
    the one before it, and a little noise.
    """
    labels = ["+", "-"] * (count // 2)
    near = np.where(np.array(labels) == "+", -1.5, 1.5)
    columns: dict[str, Floats] = {"A1": rng.normal(0, 2, count), "B1": rng.normal(near, 0.5)}
    for i in range(2, attributes // 2 + 1):
        for kind in "AB":
            columns[f"{kind}{i}"] = rng.normal(columns[f"{kind}{i - 1}"], 0.1)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows], labels


def dimension(names: Sequence[str], trials: int, seed: int) -> list[Panel]:
    """Return accuracy, and the share of the weights on attributes that matter, by dimension.

    Parameters
    ----------
    names
        Nothing.
    trials
        Samples at each dimension, of which the median is taken.
    seed
        Of the draws.
    """
    right: dict[str, list[float]] = {model: [] for model in ("NB", *LOSSES)}
    shares: dict[str, list[float]] = {model: [] for model in LOSSES}
    bar = _bar(len(DIMENSIONS) * trials)
    for attributes in DIMENSIONS:
        found: dict[str, list[tuple[float, float]]] = {model: [] for model in right}
        for trial in range(trials):
            rng = np.random.default_rng([seed, attributes, trial])
            rows, labels = simulated(LEARNED, attributes, rng)
            tested, truth = simulated(TESTED, attributes, rng)
            for model, (decided, weights) in decisions_of_each_loss(
                rows, labels, tested, None
            ).items():
                on_b = sum(weight for name, weight in weights.items() if name[0] == "B")
                share = 100 * on_b / (sum(weights.values()) or 1.0)
                found[model].append((accuracy(truth, decided), share))
            bar.update(1)
        for model, trials_of_it in found.items():
            right[model].append(median(accurate for accurate, _ in trials_of_it))
            if model in shares:
                shares[model].append(median(share for _, share in trials_of_it))
    bar.close()
    return [
        Panel("accuracy", DIMENSIONS, right),
        Panel("weight of attributes that matter", DIMENSIONS, shares),
    ]


FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            "loss-noise",
            "accuracy with wrong labels (Figure 7 of the paper on loss-minimised weights)",
            "wrong labels (%)",
            "%",
            NOISY,
            label_noise,
        ),
        Figure(
            "loss-dimension",
            "accuracy and weights with ever more attributes (Figure 8 of the same)",
            "attributes",
            "%",
            (),
            dimension,
        ),
    )
}
