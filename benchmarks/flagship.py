"""Accuracy and speed of `OnlineNB` on all collections, with targets (`make flagship`).

Each message is predicted, then learned, in one pass. Short messages use the default tokens; mail
and topics use words, word pairs and the subject. Raw mail is decoded first. Accuracy starts at the
first message with a prediction. (1-AUC)% follows both conventions: over all messages, and from the
first message after both classes were learned. ECE is the expected calibration error after 500
messages. Messages per second include `predict_one` and `learn_one` only, in processor time, from a
separate pass. Collections without timestamps are shuffled, once per seed. `--peers` adds other
one-pass models on the topics.

`--ham-lost` runs the daemons' default filters on SMS and mail instead, with and without their bound
on false positives. It uses each collection unchanged, and with messages of one label removed at
random, which changes the share of spam.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import streamnb
from benchmarks.rounds import Target, one_thread, table
from streamnb.datasets import Message, available, data_file, files, read_text, shuffled
from streamnb.datasets.lines import read_lines
from streamnb.evaluation import Result, prequential
from streamnb.mail.content import MAIL_FIELDS
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.records import Partition, Record

PAIRS = streamnb.Tokenizer(words=(1, 2), boundaries="unicode", subject=True, texts=MAIL_FIELDS)
# The words and pairs of 20 newsgroups are 2.3 million, so nothing is pruned.
MAX_WORDS = 3_000_000
Pairs = list[tuple[Any, str]]


def short() -> streamnb.OnlineNB:
    """Return the model for short messages."""
    return streamnb.OnlineNB()


def long() -> streamnb.OnlineNB:
    """Return the model for mail and topics."""
    return streamnb.OnlineNB(tokenizer=PAIRS, max_features=MAX_WORDS)


def by_user() -> streamnb.OnlineNB:
    """Return the model for short messages of several users."""
    tokenizer = dataclasses.replace(
        streamnb.OnlineNB.default_tokenizer, fields=("user",), per_field="user"
    )
    return streamnb.OnlineNB(tokenizer=tokenizer)


def many() -> streamnb.OnlineNB:
    """Return the model for short messages in many classes."""
    tokenizer = dataclasses.replace(
        streamnb.OnlineNB.default_tokenizer, words=(1, 3), characters_within_words=(2, 4)
    )
    return streamnb.OnlineNB(
        tokenizer=tokenizer,
        correction="multiplicative",
        nb_weight=3.0,
        learning_rate=4.0,
        damping=0.2,
        margin=0.02,
        warm_up=0,
    )


def largest_topics(messages: Sequence[Message]) -> list[Message]:
    """Return the stories with a single topic, from the ten largest topics."""
    single = [message for message in messages if message.label and "|" not in message.label]
    ten = {label for label, _ in Counter(message.label for message in single).most_common(10)}
    return [message for message in single if message.label in ten]


def as_mail(messages: Sequence[Message]) -> list[Message]:
    """Return every message, decoded as by `streamnb-spam`."""
    return list(map(files.as_mail, messages))


def all_of(messages: Sequence[Message]) -> Sequence[Message]:
    """Return every message."""
    return messages


# Name, file, model, messages, whether to shuffle; targets of accuracy and (1-AUC)%.
COLLECTIONS: list[tuple[str, str, Callable[[], Any], Any, bool, float | None, float | None]] = [
    ("SMS", "sms_spam", short, all_of, False, 98.9, 0.32),
    ("SMS, German", "sms_spam_de", short, all_of, False, 98.9, 0.35),
    ("SMS, Hindi", "sms_spam_hi", short, all_of, False, 97.5, 1.2),
    ("SpamAssassin", "spamassassin", long, as_mail, False, 99.1, 0.07),
    ("Enron 1-3", "enron_spam", long, all_of, False, 99.2, 0.10),
    ("20 newsgroups", "20news_bydate", long, all_of, True, 89.5, None),
    ("Reuters R8", "r8", long, all_of, True, None, None),
    ("Reuters, ten largest", "reuters21578", long, largest_topics, False, None, None),
    ("CSDMC 2010", "csdmc2010", long, as_mail, False, None, None),
    ("ExAIS SMS", "exais_sms", short, all_of, False, None, None),
    ("ExAIS SMS, by user", "exais_sms", by_user, all_of, False, 93.0, None),
    ("Smishing", "smishing", short, all_of, False, 96.6, None),
    ("banking77", "banking77", short, all_of, True, None, None),
    ("banking77, many classes", "banking77", many, all_of, True, 85.0, None),
]
POSTS_A_SECOND = 5000

# The daemon of a collection; shares of spam at the beginning and the end of a stream.
DAEMONS = {
    "sms_spam": "sms",
    "sms_spam_de": "sms",
    "sms_spam_hi": "sms",
    "spamassassin": "spam",
    "enron_spam": "spam",
}
SHARES = [(5, 5), (13, 13), (31, 31), (50, 50), (74, 74), (90, 90), (5, 90), (90, 5)]
# The first ham messages are misclassified before the model has learned ham: allowed excess over 1
# %.
AT_FIRST = 8
Lines = list[tuple[bytes, bool]]


def pairs(make: Callable[[], Any], messages: Sequence[Message]) -> Pairs:
    """Return the messages of a model and their labels; the model by user also gets the fields."""
    if make is by_user:
        return [({**(each.fields or {}), "text": each.text}, each.label) for each in messages]
    return [(message.text, message.label) for message in messages]


class VowpalWabbit:
    """Vowpal Wabbit, one class against all others, on words and word pairs."""

    def __init__(self, classes: int) -> None:
        import vowpalwabbit

        arguments = f"--oaa {classes} --ngram 2 -b 24 --quiet"
        self.model, self.ids = vowpalwabbit.Workspace(arguments), {}

    def predict_one(self, x: str) -> str | None:
        found = self.model.predict(f" | {line(x)}")
        return {number: y for y, number in self.ids.items()}.get(found)

    def learn_one(self, x: str, y: str) -> None:
        number = self.ids.setdefault(y, len(self.ids) + 1)
        self.model.learn(f"{number} | {line(x)}")


def line(text: str) -> str:
    """Return the text without the separators of Vowpal Wabbit's format."""
    return text.translate(str.maketrans(dict.fromkeys(":|\n\r", " ")))


def peers(classes: int) -> dict[str, Any]:
    """Return other one-pass models by name."""
    from river import feature_extraction, linear_model, multiclass, naive_bayes

    bag = feature_extraction.BagOfWords
    named: dict[str, Any] = {
        f"{model}{what}": getattr(streamnb, model)(**settings)
        for what, settings in {"": {}, ", pairs": {"tokenizer": PAIRS}}.items()
        for model in ("MNB", "CNB", "OVA", "TWCNB")
    }
    named["river MultinomialNB"] = bag() | naive_bayes.MultinomialNB()
    logistic = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    named["river logistic regression"] = bag(tokenizer=PAIRS) | logistic
    named["Vowpal Wabbit, pairs"] = VowpalWabbit(classes)
    return named


def rate(make: Callable[[], Any], stream: Pairs) -> float:
    """Return the messages predicted and learned per second of processor time."""
    model = make()
    predict, learn = model.predict_one, model.learn_one
    began = time.process_time()
    for x, y in stream:
        predict(x)
        learn(x, y)
    return len(stream) / (time.process_time() - began)


def at_share(messages: Lines, first: float, last: float, seed: int) -> Lines:
    """Remove messages at random so that the share of spam goes from `first` to `last`."""
    found = sum(is_spam for _, is_spam in messages) / len(messages)
    most = min(found / max(first, last), (1 - found) / (1 - min(first, last)))
    rng, kept = random.Random(seed), []
    for place, (message, is_spam) in enumerate(messages):
        here = first + (last - first) * place / len(messages)
        keep = here / found if is_spam else (1 - here) / (1 - found)
        if rng.random() < most * keep:
            kept.append((message, is_spam))
    return kept


def at_shares(messages: Lines, seed: int) -> dict[str, Lines]:
    """Yield a collection unchanged, and with other shares of spam."""
    named = {"own": messages}
    for first, last in SHARES:
        name = f"{first} %" if first == last else f"{first} to {last} %"
        named[name] = at_share(messages, first / 100, last / 100, seed)
    return named


def lost_and_missed(kind: str, messages: Lines, settings: Settings) -> tuple[int, int]:
    """Return the numbers of false positives and false negatives of a filter."""
    worker, place = make_filter(kind, settings), Partition("messages", 0)
    lost = missed = 0
    for number, (line, is_spam) in enumerate(messages):
        (decision,) = worker.handle(Record(place, number, line)).decisions
        lost += decision.label == "spam" and not is_spam
        missed += decision.label != "spam" and is_spam
    return lost, missed


def ham_lost(only: Sequence[str] | None, seeds: int) -> None:
    """Print the false positives and false negatives of the filters for all shares of spam."""
    header = ("", "spam", "ham", "ham lost", "let through", "no bound: ham lost", "let through")
    targets, rows = [], []
    for name, file, *_ in COLLECTIONS:
        if file not in DAEMONS or (only and file not in only) or not available(f"text/{file}"):
            continue
        lines = read_lines(data_file("text", file))
        messages = [(line.raw, json.loads(line.text)["label"] == "spam") for line in lines]
        streams = [at_shares(messages, seed) for seed in range(1, seeds + 1)]
        beyond = 0.0
        for share in streams[0]:
            chosen = [named[share] for named in (streams[:1] if share == "own" else streams)]
            n = sum(map(len, chosen))
            spam = sum(is_spam for stream in chosen for _, is_spam in stream)
            shown = []
            for settings in (Settings(), Settings(max_fpr=0.0)):
                found = [lost_and_missed(DAEMONS[file], stream, settings) for stream in chosen]
                lost, missed = (sum(each) for each in zip(*found, strict=True))
                shown += [f"{lost / len(chosen):.1f} ({100 * lost / (n - spam):.2f} %)"]
                shown += [f"{100 * missed / spam:.1f} %"]
                if settings == Settings():
                    beyond = max(beyond, (lost - 0.01 * (n - spam)) / len(chosen))
            rows.append((name, share, f"{(n - spam) / len(chosen):,.0f}", *shown))
        targets.append(Target(f"{name}, ham lost beyond 1 %", beyond, AT_FIRST, True, " messages"))
        print(table(header, rows), flush=True)
        rows.clear()
    print("\n".join(target.line() for target in targets))


def figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def row(name: str, results: Sequence[Result], speed: str) -> tuple[str, ...]:
    def mean(metric: str, factor: float = 1.0) -> float | None:
        values = [getattr(result.cumulative, metric) for result in results]
        return None if None in values else factor * statistics.mean(values)

    return (
        name,
        figure(mean("accuracy", 100), 2),
        figure(mean("one_minus_auc_percent"), 3),
        figure(mean("one_minus_auc_percent_both_known"), 3),
        figure(mean("calibration_error"), 4),
        speed,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="shuffles (default 3)")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="collections by their files")
    parser.add_argument("--peers", action="store_true", help="others beside it on the topics")
    parser.add_argument("--ham-lost", action="store_true", help="whatever the share of spam")
    options = parser.parse_args()
    print(one_thread())
    if options.ham_lost:
        ham_lost(options.only, options.seeds)
        return
    header = ("", "accuracy %", "(1-AUC)%, all", "from both known", "ECE", "messages/s")
    rows: list[tuple[str, ...]] = []
    targets: list[Target] = []
    for name, file, make, choose, shuffles, accuracy, area in COLLECTIONS:
        if (options.only and file not in options.only) or not available(f"text/{file}"):
            continue
        messages = choose(list(read_text(file)))
        orders = [shuffled(messages, seed) for seed in range(options.seeds)]
        streams = [pairs(make, order) for order in (orders if shuffles else [messages])]
        found = [prequential(make(), stream)["OnlineNB"] for stream in streams]
        speed = statistics.median(rate(make, streams[0]) for _ in range(3))
        rows.append(row(name, found, f"{speed:,.0f}"))
        reached = statistics.mean(result.cumulative.accuracy or 0.0 for result in found)
        if accuracy is not None:
            targets.append(Target(f"{name}, accuracy", 100 * reached, accuracy, unit=" %"))
        both = found[0].cumulative.one_minus_auc_percent_both_known
        if area is not None and both is not None:
            targets.append(Target(f"{name}, (1-AUC)%", both, area, at_most=True, unit=" %"))
        error = found[0].cumulative.calibration_error
        if area is not None and error is not None:
            targets.append(Target(f"{name}, calibration", error, 0.01, at_most=True, unit=""))
        if file == "20news_bydate":
            targets.append(Target(f"{name}, posts a second", speed, POSTS_A_SECOND, unit=""))
        if options.peers and area is None:
            classes = len({label for _, label in streams[0]})
            best = 0.0
            runs = [prequential(peers(classes), stream) for stream in streams]
            for other in runs[0]:
                results = [run[other] for run in runs]
                rows.append(row(f"  {other}", results, "-"))
                best = max(best, statistics.mean(r.cumulative.accuracy or 0.0 for r in results))
            text = f"{name}, accuracy beside the best other model"
            targets.append(Target(text, 100 * reached, 100 * best, unit=" %"))
        print(table(header, rows[-1:]), flush=True)
    print(table(header, rows))
    print("\n".join(target.line() for target in targets))


if __name__ == "__main__":
    main()
