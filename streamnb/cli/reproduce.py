"""`streamnb reproduce`: a paper's tables, measured again and printed beside the published ones."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from streamnb.cli.commands import add_command, add_run_arguments

if TYPE_CHECKING:
    from streamnb.cli.commands import Subparsers
    from streamnb.reproduce import Experiment, Figure

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Cross-validate the models of a paper on its collections and print the measured figures beside the
published ones, with the mean absolute difference of each column, wins, ties and losses by the
paper's t-test, and the Wilcoxon signed-rank test. The folds are WEKA's own, so that figures can
be compared run by run. The collections are read from the data folder (STREAMNB_DATA).

Each finished run is kept in the results file. The same command goes on where it was stopped, and
takes from the file what the same code has measured before on the same data.

Some of a paper's figures are drawn instead, such as loss-noise and loss-dimension: they are
printed as tables, and with --plot drawn. Of the options below they take --collections, --folds,
--seed and --plot.
"""

_EXAMPLES = """\
examples:
  streamnb reproduce --list
  streamnb reproduce hmnb --models MNB,HMNB --collections oh0,re0
  streamnb reproduce hmnb --runs 10 --jobs 2 --format json > hmnb.json
  streamnb reproduce loss-noise --plot noise.svg
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's options."""
    parser = add_command(
        subparsers,
        "reproduce",
        "measure a paper's tables again and compare",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("experiment", nargs="?", metavar="NAME", help="what to reproduce: hmnb ...")
    parser.add_argument("--list", action="store_true", help="list what can be reproduced")
    parser.add_argument(
        "--published", action="store_true", help="print the published tables; measure nothing"
    )
    parser.add_argument("--models", metavar="A,B", help="models to run (default: all)")
    parser.add_argument("--collections", metavar="A,B", help="collections to use (default: all)")
    parser.add_argument(
        "--runs", type=int, default=1, metavar="N", help="runs of cross-validation (default: 1)"
    )
    parser.add_argument("--folds", type=int, metavar="K", help="folds (default: the paper's)")
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the first run; the next has the next number (default: 1, as in WEKA)",
    )
    add_run_arguments(parser, "NAME.jsonl")
    parser.add_argument(
        "--compare",
        metavar="MODEL",
        help="model to compare with all others (default: each table's own with its columns)",
    )
    parser.add_argument(
        "--t-test",
        choices=("corrected", "plain"),
        default="corrected",
        help="corrected resampled t-test, as in WEKA, or plain paired (default: corrected)",
    )
    parser.add_argument(
        "--level",
        type=float,
        default=0.05,
        metavar="P",
        help="significance level of the t-test (default: 0.05)",
    )
    parser.add_argument(
        "--format", choices=("text", "csv", "json"), default="text", help="default: text"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.svg", help="draw a figure (needs matplotlib)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status.

    Raises
    ------
    InputError
        An option makes no sense.
    DataError
        A collection is absent, or the results file cannot be used.
    """
    # Late, so that other commands do not wait for scipy.
    from streamnb.errors import InputError
    from streamnb.reproduce import FIGURES, find_experiment, published_text

    if args.list:
        sys.stdout.write(_listing())
        return 0
    if args.experiment is None:
        raise InputError("say what to reproduce; see streamnb reproduce --list")
    if args.experiment in FIGURES:
        sys.stdout.write(_figure(FIGURES[args.experiment], args))
        return 0
    experiment = find_experiment(args.experiment)
    if args.plot is not None:
        raise InputError(f"{experiment.name} is a table: --plot is for {', '.join(FIGURES)}")
    if args.published:
        sys.stdout.write(published_text(experiment))
        return 0
    sys.stdout.write(_measure(experiment, args))
    return 0


def _figure(figure: Figure, args: argparse.Namespace) -> str:
    from streamnb.errors import InputError
    from streamnb.evaluation.plots import require_matplotlib
    from streamnb.reproduce.figures import draw
    from streamnb.reproduce.papers.robustness import text_of

    if args.plot is not None:  # all of it before minutes of work
        require_matplotlib()
        if not args.plot.parent.is_dir() or args.plot.is_dir():
            raise InputError(f"--plot {args.plot}: not a file in a folder that exists")
        if args.plot.suffix.lower() != ".svg":
            raise InputError(f"--plot {args.plot}: the figure is an SVG; name it so")
    folds = 10 if args.folds is None else args.folds
    if folds < 2:
        raise InputError(f"folds is {folds}; it should be at least 2")
    panels = figure.measure(figure.chosen(_names(args.collections)), folds, args.seed)
    if args.plot is not None:
        draw(figure, panels, args.plot)
    return text_of(figure, panels)


def _measure(experiment: Experiment, args: argparse.Namespace) -> str:
    from streamnb.reproduce import (
        FORMATS,
        Plan,
        RunsFile,
        check_request,
        default_runs_path,
        make_report,
        run_plan,
    )

    models = _names(args.models)
    collections = _names(args.collections)
    plan = Plan(
        experiment,
        tuple(map(experiment.collection, collections)) if collections else experiment.collections,
        tuple(map(experiment.model, models)) if models else experiment.models,
        runs=args.runs,
        folds=experiment.folds if args.folds is None else args.folds,
        seed=args.seed,
        jobs=args.jobs,
    )
    check_request(plan, args.compare, args.level)
    results = RunsFile(args.results or default_runs_path(experiment.name))
    try:
        scores = run_plan(plan, results, fresh=args.fresh)
    except KeyboardInterrupt:
        print(
            f"finished runs are in {results.path}: the same command goes on from there",
            file=sys.stderr,
        )
        raise
    report = make_report(plan, scores, args.compare, args.t_test == "corrected", args.level)
    return FORMATS[args.format](report)


def _names(text: str | None) -> list[str]:
    """Return the names in a list with commas, each once, in their order."""
    if text is None:
        return []
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _listing() -> str:
    from streamnb.datasets import available
    from streamnb.reproduce import FIGURES, experiments

    parts = []
    for experiment in experiments():
        collections = [
            collection.name + ("" if available(collection.file) else " (absent)")
            for collection in experiment.collections
        ]
        parts.append(
            f"{experiment.name}: {experiment.summary}\n"
            f"  {experiment.paper}\n"
            f"  tables: {', '.join(table.table for table in experiment.published())}\n"
            f"  models: {', '.join(model.name for model in experiment.models)}\n"
            f"  collections: {', '.join(collections)}\n"
        )
    parts += [f"{figure.name}: {figure.summary}\n" for figure in FIGURES.values()]
    return "\n".join(parts)
