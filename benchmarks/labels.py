"""Few and wrong labels: `OnlineNB` next to other filters (`make labels`).

Each message is predicted, then learned with its label, which may be wrong. Accuracy and (1 - AUC)%
compare predictions with the true labels, the latter from the first message after both classes were
learned. With few labels, a model learns the first messages of a shuffled stream and predicts the
next 1,000. Correct labels are those of `make flagship`, with and without the estimate of wrong
labels. Each finished run is stored; the same command resumes after an interruption.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from river.dummy import PriorClassifier

import streamnb
from benchmarks import flagship
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
from streamnb.datasets import available, data_file, read_text, shuffled
from streamnb.datasets.files import as_mail
from streamnb.datasets.lines import read_lines
from streamnb.errors import MissingDependencyError
from streamnb.evaluation import prequential, roc_auc
from streamnb.evaluation.plots import require_matplotlib
from streamnb.evaluation.scoring import Answers

PAGE = Path(__file__).parents[1] / "docs" / "internals" / "labels.md"
PICTURE = "labels.svg"


class Stream(NamedTuple):
    """A stream: its title and file, whether its texts are mails, and whether they are raw."""

    title: str
    file: str
    mail: bool = False
    raw: bool = False


STREAMS = {
    "sms": Stream("SMS", "sms_spam"),
    "spamassassin": Stream("SpamAssassin", "spamassassin", mail=True, raw=True),
    "enron": Stream("Enron 1-3", "enron_spam", mail=True),
    "csdmc2010": Stream("CSDMC2010", "csdmc2010", mail=True, raw=True),
    "exais": Stream("ExAIS SMS", "exais_sms"),
}


class Item(NamedTuple):
    """A message, its true label, and its user if the stream has users."""

    text: str
    label: str
    user: str


@lru_cache(maxsize=2)
def messages(stream: str) -> list[Item]:
    """Return the messages of a stream; raw mails are decoded."""
    _, file, _, raw = STREAMS[stream]
    if stream == "exais":
        parsed = (json.loads(line.text) for line in read_lines(data_file("text", file)))
        return [Item(each["text"], each["label"], each["user"]) for each in parsed]
    read = read_text(file)
    return [Item(each.text, each.label, "") for each in (map(as_mail, read) if raw else read)]


# --- models ---------------------------------------------------------------------------------------


def online_nb(mail: bool, **more: Any) -> Any:
    """Return the model of `make flagship`."""
    if mail:
        more["tokenizer"] = streamnb.Tokenizer(words=(1, 2), boundaries="unicode", subject=True)
        more["max_features"] = 3_000_000
    return streamnb.OnlineNB(**more)


MODELS: dict[str, Callable[[bool], Any]] = {
    "OnlineNB": online_nb,
    "MNB": lambda mail: streamnb.MNB(),
    "Vowpal Wabbit": lambda mail: filters.VowpalWabbit(arguments="--ngram 2 -b 24"),
    "logistic regression": lambda mail: filters.CharacterLogistic(),
    "bogofilter": lambda mail: filters.Bogofilter(),
    "most frequent class": lambda mail: PriorClassifier(),
}
OWN = ("OnlineNB", "MNB")
SLOW = {"bogofilter": 2000}  # maximum number of messages: it starts twice for each


# --- labels ---------------------------------------------------------------------------------------


def flipped(share: float, only: str = "") -> Callable[[Sequence[Item], random.Random], list[str]]:
    """Return a function that flips a share of the labels, or of one of them."""

    def given(items: Sequence[Item], rng: random.Random) -> list[str]:
        return [
            other(item.label) if rng.random() < share and only in ("", item.label) else item.label
            for item in items
        ]

    return given


def other(label: str) -> str:
    return "ham" if label == "spam" else "spam"


def random_hour(items: Sequence[Item], rng: random.Random) -> list[str]:
    """Return random labels for 500 messages after a third of the stream."""
    first = len(items) // 3
    return [
        rng.choice(("ham", "spam")) if first <= place < first + 500 else item.label
        for place, item in enumerate(items)
    ]


def wrong_user(items: Sequence[Item], rng: random.Random) -> list[str]:
    """Return the wrong labels of one user, who has about a tenth of the messages.

    Streams without users get ten, who receive messages at random.
    """
    users = [item.user or str(rng.randrange(10)) for item in items]
    wrong = min(sorted(set(users)), key=lambda user: abs(users.count(user) - len(users) / 10))
    return [
        other(item.label) if user == wrong else item.label
        for item, user in zip(items, users, strict=True)
    ]


COLLECTIONS = {each[0]: each for each in flagship.COLLECTIONS}
LABELS: dict[str, Callable[[Sequence[Item], random.Random], list[str]]] = {
    "correct": flipped(0.0),
    "10 % flipped": flipped(0.1),
    "25 % flipped": flipped(0.25),
    "20 % of the spam labelled ham": flipped(0.2, only="spam"),
    "one user is always wrong": wrong_user,
    "500 messages with random labels": random_hour,
}
# Arguments of `prequential`: labels of some messages only.
OWN_LABELS = "with self-training"
REQUESTS: dict[str, dict[str, Any]] = {
    "2 % requested": {"label_share": 0.02, "ask": "uncertain"},
    "2 % random": {"label_share": 0.02},
    "5 % random": {"label_share": 0.05},
    "100 requested": {"label_share": 0.02, "ask": "uncertain", "max_labels": 100},
    "100 random": {"label_share": 0.02, "max_labels": 100},
}
REQUESTS |= {
    f"{labels}, {OWN_LABELS}": REQUESTS[labels] | {"self_training": True}
    for labels in ("2 % requested", "100 requested")
}
# Labels of the collections of `make flagship`.
CLEAN: dict[str, dict[str, Any]] = {
    "with the estimate": {},
    "without": {"estimate_noise": False},
}
SHUFFLED = "shuffled"  # labels in random order, which are the truth too
NUMBERS = (10, 50, 100, 500)
LATER = 1000


@dataclass(frozen=True)
class Run:
    """A model on a stream, with these labels, or with the first `number` of them only."""

    model: str
    stream: str
    labels: str
    seed: int
    number: int | None = None

    def settings(self) -> dict[str, Any]:
        """Return everything that the figures depend on, but for the data."""
        code = code_fingerprint() if self.model in OWN else ""
        return {**vars(self), "limit": SLOW.get(self.model), "code": code}


def evaluate(run: Run) -> Outcome:
    """Return accuracy and (1 - AUC) in percent."""
    if run.labels in CLEAN:
        return clean(run)
    items, rng = messages(run.stream), random.Random(run.seed)
    model = MODELS[run.model](STREAMS[run.stream].mail)
    if run.labels in REQUESTS:
        return requested(model, items, run)
    score = Answers(model).ask
    if run.number is not None:
        items = shuffled(items, run.seed)[: run.number + LATER]
        given: list[str | None] = [item.label for item in items[: run.number]]
        given += [None] * LATER
    elif run.labels == SHUFFLED:
        labels = [item.label for item in items]
        rng.shuffle(labels)
        items = [item._replace(label=label) for item, label in zip(items, labels, strict=True)]
        given = [*labels]
    else:
        given = [*LABELS[run.labels](items, rng)]
    right = total = 0
    known: set[str] = set()
    scores: dict[str, list[float]] = {"ham": [], "spam": []}
    for item, label in list(zip(items, given, strict=False))[: SLOW.get(run.model)]:
        if run.number is None or label is None:
            decision = model.predict_one(item.text)
            if decision is not None:
                total += 1
                right += decision == item.label
            if len(known) == 2:
                scores[item.label].append(score(item.text, "spam")[0] or 0.0)
        if label is not None:
            model.learn_one(item.text, label)
            known.add(label)
    area = roc_auc(scores["spam"], scores["ham"])
    return (100 * right / total, 100 * (1 - area) if area is not None else float("nan")), 0.0


def requested(model: Any, items: Sequence[Item], run: Run) -> Outcome:
    """Return accuracy and (1 - AUC) in percent, and the number of labels."""
    pairs = [(item.text, item.label) for item in items]
    options = REQUESTS[run.labels]
    (result,) = prequential(model, pairs, noise_seed=run.seed, **options).values()
    scores = result.cumulative
    area = scores.one_minus_auc_percent_both_known
    return (100 * (scores.accuracy or 0.0), area or float("nan"), float(result.n_labels)), 0.0


def clean(run: Run) -> Outcome:
    """Return accuracy and (1 - AUC) in percent on a collection of `make flagship`."""
    _, file, make, choose, shuffles, *_ = COLLECTIONS[run.stream]
    items = choose(list(read_text(file)))
    order = shuffled(items, run.seed) if shuffles else items
    model = make().clone(CLEAN[run.labels])
    scores = prequential(model, flagship.pairs(make, order))["OnlineNB"].cumulative
    area = scores.one_minus_auc_percent_both_known
    return (100 * (scores.accuracy or 0.0), float("nan") if area is None else area), 0.0


# --- page -----------------------------------------------------------------------------------------


def mean(done: dict[Run, StoredRun], model: str, stream: str, **which: Any) -> tuple[float, ...]:
    """Return the mean scores of the runs of a model on a stream."""
    found = [
        run.scores
        for key, run in done.items()
        if (key.model, key.stream) == (model, stream)
        and all(getattr(key, name) == value for name, value in which.items())
    ]
    return tuple(statistics.mean(column) for column in zip(*found, strict=True))


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def named(model: str) -> str:
    same = " (river: `MultinomialNB`)" if model == "MNB" else ""
    return f"`{model}`{same}" if model in OWN else model


def wrong_labels(done: dict[Run, StoredRun], streams: Sequence[str]) -> Iterator[str]:
    """Yield a table for each kind of wrong labels."""
    for labels in (*LABELS, SHUFFLED):
        keys = [key for key in done if key.labels == labels and key.number is None]
        rows = []
        for model in dict.fromkeys(key.model for key in keys):
            cells = []
            for stream in streams:
                found = mean(done, model, stream, labels=labels, number=None)
                area = f" / {found[1]:.3f}" if found and labels != SHUFFLED else ""
                cells.append(f"{found[0]:.2f}{area}" if found else "")
            rows.append([named(model), *cells])
        yield f"### {labels[0].upper()}{labels[1:]}\n"
        yield markdown(["", *(STREAMS[stream].title for stream in streams)], rows) + "\n"


def clean_labels(done: dict[Run, StoredRun], streams: Sequence[str]) -> Iterator[str]:
    """Yield a table of all collections with correct labels."""
    rows = []
    for name in [name for name in COLLECTIONS if mean(done, "OnlineNB", name)]:
        found = [mean(done, "OnlineNB", name, labels=labels) for labels in CLEAN]
        rows.append([name, *(figures(each) for each in found)])
    yield markdown(["`OnlineNB`", *CLEAN], rows) + "\n"


def figures(scores: tuple[float, ...]) -> str:
    """Return accuracy and (1 - AUC)%, if it is known."""
    return f"{scores[0]:.2f}" + ("" if math.isnan(scores[1]) else f" / {scores[1]:.3f}")


def few_labels(done: dict[Run, StoredRun], streams: Sequence[str]) -> Iterator[str]:
    """Yield a table of accuracy by the number of labels."""
    for stream in [stream for stream in streams if not STREAMS[stream].mail]:
        keys = [key for key in done if key.stream == stream and key.number is not None]
        rows = [
            [named(model), *(f"{mean(done, model, stream, number=n)[0]:.1f}" for n in NUMBERS)]
            for model in dict.fromkeys(key.model for key in keys)
        ]
        yield f"### {STREAMS[stream].title}\n"
        yield markdown(["labels", *map(str, NUMBERS)], rows) + "\n"


def requested_labels(done: dict[Run, StoredRun], streams: Sequence[str]) -> Iterator[str]:
    """Yield a table of accuracy with requested and with random labels."""
    rows = []
    for labels in REQUESTS:
        found = [mean(done, "OnlineNB", stream, labels=labels) for stream in streams]
        cells = [f"{each[0]:.2f} / {each[1]:.2f} ({each[2]:.0f})" for each in found]
        rows.append([labels, *cells])
    yield markdown(["`OnlineNB` (labels)", *(STREAMS[stream].title for stream in streams)], rows)
    yield ""


# Title, and a function that yields the paragraphs of the section.
SECTIONS: dict[str, Callable[[dict[Run, StoredRun], Sequence[str]], Iterator[str]]] = {
    "Correct labels": clean_labels,
    "Wrong labels": wrong_labels,
    "Few labels": few_labels,
    "Requested labels": requested_labels,
}

# Stream → limits of accuracy and (1 - AUC)% with 10 % flipped.
REQUESTED = {"sms": 98.0, "spamassassin": 96.0, "enron": 98.0}
WANTED = {"sms": (98.4, 0.70), "spamassassin": (97.4, 0.85), "enron": (98.1, 0.33)}


def targets(done: dict[Run, StoredRun], streams: Sequence[str]) -> Iterator[Target]:
    """Yield the targets of `OnlineNB`."""
    yield from clean_targets(done)
    for stream in streams:
        title = STREAMS[stream].title
        if stream in WANTED:
            accuracy, area = WANTED[stream]
            found = mean(done, "OnlineNB", stream, labels="10 % flipped")
            yield Target(f"{title}, 10 % flipped, accuracy", found[0], accuracy, unit=" %")
            yield Target(f"{title}, 10 % flipped, (1-AUC)%", found[1], area, True, " %")
        yield from requested_targets(done, stream, title)
        for labels in ("25 % flipped", SHUFFLED):
            found = mean(done, "OnlineNB", stream, labels=labels)
            others = {key.model for key in done if (key.stream, key.labels) == (stream, labels)} - {
                "OnlineNB"
            }
            best = max(mean(done, model, stream, labels=labels)[0] for model in others)
            text = f"{title}, {labels}, accuracy next to the best other model"
            yield Target(text, found[0], best, unit=" %")


def clean_targets(done: dict[Run, StoredRun]) -> Iterator[Target]:
    """Yield the targets of correct labels: losses by the estimate, accuracy and processor time."""
    for name in [name for name in COLLECTIONS if mean(done, "OnlineNB", name)]:
        (accuracy, area), (before, area_before) = (
            mean(done, "OnlineNB", name, labels=labels) for labels in CLEAN
        )
        yield Target(f"{name}, points lost by the estimate", before - accuracy, 0.02, True, "")
        if not math.isnan(area):
            text = f"{name}, (1-AUC)% next to no estimate"
            yield Target(text, area / area_before, 1.05, True)
        wanted = COLLECTIONS[name][5]
        if wanted is not None:
            yield Target(f"{name}, accuracy", accuracy, wanted, unit=" %")
    stream = [(item.text, item.label) for item in messages("sms")]
    ratios = [
        flagship.rate(lambda: flagship.short().clone(CLEAN["without"]), stream)
        / flagship.rate(flagship.short, stream)
        for _ in range(5)
    ]
    yield Target("SMS, time next to no estimate", statistics.median(ratios), 1.15, True)


def requested_targets(done: dict[Run, StoredRun], stream: str, title: str) -> Iterator[Target]:
    """Yield the targets of requested labels."""
    found = {labels: mean(done, "OnlineNB", stream, labels=labels) for labels in REQUESTS}
    random_share, budget = found["2 % random"], 0.02 * len(messages(stream))
    for labels in ("2 % requested", f"2 % requested, {OWN_LABELS}"):
        requested, text = found[labels], f"{title}, {labels}"
        if stream in REQUESTED:
            yield Target(text, requested[0], REQUESTED[stream], unit=" %")
        if stream == "csdmc2010":
            yield Target(
                f"{text}, next to 5 % random", requested[0], found["5 % random"][0], unit=" %"
            )
        yield Target(f"{text}, next to 2 % random", requested[0], random_share[0], unit=" %")
        distance = 100 * abs(requested[2] / budget - 1)
        yield Target(f"{text}, distance from the budget", distance, 10.0, True, " %")
    if stream == "sms":
        yield Target(f"{title}, 100 requested", found["100 requested"][0], 97.7, unit=" %")


def plot(done: dict[Run, StoredRun], streams: Sequence[str], path: Path) -> None:
    """Draw accuracy by the share of flipped labels, and by the number of labels."""
    figure_class, canvas_class = require_matplotlib()
    import matplotlib as mpl

    drawing = figure_class(figsize=(9.6, 6.0), layout="constrained")
    canvas_class(drawing)
    panels = drawing.subplots(2, 3).flat
    shares = {0: "correct", 10: "10 % flipped", 25: "25 % flipped"}
    few = {f"{STREAMS[name].title}, few labels": name for name in streams if name == "sms"}
    flips = {f"{STREAMS[name].title}, flipped labels": name for name in streams}
    models = [name for name in MODELS if name not in SLOW and name != "most frequent class"]
    for axes, (title, stream) in zip(panels, (flips | few).items(), strict=False):
        for model in models:
            found = {
                x: mean(done, model, stream, number=x, labels="correct")
                if title in few
                else mean(done, model, stream, number=None, labels=shares[x])
                for x in (NUMBERS if title in few else shares)
            }
            points = {x: scores[0] for x, scores in found.items() if scores}
            label = None if axes.get_subplotspec().num1 else model
            axes.plot(list(points), list(points.values()), marker="o", label=label)
        text, scale = ("labels", "log") if title in few else ("flipped, %", "linear")
        axes.set(title=title, xlabel=text, xscale=scale, ylabel="accuracy, %")
        axes.grid(alpha=0.3)
    drawing.legend(loc="outside lower center", ncols=5, frameon=False)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "labels"}):
        drawing.savefig(path, format="svg", metadata={"Date": None})


_HEAD = f"""\
# Few and wrong labels

Accuracy % / (1 − AUC)% of `OnlineNB` as in `make flagship`, and of other filters with their
default parameters. Each message is predicted, then learned with a label that may be wrong;
predictions are compared with the true labels. Written by `make labels`, which resumes after an
interruption. [Constants and experiments](label-experiments.md#wrong-labels) explains the method.

![Accuracy with wrong labels and with few labels]({PICTURE})

"""

_NOTES = """\
- Vowpal Wabbit learns words and pairs. Logistic regression learns online on character 4-grams of
  the first 3,000 bytes.
- bogofilter learns and classifies the first 2,000 messages of SMS only; unsure counts as ham.
  Compare its figures with care.
- *Shuffled*: the labels of the stream in random order, which no message predicts.
- *Requested labels*: mean of three seeds, with the number of labels in brackets. The constants of
  the requests were chosen on SMS, SpamAssassin and CSDMC2010.
- With two classes, `CNB` decides as `MNB`. river's `MultinomialNB` has the same scores on SMS.
- *Few labels*: a model learns messages at random, then predicts the next 1,000. Three samples."""


def runs_of(streams: Sequence[str], models: Sequence[str], seeds: int) -> list[Run]:
    """Return the runs of the page. To save time, slow filters learn one stream only."""
    found = []
    for model in models:
        try:
            MODELS[model](False)
        except MissingDependencyError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        for stream in streams:
            is_mail, kinds = STREAMS[stream].mail, [*LABELS, SHUFFLED]
            if model == "most frequent class":
                kinds = [SHUFFLED]
            elif model in SLOW and stream != "sms":
                kinds = []
            found += [Run(model, stream, labels, 1) for labels in kinds]
            if model == "OnlineNB":
                found += [
                    Run(model, stream, labels, seed)
                    for labels in REQUESTS
                    for seed in range(1, seeds + 1)
                ]
            if "correct" in kinds and not is_mail and model not in SLOW:
                found += [
                    Run(model, stream, "correct", seed, number)
                    for number in NUMBERS
                    for seed in range(1, seeds + 1)
                ]
        if model == "OnlineNB":
            found += [
                Run(model, name, labels, 1)
                for name, file, *_ in flagship.COLLECTIONS
                if available(f"text/{file}")
                for labels in CLEAN
            ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="make labels", description=__doc__)
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(STREAMS)} (default: all)")
    parser.add_argument("--models", metavar="A,B", help=f"of {', '.join(MODELS)} (default: all)")
    parser.add_argument("--seeds", type=int, default=3, help="samples of few labels (default: 3)")
    parser.add_argument("--write", action="store_true", help="write docs/internals/labels.md")
    add_run_arguments(parser, "labels")
    args = parser.parse_args()
    streams = names(args.streams) or list(STREAMS)
    runs = runs_of(streams, names(args.models) or list(MODELS), args.seeds)
    done = run_missing(evaluate, {run: run.settings() for run in runs}, args)
    if args.models:
        return  # the page compares all models
    parts = [f"## {title}\n\n" + "\n".join(of(done, streams)) for title, of in SECTIONS.items()]
    goals = "\n".join(target.line() for target in targets(done, streams))
    body = "\n".join([*parts, _NOTES, f"- Measured on {platform.machine()}.\n"])
    print(f"{body}\n{goals}")
    if args.write:
        PAGE.write_text(_HEAD + body, encoding="utf-8")
        plot(done, streams, PAGE.with_name(PICTURE))


if __name__ == "__main__":
    sys.exit(run_program(main))
