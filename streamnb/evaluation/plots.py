"""Learning curves as a PNG (needs matplotlib: `pip install 'streamnb[plots]'`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streamnb.evaluation.metrics import Scores
    from streamnb.evaluation.results import Result

__all__ = ["plot_curves", "require_matplotlib"]


# The colours of Okabe and Ito, which people with colour-blindness can distinguish.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY = "#5f6368"
_PALE = "#b9bdc3"
# Distinguishable without colours.
_DASHES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)))
_FEWEST = 10  # minimum number of messages of a bin
_LOST = 0.1  # percent of false positives at which TREC's spam tracks compare filters
_RATIOS = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)

Panel = tuple[str, "Callable[[Scores], float | None]"]
ACCURACY: Panel = (
    "Accuracy (%)",
    lambda scores: None if scores.accuracy is None else 100 * scores.accuracy,
)
ERROR: Panel = (
    "Error (%)",
    lambda scores: None if scores.accuracy is None else 100 * (1 - scores.accuracy),
)
AREA: Panel = ("(1-AUC) %, lower is better", lambda scores: scores.one_minus_auc_percent)

# A line: its points, and its label.
_Line = tuple["Sequence[tuple[float, float]]", str]


def draw_curves(axes: Any, results: Sequence[Result], panel: Panel) -> None:
    """Draw a metric along the stream. Lines that look equal are drawn once."""
    name, value_of = panel
    lines = [[value_of(point.windowed) for point in result.curve] for result in results]
    settled: list[float] = []
    named = []
    for first, others in _same_lines(lines).items():
        result, values = results[first], lines[first]
        axes.plot([point.n_messages for point in result.curve], _gaps(values), **_style(first))
        # Ignore the first tenth of the stream for the scale, because the models have learned
        # little.
        settled += [value for value in values[len(values) // 10 :] if value is not None]
        ends = [value for value in values if value is not None]
        if ends:
            text = " = ".join(
                f"{results[place].name} ({value_of(results[place].cumulative):.2f})"
                for place in (first, *others)
            )
            named.append((ends[-1], text, _COLOURS[first % len(_COLOURS)]))
    if settled:
        low, high = min(settled), max(settled)
        margin = max(0.06 * (high - low), 0.25)
        axes.set_ylim(max(0.0, low - margin), min(100.0, high + margin))
    _name_lines(axes, named)
    _mark_alarms(axes, results)
    axes.set_ylabel(name, color=_GREY)
    axes.set_xlim(left=0)
    axes.margins(x=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _plain(axes)


def _mark_alarms(axes: Any, results: Sequence[Result]) -> None:
    """Draw a line at each drift detection, in the colour of its model."""
    for number, result in enumerate(results):
        colour = _COLOURS[number % len(_COLOURS)]
        for place in result.alarms:
            axes.axvline(place, color=colour, linewidth=0.9, linestyle=(0, (1, 2)), gid="drift")
            axes.plot(
                [place],
                [1.0],
                marker="v",
                color=colour,
                markersize=5,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
            )


def draw_reliability(axes: Any, results: Sequence[Result]) -> None:
    """Draw the reliability diagram: bins of at least ten messages."""
    axes.plot([0, 1], [0, 1], color=_PALE, linewidth=1.0)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.02, 1.02)
    lines = [
        (
            [
                (each.probability, each.share)
                for each in result.reliability
                if each.messages >= _FEWEST
            ],
            f"{result.name} ({result.cumulative.calibration_error or 0.0:.3f})",
        )
        for result in results
    ]
    _draw_lines(axes, lines, marker="o", markersize=3.5)
    axes.set_xlabel("predicted probability (in brackets: expected calibration error)", color=_GREY)
    axes.set_ylabel("share of true labels", color=_GREY)
    _plain(axes)


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
    drawn = [points for points, _ in lines if points]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(min(x for points in drawn for x, _ in points), 10)
    lowest = min(y for points in drawn for _, y in points)
    axes.set_ylim(lowest / 1.3, 130)
    axes.axvline(_LOST, color=_PALE, linewidth=1.0)
    _draw_lines(axes, lines, drawstyle="steps-post")
    pos_label = next(result.pos_label for result in results if result.roc)
    axes.set_xlabel(f"% false positives (in brackets: at {_LOST:g} %)", color=_GREY)
    axes.set_ylabel(f"% of {pos_label} missed", color=_GREY)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    _plain(axes)


def draw_costs(axes: Any, results: Sequence[Result]) -> None:
    """Draw the cost with the best threshold by the cost of a false positive."""
    lines: list[_Line] = []
    for result in results:
        costs = [(ratio, result.lowest_cost(ratio)) for ratio in _RATIOS]
        points = [(float(ratio), 1000 * cost) for ratio, cost in costs if cost is not None]
        lines.append((points, result.name))
    axes.set_xscale("log")
    axes.set_xlim(_RATIOS[0], _RATIOS[-1])
    axes.set_ylim(0, 1.05 * max(y for points, _ in lines for _, y in points))
    _draw_lines(axes, lines)
    axes.set_xlabel("cost of a false positive, relative to a false negative", color=_GREY)
    axes.set_ylabel("cost of 1,000 messages", color=_GREY)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _plain(axes)


def _draw_lines(axes: Any, lines: Sequence[_Line], **how: Any) -> None:
    """Draw each line and label its end. Equal lines are drawn once, with all labels."""
    named = []
    keys = [[(round(x, 4), round(y, 4)) for x, y in points] for points, _ in lines]
    for number, (points, _) in enumerate(lines):
        # Two models may be equal, such as MNB and river's MultinomialNB.
        if not points or keys.index(keys[number]) < number:
            continue
        axes.plot(*zip(*points, strict=True), **_style(number), **how)
        text = " = ".join(
            name for (_, name), key in zip(lines, keys, strict=True) if key == keys[number]
        )
        ends = [y for x, y in points if x <= axes.get_xlim()[1]]
        named.append((ends[-1], text, _COLOURS[number % len(_COLOURS)]))
    _name_lines(axes, named)


def _style(number: int) -> dict[str, Any]:
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "linewidth": 1.8,
        "solid_joinstyle": "round",
    }


def _same_lines(lines: list[list[float | None]]) -> dict[int, list[int]]:
    """Return each line to draw, with the later lines that look equal."""
    drawn: dict[int, list[int]] = {}
    for place, line in enumerate(lines):
        for first, others in drawn.items():
            if _coincide(lines[first], line):
                others.append(place)
                break
        else:
            drawn[place] = []
    return drawn


def _name_lines(axes: Any, named: list[tuple[float, str, str]]) -> None:
    """Label the end of each line without overlaps."""
    gap, above = 0.085, 2.0
    to_axes = axes.transData + axes.transAxes.inverted()  # on logarithmic axes too
    x = axes.get_xlim()[1]
    for value, text, colour in sorted(named, reverse=True):
        above = min(max(float(to_axes.transform((x, value))[1]), 0.0), 1.0, above - gap)
        axes.annotate(
            text,
            (1.0, above),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=colour,
            annotation_clip=False,
        )


def _plain(axes: Any) -> None:
    axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
    axes.tick_params(which="both", colors=_GREY, length=0, labelsize=9.5)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_PALE)


def _gaps(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _coincide(one: list[float | None], other: list[float | None]) -> bool:
    """Return whether two lines look equal for most of their length."""
    near = sum(
        a == b or (a is not None and b is not None and abs(a - b) < 0.05)
        for a, b in zip(one, other, strict=False)
    )
    return near > 0.8 * len(one)


def plot_curves(
    results: Mapping[str, Result] | Iterable[Result],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    error: bool = False,
) -> Path:
    """Draw the learning curves of models that were evaluated on the same stream.

    Each model has one line over the last `window` messages; its label has the figure over all
    messages. Dotted vertical lines mark drift detections. Lines that look equal are drawn once,
    with both labels. For two classes a second panel shows the area over the ROC curve. Models with
    probabilities get a reliability diagram. For two classes two more panels show the ROC curve for
    few false positives, and the lowest cost by the cost of a false positive.

    Parameters
    ----------
    results
        Results of `prequential`.
    path
        The PNG to write.
    title
        Title of the picture.
    error
        Draw the error, 1 - accuracy, instead of the accuracy.

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
    from collections.abc import Mapping

    drawn = list(results.values() if isinstance(results, Mapping) else results)
    if not any(result.curve for result in drawn):
        raise InputError("there is no learning curve to draw: the stream had no messages")
    figure_class, canvas_class = require_matplotlib()
    curves = [ERROR if error else ACCURACY]
    if any(result.cumulative.one_minus_auc_percent is not None for result in drawn):
        curves.append(AREA)
    others: list[tuple[Callable[[Any, list[Result]], None], float]] = []
    if any(result.reliability for result in drawn):
        others.append((draw_reliability, 3.4))
    if any(result.roc for result in drawn):
        others += [(draw_roc, 3.0), (draw_costs, 2.6)]
    heights = [2.9] * len(curves) + [height for _, height in others]
    figure = figure_class(figsize=(9.6, 1.4 + sum(heights)), dpi=130, layout="constrained")
    canvas_class(figure)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    shared = None
    for place, panel in enumerate(curves):
        axes = figure.add_subplot(grid[place], sharex=shared)
        shared = shared or axes
        draw_curves(axes, drawn, panel)
        if place == 0:
            axes.set_title(
                f"over the last {drawn[0].window:,} messages; in brackets over all messages",
                loc="left",
                fontsize=9.5,
                color=_GREY,
            )
        axes.set_xlabel("messages" if place == len(curves) - 1 else "", color=_GREY)
    for place, (draw, _) in enumerate(others, len(curves)):
        draw(figure.add_subplot(grid[place]), drawn)
    figure.get_layout_engine().set(hspace=0.06)
    heading = "Learning curves" if title is None else title
    figure.suptitle(heading, x=0.012, ha="left", fontsize=13, fontweight="bold")
    target = Path(path)
    try:
        figure.savefig(target, format="png")
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror or problem}") from problem
    return target


def require_matplotlib() -> tuple[Any, Any]:
    """Return matplotlib's figure and its PNG canvas, without touching any global state."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise MissingDependencyError(
            "drawing learning curves needs matplotlib: pip install 'streamnb[plots]'"
        ) from problem
    return Figure, FigureCanvasAgg
