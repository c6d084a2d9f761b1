"""A report as text, CSV or JSON; and the published tables alone."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from streamnb.reproduce.comparison import Cell, Comparison, Report, TableReport, win_tie_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streamnb.reproduce.experiment import Experiment
    from streamnb.reproduce.significance import Wilcoxon
    from streamnb.reproduce.tables import PublishedTable

__all__ = ["FORMATS", "published_text", "to_csv", "to_json", "to_text"]

_CORRECTED = (
    "t-test: corrected resampled paired, the default of WEKA's Experimenter. The folds of repeated "
    "cross-validation\nshare documents, so the plain test takes chance for significance "
    "(--t-test plain)."
)
_PLAIN = (
    "t-test: plain paired, over all folds. It takes them for independent, which they are not; "
    "WEKA's Experimenter\ncorrects for that (--t-test corrected)."
)


def to_text(report: Report) -> str:
    """Return a report for reading."""
    plan = report.plan
    experiment = plan.experiment
    runs = "1 run" if plan.runs == 1 else f"{plan.runs} runs"
    last = f" to {plan.seed + plan.runs - 1}" if plan.runs > 1 else ""
    repeated = f"{experiment.runs} of {experiment.folds}" if experiment.runs else "not said"
    title = (
        f"{experiment.name}: {experiment.paper}\n"
        f"{runs} of {experiment.protocol.title(plan.folds)} (the paper: {repeated}), "
        f"{experiment.protocol.note}, seed {plan.seed}{last}"
    )
    parts = [title, *map(_table_text, report.tables)]
    if report.comparisons:
        parts.append(_comparisons_text(report))
    spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in report.seconds.items())
    parts.append(f"Seconds for all folds: {spent}")
    notes = [collection.note for collection in plan.collections if collection.note]
    notes += experiment.notes
    if notes:
        parts.append("\n".join(f"Note: {note}." for note in notes))
    return "\n\n".join(parts) + "\n"


def _number(value: float | None, term_weighting: str = ".2f") -> str:
    return "-" if value is None else format(value, term_weighting)


def _align(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _table_text(report: TableReport) -> str:
    head = [""]
    under = [""]
    for name in report.measured:
        head += [name, "", ""]
        under += ["measured", "published", "diff"]
    for name in report.published_only:
        head.append(name)
        under.append("(publ.)")

    def row(name: str, cells: dict[str, Cell]) -> list[str]:
        line = [name]
        for model in report.measured:
            cell = cells[model]
            line += [_number(cell.measured), _number(cell.published)]
            line.append(_number(cell.difference, "+.2f"))
        return line + [_number(cells[model].published) for model in report.published_only]

    rows = [head, under]
    rows += [row(collection, cells) for collection, cells in report.cells.items()]
    rows.append(row("average", report.average))
    absolute = ["mean |diff|"]
    for name in report.measured:
        absolute += ["", "", _number(report.mean_absolute_difference.get(name))]
    rows.append(absolute + [""] * len(report.published_only))
    title = f"{report.table.table}: {report.table.measure}"
    if report.published_only:
        title += "; columns with (publ.) are published figures only"
    return f"{title}\n{_align(rows)}"


def _ranks_text(ranks: Wilcoxon | None) -> str:
    if ranks is None:
        return "-"
    return f"R+ {ranks.pos_label:g}, R- {ranks.negative:g}, p {ranks.p:.4f}"


def _comparisons_text(report: Report) -> str:
    collections = len(report.plan.collections)
    rows = [["", "win/tie/loss", "published", f"Wilcoxon over {collections}", "of the published"]]
    differing = []
    for pair in report.comparisons:
        rows.append(
            [
                f"{pair.first} against {pair.second}",
                win_tie_loss(pair.marks.values()),
                win_tie_loss(pair.published_marks.values()) if pair.published_marks else "-",
                _ranks_text(pair.ranks),
                _ranks_text(pair.published_ranks),
            ]
        )
        other = [
            f"{name} ({pair.marks[name]}, published {mark})"
            for name, mark in pair.published_marks.items()
            if mark != pair.marks[name]
        ]
        if other:
            differing.append(f"{pair.first} against {pair.second}: {', '.join(other)}")
    text = (
        f"Two-tailed t-test at {100 * (1 - report.level):g} % on each collection, and Wilcoxon "
        f"signed-rank test over collections\n{_align(rows)}"
    )
    if differing:
        text += "\nThe t-test differs from the published one on\n  " + "\n  ".join(differing)
    return f"{text}\n{_CORRECTED if report.corrected else _PLAIN}"


def to_csv(report: Report) -> str:
    """Return a report as CSV, one figure a line; figures that do not exist are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "row", "model", "measured", "published", "difference"])
    for table in report.tables:
        name = table.table.name
        for row, cells in [*table.cells.items(), ("average", table.average)]:
            for model, cell in cells.items():
                writer.writerow([name, row, model, *_csv_cell(cell)])
        for model, value in table.mean_absolute_difference.items():
            row = "mean absolute difference"
            writer.writerow([name, row, model, "", "", f"{value:.4f}"])
    for pair in report.comparisons:
        for row, measured, published in _csv_comparison(pair):
            writer.writerow(["comparisons", row, pair.first, measured, published, ""])
    return out.getvalue()


def _csv_cell(cell: Cell) -> list[str]:
    values = (cell.measured, cell.published, cell.difference)
    return ["" if value is None else f"{value:.4f}" for value in values]


def _csv_comparison(pair: Comparison) -> Iterator[tuple[str, str, str]]:
    yield (
        f"win/tie/loss against {pair.second}",
        win_tie_loss(pair.marks.values()),
        win_tie_loss(pair.published_marks.values()) if pair.published_marks else "",
    )
    for field in ("pos_label", "negative", "p"):
        published = pair.published_ranks
        yield (
            f"wilcoxon {field} against {pair.second}",
            f"{getattr(pair.ranks, field):.6g}",
            "" if published is None else f"{getattr(published, field):.6g}",
        )


def to_json(report: Report) -> str:
    """Return a report as JSON."""
    plan = report.plan
    content: dict[str, Any] = {
        "experiment": plan.experiment.name,
        "paper": plan.experiment.paper,
        "runs": plan.runs,
        "folds": plan.folds,
        "seed": plan.seed,
        "collections": [collection.name for collection in plan.collections],
        "models": {model.name: dict(model.parameters) for model in plan.models},
        "t_test": "corrected" if report.corrected else "plain",
        "level": report.level,
        "seconds": report.seconds,
        "tables": [
            {
                "name": table.table.name,
                "table": table.table.table,
                "measure": table.table.measure,
                "measured": table.measured,
                "published_only": table.published_only,
                "rows": {name: _json_cells(cells) for name, cells in table.cells.items()},
                "average": _json_cells(table.average),
                "mean_absolute_difference": table.mean_absolute_difference,
            }
            for table in report.tables
        ],
        "comparisons": [
            {
                "first": pair.first,
                "second": pair.second,
                "win_tie_loss": win_tie_loss(pair.marks.values()),
                "marks": pair.marks,
                "published_marks": pair.published_marks,
                "wilcoxon": pair.ranks._asdict(),
                "published_wilcoxon": pair.published_ranks and pair.published_ranks._asdict(),
            }
            for pair in report.comparisons
        ],
        "notes": [
            *(collection.note for collection in plan.collections if collection.note),
            *plan.experiment.notes,
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _json_cells(cells: dict[str, Cell]) -> dict[str, dict[str, float | None]]:
    return {model: {**asdict(cell), "difference": cell.difference} for model, cell in cells.items()}


def published_text(experiment: Experiment) -> str:
    """Return the published tables, as printed in the paper."""
    parts = [f"{experiment.name}: {experiment.paper}"]
    parts += [_published_table(table) for table in experiment.published()]
    return "\n\n".join(parts) + "\n"


def _published_table(table: PublishedTable) -> str:
    rows = [["", *table.columns]]
    for name, figures in table.rows.items():
        marks = ["", *table.significance.get(name, [""] * (len(figures) - 1))]
        cells = [
            f"{'-' if math.isnan(figure) else format(figure, '.2f')} {mark or ' '}"
            for figure, mark in zip(figures, marks, strict=True)
        ]
        rows.append([name, *cells])
    if table.average:
        rows.append(["average", *(f"{figure:.2f}  " for figure in table.average)])
    if table.win_tie_loss:
        rows.append(["win/tie/loss", *(f"{foot}  " for foot in table.win_tie_loss)])
    rows[0] = ["", *(f"{column}  " for column in table.columns)]
    legend = ""
    if table.significance:
        legend = f"; > {table.lead} is significantly better, < worse"
    return f"{table.table}: {table.measure}{legend}\n{_align(rows)}"


FORMATS: dict[str, Callable[[Report], str]] = {"text": to_text, "csv": to_csv, "json": to_json}
