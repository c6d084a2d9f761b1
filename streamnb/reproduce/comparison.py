"""Measured figures beside the published ones, and the tests over both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamnb.errors import InputError
from streamnb.reproduce.runner import Plan, Scores
from streamnb.reproduce.significance import Wilcoxon, paired_t_test, wilcoxon

if TYPE_CHECKING:
    from streamnb.reproduce.tables import PublishedTable

__all__ = [
    "Cell",
    "Comparison",
    "Report",
    "TableReport",
    "check_request",
    "make_report",
    "win_tie_loss",
]

AllScores = Mapping[tuple[str, str], Scores]


@dataclass(frozen=True)
class Cell:
    """A figure: measured, published, or both; None where there is none."""

    measured: float | None
    published: float | None

    @property
    def difference(self) -> float | None:
        """Measured minus published."""
        if self.measured is None or self.published is None:
            return None
        return self.measured - self.published


@dataclass(frozen=True)
class Comparison:
    """One model against another over the chosen collections.

    Attributes
    ----------
    first, second
        The two models; `">"` in the marks says that the first is significantly better.
    marks, published_marks
        Collection → mark; the published ones are empty where the paper has none.
    ranks, published_ranks
        The signed-rank test over the measured means, and over the published figures of the same
        collections where the tables have both models.
    """

    first: str
    second: str
    marks: dict[str, str]
    published_marks: dict[str, str]
    ranks: Wilcoxon
    published_ranks: Wilcoxon | None


@dataclass(frozen=True)
class TableReport:
    """A published table with what was measured of it.

    Attributes
    ----------
    table
        The published table; one without rows holds the models that the paper does not have.
    measured, published_only
        Its columns.
    cells
        Collection → model → cell, for the chosen collections.
    average
        Model → cell: mean over the chosen collections, of the published ones where all have one.
    mean_absolute_difference
        Model → mean of |measured - published| over the chosen collections.
    """

    table: PublishedTable
    measured: tuple[str, ...]
    published_only: tuple[str, ...]
    cells: dict[str, dict[str, Cell]]
    average: dict[str, Cell]
    mean_absolute_difference: dict[str, float]


@dataclass(frozen=True)
class Report:
    """Everything that `streamnb reproduce` prints.

    Attributes
    ----------
    plan
        What was run.
    tables
        The tables that have something measured in them.
    comparisons
        Pairs of models.
    corrected
        Whether the t-test is the corrected resampled one.
    level
        Significance level of the t-test.
    seconds
        Model → time that its runs took when they were made.
    """

    plan: Plan
    tables: tuple[TableReport, ...]
    comparisons: tuple[Comparison, ...]
    corrected: bool
    level: float
    seconds: dict[str, float]


def win_tie_loss(marks: Iterable[str]) -> str:
    """Return marks as the papers print them.

    Examples
    --------
    >>> win_tie_loss([">", ">", "=", "<"])
    '2/1/1'
    """
    listed = list(marks)
    return "/".join(str(listed.count(mark)) for mark in ">=<")


def check_request(plan: Plan, compare: str | None, level: float) -> str | None:
    """Check before hours of running what `make_report` will need; return the model's own name.

    Raises
    ------
    InputError
        As in `make_report`.
    """
    if not 0 < level < 1:
        raise InputError(f"the level is {level}; it should be between 0 and 1")
    if compare is None:
        return None
    name = plan.experiment.model(compare).name
    if name not in {model.name for model in plan.models}:
        raise InputError(f"{name} is to be compared, but is not among the chosen models")
    return name


def make_report(
    plan: Plan,
    scores: AllScores,
    compare: str | None = None,
    corrected: bool = True,
    level: float = 0.05,
) -> Report:
    """Put measured figures beside the published ones.

    Parameters
    ----------
    plan
        What was run.
    scores
        What `run_plan` returned.
    compare
        A model to compare with all other measured ones; None: each table's own with the others
        of its table.
    corrected
        Whether to take WEKA's corrected resampled t-test or the plain paired one.
    level
        Significance level of the t-test, between 0 and 1.

    Raises
    ------
    InputError
        The model to compare was not measured, or the level is out of its range.
    """
    compare = check_request(plan, compare, level)
    names = tuple(model.name for model in plan.models)
    published = plan.experiment.published()
    tables = [_table_report(plan, scores, table) for table in published]
    known = {column for table in published for column in table.columns}
    if others := tuple(name for name in names if name not in known):
        tables.append(_table_report(plan, scores, _unpublished(published[0], others)))
    if compare is None:
        pairs = [
            (report.table.lead, other)
            for report in tables
            if report.table.rows and report.table.lead in report.measured
            for other in report.measured
            if other != report.table.lead
        ]
    else:
        pairs = [(compare, other) for other in names if other != compare]
    ratio = plan.experiment.protocol.test_ratio(plan.folds) if corrected else 0.0
    seconds = {
        name: sum(scores[collection.name, name].seconds for collection in plan.collections)
        for name in names
    }
    return Report(
        plan,
        tuple(report for report in tables if report.measured),
        tuple(_compare(plan, scores, published, pair, ratio, level) for pair in pairs),
        corrected,
        level,
        seconds,
    )


def _unpublished(like: PublishedTable, columns: tuple[str, ...]) -> PublishedTable:
    return replace(
        like,
        name="unpublished",
        table="Not in the paper's tables",
        columns=columns,
        rows={},
        significance={},
        average=(),
        win_tie_loss=(),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    listed = list(values)
    present = [value for value in listed if value is not None]
    return sum(present) / len(present) if present and len(present) == len(listed) else None


def _table_report(plan: Plan, scores: AllScores, table: PublishedTable) -> TableReport:
    names = {model.name for model in plan.models}
    measured = tuple(column for column in table.columns if column in names)
    cells = {
        collection.name: {
            column: Cell(
                scores[collection.name, column].mean if column in names else None,
                table.figure(collection.name, column),
            )
            for column in table.columns
        }
        for collection in plan.collections
    }
    average = {
        column: Cell(
            _mean(row[column].measured for row in cells.values()),
            _mean(row[column].published for row in cells.values()),
        )
        for column in table.columns
    }
    absolute = {}
    for column in measured:
        differences = [row[column].difference for row in cells.values()]
        known = [abs(difference) for difference in differences if difference is not None]
        if known:
            absolute[column] = sum(known) / len(known)
    published_only = tuple(column for column in table.columns if column not in names)
    return TableReport(table, measured, published_only, cells, average, absolute)


def _compare(
    plan: Plan,
    scores: AllScores,
    tables: list[PublishedTable],
    pair: tuple[str, str],
    ratio: float,
    level: float,
) -> Comparison:
    first, second = pair
    chosen = [collection.name for collection in plan.collections]
    marks = {
        name: paired_t_test(scores[name, first].values, scores[name, second].values, ratio).mark(
            level
        )
        for name in chosen
    }
    published_marks: dict[str, str] = {}
    published: dict[str, dict[str, float]] = {first: {}, second: {}}
    for table in tables:
        if table.lead == first and second in table.columns[1:]:
            every = table.marks(second)
            published_marks = {name: every[name] for name in chosen if name in every}
        for model, figures in published.items():
            for name in chosen:
                figure = table.figure(name, model)
                if figure is not None:
                    figures[name] = figure
    both = [name for name in chosen if name in published[first] and name in published[second]]
    return Comparison(
        first,
        second,
        marks,
        published_marks,
        wilcoxon(
            [scores[name, first].mean for name in chosen],
            [scores[name, second].mean for name in chosen],
        ),
        wilcoxon(
            [published[first][name] for name in both], [published[second][name] for name in both]
        )
        if both
        else None,
    )
