"""Write one page for each paper from the recorded runs, and the map of systems and equations."""

from __future__ import annotations

import contextlib
import dataclasses
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scipy import stats

from benchmarks.papers import hmnb, honb, loss, loss_figures, nbcf, phnb
from benchmarks.papers.experiment import Experiment, PublishedTable, read_table
from benchmarks.papers.report import (
    LEGEND,
    NONE,
    compared_pairs,
    figure_table,
    improvement_table,
    markdown,
    number,
    pair_table,
    protocol,
    rank_mark,
    readings,
    seconds,
    series_table,
    significance_table,
)
from benchmarks.papers.runs import AllScores, recorded
from benchmarks.papers.significance import wilcoxon
from streamnb.errors import StreamNBError
from streamnb.families import attribute_weights, fitted_weights
from streamnb.model.composition import Composition
from streamnb.model_specs import build, model_spec

DOCS = Path(__file__).resolve().parents[2] / "docs" / "internals" / "papers"
MAP = Path(__file__).with_name("map.toml")
NOTE = "<!-- Written by `make papers` from the recorded runs in benchmarks/papers/measured. -->"

# Levels above and below the diagonal of the HMNB paper's Tables 5 to 8.
_ABOVE, _BELOW = 0.1, 0.05


def experiment_part(experiment: Experiment) -> list[str]:
    """Return the sections of an experiment: each published table, other columns, and tests."""
    scores = recorded(experiment.name)
    measured = {model for _, model in scores}
    parts = [_how(experiment, scores)]
    printed: set[str] = set()
    for table in experiment.published():
        if table.pairs:
            continue
        printed |= set(table.columns)
        heading = f"## {table.table}: {table.measure}"
        parts += [heading, figure_table(table, scores, table.columns)]
    others = [model.name for model in experiment.models if model.name not in printed]
    if shown := [name for name in others if name in measured]:
        empty = PublishedTable("", "", "", "", others)
        parts += ["## Columns that the paper does not have", figure_table(empty, scores, shown)]
    pairs = compared_pairs(experiment, list(measured))
    if pairs:
        parts += [
            "## Tests",
            (
                "Wins/ties/losses of the first model at 5 %, and Wilcoxon's signed-rank test over "
                "the collections that were measured."
            ),
            significance_table(experiment, scores, experiment.folds, pairs),
        ]
    names = [model.name for model in experiment.models]
    return [*parts, "## Readings", readings(experiment, names)]


def _how(experiment: Experiment, scores: AllScores) -> str:
    """Return the command, the protocol and the time of an experiment."""
    command = f"Command: `make papers ARGS={experiment.name}`."
    if not scores:
        return f"{command} Not measured here yet."
    lengths = {max(1, len(found.values) // experiment.folds) for found in scores.values()}
    runs = " to ".join(str(length) for length in sorted({min(lengths), max(lengths)}))
    minutes = sum(found.seconds for found in scores.values()) / 60
    cells = len(experiment.collections) * len(experiment.models)
    return (
        f"{command} {protocol(experiment, experiment.folds, runs)} {len(scores)} of {cells} cells "
        f"were measured, in {minutes:.1f} minutes of processor time. {seconds(scores)}"
    )


# --- HMNB -----------------------------------------------------------------------------------------


def wilcoxon_matrices() -> list[str]:
    """Return Tables 5 to 8 of the HMNB paper."""
    scores = recorded("hmnb")
    tables = [table for table in hmnb.HMNB_PAPER.published() if table.rows]
    names = list(tables[0].rows)

    def published(model: str) -> list[float | None]:
        found = [[table.figure(name, model) for name in names] for table in tables]
        return next(row for row in found if row[0] is not None)

    def measured(model: str) -> list[float | None]:
        return [
            scores[name, model].mean if (name, model) in scores else theirs
            for name, theirs in zip(names, published(model), strict=True)
        ]

    def mark(i: int, j: int, first: list[float], second: list[float]) -> str:
        return rank_mark(_ABOVE if j > i else _BELOW, wilcoxon(first, second))

    parts = [
        "## Tables 5 to 8: Wilcoxon tests of pairs",
        (
            "A cell has three marks of the row's model against the column's: from our figures (the "
            "published ones for collections that were not measured), from the published "
            "accuracies, and as printed. `>` is better, `<` worse, `=` neither; above the diagonal "
            "at 0.1, below it at 0.05."
        ),
    ]
    for number_ in range(5, 9):
        table = read_table(f"hmnb-table{number_}")
        marks = [marks.split() for marks in table.pairs.values()]
        text = pair_table(
            table.columns,
            table.columns,
            [measured, published],
            mark,
            lambda i, j, marks=marks: marks[i][j],  # type: ignore[misc]
        )
        parts += [f"### {table.table}", text]
    return parts


# --- loss-minimised weights -----------------------------------------------------------------------


def normal_p(first: list[float], second: list[float]) -> float:
    """Return p of Wilcoxon's test by the normal approximation; equal figures are left out."""
    if first == second:
        return 1.0
    return float(stats.wilcoxon(first, second, zero_method="wilcox", method="approx").pvalue)


def loss_improvements() -> list[str]:
    """Return the relative improvements of Table 2 (Figure 3), and the tests of Table 4."""
    scores, table = recorded("loss"), read_table("loss-table2")
    others = [name for name in table.columns if name != "NB"]
    printed = read_table("loss-table4")
    rows = list(printed.rows)

    def measured(model: str) -> list[float | None]:
        return [
            scores[name, model].mean if (name, model) in scores else None for name in table.rows
        ]

    def published(model: str) -> list[float | None]:
        return [table.figure(name, model) for name in table.rows]

    several = read_table("loss-table5")
    return [
        "## Table 2 and Figure 3: relative improvement over NB, %",
        improvement_table(table, scores, [(name, "NB") for name in others], total=True),
        "## Table 5: relative improvement over NB, %",
        improvement_table(
            several,
            recorded("loss-5"),
            [(name, "NB") for name in several.columns if name != "NB"],
            total=True,
        ),
        "## Table 4: p of Wilcoxon's signed-rank test",
        (
            "A cell has p from our tables / from the published accuracies / as printed. The paper "
            "uses the normal approximation without ties: it gives 35 of the 40 printed values "
            "from the published accuracies."
        ),
        pair_table(
            rows,
            printed.columns,
            [measured, published],
            lambda i, j, *both: f"{normal_p(*both):.4f}",
            lambda i, j: number(printed.rows[rows[i]][j], 4),
        ),
    ]


# --- HONB -----------------------------------------------------------------------------------------


def honb_improvements() -> list[str]:
    """Return the improvements of Table 2, and Figure 7."""
    scores, table = recorded("honb"), read_table("honb-table2")
    pairs = [("HONB", name) for name in table.columns[1:]]
    experiments = (honb.HONB_PAPER, *honb.HONB_SHARES)
    found = [recorded(experiment.name) for experiment in experiments]
    lines = {}
    for collection in honb.HONB_PAPER.collections:
        for model in honb.HONB_SHARES[0].models:
            cells = [each.get((collection.name, model.name)) for each in found]
            lines[f"{collection.name}, {model.name}"] = [cell and cell.mean for cell in cells]
    shares = [f"{100 * share:.0f} %" for share in honb.SHARES]
    commands = f"`make papers ARGS={honb.HONB_SHARES[0].name}` to `{honb.HONB_SHARES[-1].name}`"
    minutes = sum(cell.seconds for each in found[1:] for cell in each.values()) / 60
    return [
        "## Table 2: improvement of HONB, %",
        improvement_table(table, scores, pairs, total=False),
        "## Figure 7: accuracy by the share of learned documents, %",
        (
            f"Commands: {commands}; {minutes:.1f} minutes of processor time. The paper has "
            "lines without numbers."
        ),
        series_table(shares, lines, 1),
    ]


# --- NBCF -----------------------------------------------------------------------------------------


def nbcf_figures() -> list[str]:
    """Return Figure 1, and the bars of each class of Figures 2 to 4."""
    factors = recorded(nbcf.NBCF_FACTORS.name)
    positions = [f"{factor:g}" for factor in nbcf.FACTORS]
    lines = {
        name: [
            factors[name, place].mean if (name, place) in factors else None for place in positions
        ]
        for name in dict.fromkeys(name for name, _ in factors)
    }
    parts = [
        "## Figure 1: accuracy by t, %",
        _how(nbcf.NBCF_FACTORS, factors),
        series_table(positions, lines),
    ]
    for figure, experiment in (
        ("Figure 2", nbcf.NBCF_PAPER),
        ("Figure 3", nbcf.NBCF_PAPER_90),
        ("Figure 4", nbcf.NBCF_LEARNED),
    ):
        scores = recorded(experiment.name)
        for collection in experiment.collections:
            found = {model: scores.get((collection.name, model)) for model in ("NBCF", "NB")}
            if None in found.values():
                continue
            bars = {
                name: [extra["by_class"] for extra in cell.extra] if cell else []
                for name, cell in found.items()
            }
            rows = [
                [
                    label,
                    *(
                        number(sum(bar[label] for bar in each) / len(each))
                        for each in bars.values()
                    ),
                ]
                for label in bars["NBCF"][0]
            ]
            parts += [
                f"## {figure}, {collection.name}: accuracy of each class, %",
                markdown(["class", *bars], rows),
            ]
    return parts


@dataclasses.dataclass(frozen=True)
class Page:
    """The page of a paper: a title, its experiments, and further sections."""

    title: str
    experiments: tuple[Experiment, ...]
    sections: tuple[Callable[[], list[str]], ...] = ()

    def text(self) -> str:
        """Return the page."""
        parts = [f"# {self.title}", NOTE, f"{self.experiments[0].paper}.", LEGEND]
        for experiment in self.experiments:
            if len(self.experiments) > 1:
                parts.append(f"## Experiment {experiment.name}: {experiment.summary}")
            parts += experiment_part(experiment)
        for section in self.sections:
            parts += section()
        return "\n\n".join(parts) + "\n"


PAGES = {
    "hmnb": Page("HMNB paper", (hmnb.HMNB_PAPER,), (wilcoxon_matrices,)),
    "honb": Page("HONB paper", (honb.HONB_PAPER,), (honb_improvements,)),
    "nbcf": Page(
        "NBCF paper",
        (nbcf.NBCF_PAPER, nbcf.NBCF_PAPER_90, nbcf.NBCF_LEARNED),
        (nbcf_figures,),
    ),
    "phnb": Page("PHNB paper", (phnb.PHNB_PAPER,)),
    "loss": Page(
        "Loss paper",
        (loss.LOSS_PAPER, loss.LOSS_PAPER_3, loss.LOSS_PAPER_5),
        (loss_improvements, lambda: loss_figures.sections(DOCS)),
    ),
}


_TARGETS = {
    "hidden": ("index", "counts"),
    "hidden-ratios": ("index", "counts"),
    "one-dependence": ("index", "counts"),
    "packaged": ("index", "index"),
    "paths": ("message", "index"),
    "pure-paths": ("message", "index"),
    "paths-3": ("message", "index"),
    "paths-4": ("message", "index"),
    "correlation": ("message", "counts"),
    "chi-square": ("message", ""),
    "gain-ratio": ("message", "counts"),
    "selection": ("message", "index"),
    "correlation-based": ("message", "index"),
    "tree-depth": ("message", "index"),
    "discriminative": ("message", "index"),
    "tree": ("message", "index"),
    "nearest": ("index", ""),
    **dict.fromkeys(fitted_weights.LOSSES, ("message", "index")),
    **dict.fromkeys(attribute_weights.MEASURES, ("message", "index")),
    "forward-selection": ("message", "index"),
}
"""What a component makes a prediction and a refresh read: the message, the counts or the index."""


@dataclasses.dataclass(frozen=True)
class MapRow:
    """A system or equation of a paper, and what runs it.

    Attributes
    ----------
    paper
        Its name in the paper.
    code
        A model as commands take it, a command, or empty.
    status
        How it compares with the paper, or the reason why there is no code.
    """

    paper: str
    code: str
    status: str

    @property
    def is_model(self) -> bool:
        """Whether a model runs it."""
        return bool(self.code) and not self.code.startswith("make ")

    def build(self, **parameters: Any) -> Any:
        """Return a new model."""
        spec = model_spec(self.code)
        return build(dataclasses.replace(spec, parameters=spec.parameters | parameters))

    def forgetting(self) -> list[str]:
        """Return the parameters of forgetting that the model accepts."""
        found = []
        for name in ("half_life", "window_size"):
            with contextlib.suppress(StreamNBError):
                self.build(**{name: 100})
                found.append(name)
        return found

    def cells(self) -> list[str]:
        """Return the cells of the row."""
        if not self.is_model:
            return [self.paper, f"`{self.code}`" if self.code else NONE, *[NONE] * 4, self.status]
        model = self.build()
        kind = "rows" if model.reads_columns else "texts"
        if hasattr(model, "to_bytes"):
            filtered = "`streamnb-sms`" if kind == "rows" else "both"
        else:
            filtered = "no: it cannot unlearn"
        forgets = ", ".join(f"`{name}`" for name in self.forgetting()) or "by its members"
        return [self.paper, f"`{self.code}`", kind, filtered, forgets, cost(model), self.status]


def cost(model: Any) -> str:
    """Return what a prediction and a refresh of a model read.

    Raises
    ------
    KeyError
        If `_TARGETS` lacks a component.
    """
    if not hasattr(model, "_components"):
        return "members"
    parts = [
        each.name
        for each in model._components.components
        if each.axis != "event" and each != _PLAIN[each.axis]
    ]
    targets = [_TARGETS[name] for name in parts]
    predicts = "index" if any(target == "index" for target, _ in targets) else "message"
    refreshed = [target for _, target in targets if target]
    if not refreshed or not model._statistics:
        return predicts
    return f"{predicts}; refresh: {'index' if 'index' in refreshed else refreshed[0]}"


_PLAIN = {field.name: field.default for field in dataclasses.fields(Composition)}


def map_rows() -> dict[str, list[MapRow]]:
    """Return the rows of the map by paper."""
    content = tomllib.loads(MAP.read_text(encoding="utf-8"))
    return {paper["title"]: [MapRow(*row) for row in paper["rows"]] for paper in content["papers"]}


def paper_map() -> str:
    """Return the page that maps each system and equation to a class or a command."""
    content = tomllib.loads(MAP.read_text(encoding="utf-8"))
    parts = [f"# {content['title']}", NOTE, content["text"].strip()]
    heading = ["paper", "here", "reads", "filters", "forgets", "cost", "status"]
    for title, rows in map_rows().items():
        parts += [f"## {title}", markdown(heading, [row.cells() for row in rows])]
    return "\n\n".join(parts) + "\n"


def write_pages(names: Sequence[str] = tuple(PAGES)) -> list[Path]:
    """Write the pages of some papers and the map, and return their files."""
    DOCS.mkdir(exist_ok=True)
    texts = {name: PAGES[name].text() for name in names} | {"index": paper_map()}
    files = []
    for name, text in texts.items():
        files.append(DOCS / f"{name}.md")
        files[-1].write_text(text, encoding="utf-8")
    return files
