"""Memory of the learned counts, and cost of each operation as the stream grows.

The program learns a long stream of synthetic words and prints the memory. Words are numbers up to
20,000,000 with frequencies by Zipf's law. Messages have thirty words and one of twenty labels:

    python benchmarks/memory.py --cells 10000000
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench_pauses import resident
from river import feature_extraction
from river import naive_bayes as river_bayes
from rounds import table

import streamnb

MODELS: dict[str, Callable[[], Any]] = {
    "MNB": streamnb.MNB,
    "CNB": streamnb.CNB,
    "OVA": streamnb.OVA,
    "BNB": streamnb.BNB,
    "HMNB": streamnb.HMNB,
}


@dataclass(frozen=True)
class Footprint:
    """Memory of a model's counts, by one method of measurement."""

    name: str
    how: str
    size: int
    cells: int

    @property
    def per_cell(self) -> float:
        return self.size / self.cells

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "per_cell": self.per_cell}


def footprints(texts: Sequence[str], labels: Sequence[str]) -> list[Footprint]:
    """Return the memory of streamnb and river per nonzero (word, class) cell."""
    bag = feature_extraction.BagOfWords()
    counted = [bag.transform_one(text) for text in texts]
    cells = len({(word, y) for x, y in zip(counted, labels, strict=True) for word in x})

    # Give river new strings, so that it shares none with this list.
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    theirs = river_bayes.MultinomialNB()
    for text, y in zip(texts, labels, strict=True):
        theirs.learn_one(bag.transform_one(text), y)
    traced = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    own = []
    for name in ("MNB", "HMNB"):
        model = MODELS[name]()
        model.learn_many(texts, labels)
        own.append(Footprint(f"streamnb {name}", "its own measure", model.memory_bytes, cells))
    return [
        *own,
        Footprint("river MultinomialNB", "its own measure", theirs._raw_memory_usage, cells),
        Footprint("river MultinomialNB", "tracemalloc", traced, cells),
    ]


def long_stream_footprints(cells: int, seed: int = 1) -> list[Footprint]:
    """Return the memory of a model with this number of cells, by two measures."""
    draw, model = random.Random(seed).random, streamnb.MNB(max_features=4 * cells)
    before = resident()
    labels = [f"label {i % 20}" for i in range(5_000)]
    while model.n_cells < cells:
        words = [f"w{int(2e7 ** draw())}" for _ in range(30 * len(labels))]
        model.learn_many([" ".join(words[i : i + 30]) for i in range(0, len(words), 30)], labels)
    name, found = f"streamnb MNB, {model.n_words:,} words", model.n_cells
    grown = round((resident() - before) * 2**20)
    return [
        Footprint(name, "its own measure", model.memory_bytes, found),
        Footprint(name, "resident memory", grown, found),
    ]


def footprint_table(rows: Sequence[Footprint]) -> str:
    return table(
        ("", "measured by", "bytes", "cells", "bytes a cell"),
        ((r.name, r.how, f"{r.size:,}", f"{r.cells:,}", f"{r.per_cell:.1f}") for r in rows),
    )


def growing(texts: Sequence[str], labels: Sequence[str], length: int) -> list[tuple[str, str]]:
    """Return a stream with one new word per message, like real streams."""
    n = len(texts)
    return [(f"{texts[i % n]} order{i}", labels[i % n]) for i in range(length)]


def microseconds(action: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> float:
    """Return the median over the items, so that a single refresh has no influence."""
    taken = []
    for item in items:
        start = time.perf_counter_ns()
        action(*item)
        taken.append(time.perf_counter_ns() - start)
    return median(taken) / 1000


def costs(
    texts: Sequence[str], labels: Sequence[str], lengths: Sequence[int], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return the µs of each operation after 1,000, 10,000 ... messages of one growing stream."""
    asked = 300
    stream = growing(texts, labels, max(lengths) + asked)
    rows = []
    for name, make in MODELS.items():
        model = make()
        done = 0
        for length in lengths:
            say(f"growth: {name} at {length:,} messages")
            part = stream[done:length]
            model.learn_many([x for x, _ in part], [y for _, y in part])
            model.refresh()
            done = length
            # Always use messages that were not learned before; they are unlearned below.
            fresh = stream[length : length + asked]
            row: dict[str, Any] = {"model": name, "messages": length}
            asked_texts = [(text,) for text, _ in fresh]
            row["predict_one"] = microseconds(model.predict_one, asked_texts)
            row["explain_one"] = microseconds(model.explain_one, asked_texts[:50])
            row["learn_one"] = microseconds(model.learn_one, fresh)
            row["unlearn_one"] = microseconds(model.unlearn_one, fresh)
            start = time.perf_counter()
            model.refresh()
            row["refresh_ms"] = 1000 * (time.perf_counter() - start)
            row["memory_mb"] = model.memory_bytes / 1e6
            rows.append(row)
    return rows


def costs_table(rows: Sequence[dict[str, Any]]) -> str:
    return table(
        ("", "messages", "predict us", "learn us", "unlearn us", "explain us", "refresh ms", "MB"),
        (
            (
                row["model"],
                f"{row['messages']:,}",
                f"{row['predict_one']:.1f}",
                f"{row['learn_one']:.1f}",
                f"{row['unlearn_one']:.1f}",
                f"{row['explain_one']:.1f}",
                f"{row['refresh_ms']:.1f}",
                f"{row['memory_mb']:.1f}",
            )
            for row in rows
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, default=10_000_000)
    print(footprint_table(long_stream_footprints(parser.parse_args(arguments).cells)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
