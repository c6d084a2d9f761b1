"""What one panel of a picture shows: a curve along the stream, probabilities, thresholds, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamnb.evaluation.metrics import Scores
    from streamnb.evaluation.results import Result

__all__ = [
    "ACCURACY",
    "AREA",
    "ERROR",
    "GREY",
    "draw_costs",
    "draw_curves",
    "draw_reliability",
    "draw_roc",
]

# The colours of Okabe and Ito, which people with colour-blindness can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#5f6368"
_PALE = "#b9bdc3"
# Told apart without colours, too.
_DASHES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)))
_FEWEST = 10  # messages of a bin that is drawn
_LOST = 0.1  # percent: where filters for people are compared, as in TREC's spam tracks
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

# A line: its points, the name of its model, and the figure behind it.
_Line = tuple["Sequence[tuple[float, float]]", str]


def draw_curves(axes: Any, results: Sequence[Result], panel: Panel) -> None:
    """Draw a metric along the stream; lines that are the same to the eye once."""
    name, value_of = panel
    lines = [[value_of(point.windowed) for point in result.curve] for result in results]
    settled: list[float] = []
    named = []
    for first, others in _same_lines(lines).items():
        result, values = results[first], lines[first]
        axes.plot([point.n_messages for point in result.curve], _gaps(values), **_style(first))
        # The first tenth of a stream is a beginner's: it must not set the scale of the rest.
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
    axes.set_ylabel(name, color=GREY)
    axes.set_xlim(left=0)
    axes.margins(x=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _plain(axes)


def _mark_alarms(axes: Any, results: Sequence[Result]) -> None:
    """Draw a line at each alarm of drift, with a mark on top, in the colour of its model."""
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
    """Draw the share that came true by the probability, of bins of ten messages and more."""
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
    axes.set_xlabel("probability said (in brackets: expected calibration error)", color=GREY)
    axes.set_ylabel("share that came true", color=GREY)
    _plain(axes)


def draw_roc(axes: Any, results: Sequence[Result]) -> None:
    """Draw what is let through by what is lost, where little is: both axes are logarithmic."""
    lines: list[_Line] = []
    for result in results:
        positives = result.labels.get(result.pos_label, 0)
        # None of so many is drawn as half of one.
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
    axes.set_xlabel(f"% of the others lost (in brackets: at {_LOST:g} %)", color=GREY)
    axes.set_ylabel(f"% of {pos_label} let through", color=GREY)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    _plain(axes)


def draw_costs(axes: Any, results: Sequence[Result]) -> None:
    """Draw what the best threshold would have cost, by what a lost message costs."""
    lines: list[_Line] = []
    for result in results:
        costs = [(ratio, result.lowest_cost(ratio)) for ratio in _RATIOS]
        points = [(float(ratio), 1000 * cost) for ratio, cost in costs if cost is not None]
        lines.append((points, result.name))
    axes.set_xscale("log")
    axes.set_xlim(_RATIOS[0], _RATIOS[-1])
    axes.set_ylim(0, 1.05 * max(y for points, _ in lines for _, y in points))
    _draw_lines(axes, lines)
    axes.set_xlabel("cost of a message lost, where one let through costs 1", color=GREY)
    axes.set_ylabel("cost of 1,000 messages", color=GREY)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _plain(axes)


def _draw_lines(axes: Any, lines: Sequence[_Line], **how: Any) -> None:
    """Draw each line and name it at its end; those that are equal once, with all their names."""
    named = []
    keys = [[(round(x, 4), round(y, 4)) for x, y in points] for points, _ in lines]
    for number, (points, _) in enumerate(lines):
        # Two models may say the same, as MNB and river's do.
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
    """Return each line that is drawn, with the later ones that are the same to the eye."""
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
    """Write the name of each line beside its end, no name over another."""
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
    axes.tick_params(which="both", colors=GREY, length=0, labelsize=9.5)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_PALE)


def _gaps(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _coincide(one: list[float | None], other: list[float | None]) -> bool:
    """Tell whether two lines are the same for most of their length, to the eye."""
    near = sum(
        a == b or (a is not None and b is not None and abs(a - b) < 0.05)
        for a, b in zip(one, other, strict=False)
    )
    return near > 0.8 * len(one)
