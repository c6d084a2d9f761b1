"""`streamnb learn`: a model file from labelled messages."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from streamnb import model_specs
from streamnb.cli import common
from streamnb.errors import InputError, printable

_BATCH = 1000

DESCRIPTION = "Learn labelled messages and save the model in a file."
EPILOG = """\
examples:
  streamnb learn mail.jsonl --model "HMNB(alpha=0.5)" --output spam.model
  streamnb learn today.jsonl --from spam.model --output spam.model
  streamnb learn topics.jsonl --model MultiLabelNB --output topics.model
                                 # records of JSON with an array "labels"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    common.add_sources(parser, "+")
    which = parser.add_mutually_exclusive_group()
    names = ", ".join((*model_specs.MODELS, model_specs.SEVERAL_LABELS))
    common.add_model(which, f'one of {names}, with parameters if needed, as in "HMNB(alpha=0.5)"')
    which.add_argument(
        "--from",
        type=Path,
        dest="start",
        metavar="MODELFILE",
        help="a saved model to continue with",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="MODELFILE", help="where to save it"
    )
    common.add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    common.check_model_output("--output", args.output)
    model, name = _model(args)
    join = getattr(getattr(model, "tokenizer", None), "join", None)
    rows = common.rows_of({name: model})
    label_sets = common.label_sets_of({name: model})
    reading = common.Reading(args, args.sources, join=join, rows=rows, label_sets=label_sets)
    messages = reading.messages()
    while batch := list(itertools.islice(messages, _BATCH)):
        labels: list[Any] = [each.labels if label_sets else each.label for each in batch]
        model.learn_many([message.x for message in batch], labels)
    reading.require_messages()
    model.save(args.output)
    from tqdm import tqdm

    if skipped := reading.skipped():
        common.say(skipped, sys.stderr)
    classes = ", ".join(map(printable, model.classes_))
    learned = common.plural(reading.n_messages, "message")
    known = common.plural(round(model.n_documents), "message")
    words = common.plural(model.n_words, "word")
    common.say(f"{type(model).__name__} learned {learned}: now {known}, {words}, classes {classes}")
    common.say(f"saved: {args.output} ({tqdm.format_sizeof(args.output.stat().st_size, 'B')})")
    return reading.status()


def _model(args: argparse.Namespace) -> tuple[Any, str]:
    """Return the model, and its name in messages."""
    if args.start is not None:
        return common.load_model(args.start), str(args.start)
    spec = args.model or model_specs.model_spec(model_specs.DEFAULT)
    if spec.name not in (*model_specs.MODELS, model_specs.SEVERAL_LABELS):
        raise InputError(f"--model {spec.text}: only streamnb's own models can be saved")
    spec = model_specs.with_fields(spec, args.fields, args.per_field, args.numbers)
    return model_specs.build(spec), spec.text
