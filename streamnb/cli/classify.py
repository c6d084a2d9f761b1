"""`streamnb classify`: decisions of a saved model, one JSON object per line."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from streamnb.cli import common
from streamnb.datasets import Message
from streamnb.evaluation import log_odds
from streamnb.model.explanation import rival

DESCRIPTION = "Decide on messages with a saved model; the output is one JSON object per line."
EPILOG = """\
Each line of the output is one decision, in the order of the messages:
  id             id of the message, or its line number
  label          the decision; null for an untrained model
  probabilities  probability of each class
  score          for two classes, the log odds of the positive one (spam, not ham); else null
  against        with --explain: the second most probable class
  words          with --explain: the top words for the label against that class, which
                 include the letters in them; with --raw: the tokens of the model
                 (negative: for that class), with their contribution in nats

A model of several labels (MultiLabelNB) writes the list "labels" of those above its threshold,
and with --explain the object "words" with the top words of each label.

Without SOURCE, standard input is read. Messages need no label. To classify plain text with one
message per line, use --format sms: lines without a tab are messages.

examples:
  streamnb classify spam.model new.jsonl > decisions.jsonl
  streamnb classify spam.model inbox.mbox --explain 5
  tail -f inbox.txt | streamnb classify spam.model - --format sms
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "model", type=Path, metavar="MODELFILE", help="a file that streamnb learn saved"
    )
    common.add_sources(parser, "*")
    common.add_number(parser, "--explain", common.non_negative, 0, "add the N top words")
    parser.add_argument("--raw", action="store_true", help="name tokens instead of words")
    common.add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    model = common.load_model(args.model)
    join = getattr(getattr(model, "tokenizer", None), "join", None)
    rows = common.rows_of({str(args.model): model})
    label_sets = common.label_sets_of({str(args.model): model})
    reading = common.Reading(
        args,
        args.sources or ["-"],
        labelled=False,
        join=join,
        rows=rows,
        label_sets=label_sets,
    )
    decide = decisions_of_labels if label_sets else decision
    for message in reading.messages():
        # Flush each line, because readers of a live stream wait for the decisions.
        print(json.dumps(decide(model, message, args.explain, args.raw)), flush=True)
    return reading.finish("classified")


def decision(model: Any, message: Message, n_words: int = 0, raw: bool = False) -> dict[str, Any]:
    """Return a model's decision on a message, as plain values that JSON can hold.

    Parameters
    ----------
    model
        The model.
    message
        The message; its label does not matter.
    n_words
        Number of words with the largest contributions; at least 0.
    raw
        Whether to name the tokens of the model instead of words and pairs.
    """
    label = model.predict_one(message.x)
    probabilities = model.predict_proba_one(message.x)
    score = None
    if len(probabilities) == 2:
        pos_label = model.pos_label if model.pos_label is not None else model.classes_[-1]
        score = _finite(log_odds(model.joint_log_likelihood_one(message.x), pos_label))
    decided: dict[str, Any] = {
        "id": message.id,
        "label": _plain(label),
        "probabilities": {str(known): share for known, share in probabilities.items()},
        "score": score,
    }
    if n_words:
        against = rival(probabilities, label)
        decided["against"] = _plain(against)
        explanation = model.explain_one(message.x)
        named = explanation if raw else explanation.in_words()
        words = [] if against is None else named.towards(label, against)
        decided["words"] = [{"word": word, "towards": towards} for word, towards in words[:n_words]]
    return decided


def decisions_of_labels(
    model: Any, message: Message, n_words: int = 0, raw: bool = False
) -> dict[str, Any]:
    """Return the labels of a message by a model of several labels; parameters as `decision`."""
    probabilities = model.predict_proba_one(message.x)
    if model.output == "dicts":
        probabilities = {label: share[True] for label, share in probabilities.items()}
    labels = [label for label, share in probabilities.items() if share > model.threshold]
    decided: dict[str, Any] = {
        "id": message.id,
        "labels": [_plain(label) for label in labels],
        "probabilities": {str(known): share for known, share in probabilities.items()},
    }
    if n_words:
        explanation = model.explain_one(message.x)
        named = explanation if raw else explanation.in_words()
        decided["words"] = {
            str(label): [
                {"word": word, "towards": towards} for word, towards in _strongest(named, label)
            ][:n_words]
            for label in labels
        }
    return decided


def _strongest(explanation: Any, label: Hashable) -> list[tuple[str, float]]:
    found = {word: terms[label] for word, terms in explanation.words.items()}
    return sorted(found.items(), key=lambda item: (-abs(item[1]), item[0]))


def _plain(label: Hashable) -> str | int | float | bool | None:
    return label if isinstance(label, (str, int, float, bool, type(None))) else str(label)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
