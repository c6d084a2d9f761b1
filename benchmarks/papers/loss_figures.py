"""Figures 1, 2 and 4 to 6 of the paper on loss-minimised weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.loss import LOSS_PAPER
from benchmarks.papers.report import markdown, number, series_table
from benchmarks.papers.robustness import fitted_models
from streamnb.evaluation.plots import require_matplotlib
from streamnb.statistics.losses import DEVIANCE, EXPONENTIAL, LIKELIHOOD

MARGINS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
HEATMAPS = {"Figure 4": "wholesale", "Figure 5": "segment", "Figure 6": "steel"}
LOSSES = {"ENB": EXPONENTIAL, "DNB": DEVIANCE, "LNB": LIKELIHOOD}


def losses_of(margins: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the loss of each margin: Equations 9, 12 and 14."""
    one = np.ones(1)
    return {
        name: np.array([loss.value(np.array([[margin]]), one)[0] for margin in margins])
        for name, loss in LOSSES.items()
    }


def illustrative(seed: int = 1) -> dict[str, tuple[int, float]]:
    """Return model → misclassified rows of Figure 2, and their share of the loss in percent.

    Two separable classes of 100 rows in two dimensions, and five rows among the other class. The
    paper does not print its rows.
    """
    rng = np.random.default_rng(seed)
    labels = ["-"] * 100 + ["+"] * 100
    centres = np.repeat([-2.0, 2.0], 100)
    centres[[0, 1, 2, 100, 101]] *= -1  # the rows among the other class
    rows = [
        {"x": x, "y": y}
        for x, y in zip(rng.normal(centres, 0.6), rng.normal(centres, 0.6), strict=True)
    ]
    found = {}
    for name, model in fitted_models(rows, labels, None).items():
        if name in LOSSES:
            scores = [model.joint_log_likelihood_one(row) for row in rows]
            margins = np.array(
                [
                    score[label] - score["-" if label == "+" else "+"]
                    for score, label in zip(scores, labels, strict=True)
                ]
            )
            each, wrong = losses_of(margins)[name], margins < 0
            found[name] = int(wrong.sum()), 100 * float(each[wrong].sum() / each.sum())
    return found


def correlations(name: str) -> tuple[list[str], NDArray[np.float64]]:
    """Return the attributes of a table of numbers, and their correlations; 0 for a constant."""
    collection = LOSS_PAPER.collection(name).load()
    numbers = collection.matrix.toarray()
    centred = numbers - numbers.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    units = centred / np.where(lengths > 0, lengths, 1.0)
    return [word.lstrip("#") for word in collection.vocabulary], units.T @ units


def draw_heatmaps(path: Path) -> None:
    """Draw Figures 4 to 6 as SVG: the same bytes for the same values."""
    figure_class, canvas_class = require_matplotlib()
    import matplotlib as mpl

    drawing = figure_class(figsize=(10, 3.6), layout="constrained")
    canvas_class(drawing)
    for axes, (figure, name) in zip(drawing.subplots(1, 3), HEATMAPS.items(), strict=True):
        names, values = correlations(name)
        image = axes.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1)
        axes.set_title(f"{figure}: {name}, {len(names)} attributes", loc="left", fontsize=10)
        axes.set(xticks=[], yticks=[])
    drawing.colorbar(image, ax=drawing.axes, shrink=0.8)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "heatmaps"}):
        drawing.savefig(path, format="svg", metadata={"Date": None})


def sections(folder: Path) -> list[str]:
    """Return Figures 1, 2 and 4 to 6 as tables, and write the drawing of the last ones."""
    drawn = losses_of(np.array(MARGINS))
    rows = []
    for figure, name in HEATMAPS.items():
        names, values = correlations(name)
        pairs = np.abs(values[np.triu_indices(len(names), 1)])
        shares = [number(100 * float((pairs >= least).mean()), 1) for least in (0.5, 0.9)]
        rows.append([f"{figure}: {name}", str(len(names)), *shares])
    draw_heatmaps(folder / "loss-correlations.svg")
    wrong = [
        [name, str(count), number(share, 1)] for name, (count, share) in illustrative().items()
    ]
    return [
        "## Figure 1: losses by margin",
        series_table(
            [number(margin, 1) for margin in MARGINS], {k: list(v) for k, v in drawn.items()}
        ),
        "## Figure 2: share of the loss on misclassified rows",
        (
            "Our own rows, with five among the other class: the paper does not print its rows. It "
            "has more than 70 % for DNB and LNB, and less than 60 % for ENB."
        ),
        markdown(["model", "misclassified rows", "share of the loss, %"], wrong),
        "## Figures 4 to 6: correlations of attributes",
        "![correlations of the attributes of three tables](loss-correlations.svg)",
        "Share of the pairs of attributes with an absolute correlation of at least 0.5 and 0.9:",
        markdown(["table", "attributes", "0.5, %", "0.9, %"], rows),
        "## Figures 7 and 8",
        (
            "[Wrong labels and many attributes](../robustness.md); commands `make papers "
            "ARGS=loss-noise` and `loss-dimension`."
        ),
    ]
