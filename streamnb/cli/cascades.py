"""`streamnb evaluate --agreement` and `--defer`: models as first stages before a teacher."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any, TextIO

from streamnb import model_specs
from streamnb.cascade import Cascade
from streamnb.cli import common
from streamnb.evaluation import CascadeResult, evaluate_cascades, plot_calls
from streamnb.model.reprs import aligned

# Options that belong to the evaluation of a model that learns all labels.
_OTHERS = (
    *("label_delay", "label_share", "ask", "max_labels", "self_training", "drift", "pos_label"),
    "calibration_skip",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of cascades."""
    what = (
        "evaluate each model as the first stage of a cascade, which sends messages to a teacher so "
        "that this share of its decisions equals the teacher's; the labels are the teacher's "
        "answers, and --label-noise is its share of wrong answers; may be given several times"
    )
    parser.add_argument(
        "--agreement",
        metavar="SHARE",
        action="append",
        type=common.probability,
        default=[],
        help=what,
    )
    parser.add_argument(
        "--defer",
        metavar="SHARE",
        action="append",
        type=common.probability,
        default=[],
        help="as --agreement, but send at most this share of the messages",
    )
    common.add_number(parser, "--call-price", common.price, 0, "price of a call to the teacher")


def is_wanted(args: argparse.Namespace) -> bool:
    """Return whether the options ask for cascades, after a check of the other options."""
    if not args.agreement and not args.defer:
        if args.call_price:
            args.parser.error("--call-price needs --agreement or --defer")
        return False
    for name in _OTHERS:
        if getattr(args, name) != args.parser.get_default(name):
            option = "--" + name.replace("_", "-")
            args.parser.error(f"{option} has no meaning with --agreement or --defer: remove it")
    return True


def run(
    args: argparse.Namespace,
    specs: list[model_specs.ModelSpec],
    reading: common.Reading,
    name: str,
    plot: Path | None,
    told: TextIO,
) -> int:
    """Evaluate the models as first stages, print the results, and return the exit status."""
    goals: list[dict[str, Any]] = [{"agreement": each} for each in dict.fromkeys(args.agreement)]
    goals += [{"budget": each} for each in dict.fromkeys(args.defer)]
    cascades, models = {}, {}
    for goal in goals:  # each cascade needs a model of its own
        ((kind, share),) = goal.items()
        for label, model in model_specs.build_all(specs).items():
            key = f"{label}, {kind}={share:g}"
            models[key] = label
            cascades[key] = Cascade(model, teacher_error=args.label_noise, seed=args.seed, **goal)
    evaluated = evaluate_cascades(
        cascades,
        ((message.x, message.label) for message in reading.messages()),
        window=args.window,
        label_noise=args.label_noise,
        noise_seed=args.seed,
        call_price=args.call_price,
    )
    reading.require_messages()
    results = [dataclasses.replace(each, name=models[each.name]) for each in evaluated]
    if plot is not None:
        plot_calls(results, plot, title=f"Calls to the teacher: {name}")
    if args.json:
        stream = {"name": name, "n_messages": results[0].n_messages, "window": args.window}
        found = {
            "stream": stream,
            "bad_lines": {"count": reading.n_bad, "listed": reading.bad_lines},
            "unlabelled": reading.n_unlabelled,
            "plot": None if plot is None else str(plot),
            "cascades": [each.to_dict() for each in results],
        }
        print(json.dumps(found, indent=2))
    else:
        common.say(report(name, results, reading.skipped()))
    if plot is not None:
        common.say(f"calls and agreement: {plot}", told)
    return reading.status()


def report(source: str, results: list[CascadeResult], skipped: str = "") -> str:
    """Return the results of cascades as text."""
    first = results[0]
    lines = [f"{source}: {common.plural(first.n_messages, 'message')}"]
    if skipped:
        lines.append(skipped)
    head = ["model", "goal", "calls", "calls %", "audits", "agreement %"]
    head += [f"lowest % of {first.window:,}", "estimate %", "accuracy %", "teacher's %"]
    from tqdm import tqdm

    priced = any(each.cost for each in results)
    table = [[*head, *(["cost"] if priced else []), "messages/s"]]
    for each in results:
        lowest, found = each.lowest, each.estimate
        row = [each.name, each.goal, f"{each.n_calls:,}", f"{100 * each.call_share:.2f}"]
        row += [f"{each.n_audits:,}", f"{100 * each.agreement:.2f}"]
        row.append("-" if lowest is None else f"{100 * lowest:.2f}")
        row.append(f"{100 * found.low:.1f} to {100 * found.high:.1f}")
        row += [f"{100 * each.accuracy:.2f}", f"{100 * each.teacher_accuracy:.2f}"]
        if priced:
            row.append(f"{each.cost:,.2f}")
        row.append(tqdm.format_sizeof(each.n_messages / each.seconds) if each.seconds else "-")
        table.append(row)
    lines += ["", aligned(table), "", "Agreement along the stream"]
    step = max(1, len(first.curve) // 10)
    points = first.curve[step - 1 :: step]
    table = [["model", "goal", *(f"{point.n_messages:,}" for point in points)]]
    for each in results:
        shares = (f"{100 * point.agreement:.1f}" for point in each.curve[step - 1 :: step])
        table.append([each.name, each.goal, *shares])
    lines += [aligned(table), ""]
    lines.append(
        "agreement: share of decisions that equal the teacher's answers; lowest: in any window "
        "after\nthe first 1,000 messages; estimate: 95 % interval from the audits of the cascade."
    )
    return "\n".join(lines)
