"""Speedup of batches and refreshes on several threads.

Short texts, posts and mails are learned and predicted, and the statistics of word pairs are
refreshed. Rounds are interleaved. Wall-clock times count, so the machine must be idle. The
decisions are compared too.

    python benchmarks/bench_cores.py --jobs 2 --rounds 5
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from rounds import Target, table

import streamnb
from streamnb import datasets

WANTED = 1.8  # times the speed of one thread, on two cores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=20_000)
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    for stream, times in (("sms", 4), ("r8", 1), ("spamassassin", 1)):
        messages = list(datasets.stream(stream, limit=options.messages // times)) * times
        texts, labels = [text for text, _ in messages], [label for _, label in messages]
        for name in ("MNB", "HMNB", "OnlineNB"):
            # The slow model gets fewer messages.
            some = slice(0, 2_000 if name == "HMNB" and stream == "spamassassin" else len(texts))
            learned, predicted = compared(
                getattr(streamnb, name), texts[some], labels[some], options.jobs, options.rounds
            )
            rows.append(
                (stream, name, f"{len(texts[some]):,}", f"{learned:.2f}", f"{predicted:.2f}")
            )
            for what, ratio in (("learned", learned), ("predicted", predicted)):
                print(Target(f"{stream} {name}, {what}", ratio, WANTED).line(), flush=True)
    messages = list(datasets.stream("spamassassin", limit=2_000))
    for name in ("HNB", "HONB"):
        ratio = refreshed(getattr(streamnb, name), messages, options.jobs, options.rounds)
        print(Target(f"spamassassin {name}, refreshed", ratio, WANTED).line(), flush=True)
    heads = (f"{what}, {options.jobs} threads x one" for what in ("learned", "predicted"))
    print(table(("stream", "model", "messages", *heads), rows))


def compared(
    make: Callable[..., Any], texts: list[str], labels: list[str], jobs: int, rounds: int
) -> tuple[float, float]:
    """Return the speedup of learning and predicting with this number of threads."""
    learned: dict[int, list[float]] = {1: [], jobs: []}
    predicted: dict[int, list[float]] = {1: [], jobs: []}
    for _ in range(rounds):
        found, files = [], []
        for n_jobs in learned:
            # Refreshes run in Python on one thread, so none may occur here.
            model = make(n_jobs=n_jobs, refresh_every=10**9)
            learned[n_jobs].append(timed(lambda m=model: m.learn_many(texts, labels)))
            files.append(model.to_bytes())
            model.predict_many(texts[:100])
            predicted[n_jobs].append(
                timed(lambda m=model, f=found: f.append(m.predict_many(texts)))
            )
        if found[0] != found[1] or files[0] != files[1]:
            raise SystemExit(f"{make.__name__}: {jobs} threads learn or decide otherwise than one")
    one, many = ([statistics.median(each[n]) for each in (learned, predicted)] for n in (1, jobs))
    return one[0] / many[0], one[1] / many[1]


def refreshed(
    make: Callable[..., Any], messages: list[tuple[str, str]], jobs: int, rounds: int
) -> float:
    """Return the speedup of a refresh with this number of threads."""
    texts, labels = [text for text, _ in messages], [label for _, label in messages]
    models = {n: make(n_jobs=n, refresh_every=10**9) for n in (1, jobs)}
    for model in models.values():
        model.learn_many(texts, labels)
    taken = [[timed(model.refresh) for model in models.values()] for _ in range(rounds)]
    one, many = (statistics.median(of_one) for of_one in zip(*taken, strict=True))
    return one / many


def timed(work: Callable[[], Any]) -> float:
    """Return the duration of a call in seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
