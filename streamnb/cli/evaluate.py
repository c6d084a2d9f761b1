"""`streamnb evaluate`: prequential quality of models on a stream."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

from streamnb import model_specs
from streamnb.cli import cascades, common, multilabel
from streamnb.datasets.lines import source_name
from streamnb.errors import InputError, MissingDependencyError, printable
from streamnb.evaluation import Result, plot_curves, prequential
from streamnb.evaluation.plots import require_matplotlib
from streamnb.model.drift import DETECTORS, NO_DETECTOR
from streamnb.text.tokenizer import Tokenizer

DEMO_MODELS = ("OnlineNB", "MNB", "HMNB", "river:MultinomialNB")
DEMO_PLOT = "streamnb-demo.png"
# Options that are parameters of `prequential`.
_FORWARDED = (
    *("window", "pos_label", "label_delay", "label_noise", "label_share", "ask", "max_labels"),
    *("self_training", "calibration_skip", "explain_errors"),
)

DESCRIPTION = (
    "Prequential evaluation: each message of the stream is predicted and then learned, by several "
    "models side by side."
)
EPILOG = """\
examples:
  streamnb evaluate --demo
  streamnb evaluate mail.jsonl --model MNB --model "HMNB(threshold='auto')"
  streamnb evaluate corpus --model OnlineNB    # a folder with ham/ and spam/
  streamnb evaluate sms --label-share 0.02 --ask uncertain --self-training --plot labels.png
  streamnb evaluate sms --agreement 0.95 --agreement 0.99 --model OnlineNB --model MNB
  streamnb evaluate SMSSpamCollection --model CNB --model river:ComplementNB --plot curve.png
  streamnb evaluate sms.jsonl --fields user,hour --per-field user
  streamnb evaluate reuters-topics --model MultiLabelNB
  zcat log.csv.gz | streamnb evaluate - --format csv --text-field body --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    common.add_sources(parser, "*")
    parser.add_argument(
        "--demo",
        action="store_true",
        help=f"run {', '.join(DEMO_MODELS)} on the "
        "SMS collection if it is available, else on a synthetic stream, and draw the curves",
    )
    what = f"may be given several times; {model_specs.HELP}"
    common.add_model(parser, what, action="append", dest="models")
    common.add_number(
        parser, "--window", common.count, 500, "number of messages of the rolling metrics"
    )
    parser.add_argument(
        "--pos-label",
        metavar="LABEL",
        help="label of the positive class (default for two labels: the last in sorted order)",
    )
    what = "messages that are predicted between a message and its label"
    common.add_number(parser, "--label-delay", common.non_negative, 0, what)
    what = "share of the messages that are learned with a wrong label; metrics use the true labels"
    common.add_number(parser, "--label-noise", common.probability, 0, what)
    common.add_number(
        parser, "--label-share", common.probability, 1, "share of the messages that are learned"
    )
    parser.add_argument(
        "--ask",
        choices=("random", "uncertain"),
        default="random",
        help="which messages --label-share learns: random ones, or those whose labels each model "
        "requests because it is uncertain (default: random)",
    )
    what = "maximum number of messages that are learned"
    common.add_number(parser, "--max-labels", common.non_negative, None, what)
    parser.add_argument(
        "--self-training",
        action="store_true",
        help="models learn their own confident predictions for the other messages",
    )
    parser.add_argument(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="read all messages first and shuffle them with this seed, for collections without "
        "timestamps",
    )
    what = "first messages that the expected calibration error leaves out"
    common.add_number(parser, "--calibration-skip", common.non_negative, 500, what)
    parser.add_argument(
        "--drift",
        choices=(*DETECTORS, NO_DETECTOR),
        default=NO_DETECTOR,
        help="river's drift detector on the errors of each model; detections are listed, and "
        "drawn as lines (default: none)",
    )
    what = "print the last N wrong decisions of each model, with the reasons before it learned them"
    common.add_number(parser, "--explain-errors", common.non_negative, 0, what)
    cascades.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.png",
        help="draw the learning curves, the reliability diagram, and for two classes the ROC curve "
        "(needs matplotlib); for cascades, the calls against the agreement",
    )
    common.add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    if args.demo == bool(args.sources):
        args.parser.error("give either files or streams to read, or --demo")
    deferred = cascades.is_wanted(args)
    plot = _plot(args)
    told = sys.stderr if args.json else sys.stdout
    sources = common.demo_source(args, told) if args.demo else args.sources
    names = args.models or [
        model_specs.model_spec(name)
        for name in (DEMO_MODELS if args.demo else (model_specs.DEFAULT,))
    ]
    names = [
        model_specs.with_fields(spec, args.fields, args.per_field, args.numbers) for spec in names
    ]
    tokenizer = Tokenizer(fields=args.fields, per_field=args.per_field, numbers=args.numbers)
    join = tokenizer.join if tokenizer.has_fields else None
    models = model_specs.build_all(names)
    rows = common.rows_of(models)
    label_sets = common.label_sets_of(models)
    reading = common.Reading(
        args, sources, shuffle=args.shuffle, join=join, rows=rows, label_sets=label_sets
    )
    name = ", ".join(Path(source_name(each)).name for each in sources)
    if label_sets:
        return multilabel.run(args, models, reading, name, deferred)
    if deferred:
        return cascades.run(args, names, reading, name, plot, told)
    _check_positive(args, reading)
    results = prequential(
        models,
        ((message.x, message.label) for message in reading.messages()),
        **{name: getattr(args, name) for name in _FORWARDED},
        noise_seed=args.seed,
        drift=None if args.drift == NO_DETECTOR else args.drift,
    )
    reading.require_messages()
    labels = next(iter(results.values())).labels
    if args.pos_label is not None and args.pos_label not in labels:
        common.say(f"streamnb: --pos-label {args.pos_label}: {_no_message(labels)}", sys.stderr)
    if plot is not None:
        plot_curves(results, plot, title=f"Learning curves: {name}")
    if args.json:
        print(json.dumps(_as_json(name, reading, results, plot), indent=2))
    else:
        from streamnb.cli.table import report

        common.say(report(name, results, reading.skipped(), args.drift))
    if plot is not None:
        common.say(f"learning curves: {plot}", told)
    return reading.status()


def _plot(args: argparse.Namespace) -> Path | None:
    """Return where to draw the curves, after a check; None without a plot."""
    if args.plot is None and not args.demo:
        return None
    try:
        require_matplotlib()
    except MissingDependencyError as error:
        if args.plot is not None:
            raise
        common.say(error, sys.stderr)
        return None
    path = args.plot or Path(DEMO_PLOT)
    common.check_output("--plot", path)
    if path.suffix.lower() != ".png":
        raise InputError(f"--plot {path}: the picture is a PNG; name it {path.stem or 'curve'}.png")
    return path


def _check_positive(args: argparse.Namespace, reading: common.Reading) -> None:
    """Check before the run that a message has the positive label, if sources can be read twice."""
    if args.pos_label is None or not all(map(common.can_be_read_again, reading.sources)):
        return
    met = set()
    for message in dataclasses.replace(reading, quiet=True).messages():
        met.add(message.label)
        if message.label == args.pos_label:
            return
    if met:  # of a stream without messages the run tells
        raise InputError(f"--pos-label {args.pos_label}: {_no_message(met)}")


def _no_message(labels: Iterable[Hashable]) -> str:
    return f"no message has the label (there are: {', '.join(sorted(map(printable, labels)))})"


def _as_json(
    name: str, reading: common.Reading, results: dict[str, Result], plot: Path | None
) -> dict[str, Any]:
    shared = ("n_messages", "labels", "pos_label", "window", "calibration_skip")
    models = []
    for result in results.values():
        values = result.to_dict()
        stream = {key: values.pop(key) for key in shared}
        models.append(values)
    return {
        "stream": {"name": name, **stream},
        "bad_lines": {"count": reading.n_bad, "listed": reading.bad_lines},
        "unlabelled": reading.n_unlabelled,
        "plot": None if plot is None else str(plot),
        "models": models,
    }
