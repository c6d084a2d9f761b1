"""Speed and memory of streamnb, river, scikit-learn and Vowpal Wabbit (`make bench`).

All contestants run in one process, on one thread, on the same messages. They take turns in rounds,
and medians are compared. The stream is the SMS collection if STREAMNB_DATA contains it, else a
synthetic stream. `contestants.py` describes the timed operations.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Import before numpy, because its thread pools read their settings then.
from rounds import Contestant, Target, Timing, one_thread, race, race_table

PINNED = one_thread()

import contestants  # noqa: E402
import memory  # noqa: E402

from streamnb import datasets  # noqa: E402

REPEATS = 18  # of the collection's 5,574 messages: a stream of 100,332 for the batches
HIDDEN_LEARNED = 5000
MARKS = ("<!-- make bench -->", "<!-- end -->")


def say(text: str) -> None:
    """Print progress on one line, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def one_by_one_targets(t: dict[str, Timing]) -> list[Target]:
    river, vw = t["river MultinomialNB"].median, t["Vowpal Wabbit, parsed once"].median
    found = []
    for name in ("MNB", "CNB"):
        own = t[f"streamnb {name}"].median
        pair = f"{name} learn_one + predict_one against"
        found.append(Target(f"{pair} river's MultinomialNB pipeline", own / river, 50))
        found.append(Target(f"{pair} Vowpal Wabbit one by one", own / vw, 2.5))
    return found


def corrected_targets(t: dict[str, Timing]) -> list[Target]:
    found = []
    for name in ("default", "pairs"):
        own = t[f"streamnb OnlineNB, {name}"].median
        for model, wanted in (("LogisticRegression", 40), ("MultinomialNB", 100)):
            text = f"OnlineNB, {name}, against river's {model} with the same tokens"
            found.append(Target(text, own / t[f"river {model}, {name}"].median, wanted))
    for how, wanted in ((", default", 45), (", default, batches", 60)):
        share = 100 * t[f"streamnb OnlineNB{how}"].median / t["limit of OnlineNB, default"].median
        found.append(Target(f"OnlineNB{how}, share of its limit", share, wanted, unit=" %"))
    for how in ("", ", batches"):
        cost = t[f"streamnb OnlineNB, default{how}"].median
        cost /= t[f"streamnb OnlineNB, default, three heads{how}"].median
        found.append(Target(f"cost of three heads{how}, against one", cost, 1.6, at_most=True))
    own = t["streamnb OnlineNB, pairs"].median
    vw = t["Vowpal Wabbit, pairs, parsed once"].median
    found.append(Target("OnlineNB, pairs, against Vowpal Wabbit with --ngram 2", own / vw, 3))
    words = t["streamnb OnlineNB, words"].median / t["streamnb MNB, words"].median
    found.append(Target("OnlineNB, words, against MNB", words, 0.5))
    return found


def batch_targets(t: dict[str, Timing]) -> list[Target]:
    limit = t["tokenise and hash only"].median
    found = []
    for name in ("MNB", "CNB"):
        own = t[f"streamnb {name}, both"].median
        both = f"{name} learn_many + predict_many against"
        found.append(Target(f"{both} scikit-learn's", own / t["scikit-learn, batches"].median, 8))
        found.append(
            Target(f"{both} Vowpal Wabbit's file", own / t["Vowpal Wabbit, file"].median, 1)
        )
    for verb in ("learn_many", "predict_many"):
        share = 100 * t[f"streamnb MNB {verb}"].median / limit
        found.append(Target(f"MNB {verb}, share of tokenise-and-hash", share, 30, unit=" %"))
    return found


def hidden_targets(t: dict[str, Timing]) -> list[Target]:
    ratio = t["streamnb MNB predict_one"].median / t["streamnb HMNB predict_one"].median
    text = f"cost of HMNB predict_one against MNB's at {HIDDEN_LEARNED:,} messages"
    return [Target(text, ratio, 8, at_most=True)]


def load() -> tuple[str, list[str], list[str]]:
    """Return the name of the stream, its texts and its labels."""
    stream = datasets.demo_stream()[0]
    pairs = list(stream)
    return stream.name, [text for text, _ in pairs], [label for _, label in pairs]


class Page:
    """Printer that also collects its output for a document."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def add(self, text: str) -> None:
        say("")
        print(text, flush=True)
        self.parts.append(text)

    def section(self, title: str, body: str) -> None:
        self.add(f"\n{title}\n{'=' * len(title)}\n{body}")

    def write_into(self, document: Path) -> None:
        """Replace the text between the markers of the document."""
        head, mark, rest = document.read_text(encoding="utf-8").partition(MARKS[0])
        _, end, tail = rest.partition(MARKS[1])
        if not mark or not end:
            raise SystemExit(f"{document} has no line {MARKS[0]} with {MARKS[1]} after it")
        text = "\n".join(self.parts)
        document.write_text(f"{head}{mark}\n```text\n{text}\n```\n{end}{tail}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each race (default 9)")
    parser.add_argument("--quick", action="store_true", help="two rounds, and growth to 10,000")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure here too")
    parser.add_argument(
        "--write", type=Path, metavar="FILE.md", help=f"put the tables after its {MARKS[0]}"
    )
    options = parser.parse_args(arguments)
    rounds = 2 if options.quick else options.rounds
    lengths = (1_000, 10_000) if options.quick else (1_000, 10_000, 100_000)

    source, texts, labels = load()
    machine = f"{platform.machine()}, Python {platform.python_version()}, {PINNED}"
    page = Page()
    page.add(f"{source}: {len(texts):,} messages, {rounds} rounds; {machine}")
    report: dict[str, Any] = {"stream": source, "machine": machine, "races": {}}
    targets: list[Target] = []

    def run(title: str, entrants: list[Contestant], beside: str) -> dict[str, Timing]:
        timings = race(entrants, rounds, say)
        page.section(title, race_table(timings, beside))
        report["races"][title] = {name: t.as_dict() for name, t in timings.items()}
        return timings

    targets += one_by_one_targets(
        run(
            "predict_one + learn_one, from the empty model",
            contestants.one_by_one(texts, labels),
            "river MultinomialNB",
        )
    )
    targets += corrected_targets(
        run(
            "OnlineNB: predict_one + learn_one, from the empty model",
            contestants.corrected(texts, labels),
            "streamnb MNB, words",
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        entrants = contestants.in_batches(
            texts * REPEATS, labels * REPEATS, len(texts), Path(folder)
        )
        targets += batch_targets(run("batches of 1,000", entrants, "tokenise and hash only"))
    targets += hidden_targets(
        run(
            f"predict_one after {HIDDEN_LEARNED:,} messages",
            contestants.hidden(texts, labels, HIDDEN_LEARNED),
            "streamnb MNB predict_one",
        )
    )

    sizes = memory.footprints(texts, labels)
    page.section("memory of the counts", memory.footprint_table(sizes))
    report["memory"] = [size.as_dict() for size in sizes]

    grown = memory.costs(texts, labels, lengths, say)
    page.section(
        "cost of one operation as the stream grows, one new word a message",
        memory.costs_table(grown),
    )
    report["growth"] = grown

    page.section("targets", "\n".join(target.line() for target in targets))
    report["targets"] = [
        {"text": t.text, "value": t.value, "wanted": t.wanted, "met": t.met} for t in targets
    ]
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    if options.write:
        page.write_into(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
