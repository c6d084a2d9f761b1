"""Learning curves as a PNG (needs matplotlib: `pip install 'streamnb[plots]'`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError, MissingDependencyError
from streamnb.evaluation import panels

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from streamnb.evaluation.results import Result

__all__ = ["plot_curves", "require_matplotlib"]


def plot_curves(
    results: Mapping[str, Result] | Iterable[Result],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    error: bool = False,
) -> Path:
    """Draw the learning curves of models that were evaluated on the same stream.

    One line a model over the last `window` messages, named at its end with the figure over all
    messages; alarms of drift are dotted lines upright, marked on top. Lines that are the same to
    the eye are drawn once, with both names. With two classes a second panel shows the area over
    the ROC curve; where models have probabilities another shows how far these come true (a
    reliability diagram). Of two classes two more show what thresholds would have done: the ROC
    curve where few messages are lost, and the lowest cost by what a lost message costs.

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
    curves = [panels.ERROR if error else panels.ACCURACY]
    if any(result.cumulative.one_minus_auc_percent is not None for result in drawn):
        curves.append(panels.AREA)
    others: list[tuple[Callable[[Any, list[Result]], None], float]] = []
    if any(result.reliability for result in drawn):
        others.append((panels.draw_reliability, 3.4))
    if any(result.roc for result in drawn):
        others += [(panels.draw_roc, 3.0), (panels.draw_costs, 2.6)]
    heights = [2.9] * len(curves) + [height for _, height in others]
    figure = figure_class(figsize=(9.6, 1.4 + sum(heights)), dpi=130, layout="constrained")
    canvas_class(figure)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    shared = None
    for place, panel in enumerate(curves):
        axes = figure.add_subplot(grid[place], sharex=shared)
        shared = shared or axes
        panels.draw_curves(axes, drawn, panel)
        if place == 0:
            axes.set_title(
                f"over the last {drawn[0].window:,} messages; in brackets over all messages",
                loc="left",
                fontsize=9.5,
                color=panels.GREY,
            )
        axes.set_xlabel("messages" if place == len(curves) - 1 else "", color=panels.GREY)
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
