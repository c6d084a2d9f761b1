"""Figures 7 and 8 of the paper on loss-minimised weights: wrong labels, and many attributes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import streamnb
from benchmarks.papers.attribute_tables import rows_of, values_of
from benchmarks.papers.experiment import accuracy
from benchmarks.papers.loss import LOSS_PAPER
from benchmarks.papers.splits import weka_folds
from streamnb.errors import InputError
from streamnb.evaluation.plots import require_matplotlib
from streamnb.families import Fitted, UniformWeights, Weights

LOSSES = {"ENB": "exponential", "DNB": "deviance", "LNB": "likelihood", "GDNB": "generalised"}
NOISE = tuple(range(0, 41, 5))
"""Shares of wrong labels, in percent; the paper draws every percent from 0 to 40."""

NOISY = ("car", "yeast", "wholesale", "tic_tac_toe", "qsar_biodeg", "wdbc")
"""Tables of some hundred to two thousand rows; the text of the paper does not name its tables."""

DIMENSIONS = (2, 10, *range(20, 201, 20))
"""Numbers of attributes, half of each kind; the paper draws every even number from 2 to 200."""

LEARNED, TESTED = 100, 1_000


@dataclass(frozen=True)
class Panel:
    """One panel of a figure.

    Attributes
    ----------
    title
        Its title.
    x
        Positions on the x axis.
    lines
        Name of a model → a value at each position.
    """

    title: str
    x: tuple[int, ...]
    lines: dict[str, list[float]]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Attributes
    ----------
    name
        Its name on the command line.
    summary
        One line that describes it.
    axis, unit
        Titles of the axes.
    collections
        The collections to choose from.
    measure
        Function of collections, folds (or trials) and the seed; it returns the panels.
    """

    name: str
    summary: str
    axis: str
    unit: str
    collections: tuple[str, ...]
    measure: Callable[[Sequence[str], int, int], list[Panel]]

    def chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the named collections, or all of them; raise an InputError for unknown names."""
        for name in names:
            if name not in self.collections:
                known = ", ".join(self.collections) or "none"
                raise InputError(f"{self.name} has no collection {name!r}; choose from {known}")
        return tuple(names) or self.collections


def text_of(figure: Figure, panels: Sequence[Panel]) -> str:
    """Return the values as tables."""
    parts = [f"{figure.name}: {figure.summary}\n"]
    for panel in panels:
        wide = max(map(len, panel.lines))
        head = "".join(f"{x:>8}" for x in panel.x)
        parts.append(f"\n{panel.title}, {figure.unit} by {figure.axis}\n{'':{wide}}{head}\n")
        for name, values in panel.lines.items():
            parts.append(f"{name:{wide}}" + "".join(f"{value:8.2f}" for value in values) + "\n")
    return "".join(parts)


def fitted_models(
    rows: list[dict[str, Any]], labels: list[str], values: dict[str, int] | None
) -> dict[str, Any]:
    """Return naive Bayes and each weighted model, fitted to some rows.

    Parameters
    ----------
    rows, labels
        The rows to learn, and their labels.
    values
        Number of values of each attribute, as in `streamnb.ENB`.
    """
    kinds: dict[str, Weights] = {"NB": UniformWeights()}
    kinds |= {name: Fitted(loss, ridge=0.0) for name, loss in LOSSES.items()}
    found = {}
    for name, weights in kinds.items():
        found[name] = model = streamnb.ComposedNB(
            "gaussian", weights=weights, values=values, refresh_every=10**9, index_size=len(rows)
        )
        model.learn_many(rows, labels)
        model.refresh()
    return found


def with_noise(labels: Sequence[str], share: float, rng: np.random.Generator) -> list[str]:
    """Return the labels of two classes with the given share of them swapped.

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
    """Return the mean accuracy of each model by the share of wrong labels.

    Parameters
    ----------
    names
        Collections of Table 2.
    folds
        Folds of one cross-validation. Each fold swaps labels once; the paper does so ten times.
    seed
        Seed of the folds and of the noise.
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
                truth = [collection.labels[i] for i in tested]
                for kind, model in fitted_models(
                    [rows[i] for i in learned], labels, values
                ).items():
                    decided = list(model.predict_many([rows[i] for i in tested]))
                    right[kind].append(accuracy(truth, decided))
                bar.update(1)
            for model, accuracies in right.items():
                means[model].append(sum(accuracies) / len(accuracies))
        panels.append(Panel(name, NOISE, means))
    bar.close()
    return panels


def _bar(steps: int) -> Any:
    return tqdm(total=steps, unit=" step", disable=not sys.stderr.isatty(), leave=False)


def simulated(count: int, attributes: int, rng: np.random.Generator) -> tuple[Any, list[str]]:
    """Return rows of section IV-C, half of each class, and their labels.

    Attributes `A1`, `A2`, … do not depend on the class; `B1`, `B2`, … do. Each attribute after the
    first is the previous one with some noise.
    """
    labels = ["+", "-"] * (count // 2)
    near = np.where(np.array(labels) == "+", -1.5, 1.5)
    columns: dict[str, npt.NDArray[np.float64]] = {
        "A1": rng.normal(0, 2, count),
        "B1": rng.normal(near, 0.5),
    }
    for i in range(2, attributes // 2 + 1):
        for kind in "AB":
            columns[f"{kind}{i}"] = rng.normal(columns[f"{kind}{i - 1}"], 0.1)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows], labels


def dimension(names: Sequence[str], trials: int, seed: int) -> list[Panel]:
    """Return accuracy, and the share of weight on the `B` attributes, by number of attributes.

    Parameters
    ----------
    names
        Ignored.
    trials
        Samples for each number of attributes; the result is their median.
    seed
        Seed of the samples.
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
            for kind, model in fitted_models(rows, labels, None).items():
                weights = model.weights_
                on_b = sum(weight for name, weight in weights.items() if name[0] == "B")
                share = 100 * on_b / (sum(weights.values()) or 1.0)
                right_share = accuracy(truth, list(model.predict_many(tested)))
                found[kind].append((right_share, share))
            bar.update(1)
        for model, samples in found.items():
            right[model].append(median(accurate for accurate, _ in samples))
            if model in shares:
                shares[model].append(median(share for _, share in samples))
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
            "accuracy and weights by number of attributes (Figure 8 of the same paper)",
            "attributes",
            "%",
            (),
            dimension,
        ),
    )
}

# The colours of Okabe and Ito, which people with colour-blindness can distinguish.
_COLOURS = {
    "NB": "#000000",
    "ENB": "#D55E00",
    "DNB": "#0072B2",
    "LNB": "#009E73",
    "GDNB": "#E69F00",
}
# With equally many messages of each class GDNB equals LNB, so it is dashed.
_DASHES = {"GDNB": (0, (4, 2))}
_GREY = "#5f6368"


def draw(figure: Figure, panels: Sequence[Panel], path: Path) -> None:
    """Write the panels as SVG: the same bytes for the same values."""
    figure_class, canvas_class = require_matplotlib()
    import matplotlib as mpl

    rows = (len(panels) + 1) // 2
    drawing = figure_class(figsize=(9.6, 0.7 + 2.7 * rows), layout="constrained")
    canvas_class(drawing)
    grid = drawing.subplots(rows, 2, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        for name, values in panel.lines.items():
            style, colour = _DASHES.get(name, "-"), _COLOURS[name]
            axes.plot(panel.x, values, color=colour, linestyle=style, linewidth=1.5, label=name)
        axes.set_title(panel.title, loc="left", fontsize=10)
        axes.set_xlabel(figure.axis, color=_GREY)
        axes.set_ylabel(figure.unit, color=_GREY)
        axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
        axes.tick_params(colors=_GREY, length=0, labelsize=9)
        axes.spines[["top", "right", "left"]].set_visible(False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    handles, names = grid.flat[0].get_legend_handles_labels()
    drawing.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": figure.name}):
        drawing.savefig(path, format="svg", metadata={"Date": None})
