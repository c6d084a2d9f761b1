"""Startup time of a new worker, with the whole log and with a snapshot.

Training events are written to the log of a real broker: the SMS collection repeatedly, each message
with one of 200,000 extra words. A first worker reads all events and writes a shared snapshot. Then
new workers start one after another, each in a new process with only the shared folder. The time
ends at the first status 200 of `/readyz`.

With `--window`, one partition has so many messages without labels, which fill the join window of a
worker. Then workers start with the snapshots of this worker, and without any snapshot. At the end,
the processor time of an idle worker is measured.

    python benchmarks/bench_start.py --events 1000000 --rounds 3
    python benchmarks/bench_start.py --window 100000 --rounds 3
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from streamnb import datasets
from streamnb_consumers.daemon.kafka_settings import make_topics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.jsons import canonical
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import CLIENTS, open_driver
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.records import TrainingEvent
from support.broker import Broker

MAIN = "import sys; from streamnb_consumers.daemon.command import run_sms as main; sys.exit(main())"
WORDS = 200_000


def fill(broker: Broker, topics: Topics, count: int) -> None:
    """Write training events, as workers do."""
    messages, generator = list(datasets.stream("sms")), random.Random(1)
    producer = kafka.KafkaProducer(
        bootstrap_servers=broker.bootstrap, linger_ms=50, batch_size=2**19, max_block_ms=600_000
    )
    for at in range(count):
        text, label = messages[at % len(messages)]
        text = f"{text} x{generator.randrange(WORDS)}"
        value = canonical(TrainingEvent(f"m{at}", text, label))
        producer.send(topics.training, value, b"m%d" % at, partition=0)
    producer.flush()
    producer.close()


def fill_messages(broker: Broker, topics: Topics, count: int) -> None:
    """Write messages without labels to the first partition."""
    texts = [text for text, _ in datasets.stream("sms")]
    producer = kafka.KafkaProducer(
        bootstrap_servers=broker.bootstrap, linger_ms=50, batch_size=2**19, max_block_ms=600_000
    )
    for at in range(count):
        value = canonical({"id": f"m{at}", "text": texts[at % len(texts)]})
        producer.send(topics.messages, value, b"m%d" % at, partition=0)
    producer.flush()
    producer.close()


class Worker:
    """A `streamnb-sms` process."""

    def __init__(self, broker: Broker, shared: Path, client: str, **more: object) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        settings = {
            "bootstrap_servers": broker.bootstrap,
            "shared_snapshots": shared,
            "shared_snapshot_seconds": 0,
            "snapshot_seconds": 1_000_000,  # one, at the end
            "commit_seconds": 120,
            "stop_seconds": 120,
            "http_port": self.port,
            "client": client,
            **more,
        }
        given = {f"STREAMNB_{name.upper()}": str(value) for name, value in settings.items()}
        given["PYTHONDONTWRITEBYTECODE"] = ""  # an installed package is compiled
        self.begun = time.monotonic()
        self.process = subprocess.Popen([sys.executable, "-c", MAIN], env={**os.environ, **given})

    def ready(self) -> tuple[float, float]:
        """Wait until the worker is ready; return the seconds since its start and of processor."""
        while self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=1):
                    return time.monotonic() - self.begun, self.processor()
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        raise SystemExit(f"the worker ended with status {self.process.returncode}")

    def processor(self) -> float:
        """Return the seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def delayed(self) -> float:
        """Return the seconds that its main thread has waited for a processor so far."""
        process = self.process.pid
        return int(Path(f"/proc/{process}/task/{process}/schedstat").read_text().split()[1]) / 1e9

    def metric(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    def end(self) -> None:
        """Stop the worker, which writes a snapshot."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(600):
            raise SystemExit(f"the worker ended with status {self.process.returncode}")


def idle_share(worker: Worker, seconds: float = 30.0) -> float:
    """Return the share of a core that an idle worker uses."""
    time.sleep(10.0)  # it waits longer and longer
    before, since = worker.processor(), time.monotonic()
    time.sleep(seconds)
    return (worker.processor() - before) / (time.monotonic() - since)


def measure_window(broker: Broker, topics: Topics, client: str, count: int, rounds: int) -> None:
    """Print the times of starts with a full join window, and the share of an idle worker."""
    fill_messages(broker, topics, count)
    with tempfile.TemporaryDirectory() as folder:
        kept, none = Path(folder) / "kept", Path(folder) / "none"
        settings = {"join_window_count": count, "snapshots": kept, "shared_snapshots": ""}
        settings["log_level"] = "WARNING"
        worker = Worker(broker, none, client, **settings)
        worker.ready()
        while worker.metric("streamnb_decisions_total") < count:
            time.sleep(0.2)
        worker.end()
        for what, snapshots in (("the snapshots of its last run", kept), ("no snapshot", none)):
            walls, processors, alone = [], [], []
            for at in range(rounds):
                place = kept if snapshots is kept else none / str(at)
                worker = Worker(broker, none, client, **{**settings, "snapshots": place})
                wall, processor = worker.ready()
                walls.append(wall)
                processors.append(processor)
                alone.append(wall - worker.delayed())
                worker.end()
            print(
                f"{client}, {count:,} messages in the window, {what}: "
                f"{statistics.median(walls):.2f} s ({min(walls):.2f} to {max(walls):.2f}), "
                f"{statistics.median(alone):.2f} s without its waits for a processor, "
                f"{statistics.median(processors):.2f} s of processor; medians of {rounds}",
                flush=True,
            )
        worker = Worker(broker, none, client, **settings)
        worker.ready()
        print(f"{client}, an idle worker: {idle_share(worker):.2%} of a core", flush=True)
        worker.end()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--window", type=int, default=0, help="messages of a full join window")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--client", choices=list(CLIENTS), default="kafka-python")
    flags = parser.parse_args(arguments)
    broker = Broker()
    broker.start()
    try:
        topics = make_topics("sms", Settings())
        open_driver(Cluster(broker.bootstrap, "bench", None, "bench")).create_topics(
            topics.layouts(1), 60.0
        )
        if flags.window:
            measure_window(broker, topics, flags.client, flags.window, flags.rounds)
            return 0
        fill(broker, topics, flags.events)
        with tempfile.TemporaryDirectory() as folder:
            shared = Path(folder)
            first = Worker(broker, shared, flags.client)
            wall, processor = first.ready()
            print(
                f"{flags.events:,} training events from the log: {wall:.1f} s, "
                f"{processor:.1f} s of processor"
            )
            first.end()
            size = max(path.stat().st_size for path in shared.iterdir())
            walls, processors = [], []
            for _ in range(flags.rounds):
                worker = Worker(broker, shared, flags.client)
                wall, processor = worker.ready()
                walls.append(wall)
                processors.append(processor)
                worker.end()
            print(
                f"from a shared snapshot of {size / 1e6:.1f} MB: {statistics.median(walls):.2f} s "
                f"({min(walls):.2f} to {max(walls):.2f}), {statistics.median(processors):.2f} s of "
                f"processor; medians of {flags.rounds}"
            )
    finally:
        broker.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
