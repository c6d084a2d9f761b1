"""The longest call beside periodic work (snapshots, merges, copies, refreshes) and long messages.

In the library, one thread works, and another one learns and predicts alternately, or only predicts
beside messages of 25,000 words, pruning and windows. Batches of one message are read under the lock
of the model, single messages before. In the worker, the loop handles records while a snapshot is
taken. In the listener, a client sends labels and questions on one connection, with a snapshot every
few seconds. Latencies are wall-clock time, so run it on an idle machine. The longest change is the
processor time of one call of the other thread, with its reading; it depends less on other programs.

    PYTHONPATH=benchmarks python benchmarks/persistence/bench_periodic.py --features 1000000
"""

from __future__ import annotations

import argparse
import copy
import functools
import gc
import http.client
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_listen import RUN, free_port, get, wait_ready
from bench_pauses import Histogram
from rounds import Target, table

from streamnb import MNB, OnlineNB
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.state_manager import StateManager
from streamnb_consumers.pipeline import state
from streamnb_consumers.records import Partition, Record

LONGEST = 5.0
"""Most milliseconds of the longest call at 1 million features; 10 at more."""
GIANT = 25_000  # words of a long message
PAUSE = 0.0002  # seconds between two calls
HEAD = ["beside", "calls", "p99 ms", "longest", "seconds of the work", "longest change ms"]


def text(draw: random.Random, number: int) -> str:
    """Return nine words of a fixed vocabulary and three new ones."""
    words = [f"w{int(20_000 ** draw.random())}" for _ in range(9)]
    return " ".join([*words, *(f"new{number}{each}" for each in "abc")])


def teach(model: Any, features: int) -> None:
    """Learn until the model has so many features."""
    draw, number = random.Random(1), 0
    while model._counts.n_words < features:
        texts = [text(draw, number + i) for i in range(5_000)]
        model.learn_many(texts, ["spam" if draw.random() < 0.3 else "ham" for _ in texts])
        number += len(texts)


class Waits:
    """The durations of calls."""

    def __init__(self, name: str) -> None:
        self.name, self.histogram, self.seconds = name, Histogram(), 0.0
        self.change = math.nan  # milliseconds

    def call(self, work: Callable[[], object]) -> None:
        begun = time.perf_counter_ns()
        work()
        self.histogram.add(time.perf_counter_ns() - begun)
        time.sleep(PAUSE)

    def row(self) -> list[str]:
        waits = [self.histogram.quantile(0.99) / 1e6, self.histogram.longest / 1e6]
        figures = [*waits, self.seconds, self.change]
        return [self.name, f"{sum(self.histogram.bins):,}", *(f"{each:.2f}" for each in figures)]


def beside(name: str, work: Callable[[], object], calls: Iterator[Callable[[], object]]) -> Waits:
    """Make calls until the work in another thread is done."""
    waits = Waits(name)

    def run() -> None:
        begun = time.perf_counter()
        change = work()
        waits.seconds = time.perf_counter() - begun
        waits.change = change if isinstance(change, float) else math.nan

    worker = threading.Thread(target=run)
    gc.collect()
    gc.disable()
    try:
        worker.start()
        while worker.is_alive():
            waits.call(next(calls))
        worker.join()
    finally:
        gc.enable()
    return waits


def in_library(features: int, folder: Path) -> list[Waits]:
    """Measure learning and predicting beside the work of a model."""
    model, draw = OnlineNB(max_features=10**9), random.Random(2)
    teach(model, features)
    other = OnlineNB(max_features=10**9)
    teach(other, features // 10)

    def calls() -> Iterator[Callable[[], object]]:
        number = 10**9
        while True:
            message, number = text(draw, number), number + 1
            yield lambda message=message: model.learn_one(message, "ham")  # type: ignore[misc]
            yield lambda message=message: model.predict_proba_one(message)  # type: ignore[misc]

    works: dict[str, Callable[[], object]] = {
        "nothing": lambda: time.sleep(1.0),
        "to_bytes": model.to_bytes,
        "save": lambda: model.save(folder / "model"),
        "deepcopy": lambda: copy.deepcopy(model),
        "refresh": model.refresh,
        "counts": model.counts,
        "merge of a tenth": lambda: model.merge(other),
    }
    return [beside(f"library: {name}", work, calls()) for name, work in works.items()]


def beside_giants(features: int) -> list[Waits]:
    """Measure predictions beside messages of 25,000 words, pruning, and steps of a window."""
    draw = random.Random(5)

    def giants(start: str, words: int = GIANT) -> list[str]:
        return [" ".join(f"{start}{i}x{place}" for place in range(words)) for i in range(10)]

    def predictions(model: Any) -> Iterator[Callable[[], object]]:
        number = 10**9
        while True:
            message, number = text(draw, number), number + 1
            yield lambda message=message: model.predict_proba_one(message)  # type: ignore[misc]

    def timed(call: Callable[..., None], *arguments: Any) -> float:
        begun = time.thread_time()
        call(*arguments)
        return 1e3 * (time.thread_time() - begun)

    def learn(model: Any, texts: Sequence[str], label: str) -> float:
        return max(timed(model.learn_one, each, label) for each in texts)

    def learn_batches(model: Any, texts: Sequence[str], label: str) -> float:
        return max(timed(model.learn_many, [each], [label]) for each in texts)

    def correct(model: Any, texts: Sequence[str]) -> float:
        unlearned = max(timed(model.unlearn_one, each, "ham") for each in texts)
        return max(unlearned, learn(model, texts, "spam"))

    found = []

    def measure(name: str, model: Any, work: Callable[..., float], *arguments: Any) -> None:
        call = functools.partial(work, model, *arguments)
        found.append(beside(f"{type(model).__name__}: {name}", call, predictions(model)))

    for made in (MNB, OnlineNB):
        model, full, texts = made(max_features=10**7), made(max_features=features), giants("y")
        teach(model, features)
        short = giants("k", 1_000)  # about 8,192 characters, the default of filters of mail
        measure("10 new messages of 1,000 words", model, learn, short, "ham")
        measure("10 corrections of 1,000 words", model, correct, short)
        measure("10 batches of 25,000 words", model, learn_batches, giants("x"), "ham")
        measure("10 new messages of 25,000 words", model, learn, texts, "ham")
        measure("10 corrections of 25,000 words", model, correct, texts)
        teach(full, features * 9 // 10)
        new = [" ".join(f"p{i}x{place}" for place in range(500)) for i in range(features // 500)]
        measure("messages of 500 new words", model, learn, new, "ham")
        measure("pruning by messages of 500 new words", full, learn, new, "ham")
    window = MNB(max_features=10**7, window_size=1_000)
    learn(window, giants("z"), "ham")
    short = [text(draw, number) for number in range(2_000)]
    measure("10 messages of 25,000 words leave the window", window, learn, short, "spam")
    return found


def in_worker(features: int, folder: Path) -> list[Waits]:
    """Measure batches of ten records beside a snapshot of the worker."""
    worker = make_filter("sms", Settings())
    worker.learner.model = OnlineNB(max_features=10**9)
    teach(worker.learner.model, features)
    manager = StateManager(worker, Snapshots(folder))
    draw, place = random.Random(3), Partition("sms", 0)
    waits = Waits("worker: snapshot")
    begun, number = time.perf_counter(), 0
    gc.collect()
    waits.call(manager.save)
    while manager.writing is not None and not manager.writing.done():
        records = []
        for _ in range(10):
            value = {"id": str(number), "text": text(draw, 10**9 + number), "label": "ham"}
            records.append(Record(place, number, json.dumps(value).encode()))
            number += 1
        waits.call(lambda records=records: worker.handle_many(records, {}))  # type: ignore[misc]
    waits.call(manager.finish)
    waits.seconds = time.perf_counter() - begun
    return [waits]


@contextmanager
def listening(folder: Path, every: float) -> Iterator[int]:
    """Run a listener on the snapshots of a folder; yield its port."""
    port = free_port()
    command = [sys.executable, "-c", RUN, "listen", "--port", str(port)]
    command += ["--snapshots", str(folder)]
    process = subprocess.Popen(command, env={**os.environ, "STREAMNB_SNAPSHOT_SECONDS": str(every)})
    try:
        wait_ready(port)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def ask(kept: http.client.HTTPConnection, path: str, body: str) -> None:
    """Send one mail, and read the answer."""
    kept.request("POST", path, body, {"Content-Type": "message/rfc822"})
    answer = kept.getresponse()
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"the listener answered {answer.status}")


def in_listener(features: int, folder: Path, seconds: float) -> list[Waits]:
    """Measure labels and questions on a kept connection, with a snapshot every three seconds."""
    worker = make_filter("spam", Settings(), listens=True)
    teach(worker.learner.model, features)
    Snapshots(folder).save(state.dump(worker))
    found, draw, number = [], random.Random(4), 0
    with listening(folder, 3.0) as port:
        for name, path in (("questions", "/classify"), ("labels", "/learn?label=ham")):
            waits, kept = Waits(f"listener: {name}"), http.client.HTTPConnection("127.0.0.1", port)

            begun = time.perf_counter()
            while time.perf_counter() - begun < seconds:
                body = f"Subject: {number}\n\n{text(draw, 10**9 + number)}\n"
                waits.call(functools.partial(ask, kept, path, body))
                number += 1
            waits.seconds = time.perf_counter() - begun
            found.append(waits)
        get(port, "/readyz")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each row of the listener")
    parser.add_argument("--only", choices=["library", "giants", "worker", "listener"])
    given = parser.parse_args(arguments)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        if given.only in (None, "library"):
            found += in_library(given.features, Path(folder))
        if given.only in (None, "giants"):
            found += beside_giants(given.features)
        if given.only in (None, "worker"):
            found += in_worker(given.features, Path(folder, "worker"))
        if given.only in (None, "listener"):
            found += in_listener(given.features, Path(folder, "listener"), given.seconds)
    most = LONGEST if given.features <= 1_000_000 else 2 * LONGEST
    lines = [
        Target(f"longest call ({waits.name})", waits.histogram.longest / 1e6, most, True, " ms")
        for waits in found
    ]
    rows = [waits.row() for waits in found]
    print(table(HEAD, rows), "", *(line.line() for line in lines), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
