"""`streamnb read`: the messages as models receive them, one JSON object per line."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from streamnb import model_specs
from streamnb.cli import common
from streamnb.errors import InputError
from streamnb.model.reprs import token_shown

DESCRIPTION = "Print the messages as models receive them; the output is one JSON object per line."
EPILOG = """\
Each line of the output is one message:
  id     id of the message, or its line number
  label  its label; null without one
  text   the text that a model receives, with mail decoded
  words  with --words: the tokens of the text, in order, in a readable form

examples:
  streamnb read corpus > messages.jsonl
  streamnb read inbox.mbox --limit 1 --words --model HMNB
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    common.add_sources(parser, "+")
    parser.add_argument("--words", action="store_true", help="add the tokens of each text")
    parser.add_argument("--raw", action="store_true", help="with --words: as the model names them")
    what = "with --words: the model or the saved model that splits the texts"
    common.add_model(parser, what, type=_model, default=model_specs.DEFAULT)
    common.add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    reading = common.Reading(args, args.sources, labelled=False)
    tokenizer = _tokenizer(args.model) if args.words else None
    for message in reading.messages():
        record: dict[str, Any] = {
            "id": message.id,
            "label": message.label or None,
            "text": message.text,
        }
        if tokenizer is not None:
            words = tokenizer(message.text)
            record["words"] = list(words if args.raw else map(token_shown, map(str, words)))
        # Flush each line for readers of a live stream.
        print(json.dumps(record), flush=True)
    return reading.finish("read")


def _model(text: str) -> Path | model_specs.ModelSpec:
    """Parse the path of a saved model, or a model of this package with its parameters."""
    path = Path(text)
    return path if path.is_file() else model_specs.model_spec(text)


def _tokenizer(named: Path | model_specs.ModelSpec) -> Any:
    text = str(named) if isinstance(named, Path) else named.text
    if isinstance(named, Path):
        model = common.load_model(named)
    elif named.name not in model_specs.MODELS:
        raise InputError(f"--model {text}: only streamnb's own models have a tokenizer")
    else:
        model = model_specs.build(named)
    if model.reads_columns:
        raise InputError(f"--model {text}: it reads rows of attributes, and --words needs texts")
    return model.tokenizer or model.default_tokenizer
