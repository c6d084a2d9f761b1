"""A worker of a filter in this process, on a real broker, that moves step by step."""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import AbortedError
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import open_kafka
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.clients import create_known_topics

SESSION = 2.0  # seconds
LIMIT = 30.0  # seconds: for what takes one on an idle machine


class Stage:
    """Topics of one test, messages in them, and workers over them."""

    def __init__(
        self,
        broker: Broker,
        partitions: int,
        client: str = "kafka-python",
        session: float = SESSION,
        **settings: Any,
    ) -> None:
        self.broker, self.partitions, self.settings = broker, partitions, settings
        self.client, self.session = client, session
        self.group = broker.unique("stepped")
        parts = ("", "-feedback", "-decisions", "-training", "-join-state", "-dead-letters")
        self.topics = Topics(*(self.group + part for part in parts))
        if "teacher_agreement" in settings:
            self.topics = dataclasses.replace(self.topics, questions=f"{self.group}-questions")
            settings["feedback_topic"] = self.topics.feedback
            settings["questions_topic"] = self.topics.questions
        # Brokers reject timestamps in the future unless the topic allows them.
        future = {"message.timestamp.after.max.ms": str(2**62)}
        layouts = [
            dataclasses.replace(layout, configs={**layout.configs, **future})
            for layout in self.topics.layouts(partitions)
        ]
        create_known_topics(self._cluster("topics"), layouts)
        self.sent: list[str] = []
        self.workers: list[SteppedWorker] = []

    def _cluster(self, name: str) -> Cluster:
        return Cluster(
            self.broker.bootstrap,
            self.group,
            None,
            f"{self.group}-{name}",
            session_seconds=self.session,
            transaction_seconds=10.0,
            named=False,
            client=self.client,
            metadata_seconds=1.0,
            skip_missing=self.settings.get("missing_records") != "wait",
            skip_unreadable=self.settings.get("unreadable_batches") == "skip",
        )

    def worker(self, name: str, batch: int = 50, **names: Any) -> SteppedWorker:
        """Return a worker that is started and has not polled.

        `names` are fields of its cluster that differ: other workers may have its name.
        """
        cluster = dataclasses.replace(self._cluster(name), **names)
        self.workers.append(SteppedWorker(self, cluster, batch))
        return self.workers[-1]

    def send(self, count: int) -> None:
        """Send this number of messages to each partition."""
        producer = kafka.KafkaProducer(bootstrap_servers=self.broker.bootstrap, linger_ms=5)
        for number in range(self.partitions):
            for _ in range(count):
                name = f"m{len(self.sent)}"
                self.sent.append(name)
                value = json.dumps({"id": name, "text": "win cash now"}).encode()
                producer.send(self.topics.messages, value, name.encode(), partition=number)
        producer.flush()
        producer.close()

    def label(self, name: str, label: str = "spam") -> None:
        """Send a label to the first partition of the feedback."""
        producer = kafka.KafkaProducer(bootstrap_servers=self.broker.bootstrap)
        value = json.dumps({"id": name, "label": label}).encode()
        producer.send(self.topics.feedback, value, name.encode(), partition=0)
        producer.close()

    def decisions(self) -> Counter[str]:
        """Return the number of decisions of each message."""
        return Counter(
            json.loads(each.value)["id"] for each in self.broker.read_all(self.topics.decisions)
        )

    def twice(self) -> int:
        """Return the number of messages with more than one decision."""
        return sum(count > 1 for count in self.decisions().values())

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.close()


class SteppedWorker:
    """The daemon's own source, sink, filter and loop."""

    def __init__(self, stage: Stage, cluster: Cluster, batch: int) -> None:
        self.stage, self._closed = stage, False
        source, sink = open_kafka(cluster, stage.topics, 10.0)
        worker = make_filter(
            "sms", Settings(bootstrap_servers=stage.broker.bootstrap, **stage.settings)
        )
        limits = Limits(batch, polled=3, poll=0.0, commit=10.0, aborts=1000, pause=0.01)
        self.loop = Loop(source, sink, worker, limits=limits)
        self.loop._start()
        self._started = True

    @property
    def consumer(self) -> Any:
        """The consumer that is a member of the group."""
        return self.loop.source._group.consumer  # type: ignore[attr-defined]

    @property
    def coordinator(self) -> Any:
        """The client's connection to the group coordinator."""
        return self.consumer._coordinator

    def step(self, seconds: float = 0.0) -> None:
        """Poll once with this timeout and commit; after an error, return to the last commit."""
        self.loop.limits = dataclasses.replace(self.loop.limits, poll=seconds)
        try:
            if not self._started:
                self.loop._start()
                self._started = True
            self.loop._step()
        except AbortedError as error:
            self._started = False
            self.loop._recover(error)

    @property
    def is_closed(self) -> bool:
        """Whether it has left the group."""
        return self._closed

    def stall(self) -> None:
        """Stop sending heartbeats, like a stopped process."""
        self.coordinator._disable_heartbeat()

    def wake(self) -> None:
        """Send heartbeats again."""
        self.coordinator._enable_heartbeat()

    def runs(self) -> set[int]:
        """Return the partitions whose messages it would read."""
        return {owned.number for owned in self.loop.source._partitions._running()}  # type: ignore[attr-defined]

    def close(self) -> None:
        """Leave the group."""
        if not self._closed:
            self._closed = True
            self.loop._close()


def until(condition: Callable[[], Any], *steps: Callable[[], Any], seconds: float = LIMIT) -> None:
    """Step workers in turn until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        for step in steps:
            step()
        if not steps:
            time.sleep(0.01)


def total(workers: Iterable[SteppedWorker]) -> int:
    """Return the number of committed decisions."""
    return sum(worker.loop.metrics.decisions for worker in workers)
