"""The daemon on a real broker beside the same loop with a classifier that does nothing.

Each round handles the same messages and writes the decisions in transactions, once with the model
and once with nothing in its place, in turn. Then messages come at half the model's rate, and the
time from a message's sending to its committed decision is taken.

    python benchmarks/bench_daemon.py --messages 20000 --rounds 5
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from rounds import Target

from streamnb import datasets
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.filter.filtering import Filter
from streamnb_consumers.filter.options import Options
from streamnb_consumers.kafka.client_errors import kafka
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.opening import open_kafka
from streamnb_consumers.kafka.topics import create_topics
from streamnb_consumers.messages.sms import Sms
from support.broker import Broker

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


class Round:
    """One run over topics of its own."""

    def __init__(self, broker: Broker, idle: bool, batch: int) -> None:
        name = broker.unique("bench")
        parts = ("", "-feedback", "-decisions", "-lessons", "-windows", "-dead-letters")
        self.broker = broker
        self.topics = Topics(*(name + part for part in parts))
        self.cluster = Cluster(broker.bootstrap, name, None, name)
        create_topics(self.cluster, self.topics.layouts(1))
        worker = make_filter("sms", Settings(bootstrap_servers="x:1"))
        if idle:
            worker = Filter(Nothing(), Sms(("ham", "spam")), Options(shared=True))
        limits = Limits(batch=batch, poll=0.1, commit=30.0, snapshot=1e9)
        self.loop = Loop(*open_kafka(self.cluster, self.topics, 30.0), worker, limits=limits)

    def send(self, messages: Sequence[tuple[str, str]], rate: float = 0.0) -> None:
        """Send messages, at so many a second; one of some has its label."""
        producer = kafka.KafkaProducer(bootstrap_servers=self.broker.bootstrap, linger_ms=2)
        started = time.monotonic()
        for at, (text, label) in enumerate(messages):
            fields = {"id": str(at), "text": text}
            if at % LABELLED == 0:
                fields["label"] = label
            if rate:
                time.sleep(max(0.0, started + at / rate - time.monotonic()))
            producer.send(self.topics.messages, json.dumps(fields).encode(), b"%d" % at)
        producer.flush()
        producer.close()

    def run(self, expected: int) -> float:
        """Handle so many messages that are there; return the seconds from the first to the last."""
        times: list[float] = []
        committed = self.loop.metrics.committed

        def note(*arguments: Any) -> None:
            committed(*arguments)
            if self.loop.metrics.decisions:
                times.append(time.perf_counter() - (0.0 if times else arguments[3]))
            if self.loop.metrics.decisions >= expected:
                self.loop.stop()

        self.loop.metrics.committed = note  # type: ignore[method-assign]
        self.loop.run()
        return times[-1] - times[0]

    def delays(self, messages: Sequence[tuple[str, str]], rate: float) -> list[float]:
        """Send at a rate; return each message's milliseconds from sending to committed decision."""
        reader = kafka.KafkaConsumer(
            bootstrap_servers=self.broker.bootstrap,
            isolation_level="read_committed",
            fetch_max_wait_ms=5,
        )
        reader.assign([kafka.TopicPartition(self.topics.decisions, 0)])
        reader.seek_to_beginning()
        running = threading.Thread(target=self.loop.run)
        running.start()
        while self.loop.source.waiting:
            time.sleep(0.05)
        sending = threading.Thread(target=self.send, args=(messages, rate))
        sending.start()
        found: dict[bytes, float] = {}
        while len(found) < len(messages):
            for records in reader.poll(timeout_ms=100).values():
                now = time.time() * 1000
                found.update((record.key, now) for record in records)
        reader.close()
        sending.join()
        self.loop.stop()
        running.join()
        sent = self.broker.read_all(self.topics.messages)
        return [found[record.key] - record.timestamp for record in sent]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=Settings().batch)
    options = parser.parse_args()
    stream, name = datasets.demo_stream()
    messages = list(itertools.islice(itertools.cycle(list(stream)), options.messages))
    given = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    broker = Broker(bootstrap=given)
    if not given:
        broker.start()
    try:
        rates: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(options.rounds):
            for idle in (False, True):
                one = Round(broker, idle, options.batch)
                one.send(messages)
                rates[idle].append(len(messages) / one.run(len(messages)))
        filter_rate, idle_rate = (statistics.median(rates[idle]) for idle in (False, True))
        share = statistics.median(a / b for a, b in zip(rates[False], rates[True], strict=True))
        print(f"{len(messages):,} messages of {name}, {options.rounds} rounds, medians:")
        print(f"  the filter          {filter_rate:8,.0f} messages a second")
        print(f"  a loop that idles   {idle_rate:8,.0f} messages a second")
        print(Target("the filter's share of it", share, 0.8).line())
        part = messages[: round(10 * filter_rate / 2)]
        delays = sorted(Round(broker, False, options.batch).delays(part, filter_rate / 2))
        half, most = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
        print(
            f"at {filter_rate / 2:,.0f} messages a second, from sending to the committed decision: "
            f"p50 {half:.0f} ms, p99 {most:.0f} ms"
        )
    finally:
        broker.close()


if __name__ == "__main__":
    main()
