"""Drawings of the papers' figures (needs matplotlib: `pip install 'streamnb[plots]'`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from streamnb.errors import InputError
from streamnb.evaluation.plots import require_matplotlib
from streamnb.reproduce.papers.robustness import Figure, Panel

__all__ = ["draw"]

# The colours of Okabe and Ito, which people with colour-blindness can tell apart.
_COLOURS = {
    "NB": "#000000",
    "ENB": "#D55E00",
    "DNB": "#0072B2",
    "LNB": "#009E73",
    "GDNB": "#E69F00",
}
# With as many messages of either class the prior weighs nothing, and GDNB is LNB.
_DASHES = {"GDNB": (0, (4, 2))}
_GREY = "#5f6368"


def draw(figure: Figure, panels: Sequence[Panel], path: str | os.PathLike[str]) -> None:
    """Write the pictures of a figure as SVG: the same bytes for the same values.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    InputError
        The file cannot be written.
    """
    figure_class, canvas_class = require_matplotlib()
    import matplotlib as mpl

    rows = (len(panels) + 1) // 2
    drawing = figure_class(figsize=(9.6, 0.7 + 2.7 * rows), layout="constrained")
    canvas_class(drawing)
    grid = drawing.subplots(rows, 2, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        for name, values in panel.lines.items():
            dashes = _DASHES.get(name, "-")
            axes.plot(
                panel.places,
                values,
                color=_COLOURS[name],
                linestyle=dashes,
                linewidth=1.5,
                label=name,
            )
        axes.set_title(panel.title, loc="left", fontsize=10)
        axes.set_xlabel(figure.axis, color=_GREY)
        axes.set_ylabel(figure.unit, color=_GREY)
        axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
        axes.tick_params(colors=_GREY, length=0, labelsize=9)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    handles, names = grid.flat[0].get_legend_handles_labels()
    drawing.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    try:
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": figure.name}):
            drawing.savefig(Path(path), format="svg", metadata={"Date": None})
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror or problem}") from problem
