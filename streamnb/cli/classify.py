"""`streamnb classify`: decisions of a saved model, one JSON object a line."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.cli.commands import add_command, load_model
from streamnb.cli.sources import Reading, add_source_arguments, count, plural, probability
from streamnb.errors import InputError
from streamnb.model.threshold import UNSURE, Cutoffs

if TYPE_CHECKING:
    from collections.abc import Hashable

    from streamnb.cli.commands import Subparsers
    from streamnb.datasets import Message

__all__ = ["add_parser", "decision", "run"]

_EPILOG = """\
Each line of the output is one decision, in the order of the messages:
  id             of the message, or the number of its line
  label          the decision; null when the model knows no class yet; unsure between two cuts
  probabilities  of each class
  score          of two classes, the log odds of the positive one (of spam, not of ham); else null
  against        with --explain: the second most probable class
  words          with --explain: the top tokens for the label against that class
                 (negative: for that class), with their contribution in nats

Messages need no label. In the format sms a line without a tab is a message, so that plain text,
one message a line, can be classified with --format sms.

examples:
  streamnb classify spam.model new.jsonl > decisions.jsonl
  streamnb classify spam.model inbox.mbox --spam-cutoff 0.99 --ham-cutoff 0.2
  tail -f inbox.txt | streamnb classify spam.model - --format sms --explain 5
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's options."""
    parser = add_command(
        subparsers,
        "classify",
        "decide on messages with a saved model",
        "Decide on messages with a saved model; the decisions are JSON, one a line.",
        _EPILOG,
    )
    parser.add_argument("model", type=Path, metavar="MODELFILE", help="what learn saved")
    parser.add_argument(
        "sources",
        nargs="*",
        default=["-"],
        metavar="SOURCE",
        help="a file, - for standard input (the default), a named stream, or a topic, "
        "kafka://HOST:PORT/TOPIC[?follow]",
    )
    parser.add_argument(
        "--explain",
        type=count,
        default=0,
        metavar="N",
        help="add the N top words",
    )
    parser.add_argument(
        "--spam-cutoff",
        type=probability,
        metavar="P",
        help="of two classes: probability of the positive one from which it is decided",
    )
    parser.add_argument(
        "--ham-cutoff",
        type=probability,
        metavar="P",
        help="with --spam-cutoff: probability up to which it is not; between them: unsure",
    )
    add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    reading = Reading(args, args.sources or ["-"], labelled=False)
    reading.check()  # before anything is imported
    model = load_model(args.model)
    cutoffs = _cutoffs(args, model)
    for message in reading.messages():
        # Flushed a line: whoever reads the decisions of a live stream waits for them.
        print(json.dumps(decision(model, message, args.explain, cutoffs)), flush=True)
    if status := reading.status():
        return status
    skipped = reading.skipped()
    print(
        f"{plural(reading.n_messages, 'message')} classified" + (f"; {skipped}" if skipped else ""),
        file=sys.stderr,
    )
    return 0


def _cutoffs(args: argparse.Namespace, model: Any) -> Cutoffs | None:
    if args.spam_cutoff is None:
        if args.ham_cutoff is not None:
            raise InputError("--ham-cutoff needs --spam-cutoff")
        return None
    if len(model.classes_) > 2:
        raise InputError(
            f"--spam-cutoff is for models of two classes; this one has {len(model.classes_)}"
        )
    return Cutoffs(args.ham_cutoff or 0.0, args.spam_cutoff)


def decision(
    model: Any, message: Message, n_words: int = 0, cutoffs: Cutoffs | None = None
) -> dict[str, Any]:
    """Return a model's decision on a message, as plain values that JSON can hold.

    Parameters
    ----------
    model
        A model of streamnb.
    message
        The message; its label does not matter.
    n_words
        Number of words with the largest contributions; at least 0.
    cutoffs
        For two classes: cuts on the probability of the positive one.
    """
    from streamnb.evaluation import log_odds

    label = model.predict_one(message.text)
    probabilities = model.predict_proba_one(message.text)
    score = None
    if len(probabilities) == 2:
        pos_label = model.pos_label if model.pos_label is not None else model.classes_[-1]
        score = _finite(log_odds(model.joint_log_likelihood_one(message.text), pos_label))
        if cutoffs is not None:
            label = _answer(probabilities, pos_label, cutoffs)
    decided: dict[str, Any] = {
        "id": message.id,
        "label": _plain(label),
        "probabilities": {str(known): share for known, share in probabilities.items()},
        "score": score,
    }
    if n_words:
        if label == UNSURE and label not in probabilities:
            label = max(probabilities, key=probabilities.__getitem__)
        rivals = [known for known in probabilities if known != label]
        rival = max(rivals, key=probabilities.__getitem__, default=None)
        decided["against"] = _plain(rival)
        decided["words"] = _top_words(model, message.text, label, rival, n_words)
    return decided


def _answer(
    probabilities: dict[Hashable, float], pos_label: Hashable, cutoffs: Cutoffs
) -> Hashable:
    answer = cutoffs.answer(probabilities[pos_label])
    if answer == "unsure":
        return UNSURE
    (negative,) = (each for each in probabilities if each != pos_label)
    return pos_label if answer == "positive" else negative


def _plain(label: Hashable) -> str | int | float | bool | None:
    return label if isinstance(label, (str, int, float, bool, type(None))) else str(label)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _top_words(
    model: Any, text: str, label: Hashable, rival: Hashable, n_words: int
) -> list[dict[str, Any]]:
    """Return the words that differ most between the label and the next likely class."""
    if rival is None:
        return []
    explanation = model.explain_one(text)
    towards = {
        word: shares.get(label, 0.0) - shares.get(rival, 0.0)
        for word, shares in explanation.words.items()
    }
    top = sorted(towards, key=lambda word: (-abs(towards[word]), str(word)))[:n_words]
    return [{"word": str(word), "towards": towards[word]} for word in top]
