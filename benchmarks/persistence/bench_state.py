"""The cost of the state of a stream program: files of a model next to the messages between them.

A program of docs/how-to/own-stream-programs.md reads JSON records, predicts and learns each one,
and saves the model with its offsets. Bytewax keeps the bytes of `to_bytes` instead. The worker of
this project writes a snapshot while it continues. Times are processor time, so a busy machine
changes them little.

    PYTHONPATH=benchmarks:benchmarks/persistence python benchmarks/persistence/bench_state.py
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench_periodic import teach, text
from rounds import table

from streamnb import OnlineNB
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.state_manager import StateManager

MESSAGES = 5_000
SECONDS = 10.0
"""Seconds between two files, in the programs of the guide."""
HEAD = [
    *("words", "file", "`to_bytes`", "`save`", "snapshot of a worker", "a message"),
    *("messages that cost one `save`", f"share of `save` every {SECONDS:.0f} s at full load"),
]


def processor(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measured(features: int, rounds: int, folder: Path) -> list[str]:
    """Return the row of a model with this number of words."""
    model = OnlineNB(max_features=10**9)
    teach(model, features)
    worker = make_filter("sms", Settings())
    worker.learner.model = model
    manager = StateManager(worker, Snapshots(folder / "snapshots"))
    path, draw = folder / "filter.snb", random.Random(4)

    def snapshot() -> None:
        manager.save()
        manager.finish()

    def messages() -> None:
        for record in records:
            message = json.loads(record)
            model.predict_one(message)
            model.learn_one(message, message["label"])

    works = {"to_bytes": model.to_bytes, "save": lambda: model.save(path, {"messages-0": 1})}
    works |= {"snapshot": snapshot}
    times: dict[str, list[float]] = {name: [] for name in (*works, "messages")}
    for each in range(rounds):
        number = 10**9 + each * MESSAGES
        records = [
            json.dumps({"id": i, "text": text(draw, i), "label": draw.choice(["spam", "ham"])})
            for i in range(number, number + MESSAGES)
        ]
        for name, work in works.items():
            times[name].append(processor(work))
        times["messages"].append(processor(messages) / MESSAGES)
    median = {name: statistics.median(values) for name, values in times.items()}
    return [
        f"{features:,}",
        f"{path.stat().st_size / 1e6:.1f} MB",
        *(f"{median[name]:.2f} s" for name in works),
        f"{median['messages'] * 1e6:.0f} µs",
        f"{median['save'] / median['messages']:,.0f}",
        f"{median['save'] / (SECONDS + median['save']):.1%}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--features", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    rows = []
    for features in options.features:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(features, options.rounds, Path(folder)))
    print(table(HEAD, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
