"""Predicting batches on several threads beside one, of short texts, posts and mails.

Rounds are interleaved, and what counts is the time on the clock, so the machine must be idle. The
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
            # The slow one gets fewer.
            some = slice(0, 2_000 if name == "HMNB" and stream == "spamassassin" else len(texts))
            ratio = compared(
                getattr(streamnb, name), texts[some], labels[some], options.jobs, options.rounds
            )
            rows.append((stream, name, f"{len(texts[some]):,}", f"{ratio:.2f}"))
            print(Target(f"{stream} {name}", ratio, WANTED).line(), flush=True)
    print(table(("stream", "model", "messages", f"times one thread, of {options.jobs}"), rows))


def compared(
    make: Callable[..., Any], texts: list[str], labels: list[str], jobs: int, rounds: int
) -> float:
    """Return how many times as fast predicting is on so many threads."""
    spent: dict[int, list[float]] = {1: [], jobs: []}
    models = {}
    for n_jobs in spent:
        # Statistics are Python's, on one thread.
        models[n_jobs] = make(n_jobs=n_jobs, refresh_every=10**9)
        models[n_jobs].learn_many(texts, labels)
        models[n_jobs].predict_many(texts[:100])
    for _ in range(rounds):
        found = []
        for n_jobs, model in models.items():
            began = time.perf_counter()
            found.append(model.predict_many(texts))
            spent[n_jobs].append(time.perf_counter() - began)
        if found[0] != found[1]:
            raise SystemExit(f"{make.__name__}: {jobs} threads decide otherwise than one")
    return statistics.median(spent[1]) / statistics.median(spent[jobs])


if __name__ == "__main__":
    main()
