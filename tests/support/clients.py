"""kafka-python's clients with short timeouts, to test their behaviour."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from streamnb_consumers.kafka.cluster import Cluster, TopicLayout
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker

LIMIT = 20.0  # seconds: for what takes milliseconds on an idle machine
HANGS = 2.0  # seconds after which something is taken to hang


class Clients:
    """Create clients of one broker, and close them all."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self._made: list[Any] = []
        self._settings: dict[str, Any] = {
            "bootstrap_servers": broker.bootstrap,
            "reconnect_backoff_max_ms": 500,
            "retry_backoff_ms": 20,
        }

    def producer(self, name: str, init: bool = True, **options: Any) -> Any:
        made = kafka.KafkaProducer(
            **self._settings | {"transactional_id": name, "max_block_ms": 10_000} | options
        )
        self._made.append(made)
        if init:
            workarounds.fix_producer(made)
            made.init_transactions()
        return made

    def consumer(self, group: str | None = None, **options: Any) -> Any:
        made = kafka.KafkaConsumer(
            **self._settings
            | {
                "group_id": group,
                "enable_auto_commit": False,
                "isolation_level": "read_committed",
                "auto_offset_reset": "earliest",
                "fetch_max_wait_ms": 50,
                "session_timeout_ms": 6_000,
                "heartbeat_interval_ms": 200,
                "partition_assignment_strategy": (
                    kafka.coordinator.assignors.cooperative_sticky.CooperativeStickyAssignor,
                ),
            }
            | options
        )
        self._made.append(made)
        return made

    def member(self, group: str, topic: str, listener: Any = None, **options: Any) -> Any:
        """Return a consumer that subscribes to an existing topic, and forgets no join."""
        made = self.consumer(group, **options)
        workarounds.fix_forgotten_join(made)
        assert made.partitions_for_topic(topic)
        made.subscribe([topic], listener=listener)
        return made

    def close(self) -> None:
        for each in self._made:
            each.close(timeout=0) if hasattr(each, "send") else each.close(timeout_ms=500)


def until(condition: Callable[[], Any], *polled: Any, seconds: float = LIMIT) -> float:
    """Poll consumers until a condition holds; return the seconds."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() < begun + seconds, "waited in vain"
        for each in polled:
            each.poll(timeout_ms=20)
        if not polled:
            time.sleep(0.02)
    return time.monotonic() - begun


def create_known_topics(cluster: Cluster, layouts: Collection[TopicLayout]) -> None:
    """Create topics, and wait until the broker knows them.

    A worker starts again if the broker does not know a new topic yet; parts of a worker do not.
    """
    driver = open_driver(cluster)
    driver.create_topics(layouts, 60.0)
    names = [each.name for each in layouts]
    until(lambda: len(driver.describe(names)) == len(names))
    driver.renew()


def joined(member: Any) -> bool:
    """Whether a member has partitions, and no join is under way.

    On a busy machine a member may join again at once, because its topics are known only now. The
    answer of such a join ends a request that comes during the join.
    """
    return bool(member.assignment()) and workarounds.membership(member) is not None


def offset(value: int) -> Any:
    return kafka.structs.OffsetAndMetadata(value, "", -1)


def committed_offsets(consumer: Any, places: list[Any], timeout: float) -> Any:
    """Return the committed offsets of a group."""
    return workarounds.committed(consumer, places, timeout)


def nobody(group: str) -> Any:
    """Return the membership of a client without a group: generation −1, no member."""
    return kafka.structs.ConsumerGroupMetadata(group_id=group)


def places(topic: str, count: int) -> list[Any]:
    return [kafka.TopicPartition(topic, number) for number in range(count)]


def value_of(records: list[Any]) -> list[bytes]:
    return [record.value for record in records]
