"""Learning curves as a PNG (needs matplotlib: `pip install streamnb[plots]`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from streamnb.evaluation.metrics import Scores
    from streamnb.evaluation.results import Result

__all__ = ["plot_curves", "require_matplotlib"]

# The colours of Okabe and Ito, which people with colour-blindness can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY = "#5f6368"

_Panel = tuple[str, "Callable[[Scores], float | None]"]
_ACCURACY: _Panel = (
    "Accuracy (%)",
    lambda scores: None if scores.accuracy is None else 100 * scores.accuracy,
)
_ERROR: _Panel = (
    "Error (%)",
    lambda scores: None if scores.accuracy is None else 100 * (1 - scores.accuracy),
)
_AREA: _Panel = ("(1-AUC) %, lower is better", lambda scores: scores.one_minus_auc_percent)


def plot_curves(
    results: Mapping[str, Result] | Iterable[Result],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    error: bool = False,
) -> Path:
    """Draw the learning curves of models that were evaluated on the same stream.

    One line a model: solid over the last `window` messages, dashed over all messages so far. With
    two classes a second panel shows the area over the ROC curve.

    Parameters
    ----------
    results
        Results of `prequential`.
    path
        Where to write the PNG.
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
        There is nothing to draw.
    """
    from collections.abc import Mapping

    drawn = list(results.values() if isinstance(results, Mapping) else results)
    if not any(result.curve for result in drawn):
        raise InputError("there is no learning curve to draw: the stream had no messages")
    figure_class, canvas_class = require_matplotlib()
    panels = [_ERROR if error else _ACCURACY]
    if any(result.cumulative.one_minus_auc_percent is not None for result in drawn):
        panels.append(_AREA)
    figure = figure_class(figsize=(9.6, 1.8 + 2.9 * len(panels)), dpi=130, layout="constrained")
    canvas_class(figure)
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw_panel(axes, drawn, panel)
    all_axes[-1].set_xlabel("messages", color=_GREY)
    figure.align_ylabels(list(all_axes))
    figure.get_layout_engine().set(hspace=0.06)
    handles, names = all_axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=min(4, len(names)),
        frameon=False,
        fontsize=10,
    )
    window = drawn[0].window
    heading = "Learning curves" if title is None else title
    figure.suptitle(heading, x=0.012, ha="left", fontsize=13, fontweight="bold")
    all_axes[0].set_title(
        f"solid: last {window:,} messages    dashed: all messages so far",
        loc="left",
        fontsize=9.5,
        color=_GREY,
    )
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
            "drawing learning curves needs matplotlib: pip install streamnb[plots]"
        ) from problem
    return Figure, FigureCanvasAgg


def _draw_panel(axes: Any, results: list[Result], panel: _Panel) -> None:
    name, value_of = panel
    windowed = [[value_of(point.windowed) for point in result.curve] for result in results]
    cumulative = [[value_of(point.cumulative) for point in result.curve] for result in results]
    settled: list[float] = []
    for number, result in enumerate(results):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [point.n_messages for point in result.curve]
        # A line that later ones cover is drawn broader, so that it shows on both sides of them.
        covered = sum(_coincide(windowed[number], later) for later in windowed[number + 1 :])
        axes.plot(
            places,
            _gaps(windowed[number]),
            color=colour,
            linewidth=1.7 + 2.4 * covered,
            solid_joinstyle="round",
            label=result.name,
        )
        axes.plot(
            places,
            _gaps(cumulative[number]),
            color=colour,
            linewidth=1.2,
            linestyle=(0, (4, 2)),
            alpha=0.75,
        )
        # The first tenth of a stream is a beginner's: it must not set the scale of the rest.
        for values in (windowed[number], cumulative[number]):
            settled += [value for value in values[len(values) // 10 :] if value is not None]
    if settled:
        low, high = min(settled), max(settled)
        margin = max(0.06 * (high - low), 0.25)
        axes.set_ylim(max(0.0, low - margin), min(100.0, high + margin))
    axes.set_ylabel(name, color=_GREY)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
    axes.tick_params(colors=_GREY, length=0, labelsize=9.5)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#b9bdc3")


def _gaps(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _coincide(one: list[float | None], other: list[float | None]) -> bool:
    """Tell whether two lines are the same for most of their length, to the eye."""
    near = sum(
        a == b or (a is not None and b is not None and abs(a - b) < 0.05)
        for a, b in zip(one, other, strict=False)
    )
    return near > 0.8 * len(one)
