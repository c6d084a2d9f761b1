"""`streamnb read`: the messages as models receive them, one JSON object per line."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb import model_specs
from streamnb.cli.sources import Reading, add_command, add_source_arguments, add_sources, load_model
from streamnb.errors import InputError

if TYPE_CHECKING:
    from streamnb.cli.sources import Subparsers

_EPILOG = """\
Each line of the output is one message:
  id     id of the message, or its line number
  label  its label; null without one
  text   the text that a model receives, with mail decoded
  words  with --words: the tokens of the text, in order

examples:
  streamnb read corpus > messages.jsonl
  streamnb read inbox.mbox --limit 1 --words --model HMNB
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's options."""
    parser = add_command(
        subparsers,
        "read",
        "Print the messages as models receive them; the output is one JSON object per line.",
        _EPILOG,
    )
    add_sources(parser, "+")
    parser.add_argument("--words", action="store_true", help="add the tokens of each text")
    parser.add_argument(
        "-m",
        "--model",
        type=_model,
        default=model_specs.DEFAULT,
        metavar="MODEL",
        help="with --words: the model or the saved model that splits the texts "
        f"(default: {model_specs.DEFAULT})",
    )
    add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    reading = Reading(args, args.sources, labelled=False)
    reading.check()  # before anything is imported
    tokenizer = _tokenizer(args.model) if args.words else None
    for message in reading.messages():
        record: dict[str, Any] = {
            "id": message.id,
            "label": message.label or None,
            "text": message.text,
        }
        if tokenizer is not None:
            record["words"] = list(tokenizer(message.text))
        # Flush each line for readers of a live stream.
        print(json.dumps(record), flush=True)
    return reading.finish("read")


def _model(text: str) -> Path | model_specs.ModelSpec:
    """Parse the path of a saved model, or a model of this package with its parameters."""
    path = Path(text)
    return path if path.is_file() else model_specs.model_spec(text)


def _tokenizer(named: Path | model_specs.ModelSpec) -> Any:
    if isinstance(named, Path):
        model = load_model(named)
    elif named.name not in model_specs.MODELS:
        raise InputError(f"--model {named.text}: only streamnb's own models have a tokenizer")
    else:
        model = model_specs.build(named)
    return model.tokenizer or model.default_tokenizer
