"""Cascades with several first stages, on all collections (`make cascade`).

A model decides most messages, and a teacher answers the decisions at risk. The labels of the
collection are the teacher's answers; or 5 or 10 % of them are wrong. Calls include audits. The
lowest agreement is that of any 2,000 consecutive messages after the first 1,000. Each finished run
is stored; the same command resumes after an interruption.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from river import compose, feature_extraction, linear_model

import streamnb
from benchmarks import flagship
from benchmarks.labels import online_nb
from benchmarks.peers import filters
from benchmarks.rounds import Target
from benchmarks.stored_runs import (
    Outcome,
    StoredRun,
    add_run_arguments,
    code_fingerprint,
    names,
    run_missing,
    run_program,
)
from streamnb.cascade import Cascade
from streamnb.datasets import available, read_text, shuffled
from streamnb.datasets.files import as_mail
from streamnb.errors import MissingDependencyError
from streamnb.evaluation import CascadeResult, evaluate_cascades

PAGE = Path(__file__).parents[2] / "docs" / "internals" / "cascade-figures.md"
BEGIN, END = "<!-- begin: make cascade -->\n", "<!-- end: make cascade -->\n"
AGREEMENTS = (0.95, 0.98, 0.99, 0.995)
GOAL, LEAST, WINDOW = 0.99, 0.988, 2000
ERRORS = (0.05, 0.10)
RAW = ("spamassassin", "csdmc2010")  # raw mails


def for_long_texts() -> Any:
    return online_nb(True)


@dataclass(frozen=True)
class Stream:
    """A stream: its files one after the other, its model, classes, and the highest share of calls.

    `first` bounds the messages of each file.
    """

    files: tuple[str, ...]
    model: Callable[[], Any] = streamnb.OnlineNB
    classes: int = 2
    shuffles: bool = False
    calls: float | None = None
    first: int | None = None


STREAMS = {
    "SMS": Stream(("sms_spam",), calls=2.5),
    "SpamAssassin": Stream(("spamassassin",), for_long_texts, calls=6.0),
    "Enron 1-3": Stream(("enron_spam",), for_long_texts, calls=3.0),
    "CSDMC2010": Stream(("csdmc2010",), for_long_texts),
    "ExAIS SMS": Stream(("exais_sms",)),
    "R8": Stream(("r8",), for_long_texts, 8, shuffles=True, calls=13.0),
    "banking77": Stream(("banking77",), flagship.many, 77, shuffles=True, calls=42.0),
    "HWU64": Stream(("hwu64",), flagship.many, 64, calls=45.0),
    "AG News": Stream(("agnews_test",), classes=4, calls=55.0),
    "SMS, then ExAIS": Stream(("sms_spam", "exais_sms"), first=4000),
    "Enron, then SpamAssassin": Stream(("enron_spam", "spamassassin"), for_long_texts, first=4000),
}


def river() -> Any:
    bag = feature_extraction.BagOfWords(ngram_range=(1, 2))
    return compose.Pipeline(bag, linear_model.SoftmaxRegression())


MODELS: dict[str, Callable[[Stream], Any]] = {
    "OnlineNB": lambda stream: stream.model(),
    "MNB": lambda stream: streamnb.MNB(),
    "Vowpal Wabbit": lambda stream: filters.VowpalWabbit(stream.classes, "--ngram 2 -b 24"),
    "logistic regression": lambda stream: filters.CharacterLogistic(),
    "river: logistic regression": lambda stream: river(),
}
MOST_CLASSES = {"river: logistic regression": 8}  # its cost grows with each class and word


@lru_cache(maxsize=2)
def messages(name: str) -> list[tuple[str, str]]:
    """Return the messages of a stream, with their labels."""
    found: list[tuple[str, str]] = []
    for file in STREAMS[name].files:
        decoded = map(as_mail, read_text(file)) if file in RAW else read_text(file)
        read = [(each.text, each.label) for each in decoded]
        found += (shuffled(read, 0) if STREAMS[name].shuffles else read)[: STREAMS[name].first]
    return found


@dataclass(frozen=True)
class Run:
    """A first stage on a stream, with this goal and this share of wrong answers."""

    model: str
    stream: str
    agreement: float
    error: float = 0.0

    def settings(self) -> dict[str, Any]:
        """Return everything that the figures depend on, but for the data."""
        return {**vars(self), "first": STREAMS[self.stream].first, "code": code_fingerprint()}


def evaluate(run: Run) -> Outcome:
    """Return calls, agreement, its lowest value and two accuracies, in percent."""
    model = MODELS[run.model](STREAMS[run.stream])
    cascade = Cascade(model, agreement=run.agreement, teacher_error=run.error)
    stream = messages(run.stream)
    (found,) = evaluate_cascades({"": cascade}, stream, window=WINDOW, label_noise=run.error)
    return scores(found), found.seconds, {"interval": [found.estimate.low, found.estimate.high]}


def scores(found: CascadeResult) -> tuple[float, ...]:
    lowest = found.agreement if found.lowest is None else found.lowest
    shares = (found.call_share, found.agreement, lowest, found.accuracy, found.teacher_accuracy)
    return tuple(100 * each for each in shares)


# --- page -----------------------------------------------------------------------------------------

Done = dict[Run, StoredRun]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def met(done: Done, model: str = "OnlineNB") -> list[str]:
    """Return the streams on which a model has run."""
    return [name for name in STREAMS if Run(model, name, GOAL) in done]


def goal_table(done: Done) -> Iterator[str]:
    head = ["stream", "messages", "calls", "agreement", "lowest", "interval of the audits"]
    rows = []
    for name in met(done):
        run = done[Run("OnlineNB", name, GOAL)]
        low, high = run.extra["interval"]
        cells = [f"{run.scores[0]:.2f}", f"{run.scores[1]:.2f}", f"{run.scores[2]:.2f}"]
        interval = f"{100 * low:.1f} to {100 * high:.1f}"
        rows.append([name, f"{len(messages(name)):,}", *cells, interval])
    yield markdown(head, rows)


def model_table(done: Done) -> Iterator[str]:
    models = [model for model in MODELS if met(done, model)]
    for agreement in AGREEMENTS:
        yield f"**Agreement {100 * agreement:g} %**\n"
        rows = []
        for name in met(done):
            cells = []
            for model in models:
                run = done.get(Run(model, name, agreement))
                cells.append("" if run is None else f"{run.scores[0]:.2f} → {run.scores[1]:.2f}")
            rows.append([name, *cells])
        yield markdown(["stream", *models], rows) + "\n"


def missed_table(done: Done) -> Iterator[str]:
    """Compare OnlineNB with the best other first stage where it needs too many calls."""
    head = ["stream", "agreement", "OnlineNB", "best other first stage", "its calls"]
    rows = []
    for name in met(done):
        wanted = STREAMS[name].calls
        if wanted is None or done[Run("OnlineNB", name, GOAL)].scores[0] <= wanted:
            continue
        for agreement in AGREEMENTS:
            runs = {model: done.get(Run(model, name, agreement)) for model in MODELS}
            shown = {model: run.scores for model, run in runs.items() if run is not None}
            mine = shown.pop("OnlineNB", None)
            reach = {model: each for model, each in shown.items() if each[1] >= 100 * agreement}
            best = min(reach, key=lambda model: reach[model][0], default="none")
            cells = "" if mine is None else f"{mine[0]:.2f} → {mine[1]:.2f}"
            other = f"{reach[best][0]:.2f} → {reach[best][1]:.2f}" if reach else ""
            rows.append([name, f"{100 * agreement:g} %", cells, best, other])
    yield markdown(head, rows)


def error_table(done: Done) -> Iterator[str]:
    head = ["stream"]
    for error in ERRORS:
        head += [f"calls, {100 * error:g} % wrong", "right", "the teacher alone"]
    rows = []
    for name in met(done):
        cells = []
        for error in ERRORS:
            run = done.get(Run("OnlineNB", name, GOAL, error))
            found = None if run is None else run.scores
            cells += [""] * 3 if found is None else [f"{found[i]:.2f}" for i in (0, 3, 4)]
        rows.append([name, *cells])
    yield markdown(head, rows)


SECTIONS: dict[str, Callable[[Done], Iterator[str]]] = {
    "`OnlineNB` with a perfect teacher, `agreement=0.99`": goal_table,
    "Other first stages: calls → agreement": model_table,
    "Streams with more calls than their goal: calls → agreement": missed_table,
    "`OnlineNB` with a teacher that errs at random, `agreement=0.99`": error_table,
}


def targets(done: Done) -> Iterator[Target]:
    """Yield the targets: agreement in each window, calls, and comparisons."""
    for name in met(done):
        calls, _, lowest, *_ = done[Run("OnlineNB", name, GOAL)].scores
        yield Target(f"{name}, lowest agreement", lowest, 100 * LEAST, unit=" %")
        if STREAMS[name].calls is not None:
            yield Target(f"{name}, calls", calls, STREAMS[name].calls, True, " %")
        for agreement in AGREEMENTS:
            mine = done.get(Run("OnlineNB", name, agreement))
            others = [done.get(Run(each, name, agreement)) for each in MODELS if each != "OnlineNB"]
            # A first stage that misses the goal may need few calls.
            rivals = [each for each in others if each and each.scores[1] >= 100 * agreement]
            if mine and rivals:
                text = f"{name}, calls at {100 * agreement:g} % next to the best other first stage"
                best = min(each.scores[0] for each in rivals)
                yield Target(text, mine.scores[0], best, True, " %")
        noisy = done.get(Run("OnlineNB", name, GOAL, 0.10))
        if noisy and name in ("SMS", "SpamAssassin", "Enron 1-3"):
            right, alone = noisy.scores[3:5]
            yield Target(f"{name}, right with 10 % wrong answers", right, alone, unit=" %")


_NOTES = """\
Calls, agreement and accuracy are percentages. *Lowest* is the lowest agreement in 2,000
consecutive messages after the first 1,000. The interval is the one that the cascade computes from
its audits of the last 10,000 decisions. *Right* is the share of decisions that equal the true
label. Logistic regression learns character 4-grams of the first 3,000 bytes; Vowpal Wabbit and
river learn words and pairs. river is left out for more than 8 classes. `MNB` has the scores of
river's `MultinomialNB`. The best other first stage has the fewest calls among those that reach
the agreement over the whole stream; *none* if all of them miss it."""


def runs_of(streams: Sequence[str], models: Sequence[str]) -> list[Run]:
    found = []
    for model in models:
        try:
            MODELS[model](STREAMS["SMS"])
        except MissingDependencyError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        for name in streams:
            if STREAMS[name].classes > MOST_CLASSES.get(model, 1000):
                continue
            found += [Run(model, name, agreement) for agreement in AGREEMENTS]
            if model == "OnlineNB":
                found += [Run(model, name, GOAL, error) for error in ERRORS]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="make cascade", description=__doc__)
    parser.add_argument("--streams", metavar="A;B", help="names, separated by ; (default: all)")
    parser.add_argument("--models", metavar="A,B", help=f"of {', '.join(MODELS)} (default: all)")
    parser.add_argument(
        "--write", action="store_true", help="write docs/internals/cascade-figures.md"
    )
    add_run_arguments(parser, "cascade")
    args = parser.parse_args()
    wanted = names((args.streams or "").replace(",", "\0").replace(";", ","))
    streams = [each.replace("\0", ",") for each in wanted] or list(STREAMS)
    streams = [
        each for each in streams if all(available(f"text/{file}") for file in STREAMS[each].files)
    ]
    runs = runs_of(streams, names(args.models) or list(MODELS))
    done = run_missing(evaluate, {run: run.settings() for run in runs}, args)
    parts = [f"## {title}\n\n" + "\n".join(of(done)) for title, of in SECTIONS.items()]
    body = "\n\n".join([*parts, _NOTES, f"Measured on {platform.machine()}.\n"])
    print(body, *(target.line() for target in targets(done)), sep="\n")
    if args.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(run_program(main))
