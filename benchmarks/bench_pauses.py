"""The longest `learn_one` on an endless stream with new words in every message.

Each message has nine words of a fixed vocabulary and three new words. Beyond the bound, words are
pruned as fast as they arrive. The duration of each `learn_one` goes into a fine histogram, as
wall-clock time and as processor time of the thread, because busy machines preempt. But the kernel
also charges a thread with interrupts: calls that do nothing new take milliseconds now and then. So
two models learn each message, and the targets are for the faster one: work of a message takes long
in both. Memory is the resident size of the process.

    python benchmarks/bench_pauses.py --messages 10000000 --max-features 100000 1000000
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rounds import Target, table

import streamnb

KNOWN = 20_000  # words that come again and again
LINES = 1 << 15  # different beginnings of messages
MARKS = 10  # how often memory is looked at

CLOCKS = ("wall", "processor", "faster of two")

LONGEST = 1_000.0
"""Most microseconds of the longest learn."""
P9999 = 100.0
"""Most microseconds of all learns but one in ten thousand."""
FLAT = 1.05
"""Most memory at the end, in units of that after the first tenth of the stream."""


def beginnings(seed: int = 1) -> list[str]:
    """Return the first nine words of messages; low numbers are more frequent than high ones."""
    draw = random.Random(seed)
    words = [f"w{int(KNOWN ** draw.random())}" for _ in range(LINES * 9)]
    return [" ".join(words[i : i + 9]) for i in range(0, len(words), 9)]


def stream(messages: int) -> Iterator[tuple[str, str]]:
    """Yield messages, each with three new words."""
    known = beginnings()
    for i in range(messages):
        label = "spam" if i * 2654435761 % 7 < 2 else "ham"
        yield f"{known[i * 40503 % LINES]} new{i}a new{i}b new{i}c", label


class Histogram:
    """Durations in bins of two percent.

    Examples
    --------
    >>> histogram = Histogram()
    >>> for nanoseconds in range(1_000):
    ...     histogram.add(nanoseconds)
    >>> histogram.quantile(0.5), histogram.longest
    (496, 999)
    """

    def __init__(self) -> None:
        self.bins = [0] * (64 * 64)
        self.longest = 0

    def add(self, nanoseconds: int) -> None:
        shift = max(nanoseconds.bit_length() - 7, 0)
        self.bins[(shift << 6) + (nanoseconds >> shift)] += 1
        if nanoseconds > self.longest:
            self.longest = nanoseconds

    def quantile(self, share: float) -> int:
        """Return the quantile of the durations, to the precision of a bin."""
        left = share * sum(self.bins)
        for place, count in enumerate(self.bins):
            left -= count
            if left <= 0:
                shift = max((place >> 6) - 1, 0)
                return (place - (shift << 6)) << shift
        return self.longest


def resident() -> float:
    """Return the resident memory of this process in megabytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


@dataclass
class Pauses:
    """Durations of one of two models on a stream, and the processor times of the faster one."""

    name: str
    max_features: int
    wall: Histogram = field(default_factory=Histogram)
    processor: Histogram = field(default_factory=Histogram)
    faster_of_two: Histogram = field(default_factory=Histogram)
    memory: list[float] = field(default_factory=list)

    def row(self, clock: str) -> list[str]:
        histogram: Histogram = getattr(self, clock.replace(" ", "_"))
        durations = [histogram.quantile(share) for share in (0.5, 0.99, 0.9999)]
        figures = [f"{value / 1e3:.1f}" for value in (*durations, histogram.longest)]
        megabytes = [f"{self.memory[0]:.0f}", f"{self.memory[-1]:.0f}"]
        return [self.name, f"{self.max_features:,}", clock, *figures, *megabytes]

    def targets(self) -> list[Target]:
        """Return the processor times and their targets."""
        name = f"{self.name}, max_features={self.max_features:,}"
        faster = self.faster_of_two
        p9999, longest = faster.quantile(0.9999) / 1e3, faster.longest / 1e3
        grown = max(self.memory[1:]) / self.memory[0] if len(self.memory) > 1 else 1.0
        return [
            Target(f"p99.99 of learn_one ({name})", p9999, P9999, at_most=True, unit=" us"),
            Target(f"longest learn_one ({name})", longest, LONGEST, at_most=True, unit=" us"),
            Target(f"memory at its most ({name})", grown, FLAT, at_most=True),
        ]


def measure(name: str, max_features: int, messages: int, **parameters: Any) -> Pauses:
    """Measure a model that learns the stream."""
    model, other = (
        getattr(streamnb, name)(max_features=max_features, **parameters) for _ in range(2)
    )
    pauses = Pauses(name, max_features)
    clock, processor = time.perf_counter_ns, time.thread_time_ns
    add_wall, add_processor = pauses.wall.add, pauses.processor.add
    learn, mark = model.learn_one, max(messages // MARKS, 1)
    again, add_faster = other.learn_one, pauses.faster_of_two.add
    gc.collect()
    gc.disable()
    try:
        for i, (text, label) in enumerate(stream(messages), 1):
            before, used = clock(), processor()
            learn(text, label)
            used, after = processor() - used, clock()
            add_wall(after - before)
            add_processor(used)
            before = processor()
            again(text, label)
            add_faster(min(used, processor() - before))
            if i % mark == 0:
                pauses.memory.append(resident())
    finally:
        gc.enable()
    return pauses


def report(all_pauses: Sequence[Pauses]) -> str:
    """Return the tables of all runs, and the figures with their targets."""
    head = [
        "learn_one",
        "max_features",
        "clock",
        "p50 us",
        "p99",
        "p99.99",
        "longest",
        "MB",
        "at end",
    ]
    rows = [pauses.row(clock) for pauses in all_pauses for clock in CLOCKS]
    lines = [target.line() for pauses in all_pauses for target in pauses.targets()]
    return "\n".join([table(head, rows), "", *lines])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=2_000_000)
    parser.add_argument("--max-features", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--models", nargs="+", default=["MNB"])
    parser.add_argument("--parameters", type=json.loads, default={}, help="of the models, as JSON")
    given = parser.parse_args(arguments)
    print(
        report(
            [
                measure(name, max_features, given.messages, **given.parameters)
                for name in given.models
                for max_features in given.max_features
            ]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
