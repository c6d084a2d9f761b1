"""What each operation of each model costs while its stream grows; `bench_growth.py` prints it."""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import streamnb
from streamnb import datasets
from streamnb.model_specs import MODELS, build, model_spec

Pair = tuple[str, str]

LENGTHS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
QUICK_LENGTHS = (1_000, 3_000, 10_000)
# ComposedNB is another name of the others. The last two show what a bound of the index does.
REGISTRY = (
    *(name for name in MODELS if name != "ComposedNB"),
    "HMNB(index_size=5000)",
    "SEMNB(index_size=5000)",
)
ASKED = 400  # messages timed at each length
BATCH = 1_000
NOISE = 0.1  # share of the words of a repeated message that are misspelt
TRIALS = 9  # refreshes that predictions are timed beside
# A refresh that is over sooner than this had nothing to compute.
NO_REFRESH = 50e-6


@dataclass(frozen=True)
class Row:
    """One model on one stream at one length; times are medians, but for the blocks."""

    stream: str
    model: str
    messages: int
    learn_us: float
    predict_us: float
    memory_mb: float
    refresh_ms: float | None
    words: int
    # The longest predict_one while another thread sleeps and while it refreshes: the least of
    # several trials, each as long as one refresh. Of the last length only.
    rest_us: float | None = None
    block_us: float | None = None

    @property
    def held_us(self) -> float | None:
        """What the longest call has more beside a refresh than beside a thread that sleeps."""
        if self.block_us is None or self.rest_us is None:
            return None
        return max(0.0, self.block_us - self.rest_us)

    @property
    def held_ratio(self) -> float | None:
        """How long a refresh holds a prediction up, in median predictions."""
        return None if self.held_us is None else self.held_us / self.predict_us

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def misspelt(word: str, draw: random.Random) -> str:
    """Two letters of a word changed: mostly a word never seen before."""
    letters = list(word)
    for _ in range(2):
        letters[draw.randrange(len(letters))] = draw.choice("abcdefghijklmnopqrstuvwxyz0123456789")
    return "".join(letters)


def noisy(pairs: Sequence[Pair], seed: int = 1) -> Iterator[Pair]:
    """Endless: first the messages as they are, then again and again with misspelt words."""
    yield from pairs
    draw = random.Random(seed)
    while True:
        for text, label in draw.sample(pairs, len(pairs)):
            words = text.split(" ")
            yield (
                " ".join(
                    misspelt(word, draw) if word and draw.random() < NOISE else word
                    for word in words
                ),
                label,
            )


def streams() -> dict[str, Callable[[], Iterator[Pair]]]:
    """The streams by name; the SMS collection where there is one."""
    found: dict[str, Callable[[], Iterator[Pair]]] = {
        "synthetic": lambda: iter(datasets.SyntheticSMS(n=None, seed=1))
    }
    if datasets.available("text/sms_spam"):
        found["SMS repeated with noise"] = lambda: noisy(list(datasets.stream("sms")))
    return found


def take(stream: Iterator[Pair], n: int) -> list[Pair]:
    return [next(stream) for _ in range(n)]


def nanoseconds(action: Callable[..., Any], *arguments: Any) -> int:
    """One call: the clock, or the processor time where others had the processor meanwhile.

    The second clock takes as long to read as a short call, so it stands around the first.
    """
    own, start = time.thread_time_ns(), time.perf_counter_ns()
    action(*arguments)
    wall = time.perf_counter_ns() - start
    return min(wall, time.thread_time_ns() - own)


def microseconds(action: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> float:
    """The median over the items, so that a refresh that falls on one of them does not show."""
    return median(nanoseconds(action, *item) for item in items) / 1000


def refresh_seconds(model: Any) -> float:
    """The median of three refreshes."""
    return median(nanoseconds(model.refresh) for _ in range(3)) / 1e9


class Block:
    """How long single calls take, less what the system gives to others.

    The time on the clock is split: processor time of the calling thread; time it stood ready, in
    line for a processor; and the rest, in which it waited for a lock or the GIL. The line is the
    machine's business and is left out. So is of the rest what the other thread did not run for: a
    thread that holds a lock may itself stand in line. Where Linux' records are missing, all counts.
    """

    def __init__(self, other: threading.Thread | None) -> None:
        try:
            self._records = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._records = -1
        self._clock: int | None = None
        if other is not None and other.ident is not None and other.is_alive():
            self._clock = time.pthread_getcpuclockid(other.ident)

    def _in_line(self) -> int:
        return int(os.pread(self._records, 100, 0).split()[1]) if self._records >= 0 else 0

    def _others(self) -> int:
        return 0 if self._clock is None else time.clock_gettime_ns(self._clock)

    def of(self, action: Callable[[str], Any], text: str) -> int:
        """The nanoseconds of one call."""
        others, line = self._others(), self._in_line()
        own, start = time.thread_time_ns(), time.perf_counter_ns()
        action(text)
        wall, own = time.perf_counter_ns() - start, time.thread_time_ns() - own
        if self._records < 0:
            return wall
        waited = max(wall - own - (self._in_line() - line), 0)
        return own + min(waited, self._others() - others)

    def close(self) -> None:
        if self._records >= 0:
            os.close(self._records)


def beside(
    predict: Callable[[str], Any], texts: Sequence[str], refresh: Callable[[], Any]
) -> list[int]:
    """The nanoseconds of predictions that begin before the end of a refresh in another thread."""
    refreshed, begin = threading.Event(), threading.Event()

    def work() -> None:
        begin.wait()
        refresh()
        refreshed.set()
        # The clock of a thread is gone with it.
        ended.wait()

    ended = threading.Event()
    refresher = threading.Thread(target=work)
    refresher.start()
    block = Block(refresher)
    taken = []
    begin.set()
    for text in itertools.cycle(texts):
        if refreshed.is_set():
            break
        taken.append(block.of(predict, text))
    ended.set()
    refresher.join()
    block.close()
    return taken


def longest(predict: Callable[[str], Any], text: str, refresh: Callable[[], Any]) -> int:
    """The longest of the predictions that begin before the end of a refresh in another thread."""
    return max(beside(predict, [text], refresh), default=0)


def blocks(model: Any, text: str, seconds: float) -> tuple[float, float]:
    """The longest prediction in microseconds, beside a thread that sleeps and a refresh.

    The least of the trials: what a refresh itself holds up, it holds up every time, and interrupts
    and cold caches only add to it.
    """
    rest = [longest(model.predict_one, text, lambda: time.sleep(seconds)) for _ in range(TRIALS)]
    busy = [longest(model.predict_one, text, model.refresh) for _ in range(TRIALS)]
    return min(rest) / 1000, min(busy) / 1000


def grow(
    stream: str,
    pairs: Iterator[Pair],
    spec: str,
    lengths: Sequence[int],
    say: Callable[[str], None],
) -> Iterator[Row]:
    """One model along one stream, a row for each length."""
    model = build(model_spec(spec))
    done = 0
    for length in lengths:
        say(f"{stream}: {spec} at {length:,} messages")
        while done < length:
            part = take(pairs, min(BATCH, length - done))
            model.learn_many([text for text, _ in part], [label for _, label in part])
            done += len(part)
        seconds = refresh_seconds(model)
        fresh = take(pairs, ASKED)
        texts = [text for text, _ in fresh]
        predict_us = microseconds(model.predict_one, [(text,) for text in texts])
        rest_us = block_us = None
        if seconds >= NO_REFRESH and length == lengths[-1]:
            # A message of the median cost: long ones take long at rest too.
            cost = {text: microseconds(model.predict_one, [(text,)] * 3) for text in texts}
            typical = sorted(texts, key=lambda text: cost[text])[len(texts) // 2]
            rest_us, block_us = blocks(model, typical, seconds)
        yield Row(
            stream,
            spec,
            length,
            microseconds(model.learn_one, fresh),
            predict_us,
            model.memory_bytes / 1e6,
            seconds * 1000 if seconds >= NO_REFRESH else None,
            model.n_words,
            rest_us,
            block_us,
        )
        done += len(fresh)
    assert isinstance(model, streamnb.NaiveBayes)
