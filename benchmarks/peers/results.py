"""Run every text model prequentially on real streams, and write a page of results.

The models have their default parameters, and some variants follow. The streams are sms,
spamassassin, enron and 20news, the last shuffled once for each seed. The collections are read from
the data folder (STREAMNB_DATA) or from the folder of `streamnb fetch`. Each finished run is stored;
the same command resumes after an interruption.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import filters
from benchmarks.stored_runs import (
    Outcome,
    StoredRun,
    add_run_arguments,
    code_fingerprint,
    names,
    run_missing,
    run_program,
)
from streamnb import datasets, evaluation
from streamnb.errors import InputError
from streamnb.model_specs import MODELS, build, model_spec

STREAMS = {
    "sms": "SMS",
    "spamassassin": "SpamAssassin",
    "enron": "Enron-Spam",
    "20news": "20 newsgroups",
}
"""Name of each stream → its title."""

SHUFFLED = ("20news", "r8")
"""Streams without an order of their own: one run for each seed."""

VARIANTS = (
    "NBCF(factor='auto')",
    "NBCF(factor='optimal')",
    "MNB(term_weighting='presence')",
    (
        "ComposedNB(event='one-versus-all', term_weighting='log', weights='gain-ratio', "
        "document_weights='discriminative', rounds=2)"
    ),
)
"""Models with other parameters than the defaults."""

FILTERS = {
    "VowpalWabbit": filters.VowpalWabbit,
    "VowpalWabbit(classes=20)": lambda: filters.VowpalWabbit(classes=20),
    "CharacterLogistic": filters.CharacterLogistic,
    "Bogofilter": filters.Bogofilter,
}

_NAN = float("nan")  # one object, so that figures without it are equal


class Figures(NamedTuple):
    """The figures of a run, in the order of `StoredRun.scores`.

    Attributes
    ----------
    accuracy, auc_loss
        Accuracy and (1 − AUC) in percent; the latter is NaN for more than two classes.
    learn, predict
        Microseconds for each message.
    messages
        Number of messages.
    known_auc_loss
        As `auc_loss`, from the first message after both classes were learned.
    calibration_error
        Expected calibration error in [0, 1] after the first 500 messages; NaN for a model without
        probabilities.
    code
        Version of the measured code.
    """

    accuracy: float
    auc_loss: float
    learn: float
    predict: float
    messages: float
    known_auc_loss: float = _NAN
    calibration_error: float = _NAN
    code: str = ""

    @classmethod
    def of(cls, run: StoredRun) -> Figures:
        """Return the figures of a stored run."""
        scores = [_NAN if score != score else score for score in run.scores]
        return cls(*scores, code=str(run.settings["code"]))


@dataclass(frozen=True)
class Run:
    """One model on one stream.

    Attributes
    ----------
    model
        A name in `FILTERS`, or a model as on the command line: `"NBCF(factor='auto')"`.
    stream
        Its name in `datasets.stream`.
    seed
        Seed of the shuffle.
    limit
        Maximum number of messages; None for all.
    """

    model: str
    stream: str
    seed: int
    limit: int | None

    def messages(self) -> list[tuple[str, str]]:
        """Return the messages and their labels."""
        return _messages(self.stream, self.seed)[: self.limit]

    def settings(self) -> dict[str, Any]:
        """Return everything that the figures depend on."""
        return {
            "model": self.model,
            "stream": self.stream,
            "seed": self.seed,
            "messages": len(self.messages()),
            "data": _digest(self.stream, self.seed),
            "code": code_fingerprint(),
        }


@lru_cache(maxsize=2)
def _messages(stream: str, seed: int) -> list[tuple[str, str]]:
    return list(datasets.stream(stream, seed=seed))


@lru_cache(maxsize=64)
def _digest(stream: str, seed: int) -> str:
    digest = hashlib.sha256()
    for text, label in _messages(stream, seed):
        digest.update(f"{len(text)} {label} {text}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def model_names() -> tuple[str, ...]:
    """Return every text model with its defaults, in the package's order, and the variants."""
    return (*(name for name in MODELS if name != "ComposedNB"), *VARIANTS)


def make_runs(
    models: Sequence[str],
    streams: Sequence[str],
    seeds: int,
    limits: Mapping[tuple[str, str], int],
) -> list[Run]:
    """Return the runs of a page.

    Parameters
    ----------
    models
        Names of models.
    streams
        Some of `STREAMS`.
    seeds
        Number of shuffles of a shuffled stream.
    limits
        Model and stream → maximum number of messages. An empty name stands for all; the most
        specific limit applies, and a limit for a model precedes one for a stream.

    Raises
    ------
    InputError
        A name is unknown, or a number is below 1.

    Examples
    --------
    >>> runs = make_runs(["MNB", "HNB"], ["sms"], 1, {("HNB", "sms"): 300, ("", ""): 2000})
    >>> [run.limit for run in runs]
    [2000, 300]
    """
    if unknown := [name for name in streams if name not in STREAMS]:
        raise InputError(f"no stream {unknown[0]!r}; choose from {', '.join(STREAMS)}")
    for chosen, known, kind in (0, models, "models"), (1, streams, "streams"):
        if unknown := [key[chosen] for key in limits if key[chosen] not in ("", *known)]:
            raise InputError(f"--limit for {unknown[0]!r}, which is not among the {kind}")
    if min([seeds, *limits.values()]) < 1:
        raise InputError("--seeds and --limit take numbers of at least 1")

    def limit(name: str, stream: str) -> int | None:
        keys = (name, stream), (name, ""), ("", stream), ("", "")
        return next((limits[key] for key in keys if key in limits), None)

    return [
        Run(name, stream, seed, limit(name, stream))
        for stream in streams
        for seed in range(1, (seeds if stream in SHUFFLED else 1) + 1)
        for name in models
    ]


def evaluate(run: Run) -> Outcome:
    """Run one model on one stream."""
    factory = FILTERS.get(run.model)
    model = factory() if factory else build(model_spec(run.model))
    (result,) = evaluation.prequential({run.model: model}, run.messages()).values()
    found, n = result.cumulative, result.n_messages
    binary = len(result.labels) <= 2
    figures = (
        100 * (found.accuracy or 0.0),
        found.one_minus_auc_percent if binary else None,
        1e6 * result.learn_seconds / n,
        1e6 * result.predict_seconds / n,
        n,
        found.one_minus_auc_percent_both_known if binary else None,
        found.calibration_error,
    )
    scores = tuple(_NAN if figure is None else figure for figure in figures)
    return scores, result.learn_seconds + result.predict_seconds


def figures_of(runs: Sequence[Run], args: argparse.Namespace) -> dict[Run, Figures]:
    """Run the runs that are not stored yet, and return the figures of all."""
    done = run_missing(evaluate, {run: run.settings() for run in runs}, args)
    return {run: Figures.of(done[run]) for run in runs}


_HEAD = """\
# Results

Models with their default parameters, prequentially: predict each message, then learn it. Written by
`make results`, which resumes after an interruption. Accuracy and (1 − AUC) are in percent over the
whole stream, the latter for two classes. The time is for one message, predicted and learned one at
a time, in microseconds.

"""


def page(runs: Sequence[Run], figures: Mapping[Run, Figures]) -> str:
    """Return the page of results in Markdown, with the runs in the given order."""
    streams = list(dict.fromkeys(run.stream for run in runs))
    binary = {
        run.stream for run in runs if figures[run].auc_loss == figures[run].auc_loss
    }  # NaN is not equal to itself
    head, under = ["model"], ["---"]
    for stream in streams:
        columns = ["accuracy", *(["(1 − AUC)%"] if stream in binary else []), "µs"]
        head += [f"{STREAMS[stream]}: {column}" for column in columns]
        under += ["---:"] * len(columns)
    rows = [head, under]
    for name in dict.fromkeys(run.model for run in runs):
        row = [f"`{name}`"]
        for stream in streams:
            found = [run for run in runs if (run.model, run.stream) == (name, stream)]
            row += _cells(found, [figures[run] for run in found], stream in binary)
        rows.append(row)
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{_HEAD}{table}\n\n" + "\n".join(_notes(runs, figures, streams)) + "\n"


def _cells(runs: Sequence[Run], found: Sequence[Figures], binary: bool) -> Iterator[str]:
    def shown(value: Callable[[Figures], float]) -> str:
        values = [value(figures) for figures in found]
        if len(values) == 1:
            return f"{values[0]:.2f}"
        return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"

    short = found[0].messages < len(_messages(runs[0].stream, runs[0].seed))
    suffix = f" (first {found[0].messages:,.0f})" if short else ""
    yield shown(lambda figures: figures.accuracy) + suffix
    if binary:
        yield shown(lambda figures: figures.auc_loss)
    yield f"{statistics.mean(figures.learn + figures.predict for figures in found):,.1f}"


def _notes(
    runs: Sequence[Run], figures: Mapping[Run, Figures], streams: Sequence[str]
) -> Iterator[str]:
    for stream in streams:
        seeds = {run.seed for run in runs if run.stream == stream}
        text = f"- **{STREAMS[stream]}**: {datasets.stream_names()[stream]}"
        if stream in SHUFFLED:
            spread = f"mean and standard deviation over {len(seeds)} shuffles"
            text += f"; {spread}" if len(seeds) > 1 else "; one shuffle"
        yield text + "."
    if any(run.limit is not None for run in runs):
        yield (
            "- *first N*: a slow model ran on the first N messages only; compare its figures with "
            "care."
        )
    if len({figures[run].code for run in runs}) > 1:
        yield (
            "- Different versions of the code measured these models: a change that does not "
            "affect a model\n  does not need another run."
        )
    yield f"- Times: {platform.machine()}, Python {platform.python_version()}, wall clock."


def write(text: str, output: Path | None) -> None:
    """Write a page to a file, or to standard output."""
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")


def add_page_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of both pages."""
    parser.add_argument("--streams", metavar="A,B", help="streams to use (default: all)")
    add_run_arguments(parser, name)
    parser.add_argument(
        "--output", type=Path, metavar="FILE.md", help="page to write (default: standard output)"
    )


def _models(text: str | None) -> list[str]:
    """Return the models in a list, separated by semicolons or, without parameters, by commas."""
    if text is None:
        return list(model_names())
    parts = text.split(";") if ";" in text or "(" in text else text.split(",")
    found = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    for name in found:
        try:
            build(model_spec(name))
        except argparse.ArgumentTypeError as error:
            raise InputError(str(error)) from error
    return found


def _limits(texts: list[str]) -> dict[tuple[str, str], int]:
    limits: dict[tuple[str, str], int] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        model, _, stream = name.partition("@")
        try:
            limits[model.strip(), stream.strip()] = int(number)
        except ValueError:
            raise InputError(f"--limit {text}: write N, MODEL=N or MODEL@STREAM=N") from None
    return limits


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make results",
        description=__doc__,
        epilog='example: make results ARGS="--limit HNB=300 --limit HOVA@20news=2000"',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--models", metavar="A;B", help="models to run, separated by ; or ,")
    parser.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="shuffles of 20news (default: 5)"
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="[MODEL][@STREAM]=N",
        help="use the first N messages only; the table says so (repeatable)",
    )
    add_page_arguments(parser, "results")
    args = parser.parse_args()
    streams = names(args.streams) or list(STREAMS)
    runs = make_runs(_models(args.models), streams, args.seeds, _limits(args.limit))
    write(page(runs, figures_of(runs, args)), args.output)


if __name__ == "__main__":
    sys.exit(run_program(main))
