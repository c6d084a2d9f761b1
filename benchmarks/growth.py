"""Cost of each operation of each model as its stream grows, for `bench_growth.py`."""

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
# Long texts cost the most, so one model of each family learns them, and fewer.
POSTS = "20 newsgroups"
POST_LENGTHS = (1_000, 5_000, 10_000, 50_000)
POST_MODELS = (
    *("MNB", "HMNB", "SEMNB", "HNB", "PHNB", "HONB", "LWWMNB", "MNBTree"),
    *("GRWMNB", "GRSMNB", "DFWMNB", "DTWMNB", "DWMNB"),
)
LONGEST = 20_000  # characters of a text whose time counts as a pause
# ComposedNB only combines the others. The last two models show the effect of a larger index.
REGISTRY = (
    *(name for name in MODELS if name != "ComposedNB"),
    "HMNB(index_size=65536)",
    "SEMNB(index_size=65536)",
)
ASKED = 400  # messages timed at each length
NOISE = 0.1  # share of the words of a repeated message that are misspelt
TRIALS = 9  # refreshes that predictions are timed beside
# A shorter refresh had nothing to compute.
NO_REFRESH = 50e-6


@dataclass(frozen=True)
class Row:
    """One model on one stream at one length. All times are medians unless they are named otherwise.

    `mean_us` is one learn_one and one predict_one, refreshes included, and `pause_ms` the longest
    call of either: in processor time of all threads, since the length before.
    """

    stream: str
    model: str
    messages: int
    learn_us: float
    predict_us: float
    memory_mb: float
    refresh_ms: float | None
    words: int
    mean_us: float
    pause_ms: float
    # The longest predict_one while another thread sleeps, and while it refreshes: the minimum over
    # several trials, each as long as one refresh. Measured at the last length only.
    rest_us: float | None = None
    block_us: float | None = None

    @property
    def held_us(self) -> float | None:
        """Extra time of the longest call during a refresh."""
        if self.block_us is None or self.rest_us is None:
            return None
        return max(0.0, self.block_us - self.rest_us)

    @property
    def held_ratio(self) -> float | None:
        """Delay of a prediction by a refresh, in units of the median prediction."""
        return None if self.held_us is None else self.held_us / self.predict_us

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def misspelt(word: str, draw: random.Random) -> str:
    """Return a word with two changed letters: usually a new word."""
    letters = list(word)
    for _ in range(2):
        letters[draw.randrange(len(letters))] = draw.choice("abcdefghijklmnopqrstuvwxyz0123456789")
    return "".join(letters)


def noisy(pairs: Sequence[Pair], seed: int = 1) -> Iterator[Pair]:
    """Yield the messages, then endlessly repeat them with misspelt words."""
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
    """Return the streams by name; the SMS collection is optional."""
    found: dict[str, Callable[[], Iterator[Pair]]] = {
        "synthetic": lambda: iter(datasets.SyntheticSMS(n=None, seed=1))
    }
    if datasets.available("text/sms_spam"):
        found["SMS repeated with noise"] = lambda: noisy(list(datasets.stream("sms")))
    if datasets.available("text/20news_bydate"):
        found[POSTS] = lambda: noisy(list(datasets.stream("20news", seed=1)))
    return found


class Calls:
    """Processor time of all threads in single calls, those of long texts apart."""

    def __init__(self) -> None:
        self.count = self.total = self.longest = 0

    def time(self, action: Callable[..., Any], text: str, *rest: Any) -> None:
        start = time.process_time_ns()
        action(text, *rest)
        taken = time.process_time_ns() - start
        self.count += 1
        self.total += taken
        if len(text) <= LONGEST:
            self.longest = max(self.longest, taken)

    @property
    def mean_us(self) -> float:
        return self.total / max(self.count, 1) / 1000


def take(stream: Iterator[Pair], n: int) -> list[Pair]:
    return [next(stream) for _ in range(n)]


def nanoseconds(action: Callable[..., Any], *arguments: Any) -> int:
    """Return the duration of a call: wall-clock time, or processor time if the call was preempted.

    Reading the second clock takes as long as a short call, so it encloses the first.
    """
    own, start = time.thread_time_ns(), time.perf_counter_ns()
    action(*arguments)
    wall = time.perf_counter_ns() - start
    return min(wall, time.thread_time_ns() - own)


def microseconds(action: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> float:
    """Return the median over the items, so that a single refresh has no influence."""
    return median(nanoseconds(action, *item) for item in items) / 1000


def refresh_seconds(model: Any) -> float:
    """Return the median duration of three refreshes."""
    return median(nanoseconds(model.refresh) for _ in range(3)) / 1e9


class Block:
    """Duration of single calls, without the time that the system gives to other processes.

    Wall-clock time consists of processor time of the calling thread, time in the run queue, and
    waiting for a lock or the GIL. The run queue depends on the machine and is excluded. Waiting
    counts only while the other thread runs, because the holder of a lock may be in the run queue.
    Without Linux's scheduler statistics, the whole time counts.
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
        """Return the duration of one call in nanoseconds."""
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
    """Return the ns of predictions that begin before another thread's refresh ends."""
    refreshed, begin = threading.Event(), threading.Event()

    def work() -> None:
        begin.wait()
        refresh()
        refreshed.set()
        # The clock of a thread ends with the thread.
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
    """Return the longest prediction that begins before another thread's refresh ends."""
    return max(beside(predict, [text], refresh), default=0)


def blocks(model: Any, text: str, seconds: float) -> tuple[float, float]:
    """Return the longest prediction in µs, while another thread sleeps and while it refreshes.

    Each is the minimum over the trials: a refresh causes its delay every time, while interrupts and
    cold caches only add to it.
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
    """Yield a row for each length of one model on one stream."""
    model = build(model_spec(spec))
    done = 0
    for length in lengths:
        say(f"{stream}: {spec} at {length:,} messages")
        learning, predicting = Calls(), Calls()
        for text, label in itertools.islice(pairs, max(length - done, 0)):
            learning.time(model.learn_one, text, label)
        done = max(done, length)
        seconds = refresh_seconds(model)
        fresh = take(pairs, ASKED)
        texts = [text for text, _ in fresh]
        for text in texts:
            predicting.time(model.predict_one, text)
        predict_us = microseconds(model.predict_one, [(text,) for text in texts])
        rest_us = block_us = None
        if seconds >= NO_REFRESH and length == lengths[-1]:
            # Use a message of median cost, because long messages always take long.
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
            learning.mean_us + predicting.mean_us,
            max(learning.longest, predicting.longest) / 1e6,
            rest_us,
            block_us,
        )
        done += len(fresh)
    assert isinstance(model, streamnb.NaiveBayes)
