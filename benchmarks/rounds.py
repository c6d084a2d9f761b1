"""Timing of contestants in interleaved rounds, and plain-text tables."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Contestant:
    """A contestant: `run` is timed and returns its number of messages."""

    name: str
    prepare: Callable[[], Any]
    run: Callable[[Any], int]


@dataclass
class Timing:
    """Results of the rounds of one contestant, in messages per second."""

    name: str
    messages: int = 0
    rates: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.rates)

    def as_dict(self) -> dict[str, Any]:
        return {"messages": self.messages, "median": self.median, "rates": self.rates}


@dataclass(frozen=True)
class Target:
    """A figure and its target."""

    text: str
    value: float
    wanted: float
    at_most: bool = False
    unit: str = "x"

    @property
    def met(self) -> bool:
        return self.value <= self.wanted if self.at_most else self.value >= self.wanted

    def line(self) -> str:
        sign = "at most" if self.at_most else "at least"
        verdict = "target met" if self.met else "target not met"
        value, wanted = f"{self.value:.3g}{self.unit}", f"{self.wanted:g}{self.unit}"
        return f"{verdict:15} {self.text}: {value} ({sign} {wanted})"


def one_thread() -> str:
    """Restrict this process to one CPU and numeric libraries to one thread; return a summary."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if not hasattr(os, "sched_setaffinity"):
        return "one thread, not pinned to a CPU"
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    return f"one thread, pinned to CPU {cpu}"


def race(
    contestants: Sequence[Contestant], rounds: int, say: Callable[[str], None]
) -> dict[str, Timing]:
    """Run A B C A B C, so that slow phases of the machine affect all contestants equally.

    Measure the processor time of the whole process. On an idle machine it equals wall-clock time,
    because everything shares one CPU. On a busy machine it excludes other processes.
    """
    timings = {c.name: Timing(c.name) for c in contestants}
    for number in range(1, rounds + 1):
        for contestant in contestants:
            say(f"round {number} of {rounds}: {contestant.name}")
            state = contestant.prepare()
            gc.collect()
            start = time.process_time()
            messages = contestant.run(state)
            elapsed = time.process_time() - start
            timings[contestant.name].messages = messages
            timings[contestant.name].rates.append(messages / elapsed)
    return timings


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return aligned rows: the first column to the left, the others to the right."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def race_table(timings: dict[str, Timing], beside: str) -> str:
    """Return a table of the median, slowest and fastest round, and the ratio to one contestant."""
    base = timings[beside].median
    return table(
        ("", "messages", "median/s", "slowest/s", "fastest/s", f"x {beside}"),
        (
            (
                t.name,
                f"{t.messages:,}",
                f"{t.median:,.0f}",
                f"{min(t.rates):,.0f}",
                f"{max(t.rates):,.0f}",
                f"{t.median / base:.3g}",
            )
            for t in timings.values()
        ),
    )
