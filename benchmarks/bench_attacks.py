"""Effect of attacks on the time, memory and accuracy of a filter, with and without bounds.

The stream is the SMS collection in its own order, one message per minute. Each message is
predicted, then learned with the label that a user gave. After a quarter of the stream an attacker
adds messages or labels. The figures cover the collection's own messages after that position, with
their true labels. Floods of mail have a table of their own, on CSDMC2010.

For comparison, scikit-learn's `HashingVectorizer` and `MultinomialNB.partial_fit` run with the
parameters of its example of out-of-core classification. They learn batches of a hundred messages.
Single messages would take a hundred times as long, with little benefit.

    python benchmarks/bench_attacks.py --write
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from rounds import one_thread, table
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB

import streamnb
from streamnb import datasets
from streamnb.mail.content import mail_text
from streamnb.model_specs import build, model_spec
from streamnb_consumers.pipeline.label_rates import LabelRates
from streamnb_consumers.pipeline.mail_reading import DEFAULT_MODEL

PAGE = Path(__file__).parents[1] / "docs" / "internals" / "attacks.md"
MARKS = ("<!-- make attacks -->", "<!-- end -->")
MINUTE = 60_000
RATE = 6.0  # labels of one source in an hour; of the honest one, who is not named, all count
ATTACKER = "mallory"
LABELS = ("ham", "spam")
T = TypeVar("T")

# The first model of each pair has default settings, the second the bounds in the docs.
MODELS = {
    "MNB": ("MNB", "MNB(max_features=50_000, tokenizer=Tokenizer(max_tokens=200))"),
    "OnlineNB": (
        "OnlineNB",
        "OnlineNB(max_features=200_000, tokenizer=Tokenizer({online}, max_bytes=1_000))",
    ),
}


@dataclasses.dataclass(frozen=True)
class Event:
    """A message; `truth` is None if the attacker wrote it.

    `unlearn` is an earlier label of the same message: the label is a correction.
    """

    text: str
    label: str
    truth: str | None
    source: str = ""
    unlearn: str | None = None


Attack = Callable[[list[Event], random.Random], Iterator[Event]]


# --- attacks --------------------------------------------------------------------------------------


def nothing(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """No attack."""
    yield from stream


def unique_words(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add a message of 200 unknown words after each message; users label it as spam."""
    for event in stream:
        yield event
        words = " ".join(f"{rng.getrandbits(48):x}" for _ in range(200))
        yield Event(words, "spam", None)


def one_word(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add five messages with a spam word a million times, labelled as ham."""
    for place, event in enumerate(stream):
        yield event
        if place % (len(stream) // 5) == 0:
            yield Event(
                f"{('call', 'free', 'txt', 'claim', 'mobile')[place % 5]} " * 1_000_000, "ham", None
            )


def giants(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add twenty messages of one megabyte of repeated spam, labelled as ham."""
    spam = " ".join(event.text for event in stream if event.truth == "spam")
    text = (spam * (1 + 1_000_000 // len(spam)))[:1_000_000]
    for place, event in enumerate(stream):
        yield event
        if place % (len(stream) // 20) == 0:
            yield Event(text, "ham", None)


def repeated(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add the same spam message after each message; one source labels it as ham."""
    spam = [event.text for event in stream if event.truth == "spam"][:20]
    for place, event in enumerate(stream):
        yield event
        yield Event(spam[place % len(spam)], "ham", None, ATTACKER)


def poisoned(share: float) -> Attack:
    """Let one source label a share of the spam as ham."""

    def attack(stream: list[Event], rng: random.Random) -> Iterator[Event]:
        for event in stream:
            if event.truth == "spam" and rng.random() < share:
                event = dataclasses.replace(event, label="ham", source=ATTACKER)
            yield event

    return attack


def spread(stream: list[T], attack: list[T]) -> Iterator[T]:
    """Spread the messages of an attack evenly over the stream."""
    for place, event in enumerate(stream):
        yield event
        yield from attack[
            place * len(attack) // len(stream) : (place + 1) * len(attack) // len(stream)
        ]


def words(rng: random.Random, count: int, start: str = "") -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [start + "".join(rng.choices(letters, k=8)) for _ in range(count)]


def flood(chosen: bool, spam: bool = False) -> Attack:
    """Add 300 messages of 900 unknown words, labelled as spam.

    An attacker who knows the source but not the key of pruning chooses words that are frequent
    enough to stay, and that come first in the order of bytes: each word is in three messages. With
    `spam`, the words follow the text of real spam.
    """

    def attack(stream: list[Event], rng: random.Random) -> Iterator[Event]:
        times = 3 if chosen else 1
        vocabulary = words(rng, 900 * 300 // times, "aa" if chosen else "")
        real = [event.text for event in stream if event.truth == "spam"]
        added = []
        for number in range(300):
            block = number // times
            text = " ".join(vocabulary[900 * block : 900 * (block + 1)])
            text = f"{real[number % len(real)]} {text}" if spam else text
            added.append(Event(text, "spam", None))
        yield from spread(stream, added)

    return attack


def giant_tokens(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add five messages of one token of a megabyte, labelled as spam."""
    tokens = ["".join(rng.choices("abcdefghij", k=1_000_000)) for _ in range(5)]
    yield from spread(stream, [Event(token, "spam", None) for token in tokens])


def corrected_giants(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add ten messages of 25,000 words, called ham and then corrected to spam."""
    added = []
    for _ in range(10):
        text = " ".join(words(rng, 25_000))
        added += [Event(text, "ham", None), Event(text, "spam", None, unlearn="ham")]
    yield from spread(stream, added)


def many_classes(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Add 500 messages with as many new labels."""
    real = [event.text for event in stream]
    added = [Event(real[i], f"label {i}", None, ATTACKER) for i in range(min(500, len(real)))]
    yield from spread(stream, added)


def many_sources(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Let a thousand sources label 30 % of the spam as ham."""
    for event in poisoned(0.3)(stream, rng):
        if event.source:
            event = dataclasses.replace(event, source=f"source {rng.randrange(1_000)}")
        yield event


def good_words(stream: list[Event], rng: random.Random) -> Iterator[Event]:
    """Append thirty words of ham to half of the collection's spam."""
    ham = [word for event in stream if event.truth == "ham" for word in event.text.split()]
    for event in stream:
        if event.truth == "spam" and rng.random() < 0.5:
            event = dataclasses.replace(
                event, text=f"{event.text} {' '.join(rng.choices(ham, k=30))}"
            )
        yield event


ATTACKS: dict[str, Attack] = {
    "no attack": nothing,
    "270,000 random words in 300 messages, called spam": flood(chosen=False),
    "90,000 chosen words, each in three of 300 messages, called spam": flood(chosen=True),
    "300 true spams with random words": flood(chosen=False, spam=True),
    "300 true spams with chosen words": flood(chosen=True, spam=True),
    "one token of a megabyte, five times, called spam": giant_tokens,
    "ten messages of 25,000 words, corrected from ham to spam": corrected_giants,
    "500 new labels of one source": many_classes,
    "30 % of the spam called ham by 1,000 sources": many_sources,
    "thirty words of ham behind half of the spam": good_words,
    "200 unique words behind each message, called spam": unique_words,
    "one word a million times, five times, called ham": one_word,
    "a megabyte of spam, twenty times, called ham": giants,
    "twenty spams again and again, called ham by one source": repeated,
    "10 % of the spam called ham by one source": poisoned(0.1),
    "30 % of the spam called ham by one source": poisoned(0.3),
    "60 % of the spam called ham by one source": poisoned(0.6),
}


# --- who is attacked ------------------------------------------------------------------------------


class Partial:
    """scikit-learn's hashed words, learned in batches. It needs all labels in advance."""

    def __init__(self, batch: int = 100) -> None:
        self._vectors = HashingVectorizer(n_features=2**18, alternate_sign=False)
        self._model: Any = MultinomialNB(alpha=0.01)
        self._batch = batch
        self._waiting: list[tuple[str, str]] = []
        self._learned = False

    def predict_one(self, x: str) -> Any:
        """Return the label; None before the first batch."""
        return self._model.predict(self._vectors.transform([x]))[0] if self._learned else None

    def learn_one(self, x: str, y: str) -> None:
        """Learn a message with the next batch."""
        if y not in LABELS:
            return
        self._waiting.append((x, y))
        if len(self._waiting) == self._batch:
            texts, labels = zip(*self._waiting, strict=True)
            self._model.partial_fit(self._vectors.transform(texts), labels, classes=LABELS)
            self._waiting, self._learned = [], True

    @property
    def memory_bytes(self) -> int:
        """Return the bytes of the arrays."""
        return sum(value.nbytes for value in vars(self._model).values() if hasattr(value, "nbytes"))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Effect of an attack."""

    ham_lost: float
    spam_missed: float
    refused: int
    seconds: float
    longest: float
    memory: int

    def cells(self) -> tuple[str, ...]:
        return (
            f"{100 * self.ham_lost:.2f}",
            f"{100 * self.spam_missed:.2f}",
            f"{self.refused:,}",
            f"{self.seconds:.2f}",
            f"{1000 * self.longest:.1f}",
            f"{self.memory / 1e6:.1f}",
        )


def outcome(model: Any, before: list[Event], behind: list[Event], rates: LabelRates) -> Outcome:
    """Learn the messages before the attack, then predict and learn within the rate limits."""
    for event in before:
        model.learn_one(event.text, event.label)
    wrong, count = dict.fromkeys(LABELS, 0), dict.fromkeys(LABELS, 0)
    spent, longest, refused, minutes = 0, 0, 0, 0
    clock = time.process_time_ns
    for event in behind:
        began = clock()
        decision = model.predict_one(event.text)
        new = rates.per_hour is not None and event.label not in LABELS  # max_classes
        if new or (event.source and rates.refusal(event.source, minutes * MINUTE) is not None):
            refused += 1
        else:
            if event.unlearn is not None and hasattr(model, "unlearn_one"):
                model.unlearn_one(event.text, event.unlearn)
            model.learn_one(event.text, event.label)
        taken = clock() - began
        spent, longest = spent + taken, max(longest, taken)
        if event.truth is not None:
            minutes += 1
            count[event.truth] += 1
            wrong[event.truth] += decision != event.truth
    return Outcome(
        wrong["ham"] / count["ham"],
        wrong["spam"] / count["spam"],
        refused,
        spent / 1e9,
        longest / 1e9,
        model.memory_bytes,
    )


HEADER = (
    "attack and model",
    "false positives %",
    "missed spam %",
    "labels refused",
    "seconds",
    "longest ms",
    "model MB",
)


def contestants() -> Iterator[tuple[str, Callable[[], Any], LabelRates]]:
    """Return each model with and without bounds, and scikit-learn's model, which has none."""
    for name, (free, bounded) in MODELS.items():
        specs = (free, bounded.format(online=_online_options()))
        for text, shown, rate in zip(specs, ("", ", bounded"), (None, RATE), strict=True):
            yield f"{name}{shown}", lambda text=text: protected(text), LabelRates(rate)
    yield "scikit-learn, partial_fit", Partial, LabelRates()


def protected(text: str, max_features: int | None = None) -> Any:
    """Return a model with a key of pruning that the attacker does not have."""
    spec = model_spec(text)
    if max_features is not None:
        spec.parameters["max_features"] = max_features
    model = build(spec)
    model.set_pruning_key(bytes(range(1, 17)))
    return model


def _online_options() -> str:
    """Return the non-default options of `OnlineNB`'s tokenizer, as a specification."""
    given = dataclasses.asdict(streamnb.OnlineNB.default_tokenizer)
    usual = dataclasses.asdict(streamnb.Tokenizer())
    return ", ".join(f"{name}={value!r}" for name, value in given.items() if value != usual[name])


def report(limit: int | None, say: Callable[[str], None]) -> str:
    """Run every attack on every model; return the tables as Markdown."""
    collection = list(datasets.read_text("sms_spam"))[:limit]
    stream = [Event(each.text, str(each.label), str(each.label)) for each in collection]
    first = len(stream) // 4
    parts = []
    for title, attack in ATTACKS.items():
        rows = []
        for name, make, rates in contestants():
            behind = list(attack(stream[first:], random.Random(1)))
            rows.append((name, *outcome(make(), stream[:first], behind, rates).cells()))
        header = ("model", *HEADER[1:])
        say(f"{title}\n{table(header, rows)}\n")
        lines = [header, ("---", *["---:"] * (len(header) - 1)), *rows]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"### {title[0].upper()}{title[1:]}\n\n{shown}")
    return "\n\n".join(parts)


MAILS = {
    "no attack": 0,
    "random words": 1,
    "words in six mails": 6,
    "words in twenty mails": 20,
    "one mail, again and again": 2_000,
}
"""Number of mails that have each word of a flood of mail."""


def mail_flood(times: int, rng: random.Random) -> list[tuple[str, str]]:
    """Return 2,000 mails of 905 new words, each word in so many mails; none for 0."""
    if not times:
        return []
    vocabulary = words(rng, 905 * -(-2_000 // times))
    blocks = (905 * (number // times) for number in range(2_000))
    return [(" ".join(vocabulary[start : start + 905]), "spam") for start in blocks]


def answers(model: Any, mails: list[tuple[str, str]], learns: bool = False) -> list[Any]:
    """Return the predicted labels of mails; with `learns`, each is learned after its prediction."""
    found = []
    for text, label in mails:
        found.append(model.predict_one(text))
        if learns:
            model.learn_one(text, label)
    return found


def flooded(
    make: Callable[[], Any],
    known: list[tuple[str, str]],
    flood: list[tuple[str, str]],
    others: list[tuple[str, str]],
) -> list[str]:
    """Return the cells of a row: percentages of the other mails, and the memory of the model."""
    truths = [label for _, label in others]
    third = len(known) // 3
    after, among = make(), make()
    for text, label in [*known, *flood]:
        after.learn_one(text, label)
    for text, label in [*known[:third], *spread(known[third:], flood)]:
        among.learn_one(text, label)
    memory = f"{after.memory_bytes / 1e6:.1f}"

    def right(found: list[Any], label: str | None = None) -> float:
        pairs = [pair for pair in zip(found, truths, strict=True) if label in (None, pair[1])]
        return 100 * sum(answer == truth for answer, truth in pairs) / max(1, len(pairs))

    found = answers(after, others)
    shares = [right(found), *(100 - right(found, label) for label in LABELS)]
    shares += [right(answers(after, others, learns=True)), right(answers(among, others))]
    return [*(f"{share:.2f}" for share in shares), memory]


def mail_report(limit: int | None, say: Callable[[str], None]) -> str:
    """Flood models that know 2,884 mails of CSDMC2010, and predict 900 others; return a table.

    Mails are read as `streamnb-spam` reads them, and its model is one of them. The first three
    figures are of a model that knows all of the flood and learns nothing more. *Then learned* is
    the accuracy if it learns each of the other mails after its prediction, and *mixed* if the flood
    came between the last two thirds of the known mails.
    """
    collection = [
        (mail_text(each.text.encode("utf-8", "replace")), str(each.label))
        for each in datasets.read_text("csdmc2010")
    ]
    random.Random(0).shuffle(collection)
    known, others = collection[:2_884][:limit], collection[2_884:3_784][:limit]
    header = ("model", "flood", "accuracy %", "false positives %", "missed spam %")
    header += ("then learned: accuracy %", "mixed: accuracy %", "model MB")
    rows = []
    models = {"MNB": "MNB()", "OnlineNB": "OnlineNB()", "`streamnb-spam`": DEFAULT_MODEL}
    for name, spec in models.items():
        for bound, shown in ((None, "default bound"), (200_000, "200,000 words")):
            for flood, times in MAILS.items():
                mails = mail_flood(times, random.Random(1))[:limit]
                cells = flooded(functools.partial(protected, spec, bound), known, mails, others)
                rows.append((f"{name}, {shown}", flood, *cells))
                say(" | ".join(rows[-1]))
    title = "2,000 mails of 905 words, called spam, after 2,884 mails of CSDMC2010"
    lines = [header, ("---", "---", *["---:"] * (len(header) - 2)), *rows]
    return f"### {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, help="messages of the collection; all, if none")
    parser.add_argument("--write", action="store_true", help="put the tables into its page")
    parser.add_argument("--only", choices=["sms", "mail"], help="the collection; both, if none")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs the tables of both collections: leave --only out")
    print(one_thread())
    parts = []
    if options.only != "mail":
        parts.append(report(options.limit, print))
    if options.only != "sms":
        parts.append(mail_report(options.limit, print))
    body = "\n\n".join(parts)
    if options.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        tail = rest.partition(MARKS[1])[2]
        PAGE.write_text(f"{head}{MARKS[0]}\n{body}\n{MARKS[1]}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
