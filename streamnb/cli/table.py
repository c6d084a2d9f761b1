"""Aligned tables of results for a terminal."""

from __future__ import annotations

from tqdm import tqdm

from streamnb.cli import common
from streamnb.errors import printable
from streamnb.evaluation import Result, Scores
from streamnb.model.drift import NO_DETECTOR
from streamnb.model.reprs import aligned

_MOST_CLASSES = 6
_MOST_ALARMS = 10
_MOST_TEXT = 60  # characters of a wrongly decided message
# Heading of a column, name of the metric, its factor and its decimals.
_Column = tuple[str, str, int, int]
_DECISIONS: tuple[_Column, ...] = (
    ("acc %", "accuracy", 100, 2),
    ("kappa", "kappa", 1, 3),
    ("macro-F1", "macro_f1", 1, 3),
    ("hm %", "hm_percent", 1, 2),
    ("sm %", "sm_percent", 1, 2),
    ("lam %", "lam_percent", 1, 2),
)
_PROBABILITIES: tuple[_Column, ...] = (
    ("1-AUC%, all", "one_minus_auc_percent", 1, 3),
    ("1-AUC%, both known", "one_minus_auc_percent_both_known", 1, 3),
    ("log loss", "log_loss", 1, 4),
    ("ECE", "calibration_error", 1, 4),
)


def report(
    source: str, results: dict[str, Result], skipped: str = "", detector: str = NO_DETECTOR
) -> str:
    """Return the results of an evaluation as text.

    Parameters
    ----------
    source
        Name of the stream.
    results
        The result of each model.
    skipped
        Summary of the skipped messages; may be empty.
    detector
        Name of the drift detector.
    """
    listed = list(results.values())
    first = listed[0]
    lines = [f"{source}: {common.plural(first.n_messages, 'message')}, {_classes(first)}"]
    if skipped:
        lines.append(skipped)
    lines += _section("All messages", [(r.name, r.cumulative) for r in listed])
    if first.n_messages > first.window:
        heading = f"Last {common.plural(first.window, 'message')}"
        lines += _section(heading, [(r.name, r.windowed) for r in listed])
    if detector != NO_DETECTOR:
        lines += ["", f"Alarms of drift ({detector})", _alarms(listed)]
    for result in listed:
        lines += _errors(result)
    lines += ["", "Cost", _cost(listed), ""]
    lines.append("Each message was predicted first and learned afterwards.")
    if any(result.n_labels < result.n_messages for result in listed):
        counts = ", ".join(f"{result.name} {result.n_labels:,}" for result in listed)
        lines.append(f"Labels learned: {counts}.")
    if most := max(result.n_unanswered for result in listed):
        lines.append(
            f"No decision yet on {common.plural(most, 'message')} at the start: not in the metrics."
        )
    if first.pos_label is not None:
        positive = printable(first.pos_label)
        lines.append(
            f"hm %: misclassified of the messages that are not {positive}; sm %: of those "
            "that are;\nlam %: their logistic mean; 1-AUC%: area above the ROC curve, over all "
            "messages,\nand from the first after both classes were known. Lower is better."
        )
    if any(result.cumulative.log_loss is not None for result in listed):
        lines.append(
            "log loss: mean of -ln P(true label), in nats; ECE: expected calibration error,\nafter "
            f"the first {common.plural(first.calibration_skip, 'message')}. Lower is better."
        )
    return "\n".join(lines)


def _classes(result: Result) -> str:
    counts = sorted(result.labels.items(), key=lambda item: (-item[1], str(item[0])))
    named = ", ".join(f"{printable(label)} {number:,}" for label, number in counts[:_MOST_CLASSES])
    more = "" if len(counts) <= _MOST_CLASSES else ", ..."
    return f"{len(counts)} class{'' if len(counts) == 1 else 'es'} ({named}{more})"


def _section(heading: str, rows: list[tuple[str, Scores]]) -> list[str]:
    """Return one table of decisions, and another of scores and probabilities."""
    lines = ["", heading, _quality(_DECISIONS, rows) or "no decision yet"]
    if ranking := _quality(_PROBABILITIES, rows):
        lines += ["", f"{heading}: ranking and probabilities", ranking]
    return lines


def _quality(columns: tuple[_Column, ...], rows: list[tuple[str, Scores]]) -> str:
    table = [["model", *(name for name, _ in rows)]]
    for heading, metric, factor, decimals in columns:
        values = [getattr(scores, metric) for _, scores in rows]
        if any(value is not None for value in values):
            shown = ("-" if each is None else f"{factor * each:.{decimals}f}" for each in values)
            table.append([heading, *shown])
    return aligned(list(zip(*table, strict=True))) if len(table) > 1 else ""


def _alarms(results: list[Result]) -> str:
    """Return the table of drift detections: their number and the last positions."""
    table = [["model", "alarms", "after messages"]]
    for result in results:
        shown = ", ".join(f"{place:,}" for place in result.alarms[-_MOST_ALARMS:])
        more = "..., " if result.n_alarms > _MOST_ALARMS else ""
        table.append([result.name, f"{result.n_alarms:,}", more + shown or "-"])
    return aligned(table)


def _errors(result: Result) -> list[str]:
    """Return the wrong decisions of a model with the strongest words of each."""
    if not result.errors:
        return []
    lines = ["", f"Last wrong decisions of {result.name}, explained before they were learned"]
    for error in result.errors:
        label, decision = printable(error.label), printable(error.decision)
        text = " ".join(printable(str(error.x)).split())
        lines.append(f"{error.number:,}: {label}, decided {decision}: {text[:_MOST_TEXT]}")
        if error.words:
            named = ", ".join(f"{printable(word)} {adds:+.2f}" for word, adds in error.words)
            lines.append(f"    {decision} against {printable(error.against)}: {named}")
    return lines


def _cost(results: list[Result]) -> str:
    table = [["model", "messages/s", "predicted/s", "learned/s", "memory"]]
    for result in results:
        seconds = (
            result.predict_seconds + result.learn_seconds,
            result.predict_seconds,
            result.learn_seconds,
        )
        rates = [f"{result.n_messages / spent:,.0f}" if spent > 0 else "-" for spent in seconds]
        size = result.memory_bytes
        table.append([result.name, *rates, "-" if size is None else tqdm.format_sizeof(size, "B")])
    return aligned(table)
