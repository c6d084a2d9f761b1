"""The daemon on a real broker with each client, compared with the client alone and an idle loop.

Each round handles the same messages and writes the decisions in transactions. It runs the client
alone, which moves as many records, then a classifier that does nothing, then each model. Rates use
wall-clock time, which other programs affect. Processor time per message, of the process and of the
steps of its loop, is more reliable. Finally messages arrive at half the rate of each model, and the
time from sending a message to its committed decision is measured.

    python benchmarks/bench_daemon.py --messages 20000 --rounds 5
    python benchmarks/bench_daemon.py --messages 5000 --rounds 3 --mail spamassassin
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import itertools
import json
import math
import multiprocessing
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from raw_kafka import RAW, arrivals, send_at

from streamnb import datasets
from streamnb.datasets import read_text
from streamnb_consumers.daemon.assembly import limits_of, make_filter
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.running import collect_rarely
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import CLIENTS, open_driver, open_kafka
from streamnb_consumers.pipeline import mail_reading
from streamnb_consumers.pipeline.filter import SharedFilter
from streamnb_consumers.pipeline.options import Options
from support.broker import Broker

MODELS = ["MNB(alpha=0.1, oov='skip')", "OnlineNB()"]
LARGEST = 900_000  # bytes of a mail
SECONDS, WARM = 10.0, 2.0  # of messages at half the rate, and before them, not counted
LABELLED = 10  # one message of so many has a label, which is learned


class Nothing:
    """A classifier that does nothing."""

    def learn_one(self, x: object, y: object) -> None: ...

    def unlearn_one(self, x: object, y: object) -> None: ...

    def predict_one(self, x: object) -> str:
        return "ham"

    def predict_proba_one(self, x: object) -> dict[object, float]:
        return {"ham": 0.5, "spam": 0.5}

    def joint_log_likelihood_one(self, x: object) -> dict[object, float]:
        return {"ham": -1.0, "spam": -2.0}

    def explain_one(self, x: object) -> None: ...

    def to_bytes(self) -> bytes:
        return b""


class Steps:
    """Processor time of the loop's thread by step, in seconds."""

    def __init__(self, loop: Loop) -> None:
        self.begun = 0.0  # what the process had spent when the first message was there
        self.spent = {"read": 0.0, "decide": 0.0, "write": 0.0, "commit": 0.0}
        loop.source.poll = self._timed("read", loop.source.poll)  # type: ignore[method-assign]
        loop._handle = self._timed("decide", loop._handle)  # type: ignore[method-assign]
        loop.sink.send = self._timed("write", loop.sink.send)  # type: ignore[method-assign]
        loop.sink.commit = self._timed("commit", loop.sink.commit)  # type: ignore[method-assign]

    def _timed(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            begun = time.thread_time()
            if step == "decide":
                self.begun = self.begun or time.process_time()
            try:
                return call(*arguments)
            finally:
                self.spent[step] += time.thread_time() - begun

        return timed


class Round:
    """One run with separate topics."""

    def __init__(
        self, broker: Broker, client: str, model: str | None, batch: int, kind: str = "sms"
    ) -> None:
        name = broker.unique("bench")
        parts = ("", "-feedback", "-decisions", "-training", "-join-state", "-dead-letters")
        self.broker = broker
        self.topics = Topics(*(name + part for part in parts))
        self.name, self.client, self.batch = name, client, batch
        self.cluster = Cluster(broker.bootstrap, name, None, name, client=client)
        open_driver(self.cluster).create_topics(self.topics.layouts(1), 60.0)
        worker = make_filter(kind, Settings(bootstrap_servers="x:1", model=model or ""))
        if model is None:
            worker = SharedFilter(Nothing(), worker.reader, Options())
        usual = limits_of(Settings(bootstrap_servers="x:1", batch=batch))
        limits = dataclasses.replace(usual, poll=0.1, commit=30.0, snapshot=1e9)
        self.loop = Loop(*open_kafka(self.cluster, self.topics, 30.0), worker, limits=limits)

    def send(self, messages: Sequence[tuple[str | bytes, str]]) -> None:
        """Send messages as fast as possible."""
        send_at(self.broker.bootstrap, self.topics.messages, records_of(messages), math.inf)

    def run(self, expected: int) -> float:
        """Handle a number of available messages; return the seconds from the first to the last."""
        times: list[float] = []
        committed = self.loop.metrics.committed

        def note(*arguments: Any) -> None:
            committed(*arguments)
            if self.loop.metrics.decisions:
                times.append(time.perf_counter() - (0.0 if times else arguments[3]))
            if self.loop.metrics.decisions >= expected:
                self.cpu = time.process_time() - self.steps.begun
                self.loop.stop()

        self.steps = Steps(self.loop)
        self.loop.metrics.committed = note  # type: ignore[method-assign]
        collect_rarely()
        self.loop.run()
        return times[-1] - times[0]

    def raw(self, expected: int) -> float:
        """Move messages with the client alone; return the seconds from the first to the last."""
        before = time.process_time()
        arguments = (self.broker.bootstrap, self.name, self.topics, expected, self.batch)
        seconds = RAW[self.client](*arguments)
        self.cpu = time.process_time() - before
        return seconds

    def delays(self, messages: Sequence[tuple[str | bytes, str]], rate: float) -> list[float]:
        """Send messages at a rate; return the delays from sending to committed decision, in ms.

        Processes of their own send and read, so that only the worker needs time of its thread.
        """
        records = records_of(messages)
        collect_rarely()
        running = threading.Thread(target=self.loop.run)
        running.start()
        while self.loop.source.waiting:
            time.sleep(0.05)
        address = self.broker.bootstrap
        spawning = multiprocessing.get_context("spawn")
        # A pause of these processes is not one of the worker.
        with ProcessPoolExecutor(2, mp_context=spawning, initializer=gc.disable) as pool:
            reading = pool.submit(arrivals, address, self.topics.decisions, len(messages))
            sending = pool.submit(send_at, address, self.topics.messages, records, rate)
            sent, found = sending.result(), reading.result()
        self.loop.stop()
        running.join()
        return [1000 * (found[at] - begun) for at, begun in enumerate(sent)]


def records_of(
    messages: Sequence[tuple[str | bytes, str]],
) -> list[tuple[bytes, list[tuple[str, bytes]]]]:
    """Return texts as JSON, or raw mails, with headers; some of them have labels."""
    records: list[tuple[bytes, list[tuple[str, bytes]]]] = []
    for at, (text, label) in enumerate(messages):
        labels = {"label": label} if at % LABELLED == 0 else {}
        if isinstance(text, bytes):
            records.append((text, [(name, each.encode()) for name, each in labels.items()]))
        else:
            records.append((json.dumps({"id": str(at), "text": text} | labels).encode(), []))
    return records


def measure(
    broker: Broker, client: str, model: str | None, messages: Any, batch: int, kind: str
) -> dict[str, float]:
    """Return the rate of one round, and its processor time per message in microseconds."""
    one = Round(broker, client, None if model in ("idle", "raw") else model, batch, kind)
    one.send(messages)
    seconds = (one.raw if model == "raw" else one.run)(len(messages))
    found = {"rate": len(messages) / seconds, "cpu": one.cpu / len(messages) * 1e6}
    if model != "raw":
        found |= {step: spent / len(messages) * 1e6 for step, spent in one.steps.spent.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=Settings().batch)
    parser.add_argument("--clients", nargs="*", default=list(CLIENTS))
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--mail", metavar="FILE", help="a collection of mail instead of SMS")
    options = parser.parse_args()
    stream: list[tuple[str | bytes, str]]
    if options.mail:
        name, kind, models = options.mail, "spam", [mail_reading.DEFAULT_MODEL]
        mails = [(each.text.encode("utf-8", "replace"), each.label) for each in read_text(name)]
        stream = [(mail, label) for mail, label in mails if len(mail) < LARGEST]
    else:
        found, name = datasets.demo_stream()
        stream, kind, models = list(found), "sms", MODELS
    models = options.models or models
    messages = list(itertools.islice(itertools.cycle(stream), options.messages))
    given = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    broker = Broker(bootstrap=given)
    if not given:
        broker.start()
    kinds = ["raw", "idle", *models]
    steps = ("rate", "cpu", "read", "decide", "write", "commit")
    try:
        print(f"{len(messages):,} messages of {name}, {options.rounds} rounds in turn, medians;")
        print("processor time a message in µs: of the process, and of the loop's thread by step")
        print(f"{'client':13} {'what':30}  share" + "".join(f"{step:>9}" for step in steps))
        for client in options.clients:
            rounds: dict[str, list[dict[str, float]]] = {each: [] for each in kinds}
            for _ in range(options.rounds):
                for each in kinds:
                    found = measure(broker, client, each, messages, options.batch, kind)
                    rounds[each].append(found)
            medians: dict[str, dict[str, float]] = {
                each: {step: statistics.median(row[step] for row in found) for step in found[0]}
                for each, found in rounds.items()
            }
            for each, row in medians.items():
                cells = "".join(f"{row[step]:9,.1f}" for step in steps if step in row)
                share = row["rate"] / medians["raw"]["rate"]
                print(f"{client:13} {each[:30]:30}{share:7.0%}{cells}", flush=True)
            for each in models:
                rate = medians[each]["rate"] / 2
                part = list(
                    itertools.islice(itertools.cycle(stream), round((SECONDS + WARM) * rate))
                )
                late = Round(broker, client, each, options.batch, kind).delays(part, rate)[
                    round(WARM * rate) :
                ]
                late.sort()
                half, most = late[len(late) // 2], late[len(late) * 99 // 100]
                print(
                    f"{client:13} {each[:30]:30} at {rate:,.0f} messages a second, from sending to "
                    f"the committed decision: p50 {half:.0f} ms, p99 {most:.0f} ms",
                    flush=True,
                )
    finally:
        broker.close()


if __name__ == "__main__":
    main()
