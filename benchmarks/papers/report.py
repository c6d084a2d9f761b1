"""Measured figures next to the published ones, with the papers' significance tests, in Markdown."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.papers.competitors import Competitor
from benchmarks.papers.experiment import Experiment, ModelRecipe, PublishedTable
from benchmarks.papers.pure_paths import PurePaths
from benchmarks.papers.runs import AllScores, Plan
from benchmarks.papers.significance import Wilcoxon, paired_t_test, wilcoxon

LEVEL = 0.05
NONE = "–"
# They keep every document and word, and compute statistics once, after a fold is learned.
_OPERATIONAL = ("refresh_every", "index_size", "max_path_words")
LEGEND = (
    "A cell has our figure / the published figure / the difference, or our figure alone if the "
    f"paper does not have one. {NONE} means that we have not measured it yet."
)

Cell = tuple[float | None, float | None]
"""Our figure, and the published one."""


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table.

    Examples
    --------
    >>> print(markdown(["", "MNB"], [["oh0", "89.55"]]))
    |  | MNB |
    | --- | --- |
    | oh0 | 89.55 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None, digits: int = 2, sign: str = "") -> str:
    """Return a figure, or a dash for None."""
    if value is None:
        return NONE
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}".replace("-", "−")


def compared(cell: Cell, digits: int = 2) -> str:
    """Return our figure, the published one and the difference.

    Examples
    --------
    >>> compared((89.5, 89.55)), compared((None, 89.55)), compared((89.5, None))
    ('89.50 / 89.55 / −0.05', '– / 89.55 / –', '89.50')
    """
    ours, theirs = cell
    if theirs is None:
        return number(ours, digits)
    difference = None if ours is None else ours - theirs
    shown = [number(ours, digits), number(theirs, digits), number(difference, digits, "+")]
    return " / ".join(shown)


def figure_table(table: PublishedTable, scores: AllScores, columns: Sequence[str]) -> str:
    """Return measured and published figures of some columns, with means and mean differences."""
    measured = [name for name, _ in scores]
    names = list(dict.fromkeys([*table.rows, *measured]))
    cells = {
        column: {name: _cell(table, scores, name, column) for name in names} for column in columns
    }
    names = [name for name in names if any(cells[c][name] != (None, None) for c in columns)]
    rows = [[name, *(compared(cells[column][name]) for column in columns)] for name in names]
    both = {c: [cell for cell in cells[c].values() if None not in cell] for c in columns}
    if any(len(known) > 1 for known in both.values()):
        means = [
            compared(_means(both[c])) if both[c] else NONE
            for c in columns  # of the same rows
        ]
        gaps = [
            number(_mean([abs(a - b) for a, b in both[c]])) if both[c] else NONE  # type: ignore[operator]
            for c in columns
        ]
        rows += [["mean of measured", *means], ["mean absolute difference", *gaps]]
    if table.average:
        printed = dict(zip(table.columns, table.average, strict=True))
        rows.append(["published mean of all", *(number(printed.get(c)) for c in columns)])
    return markdown(["", *columns], rows)


def _cell(table: PublishedTable, scores: AllScores, name: str, column: str) -> Cell:
    found = scores.get((name, column))
    return found.figure(table.value) if found else None, table.figure(name, column)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _means(cells: Sequence[Cell]) -> Cell:
    ours, theirs = zip(*cells, strict=True)
    return _mean(ours), _mean(theirs)


def improvement_table(
    table: PublishedTable, scores: AllScores, pairs: Sequence[tuple[str, str]], total: bool
) -> str:
    """Return improvements of accuracies in percent: (a - b) / b for each pair.

    Parameters
    ----------
    table
        The published accuracies.
    scores
        Our scores.
    pairs
        The better model a and the base b.
    total
        Whether to add the mean over all published rows.
    """

    def improved(cells: tuple[Cell, Cell]) -> Cell:
        first, second = (
            None if a is None or b is None else 100 * (a - b) / b
            for a, b in zip(*cells, strict=True)
        )
        return first, second

    cells = {
        name: [
            improved((_cell(table, scores, name, a), _cell(table, scores, name, b)))
            for a, b in pairs
        ]
        for name in table.rows
    }
    rows = [[name, *map(compared, row)] for name, row in cells.items()]
    columns = list(zip(*cells.values(), strict=True))
    known = [[cell for cell in column if None not in cell] for column in columns]
    rows.append(["mean of measured", *(compared(_means(k)) if k else NONE for k in known)])
    if total:
        printed = [[theirs for _, theirs in column if theirs is not None] for column in columns]
        rows.append(["published mean of all", *(number(_mean(values)) for values in printed)])
    return markdown(["", *(f"{a} over {b}" for a, b in pairs)], rows)


def win_tie_loss(marks: Iterable[str]) -> str:
    """Return marks as the papers print them.

    Examples
    --------
    >>> win_tie_loss([">", ">", "=", "<"])
    '2/1/1'
    """
    listed = list(marks)
    return "/".join(str(listed.count(mark)) for mark in ">=<")


def significance_table(
    experiment: Experiment, scores: AllScores, folds: int, pairs: Sequence[tuple[str, str]]
) -> str:
    """Return the tests of pairs of models: on each collection, and over collections.

    Wins, ties and losses are those of the corrected resampled t-test and of the plain paired one,
    two-tailed at 5 %.
    """
    tables = [table for table in experiment.published() if table.value == "accuracy"]
    rows = []
    for first, second in pairs:
        chosen = [name for name, model in scores if model == first and (name, second) in scores]
        if not chosen:
            continue
        printed: dict[str, str] = {}
        for table in tables:
            if table.columns[0] == first and second in table.columns[1:]:
                printed.update(table.marks(second))
        marks = [
            [
                _mark(scores[name, first].values, scores[name, second].values, ratio)
                for name in chosen
            ]
            for ratio in (experiment.protocol.test_ratio(folds), 0.0)
        ]
        ranks = wilcoxon(
            *([scores[name, model].mean for name in chosen] for model in (first, second))
        )
        both = [
            (one, other)
            for name in chosen
            if (one := _published(tables, name, first)) is not None
            and (other := _published(tables, name, second)) is not None
        ]
        theirs = [printed[name] for name in chosen if name in printed]
        rows.append(
            [
                f"{first}, {second}",
                *map(win_tie_loss, marks),
                win_tie_loss(theirs) if theirs else NONE,
                _ranks(ranks),
                _ranks(wilcoxon(*zip(*both, strict=True))) if both else NONE,
            ]
        )
    head = [
        *("models", "corrected t-test", "plain t-test", "published"),
        *("Wilcoxon", "of the published figures"),
    ]
    return markdown(head, rows)


def _mark(first: Sequence[float], second: Sequence[float], ratio: float) -> str:
    """Compare two models on the runs that both have."""
    n = min(len(first), len(second))
    return paired_t_test(first[:n], second[:n], ratio).mark(LEVEL)


def _published(tables: list[PublishedTable], collection: str, model: str) -> float | None:
    found = [table.figure(collection, model) for table in tables]
    return next((figure for figure in reversed(found) if figure is not None), None)


def _ranks(ranks: Wilcoxon) -> str:
    return f"R⁺ {ranks.positive:g}, R⁻ {ranks.negative:g}, p {ranks.p:.4f}"


def pair_table(
    rows: Sequence[str],
    columns: Sequence[str],
    figures: Sequence[Callable[[str], list[float | None]]],
    tested: Callable[[int, int, list[float], list[float]], str],
    printed: Callable[[int, int], str],
) -> str:
    """Return a test of each row's model against each column's, and the printed cell.

    Parameters
    ----------
    rows, columns
        The models.
    figures
        Functions that return the figures of a model over the collections; None if it has none.
    tested
        Function of the places of row and column, and of the figures of both; it returns the cell.
    printed
        The published cell of a row and a column.
    """

    def cell(i: int, j: int) -> str:
        if rows[i] == columns[j]:
            return ""
        found = []
        for source in figures:
            pairs = zip(source(rows[i]), source(columns[j]), strict=True)
            both = [(a, b) for a, b in pairs if a is not None and b is not None]
            found.append(tested(i, j, *map(list, zip(*both, strict=True))) if both else NONE)
        return " / ".join([*found, printed(i, j)])

    return markdown(
        ["", *columns],
        [[name, *(cell(i, j) for j in range(len(columns)))] for i, name in enumerate(rows)],
    )


def rank_mark(level: float, ranks: Wilcoxon) -> str:
    """Return `">"`, `"<"` or `"="` of a Wilcoxon test."""
    if ranks.p > level or ranks.positive == ranks.negative:
        return "="
    return ">" if ranks.positive > ranks.negative else "<"


def reading(model: ModelRecipe) -> str:
    """Return how a column is run, as a call.

    Parameters that only keep every document are left out.

    Examples
    --------
    >>> reading(ModelRecipe("HCNB", "HCNB", {"prior": "uniform"}))
    "`HCNB(prior='uniform')`"
    """
    if model.adapter is Competitor:
        return f"scikit-learn: {model.model}"
    if model.adapter is PurePaths:
        return f"`benchmarks.papers.pure_paths.PurePaths({model.model!r})`"
    given = {key: value for key, value in model.parameters.items() if key not in _OPERATIONAL}
    text = f"`{model.model}({', '.join(f'{key}={value!r}' for key, value in given.items())})`"
    each = [
        f"{name} {', '.join(map(str, own.values()))}" for name, own in model.for_collection.items()
    ]
    keys = dict.fromkeys(key for own in model.for_collection.values() for key in own)
    return f"{text}, `{', '.join(keys)}`: {', '.join(each)}" if each else text


def readings(experiment: Experiment, names: Iterable[str]) -> str:
    """Return how each column is run, and the notes."""
    models = [experiment.model(name) for name in names]
    rows = [[model.name, reading(model)] for model in models]
    notes = [recipe.note for recipe in experiment.collections if recipe.note]
    notes += experiment.notes
    listed = "\n".join(f"- {note[:1].upper()}{note[1:]}." for note in notes)
    return f"{markdown(['column', 'run as'], rows)}\n\n{listed}".rstrip()


def compared_pairs(experiment: Experiment, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the first model of each published table with each other one."""
    return [
        (table.columns[0], name)
        for table in experiment.published()
        if table.rows and table.value == "accuracy" and table.columns[0] in names
        for name in table.columns[1:]
        if name in names
    ]


def report(plan: Plan, scores: AllScores, compare: str | None = None) -> str:
    """Return the report of an experiment: its tables, tests and readings.

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
    chosen = {collection.name for collection in plan.collections}
    parts = [
        f"# {experiment.name}: {experiment.paper}",
        f"{protocol(experiment, plan.folds, plan.runs)} {LEGEND}",
    ]
    printed: set[str] = set()
    for table in experiment.published():
        columns = [name for name in table.columns if name in names]
        printed |= set(columns)
        if columns and table.rows:
            rows = {name: row for name, row in table.rows.items() if name in chosen}
            part = dataclasses.replace(table, rows=rows, significance={}, average=[])
            parts += [f"## {table.table}: {table.measure}", figure_table(part, scores, columns)]
    if others := [name for name in names if name not in printed]:
        empty = PublishedTable("", "", "", "", others)
        parts += ["## Not in the paper's tables", figure_table(empty, scores, others)]
    if compare:
        first = experiment.model(compare).name
        pairs = [(first, name) for name in names if name != first]
    else:
        pairs = compared_pairs(experiment, names)
    if pairs:
        parts += ["## Tests", significance_table(experiment, scores, plan.folds, pairs)]
    parts += ["## Readings", readings(experiment, names), seconds(scores)]
    return "\n\n".join(parts) + "\n"


def protocol(experiment: Experiment, folds: int, runs: int | str) -> str:
    """Describe how the figures are measured."""
    repeated = f"{experiment.runs} of {experiment.folds}" if experiment.runs else "unknown"
    return (
        f"{runs} run(s) of {experiment.protocol.title(folds)} (the paper: {repeated}), "
        f"{experiment.protocol.note}."
    )


def seconds(scores: AllScores) -> str:
    """Return the processor time of each model."""
    spent: dict[str, float] = {}
    for (_, model), found in scores.items():
        spent[model] = spent.get(model, 0.0) + found.seconds
    listed = ", ".join(f"{name} {value:.0f}" for name, value in spent.items())
    return f"Processor seconds: {listed}."


def published_text(experiment: Experiment) -> str:
    """Return the published tables, as printed in the paper."""
    parts = [f"# {experiment.name}: {experiment.paper}"]
    for table in experiment.published():
        rows = [
            [name, *map(_marked, figures, ["", *table.significance.get(name, [""] * 99)])]
            for name, figures in table.rows.items()
        ]
        rows += [[name, *marks.split()] for name, marks in table.pairs.items()]
        if table.average:
            rows.append(["average", *(f"{figure:.2f}" for figure in table.average)])
        if table.win_tie_loss:
            rows.append(["win/tie/loss", *table.win_tie_loss])
        legend = f"; > {table.columns[0]} is significantly better, < worse"
        title = f"{table.table}: {table.measure}{legend if table.significance else ''}"
        parts += [f"## {title}", markdown(["", *table.columns], rows)]
    return "\n\n".join(parts) + "\n"


def _marked(figure: float, mark: str) -> str:
    return f"{NONE if math.isnan(figure) else format(figure, '.2f')} {mark}".rstrip()


def series_table(
    positions: Sequence[str], lines: Mapping[str, Sequence[float | None]], digits: int = 2
) -> str:
    """Return the lines of a figure: one row for each, one column for each position."""
    rows = [[name, *(number(value, digits) for value in values)] for name, values in lines.items()]
    return markdown(["", *positions], rows)
