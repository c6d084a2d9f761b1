"""Models on streams with concept drift, and on the same streams without drift.

Each message is predicted, then learned. The table has each model's error, its error after each
change, the delay of ADWIN's alarm on its errors, and its processor time.

    python benchmarks/bench_drift.py --limit 1000
    python benchmarks/bench_drift.py --write

To add a model, add the specification of a text model to `TEXTS`, or a line for a column model to
`of_columns`.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from river import drift, ensemble, feature_extraction, naive_bayes
from river.datasets import synth
from rounds import one_thread, table

import streamnb
from streamnb import datasets
from streamnb.challenger import Challenger
from streamnb.model.drift import DriftAlarm
from streamnb.model_specs import build, model_spec

PAGE = Path(__file__).parents[1] / "docs" / "internals" / "drift.md"
MARKS = ("<!-- make drift -->", "<!-- end -->")
BEHIND = 300  # messages that count as behind a change

Pairs = list[tuple[Any, Any]]
Makers = dict[str, Callable[[], Any]]

TEXTS = (
    "MNB",
    "Challenger(model=MNB())",
    "Challenger(model=MNB(), detector='ddm')",
    "MNB(half_life=500)",
    "MNB(window_size=500)",
    "OnlineNB",
    "OnlineNB(half_life=500)",
    "Challenger(model=OnlineNB())",
    "river:MultinomialNB",
)


def words() -> Any:
    return feature_extraction.BagOfWords()


def of_texts() -> Makers:
    made: Makers = {text: lambda text=text: build(model_spec(text)) for text in TEXTS}
    return made | {
        "river: DriftRetraining(MultinomialNB)": lambda: (
            words() | drift.DriftRetrainingClassifier(naive_bayes.MultinomialNB())
        ),
        "river: ADWINBagging(MultinomialNB, 3)": lambda: (
            words() | ensemble.ADWINBaggingClassifier(naive_bayes.MultinomialNB(), 3, seed=1)
        ),
    }


def of_columns() -> Makers:
    return {
        "ComposedNB('gaussian')": lambda: streamnb.ComposedNB("gaussian"),
        "Challenger(ComposedNB('gaussian'))": lambda: Challenger(streamnb.ComposedNB("gaussian")),
        "LNB": streamnb.LNB,
        "river: GaussianNB": naive_bayes.GaussianNB,
        "river: DriftRetraining(GaussianNB)": lambda: drift.DriftRetrainingClassifier(
            naive_bayes.GaussianNB()
        ),
        "river: ADWINBagging(GaussianNB, 3)": lambda: ensemble.ADWINBaggingClassifier(
            naive_bayes.GaussianNB(), 3, seed=1
        ),
    }


# --- streams --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Stream:
    """A stream, and the positions at which its classes begin to change."""

    name: str
    pairs: Pairs
    changes: tuple[int, ...]
    makers: Makers


def mixed(
    name: str, concepts: Sequence[Callable[[int], tuple[Any, Any]]], n: int, makers: Makers
) -> Iterator[Stream]:
    """Return streams of two concepts: without drift, abrupt, gradual and recurring.

    A concept returns the pair at a position of the stream. In the middle third of the gradual
    stream, the probability of the second concept rises from 0 to 1.
    """
    rng = random.Random(1)
    half, third, quarter = n // 2, n // 3, n // 4
    draws = [rng.random() for _ in range(n)]
    kinds: dict[str, tuple[tuple[int, ...], Callable[[int], bool]]] = {
        "no drift": ((), lambda at: False),
        "abrupt": ((half,), lambda at: at >= half),
        "gradual": ((third,), lambda at: draws[at] < (at - third) / third),
        "recurring": (
            (quarter, 2 * quarter, 3 * quarter),
            lambda at: at // quarter % 2 == 1,
        ),
    }
    for kind, (changes, is_second) in kinds.items():
        pairs = [concepts[is_second(at)](at) for at in range(n)]
        yield Stream(f"{name}, {kind}", pairs, changes, makers)


def newsgroups(limit: int) -> Iterator[Stream]:
    """Return streams of four topics in two classes; two topics swap classes in the second concept.

    With all twenty topics, few models learn the classes from so few messages.
    """
    messages = datasets.shuffled(datasets.read_text("20news_bydate"), seed=1)
    topics = {topic: place for place, topic in enumerate(sorted({m.label for m in messages})[::5])}
    kept = [message for message in messages if message.label in topics][:limit]

    def concept(swapped: bool) -> Callable[[int], tuple[Any, Any]]:
        def at(place: int) -> tuple[Any, Any]:
            topic = topics[kept[place].label]
            side = (topic + (swapped and topic < 2)) % 2
            return kept[place].text, ("left", "right")[side]

        return at

    yield from mixed("20 newsgroups", [concept(False), concept(True)], len(kept), of_texts())


def mailboxes(limit: int) -> Iterator[Stream]:
    """Return the first mails of three people's mailboxes, one mailbox after another."""
    boxes: dict[str, Pairs] = {}
    for mail in datasets.read_text("enron_spam"):
        box = boxes.setdefault(mail.id.partition("/")[0], [])
        if len(box) < limit // 3:
            box.append((mail.text, mail.label))
    ends = [sum(map(len, list(boxes.values())[:n])) for n in range(1, len(boxes))]
    pairs = [pair for box in boxes.values() for pair in box]
    yield Stream("Enron, three boxes in a row", pairs, tuple(ends), of_texts())


def columns(limit: int) -> Iterator[Stream]:
    """Return river's numeric streams: SEA (moving threshold) and Agrawal (changing rule)."""
    generated = {
        "SEA": [synth.SEA(variant=variant, noise=0.1, seed=1) for variant in (2, 3)],
        "Agrawal": [
            synth.Agrawal(classification_function=rule, perturbation=0.05, seed=1)
            for rule in (0, 2)
        ],
    }
    for name, sources in generated.items():
        taken = [_numeric(source, limit) for source in sources]
        concepts = [pairs.__getitem__ for pairs in taken]
        yield from mixed(name, concepts, limit, of_columns())


def _numeric(source: Any, limit: int) -> Pairs:
    return [
        ({str(name): float(value) for name, value in x.items()}, str(y))
        for x, y in source.take(limit)
    ]


# --- measuring ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Result of a model on a stream."""

    wrong: list[bool]
    alarms: list[int]
    microseconds: float


def outcome(model: Any, pairs: Pairs) -> Outcome:
    """Predict each message, then learn it; the time of the drift detector does not count."""
    alarm = DriftAlarm("adwin")
    wrong, alarms, spent = [], [], 0
    predict, learn, clock = model.predict_one, model.learn_one, time.process_time_ns
    for place, (x, y) in enumerate(pairs):
        began = clock()
        decision = predict(x)
        learn(x, y)
        spent += clock() - began
        wrong.append(decision != y)
        if alarm.update(wrong[-1]):
            alarms.append(place)
    return Outcome(wrong, alarms, spent / 1000 / len(pairs))


def row(name: str, found: Outcome, changes: Sequence[int]) -> tuple[str, ...]:
    """Return the row of a model. Delays refer to the first alarm between a change and the next."""
    ends = [*changes[1:], len(found.wrong)]
    behind = [wrong for at in changes for wrong in found.wrong[at : at + BEHIND]]
    delays = [
        next((f"{alarm - at:,}" for alarm in found.alarms if at <= alarm < end), "-")
        for at, end in zip(changes, ends, strict=bool(changes))
    ]
    # Alarms before any drift.
    false = sum(alarm < (changes[0] if changes else len(found.wrong)) for alarm in found.alarms)
    return (
        name,
        f"{100 * sum(found.wrong) / len(found.wrong):.2f}",
        f"{100 * sum(behind) / len(behind):.2f}" if behind else "",
        ", ".join(delays),
        str(false),
        f"{found.microseconds:,.0f}",
    )


HEADER = ("model", "error %", f"error %, next {BEHIND}", "alarm after", "false", "µs a message")


def report(streams: Iterator[Stream], say: Callable[[str], None]) -> str:
    """Run every model on every stream; return the tables as Markdown."""
    parts = []
    for stream in streams:
        rows = []
        for name, make in stream.makers.items():
            rows.append(row(name, outcome(make(), stream.pairs), stream.changes))
        at = f", changes after {', '.join(f'{n:,}' for n in stream.changes)}"
        title = f"{stream.name}: {len(stream.pairs):,} messages{at if stream.changes else ''}"
        say(f"{title}\n{table(HEADER, rows)}\n")
        lines = [HEADER, ("---", *["---:"] * (len(HEADER) - 1)), *rows]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"### {title}\n\n{shown}")
    return "\n\n".join(parts)


def every(texts: int, rows: int) -> Iterator[Stream]:
    """Return all streams whose collections are in the data folder."""
    for make, limit in ((newsgroups, texts), (mailboxes, texts), (columns, rows)):
        try:
            yield from make(limit)
        except streamnb.errors.DataError as error:
            print(f"left out: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=1_800, help="texts of a stream")
    parser.add_argument("--rows", type=int, default=4_000, help="rows of a stream of columns")
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/internals/drift.md"
    )
    options = parser.parse_args()
    print(one_thread())
    body = report(every(options.limit, options.rows), print)
    if options.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        tail = rest.partition(MARKS[1])[2]
        PAGE.write_text(f"{head}{MARKS[0]}\n{body}\n{MARKS[1]}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
