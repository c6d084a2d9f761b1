"""Learning curves as a PNG (needs matplotlib: `pip install 'streamnb[plots]'`)."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from streamnb.errors import InputError, needed_for
from streamnb.evaluation.cascades import CascadeResult
from streamnb.evaluation.results import Result

# The colours of Okabe and Ito, which people with colour-blindness can distinguish.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY = "#5f6368"
_PALE = "#b9bdc3"
# Distinguishable without colours.
_DASHES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)))
_FEWEST = 10  # minimum number of messages of a bin
_LOST = 0.1  # percent of false positives at which TREC's spam tracks compare filters

# A line: its points, and its label.
_Line = tuple["list[tuple[float, float]]", str]
# How to draw a panel, and its height.
_Panel = tuple[Callable[[Any, list[Any]], None], float]


def draw_curves(
    axes: Any,
    results: Sequence[Result],
    name: str,
    metric: str,
    factor: float,
    along: str = "n_messages",
) -> None:
    """Draw a metric times a factor along the stream, and a dotted line at each drift detection.

    `along` is `n_messages`, or `n_labels` for the number of labels learned.
    """
    lines: list[_Line] = []
    settled: list[float] = []
    for number, result in enumerate(results):
        points = [
            (float(getattr(point, along)), factor * value)
            for point in result.curve
            if (value := getattr(point.windowed, metric)) is not None
        ]
        total = factor * (getattr(result.cumulative, metric) or 0.0)
        lines.append((points, f"{result.name} ({total:.2f})"))
        # The scale ignores the first tenth of the stream, when the models have learned little.
        settled += [value for _, value in points[len(points) // 10 :]]
        for place in result.alarms if along == "n_messages" else ():
            colour = _COLOURS[number % len(_COLOURS)]
            axes.axvline(place, color=colour, linewidth=0.9, linestyle=":", gid="drift")
    if settled:
        margin = max(0.06 * (max(settled) - min(settled)), 0.25)
        axes.set_ylim(max(0.0, min(settled) - margin), min(100.0, max(settled) + margin))
    axes.margins(x=0)
    axes.set_xlabel(along.removeprefix("n_"), color=_GREY)
    axes.set_ylabel(name, color=_GREY)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _draw_lines(axes, lines)


def draw_reliability(axes: Any, results: Sequence[Result]) -> None:
    """Draw the reliability diagram: bins of at least ten messages."""
    axes.plot([0, 1], [0, 1], color=_PALE, linewidth=1.0)
    lines: list[_Line] = []
    for result in results:
        bins = [each for each in result.reliability if each.messages >= _FEWEST]
        error = result.cumulative.calibration_error or 0.0
        lines.append(
            ([(each.probability, each.share) for each in bins], f"{result.name} ({error:.3f})")
        )
    axes.set_xlabel("predicted probability (in brackets: expected calibration error)", color=_GREY)
    axes.set_ylabel("share of true labels", color=_GREY)
    _draw_lines(axes, lines, marker="o", markersize=3.5)


def draw_roc(axes: Any, results: Sequence[Result]) -> None:
    """Draw the ROC curve for few false positives, with logarithmic axes."""
    lines: list[_Line] = []
    for result in results:
        positives = result.labels.get(result.pos_label, 0)
        # Zero messages are drawn as half a message.
        least = (50 / max(result.n_messages - positives, 1), 50 / max(positives, 1))
        points = [
            (max(100 * lost, least[0]), max(100 * missed, least[1])) for lost, missed in result.roc
        ]
        within = [100 * missed for lost, missed in result.roc if 100 * lost <= _LOST]
        lines.append((points, f"{result.name} ({min(within, default=100.0):.1f})"))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axvline(_LOST, color=_PALE, linewidth=1.0)
    pos_label = next(result.pos_label for result in results if result.roc)
    axes.set_xlabel(f"% false positives (in brackets: at {_LOST:g} %)", color=_GREY)
    axes.set_ylabel(f"% of {pos_label} missed", color=_GREY)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    _draw_lines(axes, lines, drawstyle="steps-post")
    axes.set_xlim(right=10)  # last, because it keeps the other limit


def _draw_lines(axes: Any, lines: Sequence[_Line], **how: Any) -> None:
    """Draw lines with a legend beside them. Equal lines are drawn once, with all names."""
    drawn: list[tuple[list[tuple[float, float]], Any]] = []
    for number, (points, name) in enumerate(lines):
        if not points:
            continue
        rounded = [(round(x, 4), round(y, 4)) for x, y in points]
        for others, line in drawn:
            if others == rounded:  # two models may be equal, such as MNB and river's MultinomialNB
                line.set_label(f"{line.get_label()} = {name}")
                break
        else:
            style = {"color": _COLOURS[number % len(_COLOURS)], "linewidth": 1.8, **how}
            dashes = _DASHES[number % len(_DASHES)]
            (line,) = axes.plot(*np.array(points).T, linestyle=dashes, label=name, **style)
            drawn.append((rounded, line))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
    axes.tick_params(which="both", colors=_GREY, length=0, labelsize=9.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_PALE)


def plot_curves(
    results: Mapping[str, Result] | Iterable[Result],
    path: str | os.PathLike[str],
    *,
    title: str = "Learning curves",
) -> Path:
    """Draw the learning curves of models that were evaluated on the same stream.

    Each model has one line over the last `window` messages; the legend has the figure over all
    messages. Dotted vertical lines mark drift detections. Equal lines are drawn once,
    with both names. For two classes a second panel shows the area over the ROC curve. Models with
    probabilities get a reliability diagram. For two classes another panel shows the ROC curve for
    few false positives.

    Parameters
    ----------
    results
        Results of `prequential`.
    path
        The PNG to write.
    title
        Title of the picture.

    Returns
    -------
    The path of the PNG.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    InputError
        The stream had no messages, or the file cannot be written.
    """
    drawn = list(results.values() if isinstance(results, Mapping) else results)
    if not any(result.curve for result in drawn):
        raise InputError("there is no learning curve to draw: the stream had no messages")
    accuracy = functools.partial(draw_curves, name="Accuracy (%)", metric="accuracy", factor=100)
    area = functools.partial(
        draw_curves, name="(1-AUC) %, lower is better", metric="one_minus_auc_percent", factor=1
    )
    panels: list[_Panel] = [(accuracy, 2.9)]
    if any(result.cumulative.one_minus_auc_percent is not None for result in drawn):
        panels.append((area, 2.9))
    if any(result.n_labels < result.n_messages for result in drawn):
        panels.append((functools.partial(accuracy, along="n_labels"), 2.9))
    if any(result.reliability for result in drawn):
        panels.append((draw_reliability, 3.4))
    if any(result.roc for result in drawn):
        panels.append((draw_roc, 3.0))
    above = f"over the last {drawn[0].window:,} messages; in brackets over all messages"
    return _draw_panels(panels, drawn, path, title, above)


def plot_calls(
    results: Iterable[CascadeResult],
    path: str | os.PathLike[str],
    *,
    title: str = "Calls to the teacher",
) -> Path:
    """Draw the calls of cascades on the same stream against their agreement with the teacher.

    In the first panel, each model has one line with a point for each goal. The others show the
    agreement over the last `window` messages, and the calls so far.

    Parameters
    ----------
    results
        Results of `evaluate_cascades`; results with the same name are one line.
    path
        The PNG to write.
    title
        Title of the picture.

    Returns
    -------
    The path of the PNG.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    InputError
        There is no result, or the file cannot be written.
    """
    drawn = list(results)
    if not drawn:
        raise InputError("there is no cascade to draw")
    panels: list[_Panel] = [(_draw_calls, 3.2), (_draw_agreement, 2.9), (_draw_call_shares, 2.9)]
    return _draw_panels(panels, drawn, path, title, "calls against agreement, audits included")


def _draw_calls(axes: Any, results: Sequence[CascadeResult]) -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for each in results:
        lines.setdefault(each.name, []).append((100 * each.agreement, 100 * each.call_share))
    axes.set_xlabel("agreement (%)", color=_GREY)
    axes.set_ylabel("calls (%)", color=_GREY)
    _draw_lines(axes, [(sorted(points), name) for name, points in lines.items()], marker="o")


def _draw_agreement(axes: Any, results: Sequence[CascadeResult]) -> None:
    axes.set_ylabel("agreement (%)", color=_GREY)
    lines: list[_Line] = []
    for each in results:
        points = [(float(p.n_messages), 100 * p.agreement) for p in each.curve]
        lines.append((points, f"{each.name}, {each.goal} ({100 * each.agreement:.2f})"))
    _draw_along(axes, lines)


def _draw_call_shares(axes: Any, results: Sequence[CascadeResult]) -> None:
    axes.set_ylabel("calls so far (%)", color=_GREY)
    lines: list[_Line] = []
    for each in results:
        points = [(float(p.n_messages), 100 * p.n_calls / p.n_messages) for p in each.curve]
        lines.append((points, f"{each.name}, {each.goal} ({100 * each.call_share:.2f})"))
    _draw_along(axes, lines)


def _draw_along(axes: Any, lines: Sequence[_Line]) -> None:
    axes.margins(x=0)
    axes.set_xlabel("messages", color=_GREY)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _draw_lines(axes, lines)


def _draw_panels(
    panels: Sequence[_Panel],
    drawn: list[Any],
    path: str | os.PathLike[str],
    title: str,
    above: str,
) -> Path:
    """Draw the panels one below the other, and return the path of the PNG."""
    figure_class, canvas_class = require_matplotlib()
    heights = [height for _, height in panels]
    figure = figure_class(figsize=(9.6, 1.4 + sum(heights)), dpi=130, layout="constrained")
    canvas_class(figure)
    axes = figure.subplots(len(panels), squeeze=False, height_ratios=heights)[:, 0]
    for each, (draw, _) in zip(axes, panels, strict=True):
        draw(each, drawn)
    axes[0].set_title(above, loc="left", fontsize=9.5, color=_GREY)
    figure.get_layout_engine().set(hspace=0.06)
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    target = Path(path)
    try:
        figure.savefig(target, format="png")
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror or problem}") from problem
    return target


def require_matplotlib() -> tuple[Any, Any]:
    """Return matplotlib's figure and its PNG canvas, without touching any global state."""
    with needed_for("drawing learning curves", "plots"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    return Figure, FigureCanvasAgg
