"""The circuit breaker blocks the partition with invalid records; the others continue."""

from __future__ import annotations

import json

import pytest

from streamnb_consumers.daemon.backoff import Breaker
from streamnb_consumers.io.partition_table import Reason
from streamnb_consumers.kafka import partitions
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long


@pytest.mark.parametrize("kind", ["messages", "feedback"])
def test_invalid_records_block_one_partition(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    stage = Stage(broker, partitions=2, client=client)
    try:
        topic = getattr(stage.topics, kind)
        producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap, linger_ms=5)
        for _ in range(60):
            producer.send(topic, b"\x00\x00\x00\x00\x07schema registry", partition=0)
        if kind == "messages":
            value = json.dumps({"id": "last", "text": "hello"}).encode()
            producer.send(topic, value, b"last", partition=0)
        producer.flush()
        producer.close()
        worker = stage.worker("a", batch=10)
        worker.loop.breaker = Breaker(0.8, 50)
        table, place = worker.loop.source.table, Partition(topic, 0)

        def is_blocked() -> bool:
            return table.is_held(place, Reason.INVALID)

        until(is_blocked, lambda: worker.step(0.05))
        assert "50 of the last 50 records are invalid (the last: " in table.problem()
        dead = worker.loop.metrics.dead_letters
        assert 50 <= dead <= 60
        stage.send(5)
        before = 5 if kind == "messages" else 10  # partition 0 of the messages is blocked
        until(lambda: worker.loop.metrics.decisions == before, lambda: worker.step(0.05))
        until(lambda: f"{topic} 0 is blocked at offset" in caplog.text, lambda: worker.step(0.05))
        # After some minutes the partition is tried again.
        waiting = worker.loop.source._partitions._invalid  # type: ignore[attr-defined]
        waiting.update({each: (0.0, offset) for each, (_, offset) in waiting.items()})
        done = 11 if kind == "messages" else 10
        until(
            lambda: (
                worker.loop.metrics.dead_letters == 60 and worker.loop.metrics.decisions == done
            ),
            lambda: worker.step(0.05),
        )
        until(lambda: not is_blocked(), lambda: worker.step(0.05))
        assert stage.twice() == 0
        assert partitions._INVALID == 300.0
    finally:
        stage.close()
