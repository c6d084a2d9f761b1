"""`streamnb results`: every model on real streams, written as one page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from streamnb.cli.commands import add_command, add_run_arguments

if TYPE_CHECKING:
    from streamnb.cli.commands import Subparsers

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Run every model of texts with its defaults, and some with other parameters, prequentially on the
streams sms, spamassassin, enron and 20news (in shuffled order, once for each seed), and write
accuracy, (1 - AUC) and time as one table. The collections are read from the data folder
(STREAMNB_DATA), or from where `streamnb fetch` keeps them.

Each finished run is kept in the results file. The same command goes on where it was stopped, and
takes from the file what the same code has measured before on the same data.
"""

_EXAMPLES = """\
examples:
  streamnb results --streams sms --models MNB,HMNB
  streamnb results --limit HNB=300 --limit HOVA@20news=2000 --output docs/internals/results.md
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's options."""
    parser = add_command(
        subparsers,
        "results",
        "run every model on real streams and write a table",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("--models", metavar="A;B", help="models to run, with ; or , between names")
    parser.add_argument("--streams", metavar="A,B", help="streams to use (default: all)")
    parser.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="shuffles of 20news (default: 5)"
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="[MODEL][@STREAM]=N",
        help="only the first N messages, for one model or all, of one stream or each; the table "
        "says so (repeatable)",
    )
    parser.add_argument(
        "--peers",
        action="store_true",
        help="OnlineNB and MNB beside filters of others (river, Vowpal Wabbit, bogofilter, online "
        "logistic regression) instead, with calibration; of the options above it takes --streams "
        "and one --limit N",
    )
    add_run_arguments(parser, "streams.jsonl", "; more than one disturb each other's times")
    parser.add_argument(
        "--any-code",
        action="store_true",
        help="also take stored results of other versions of the code; the page says so",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE.md", help="page to write (default: standard output)"
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
    from streamnb.errors import InputError
    from streamnb.reproduce import RunsFile, default_runs_path, results

    if args.peers:
        return _run_peers(args)
    names = _models(args.models) or list(results.model_names())
    chosen = [name.strip() for name in (args.streams or "").split(",") if name.strip()]
    limits = _limits(args.limit)
    if args.jobs < 1:
        raise InputError(f"jobs is {args.jobs}; it should be at least 1")
    runs = results.make_runs(names, chosen or list(results.STREAMS), args.seeds, limits)
    stored = RunsFile(args.results or default_runs_path("streams"))
    try:
        figures = results.run_streams(runs, stored, args.jobs, args.fresh, any_code=args.any_code)
    except KeyboardInterrupt:
        print(
            f"finished runs are in {stored.path}: the same command goes on from there",
            file=sys.stderr,
        )
        raise
    text = results.page(runs, figures)
    if args.output is None:
        sys.stdout.write(text)
    else:
        results.write_page(args.output, text)
    return 0


def _run_peers(args: argparse.Namespace) -> int:
    from streamnb.errors import InputError
    from streamnb.reproduce import RunsFile, default_runs_path, peers, results

    chosen = [name.strip() for name in (args.streams or "").split(",") if name.strip()]
    limits = _limits(args.limit)
    unknown = [name for name in chosen if name not in peers.STREAMS]
    if args.models or unknown or not limits.keys() <= {("", "")}:
        raise InputError(
            f"--peers takes no --models, --streams of {', '.join(peers.STREAMS)}, and one --limit N"
        )
    without = peers.absent()
    for why in without.values():
        print(f"streamnb: {why}", file=sys.stderr)
    runs = peers.make_runs(chosen or list(peers.STREAMS), without, limits.get(("", "")))
    stored = RunsFile(args.results or default_runs_path("peers"))
    figures = results.run_streams(runs, stored, args.jobs, args.fresh, any_code=args.any_code)
    text = peers.page(runs, figures, without)
    if args.output is None:
        sys.stdout.write(text)
    else:
        results.write_page(args.output, text)
    return 0


def _models(text: str | None) -> list[str]:
    """Return the models of a list, each checked; commas separate names without parameters."""
    from streamnb.errors import InputError
    from streamnb.model_specs import build, model_spec

    if text is None:
        return []
    parts = text.split(";") if ";" in text or "(" in text else text.split(",")
    names = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    for name in names:
        try:
            build(model_spec(name))
        except argparse.ArgumentTypeError as error:
            raise InputError(str(error)) from error
    return names


def _limits(texts: list[str]) -> dict[tuple[str, str], int]:
    """Return the limit of each model and stream; an empty name stands for all."""
    from streamnb.errors import InputError

    limits: dict[tuple[str, str], int] = {}
    for text in texts:
        names, _, number = text.rpartition("=")
        model, _, stream = names.partition("@")
        try:
            limits[model.strip(), stream.strip()] = int(number)
        except ValueError:
            raise InputError(f"--limit {text}: write N, MODEL=N or MODEL@STREAM=N") from None
    return limits
