"""Startup time of a new worker, with the whole log and with a snapshot.

Training events are written to the log of a real broker: the SMS collection repeatedly, each message
with one of 200,000 extra words. A first worker reads all events and writes a shared snapshot. Then
new workers start one after another, each in a new process with only the shared folder. The time
ends at the first status 200 of `/readyz`.

    python benchmarks/bench_start.py --events 1000000 --rounds 3
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


class Worker:
    """A `streamnb-sms` process."""

    def __init__(self, broker: Broker, shared: Path, client: str) -> None:
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
        }
        given = {f"STREAMNB_{name.upper()}": str(value) for name, value in settings.items()}
        self.begun = time.monotonic()
        self.process = subprocess.Popen([sys.executable, "-c", MAIN], env={**os.environ, **given})

    def ready(self) -> tuple[float, float]:
        """Wait until the worker is ready; return the seconds since its start and of processor."""
        while self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=1):
                    seconds = time.monotonic() - self.begun
                    fields = Path(f"/proc/{self.process.pid}/stat").read_text().split()
                    ticks = int(fields[13]) + int(fields[14])
                    return seconds, ticks / os.sysconf("SC_CLK_TCK")
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        raise SystemExit(f"the worker ended with status {self.process.returncode}")

    def end(self) -> None:
        """Stop the worker, which writes a snapshot."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(600):
            raise SystemExit(f"the worker ended with status {self.process.returncode}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
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
