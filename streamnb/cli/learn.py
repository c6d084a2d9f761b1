"""`streamnb learn`: a model file from labelled messages."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb import model_specs
from streamnb.cli.sources import (
    Reading,
    add_command,
    add_source_arguments,
    add_sources,
    load_model,
    plural,
)
from streamnb.errors import InputError

if TYPE_CHECKING:
    from streamnb.cli.sources import Subparsers

_BATCH = 1000

_EPILOG = """\
examples:
  streamnb learn mail.jsonl --model "HMNB(alpha=0.5)" --output spam.model
  streamnb learn today.jsonl --from spam.model --output spam.model
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's options."""
    parser = add_command(
        subparsers,
        "learn",
        "Learn labelled messages and save the model in a file.",
        _EPILOG,
    )
    add_sources(parser, "+")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-m",
        "--model",
        type=model_specs.model_spec,
        metavar="MODEL",
        help=f"one of {', '.join(model_specs.MODELS)}, with parameters if needed, as in "
        f'"HMNB(alpha=0.5)" (default: {model_specs.DEFAULT})',
    )
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
    add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    if not args.output.parent.is_dir() or args.output.is_dir():
        raise InputError(f"--output {args.output}: not a file in a folder that exists")
    reading = Reading(args, args.sources)
    reading.check()  # before anything is imported
    model = _model(args)
    reading.join = getattr(getattr(model, "tokenizer", None), "join", None)
    messages = reading.messages()
    while batch := list(itertools.islice(messages, _BATCH)):
        model.learn_many([message.text for message in batch], [message.label for message in batch])
    reading.require_messages()
    model.save(args.output)
    from tqdm import tqdm

    if skipped := reading.skipped():
        print(skipped, file=sys.stderr)
    classes = ", ".join(map(str, model.classes_))
    print(
        f"{type(model).__name__} learned {plural(reading.n_messages, 'message')}: now "
        f"{plural(round(model.n_documents), 'message')}, {plural(model.n_words, 'word')}, "
        f"classes {classes}"
    )
    print(f"saved: {args.output} ({tqdm.format_sizeof(args.output.stat().st_size, 'B')})")
    return reading.status()


def _model(args: argparse.Namespace) -> Any:
    if args.start is not None:
        return load_model(args.start)
    spec = args.model or model_specs.model_spec(model_specs.DEFAULT)
    if spec.name not in model_specs.MODELS:
        raise InputError(f"--model {spec.text}: only streamnb's own models can be saved")
    if args.fields or args.per_field:
        spec = model_specs.with_fields(spec, args.fields, args.per_field)
    return model_specs.build(spec)
