"""Run OnlineNB, MNB and other filters on the same streams, and write a page.

The other filters are those of river, Vowpal Wabbit, bogofilter and an online logistic regression.
Filters that are not installed are left out. Each finished run is stored; the same command resumes
after an interruption.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Mapping, Sequence

from benchmarks.peers import several_labels
from benchmarks.peers.results import (
    FILTERS,
    Figures,
    Run,
    add_page_arguments,
    figures_of,
    write,
)
from benchmarks.stored_runs import names, run_missing, run_program
from streamnb import datasets
from streamnb.errors import InputError, MissingDependencyError

STREAMS = {
    "sms": "SMS",
    "sms-de": "SMS, German",
    "sms-hi": "SMS, Hindi",
    "spamassassin": "SpamAssassin",
    "enron": "Enron-Spam",
    "20news": "20 newsgroups",
    "r8": "Reuters R8",
    several_labels.STREAM: "Reuters topics",
}
"""Name of each stream → its title; streams without an order are shuffled once."""

PAIRS = "OnlineNB(tokenizer=Tokenizer(words=(1, 2), boundaries='unicode', subject=True))"
ALWAYS = ("OnlineNB", PAIRS, "MNB", "river:MultinomialNB", "CharacterLogistic")
BINARY = ("VowpalWabbit", "Bogofilter")
MULTICLASS = ("VowpalWabbit(classes=20)",)
TOPICS = ("20news", "r8")
"""The streams with more than two classes."""

# Bogofilter starts twice for each message; CharacterLogistic reads 20 tables for 20 classes.
LIMITS = {
    **{
        ("Bogofilter", stream): 2000
        for stream in ("sms", "sms-de", "sms-hi", "spamassassin", "enron")
    },
    ("CharacterLogistic", "20news"): 2000,
    ("CharacterLogistic", "r8"): 3000,
}
"""Filter and stream → maximum number of messages, where all messages would take an hour."""


def missing() -> dict[str, str]:
    """Return the filters that are not installed, each with the instruction to install it."""
    found = {}
    for name, factory in FILTERS.items():
        try:
            factory()
        except MissingDependencyError as error:
            found[name] = str(error)
    return found


def make_runs(streams: Sequence[str], without: Mapping[str, str], limit: int | None) -> list[Run]:
    """Return the runs of the page.

    Parameters
    ----------
    streams
        Some of `STREAMS`.
    without
        Filters to leave out.
    limit
        Maximum number of messages; None for `LIMITS`.
    """
    return [
        Run(name, stream, 1, LIMITS.get((name, stream)) if limit is None else limit)
        for stream in streams
        for name in (*ALWAYS, *(MULTICLASS if stream in TOPICS else BINARY))
        if name not in without
    ]


_HEAD = """\
# Comparison with other filters

`OnlineNB` with its default tokens and with words and pairs of words, `MNB()`, and other filters
with their default parameters, prequentially on the same streams: predict each message, then learn
it. Written by `make peers`. Accuracy and (1 − AUC) are in percent. The latter covers all messages,
and in the next column the messages after both classes were learned. ECE is the expected calibration
error after the first 500 messages. µs is the time to predict and learn one message.

"""

_FILTERS = """\
- `VowpalWabbit`: logistic regression on single words with adaptive rates; one against all for many
  classes. `CharacterLogistic`: online logistic regression on binary character 4-grams of the first
  3,000 bytes. `Bogofilter`: the program, started for each message; unsure counts as ham."""


def page(runs: Sequence[Run], figures: Mapping[Run, Figures], without: Mapping[str, str]) -> str:
    """Return the page in Markdown, with the runs in the given order."""
    rows = [
        "| stream | filter | accuracy | (1 − AUC)%, all | both known | ECE | µs |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for run in runs:
        found = figures[run]
        short = f" (first {run.limit:,})" if run.limit is not None else ""
        cells = [
            STREAMS[run.stream],
            f"`{run.model}`{short}",
            f"{found.accuracy:.2f}",
            _shown(found.auc_loss, ".3f"),
            _shown(found.known_auc_loss, ".3f"),
            _shown(found.calibration_error, ".4f"),
            f"{found.learn + found.predict:,.0f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    titles = datasets.stream_names()
    notes = [
        f"- **{STREAMS[stream]}**: {titles[stream]}."
        for stream in dict.fromkeys(run.stream for run in runs)
    ]
    notes += [f"- `{name}` was not measured. {why}." for name, why in without.items()]
    notes.append(_FILTERS)
    notes.append(
        f"- Times: {platform.machine()}, Python {platform.python_version()}, wall clock; load "
        f"{os.getloadavg()[0]:.0f} on {os.cpu_count()} processors."
    )
    return f"{_HEAD}{chr(10).join(rows)}\n\n{chr(10).join(notes)}\n"


def _shown(value: float, spec: str) -> str:
    return format(value, spec) if value == value else ""  # NaN is not equal to itself


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--limit", type=int, metavar="N", help="use the first N messages only")
    add_page_arguments(parser, "peers")
    args = parser.parse_args()
    streams = names(args.streams) or list(STREAMS)
    if unknown := [name for name in streams if name not in STREAMS]:
        raise InputError(f"no stream {unknown[0]!r}; choose from {', '.join(STREAMS)}")
    without = missing()
    for why in without.values():
        print(f"warning: {why}", file=sys.stderr)
    runs = make_runs(
        [name for name in streams if name != several_labels.STREAM], without, args.limit
    )
    text = page(runs, figures_of(runs, args), without)
    if several_labels.STREAM in streams:
        tasks = several_labels.pending(several_labels.make_runs(args.limit))
        done = run_missing(several_labels.evaluate, tasks, args)
        text += "\n" + several_labels.section({run: done[run] for run in tasks})
    write(text, args.output)


if __name__ == "__main__":
    sys.exit(run_program(main))
