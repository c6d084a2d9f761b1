"""A group of workers in this process, created from settings as the daemons do."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamnb_consumers.daemon.assembly import make_loop
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import AbortedError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.records import TrainingEvent
from support.broker import Broker
from support.stepped import until


class Group:
    """Topics of one test, and workers over them that move step by step."""

    def __init__(self, broker: Broker, folder: Path, **settings: Any) -> None:
        self.broker, self.folder = broker, folder
        self.name = broker.unique("start")
        self.training = f"{self.name}-training"
        self.settings: dict[str, Any] = {
            "bootstrap_servers": broker.bootstrap,
            "messages_topic": self.name,
            **{
                f"{name}_topic": f"{self.name}-{name}"
                for name in ("feedback", "decisions", "join_state", "dead_letters")
            },
            "training_topic": self.training,
            "group": self.name,
            "model": "MNB()",
            "create_topics": 1,
            "poll_seconds": 0.05,
            "commit_seconds": 10.0,
            "session_seconds": 2.0,
            "shared_snapshots": str(folder / "shared"),
            "shared_snapshot_seconds": 0.0,
            **settings,
        }
        self.loops: list[Loop] = []
        self.running: list[Loop] = []

    def worker(self, **settings: Any) -> Loop:
        """Return a worker that has not started."""
        loop = make_loop("sms", Settings(**{**self.settings, **settings}), environment={})
        self.loops.append(loop)
        return loop

    def ready(self, loop: Loop) -> float:
        """Step until the worker decides messages; return the seconds.

        The other workers step too, because a group admits no member while another one is silent.
        """
        begun = time.monotonic()
        loop._start()
        self.running.append(loop)
        until(lambda: not loop.health.problem_of_readiness(), self.step)
        return time.monotonic() - begun

    def step(self) -> None:
        """Let each running worker take a step."""
        for loop in self.running:
            try:
                loop._step()
            except AbortedError as error:
                loop._recover(error)
                loop._start()

    def end(self, loop: Loop) -> None:
        """End a worker."""
        self.running.remove(loop)
        self.loops.remove(loop)
        loop._close()

    def teach(self, count: int, headers: Any = ()) -> list[bytes]:
        """Write training events, as workers do."""
        producer = kafka.KafkaProducer(
            bootstrap_servers=self.broker.bootstrap, linger_ms=20, batch_size=2**18
        )
        values = events(count)
        for at, value in enumerate(values):
            more = list(headers) if at == 0 else []
            producer.send(self.training, value, b"m%d" % at, headers=more, partition=0)
        producer.flush()
        producer.close()
        return values

    def send(self, names: Iterable[str]) -> None:
        """Send messages without labels; repeat those that the broker rejects at first."""
        producer = kafka.KafkaProducer(
            bootstrap_servers=self.broker.bootstrap, delivery_timeout_ms=120_000, linger_ms=5
        )
        sent = []
        for name in names:
            value = json.dumps({"id": name, "text": "win cash"}).encode()
            sent.append(producer.send(self.name, value, name.encode()))
        producer.flush()
        for each in sent:
            each.get(timeout=0)
        producer.close()

    def label(self, name: str) -> None:
        """Send a message with its label."""
        producer = kafka.KafkaProducer(bootstrap_servers=self.broker.bootstrap)
        value = json.dumps({"id": name, "text": "win cash", "label": "spam"}).encode()
        producer.send(self.name, value, name.encode())
        producer.flush()
        producer.close()

    def log_start(self) -> int:
        """Return the offset of the first remaining training event."""
        consumer = kafka.KafkaConsumer(bootstrap_servers=self.broker.bootstrap)
        place = kafka.TopicPartition(self.training, 0)
        found = consumer.beginning_offsets([place])[place]
        consumer.close()
        return int(found)

    def make_anew(self) -> None:
        """Delete the topic of training events, and create it again."""
        admin = kafka.KafkaAdminClient(bootstrap_servers=self.broker.bootstrap)
        admin.delete_topics([self.training])
        until(lambda: admin.describe_topics([self.training])[0]["error_code"] == 3)
        admin.close()
        self.broker.create_topics({self.training: 1})

    def close(self) -> None:
        """End all workers."""
        for loop in self.loops:
            with contextlib.suppress(Exception):
                loop._close()


def events(count: int) -> list[bytes]:
    return [
        canonical(
            TrainingEvent(f"m{at}", f"w{at % 977} w{at % 1009} cash", "spam" if at % 3 else "ham")
        )
        for at in range(count)
    ]
