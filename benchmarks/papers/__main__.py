"""Measure a paper's tables again and write its page: published and measured figures.

Without a name, write the pages of all papers in docs/internals/papers from the recorded runs.

Most models are cross-validated on WEKA's own folds, so that figures can be compared run by run. The
report has the mean absolute difference of each column, wins, ties and losses by two t-tests, and
the Wilcoxon signed-rank test. The collections are read from the data folder (STREAMNB_DATA).
Each finished run is stored; the same command resumes after an interruption. Runs of the paper's own
collections and folds are also recorded in benchmarks/papers/measured, which the pages are made of.

The figures loss-noise and loss-dimension are printed as tables, and drawn with --plot. They take
the options --collections, --folds, --seed and --plot.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.papers import compositions, hmnb, honb, loss, nbcf, pages, phnb, robustness
from benchmarks.papers.arff import read_arff
from benchmarks.papers.experiment import CollectionRecipe, Experiment
from benchmarks.papers.report import published_text, report
from benchmarks.papers.runs import Plan, run_plan
from benchmarks.stored_runs import add_run_arguments, names, run_program
from streamnb.datasets import available
from streamnb.errors import InputError

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        compositions.COMPOSITIONS,
        hmnb.HMNB_PAPER,
        honb.HONB_PAPER,
        *honb.HONB_SHARES,
        loss.LOSS_PAPER,
        loss.LOSS_PAPER_3,
        loss.LOSS_PAPER_5,
        nbcf.NBCF_PAPER,
        nbcf.NBCF_PAPER_90,
        nbcf.NBCF_LEARNED,
        nbcf.NBCF_FACTORS,
        phnb.PHNB_PAPER,
    )
}
EXAMPLES = """\
examples:
  make papers
  make papers ARGS=--list
  make papers ARGS="hmnb --models HMNB,MNB --collections la2s=~/la2s.wc.arff"
  make papers ARGS="hmnb --models MNB,HMNB --collections oh0,re0"
  make papers ARGS="hmnb --runs 10 --jobs 2"
  make papers ARGS="loss-noise --plot noise.svg"
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make papers",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = (*EXPERIMENTS, *robustness.FIGURES)
    parser.add_argument(
        "experiment", nargs="?", metavar="NAME", choices=known, help="; ".join(known)
    )
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--published", action="store_true", help="print the published tables only")
    parser.add_argument("--models", metavar="A,B", help="models to run (default: all)")
    parser.add_argument(
        "--collections",
        metavar="A,B",
        help="collections to use (default: all); NAME=FILE reads your word counts: WEKA's ARFF, or "
        "lines CLASS INDEX:COUNT ...",
    )
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="runs (default: 1)")
    parser.add_argument("--folds", type=int, metavar="K", help="folds (default: the paper's)")
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the first run; the next run has the next number (default: 1, as in WEKA)",
    )
    parser.add_argument(
        "--compare",
        metavar="MODEL",
        help="compare this model with all others (default: the first of each table)",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw a figure")
    add_run_arguments(parser, "papers")
    return parser


def main() -> None:
    args = parser().parse_args()
    if args.list:
        text = listing()
    elif args.experiment is None:
        text = "".join(f"wrote {path}\n" for path in pages.write_pages())
    elif figure := robustness.FIGURES.get(args.experiment):
        folds = 10 if args.folds is None else args.folds
        panels = figure.measure(figure.chosen(names(args.collections)), folds, args.seed)
        if args.plot is not None:
            robustness.draw(figure, panels, args.plot)
        text = robustness.text_of(figure, panels)
    elif args.published:
        text = published_text(EXPERIMENTS[args.experiment])
    else:
        text = measure(args)
    sys.stdout.write(text)


def measure(args: argparse.Namespace) -> str:
    experiment = EXPERIMENTS[args.experiment]
    collections, models = names(args.collections), names(args.models)
    plan = Plan(
        experiment,
        tuple(_collection(experiment, name) for name in collections) or experiment.collections,
        tuple(map(experiment.model, models)) if models else experiment.models,
        runs=args.runs,
        folds=args.folds or experiment.folds,
        seed=args.seed,
    )
    if args.compare and experiment.model(args.compare) not in plan.models:
        raise InputError(f"--compare {args.compare}: this model is not among --models")
    return report(plan, run_plan(plan, args), args.compare)


def _collection(experiment: Experiment, name: str) -> CollectionRecipe:
    """Return a collection of the experiment, or the user's file of NAME=FILE."""
    title, given, path = name.partition("=")
    if not given:
        return experiment.collection(name)
    reader = read_arff if path.endswith(".arff") else None
    return CollectionRecipe(title, str(Path(path).expanduser()), reader=reader)


def listing() -> str:
    parts = []
    for experiment in EXPERIMENTS.values():
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
    parts += [f"{figure.name}: {figure.summary}\n" for figure in robustness.FIGURES.values()]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(run_program(main))
