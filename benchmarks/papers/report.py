"""Measured figures next to the published ones, with the papers' significance tests, as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.papers.experiment import Experiment, PublishedTable
from benchmarks.papers.runs import Plan, Scores
from benchmarks.papers.significance import Wilcoxon, paired_t_test, wilcoxon

AllScores = Mapping[tuple[str, str], Scores]
LEVEL = 0.05


def report(plan: Plan, scores: AllScores, compare: str | None = None) -> str:
    """Return the report of an experiment.

    Parameters
    ----------
    plan
        The experiment.
    scores
        The scores of each collection and model.
    compare
        The model to compare with all others; by default the first model of each table is compared
        with the others of its table.
    """
    experiment = plan.experiment
    names = [model.name for model in plan.models]
    published = experiment.published()
    printed = {column for table in published for column in table.columns}
    others = [name for name in names if name not in printed]
    tables = [*published, PublishedTable("", "", "Not in the paper's tables", "", others, {})]
    tables = [table for table in tables if set(table.columns) & set(names)]
    if compare:
        first = experiment.model(compare).name
        pairs = [(first, name) for name in names if name != first]
    else:
        pairs = [
            (table.columns[0], name)
            for table in tables
            if table.rows and table.columns[0] in names
            for name in table.columns[1:]
            if name in names
        ]
    repeated = f"{experiment.runs} of {experiment.folds}" if experiment.runs else "unknown"
    title = (
        f"{experiment.name}: {experiment.paper}\n"
        f"{plan.runs} run(s) of {experiment.protocol.title(plan.folds)} (the paper: {repeated}), "
        f"{experiment.protocol.note}, first seed {plan.seed}"
    )
    parts = [title, *(_table(plan, scores, table) for table in tables)]
    if pairs:
        parts.append(_comparisons(plan, scores, published, pairs))
    seconds = {
        name: sum(scores[collection.name, name].seconds for collection in plan.collections)
        for name in names
    }
    spent = ", ".join(f"{name} {spent:.1f}" for name, spent in seconds.items())
    parts.append(f"Seconds for all folds: {spent}")
    notes = [collection.note for collection in plan.collections if collection.note]
    notes += experiment.notes
    if notes:
        parts.append("\n".join(f"Note: {note}." for note in notes))
    return "\n\n".join(parts) + "\n"


def published_text(experiment: Experiment) -> str:
    """Return the published tables, as printed in the paper."""
    parts = [f"{experiment.name}: {experiment.paper}"]
    for table in experiment.published():
        rows = [["", *table.columns]]
        for name, figures in table.rows.items():
            marks = ["", *table.significance.get(name, [""] * (len(figures) - 1))]
            rows.append([name, *map(_marked, figures, marks)])
        if table.average:
            rows.append(["average", *map(_marked, table.average, [""] * len(table.average))])
        if table.win_tie_loss:
            rows.append(["win/tie/loss", *table.win_tie_loss])
        legend = f"; > {table.columns[0]} is significantly better, < worse"
        title = f"{table.table}: {table.measure}{legend if table.significance else ''}"
        parts.append(f"{title}\n{_align(rows)}")
    return "\n\n".join(parts) + "\n"


def _marked(figure: float, mark: str) -> str:
    return f"{'-' if math.isnan(figure) else format(figure, '.2f')} {mark}".rstrip()


def _align(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _number(value: float | None, spec: str = ".2f") -> str:
    return "-" if value is None else format(value, spec)


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean, or None if a value is missing."""
    listed = list(values)
    present = [value for value in listed if value is not None]
    return sum(present) / len(present) if present and len(present) == len(listed) else None


def _table(plan: Plan, scores: AllScores, table: PublishedTable) -> str:
    names = {model.name for model in plan.models}
    measured = [column for column in table.columns if column in names]
    only = [column for column in table.columns if column not in names]
    head, under = [""], [""]
    for name in measured:
        head += [name, "", ""]
        under += ["measured", "published", "diff"]
    rows = [[*head, *only], [*under, *["(publ.)"] * len(only)]]

    def row(title: str, found: list[float | None], printed: list[float | None]) -> list[str]:
        cells = [title]
        for ours, theirs in zip(found, printed, strict=False):
            known = ours is not None and theirs is not None
            cells += [
                _number(ours),
                _number(theirs),
                _number(ours - theirs, "+.2f") if known else "-",
            ]
        return cells + [_number(value) for value in printed[len(found) :]]

    figures = [
        (
            collection.name,
            [scores[collection.name, name].mean for name in measured],
            [table.figure(collection.name, name) for name in (*measured, *only)],
        )
        for collection in plan.collections
    ]
    rows += [row(*each) for each in figures]
    rows.append(
        row(
            "average",
            [_mean(column) for column in zip(*(found for _, found, _ in figures), strict=True)],
            [_mean(column) for column in zip(*(printed for *_, printed in figures), strict=True)],
        )
    )
    absolute = ["mean |diff|"]
    for column in range(len(measured)):
        known = [
            abs(found[column] - printed[column])
            for _, found, printed in figures
            if printed[column] is not None
        ]
        absolute += ["", "", _number(sum(known) / len(known) if known else None)]
    rows.append(absolute + [""] * len(only))
    title = f"{table.table}: {table.measure}".removesuffix(": ")
    if only:
        title += "; columns with (publ.) are published figures only"
    return f"{title}\n{_align(rows)}"


def win_tie_loss(marks: Iterable[str]) -> str:
    """Return marks as the papers print them.

    Examples
    --------
    >>> win_tie_loss([">", ">", "=", "<"])
    '2/1/1'
    """
    listed = list(marks)
    return "/".join(str(listed.count(mark)) for mark in ">=<")


def _comparisons(
    plan: Plan, scores: AllScores, tables: list[PublishedTable], pairs: list[tuple[str, str]]
) -> str:
    chosen = [collection.name for collection in plan.collections]
    ratio = plan.experiment.protocol.test_ratio(plan.folds)
    rows = [["", "win/tie/loss", "published", f"Wilcoxon over {len(chosen)}", "of the published"]]
    differing = []
    for first, second in pairs:
        marks = {
            name: paired_t_test(
                scores[name, first].values, scores[name, second].values, ratio
            ).mark(LEVEL)
            for name in chosen
        }
        printed: dict[str, str] = {}
        for table in tables:
            if table.columns[0] == first and second in table.columns[1:]:
                every = table.marks(second)
                printed = {name: every[name] for name in chosen if name in every}
        both = [
            (one, other)
            for name in chosen
            if (one := _published(tables, name, first)) is not None
            and (other := _published(tables, name, second)) is not None
        ]
        ranks = wilcoxon(
            [scores[name, first].mean for name in chosen],
            [scores[name, second].mean for name in chosen],
        )
        rows.append(
            [
                f"{first} against {second}",
                win_tie_loss(marks.values()),
                win_tie_loss(printed.values()) if printed else "-",
                _ranks(ranks),
                _ranks(wilcoxon(*zip(*both, strict=True))) if both else "-",
            ]
        )
        other = [
            f"{name} ({marks[name]}, published {mark})"
            for name, mark in printed.items()
            if mark != marks[name]
        ]
        if other:
            differing.append(f"{first} against {second}: {', '.join(other)}")
    text = (
        f"Corrected resampled t-test (two-tailed, {100 * (1 - LEVEL):g} %) on each collection, and "
        f"Wilcoxon signed-rank test over collections\n{_align(rows)}"
    )
    if differing:
        text += "\nThe t-test differs from the published one on\n  " + "\n  ".join(differing)
    return text


def _published(tables: list[PublishedTable], collection: str, model: str) -> float | None:
    found = [table.figure(collection, model) for table in tables]
    return next((figure for figure in reversed(found) if figure is not None), None)


def _ranks(ranks: Wilcoxon) -> str:
    return f"R+ {ranks.positive:g}, R- {ranks.negative:g}, p {ranks.p:.4f}"
