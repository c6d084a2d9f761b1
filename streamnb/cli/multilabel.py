"""`streamnb evaluate` of models of several labels, such as MultiLabelNB."""

from __future__ import annotations

import argparse
import json
from typing import Any

from streamnb.cli import common
from streamnb.errors import printable
from streamnb.evaluation import LabelResult, prequential_labels
from streamnb.model.reprs import aligned

# Options that belong to the evaluation of one label for each message.
_OTHERS = (
    *("pos_label", "label_delay", "label_noise", "label_share", "ask", "max_labels"),
    *("self_training", "calibration_skip", "drift", "explain_errors", "plot"),
)
_MOST_LABELS = 6


def run(
    args: argparse.Namespace,
    models: dict[str, Any],
    reading: common.Reading,
    name: str,
    deferred: bool,
) -> int:
    """Evaluate the models and return the exit status of the command."""
    for option in _OTHERS:
        if getattr(args, option) != args.parser.get_default(option):
            given = "--" + option.replace("_", "-")
            args.parser.error(f"{given} has no meaning for sets of labels: remove it")
    if deferred:
        args.parser.error("--agreement and --defer need models of one label: remove them")
    messages = ((message.x, message.labels or ()) for message in reading.messages())
    results = prequential_labels(models, messages)
    reading.require_messages()
    if args.json:
        listed = [result.to_dict() for result in results.values()]
        stream = {"name": name, "n_messages": reading.n_messages}
        bad = {"count": reading.n_bad, "listed": reading.bad_lines}
        print(json.dumps({"stream": stream, "bad_lines": bad, "models": listed}, indent=2))
    else:
        common.say(_report(name, list(results.values()), reading.skipped()))
    return reading.status()


def _report(source: str, results: list[LabelResult], skipped: str) -> str:
    """Return the results as text."""
    from tqdm import tqdm

    first = results[0]
    named = [
        f"{printable(label)} {number:,}"
        for label, number in list(first.labels.items())[:_MOST_LABELS]
    ]
    more = ", ..." if len(first.labels) > _MOST_LABELS else ""
    mean = sum(first.labels.values()) / first.n_messages
    lines = [
        (
            f"{source}: {common.plural(first.n_messages, 'message')}, "
            f"{common.plural(len(first.labels), 'label')} ({', '.join(named)}{more}), "
            f"{mean:.2f} for each message"
        )
    ]
    if skipped:
        lines.append(skipped)
    quality = [["model", "micro-F1", "macro-F1", "subset acc %", "Hamming loss %"]]
    cost = [["model", "messages/s", "predicted/s", "learned/s", "memory"]]
    for result in results:
        scores = result.scores
        quality.append(
            [
                result.name,
                _shown(scores.micro_f1, 1, 4),
                _shown(scores.macro_f1, 1, 4),
                _shown(scores.subset_accuracy, 100, 2),
                _shown(scores.hamming_loss, 100, 3),
            ]
        )
        seconds = (
            result.predict_seconds + result.learn_seconds,
            result.predict_seconds,
            result.learn_seconds,
        )
        rates = [f"{result.n_messages / spent:,.0f}" if spent > 0 else "-" for spent in seconds]
        size = result.memory_bytes
        cost.append([result.name, *rates, "-" if size is None else tqdm.format_sizeof(size, "B")])
    lines += ["", aligned(quality), "", "Cost", aligned(cost), ""]
    lines.append("Each message was predicted first and learned afterwards.")
    return "\n".join(lines)


def _shown(value: float | None, factor: int, decimals: int) -> str:
    return "-" if value is None else f"{factor * value:.{decimals}f}"
