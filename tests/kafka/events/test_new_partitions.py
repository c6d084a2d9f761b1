"""Partitions are added while workers run, first to the messages, later to the other topics."""

from __future__ import annotations

import dataclasses
import json
import threading

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long


def add_partition(stage: Stage, *topics: str) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=stage.broker.bootstrap)
    admin.create_partitions(dict.fromkeys(topics, 2))
    admin.close()


def send(stage: Stage, name: str, partition: int) -> None:
    def refused() -> bool:
        producer = kafka.KafkaProducer(bootstrap_servers=stage.broker.bootstrap)
        try:
            value = json.dumps({"id": name, "text": "win cash"}).encode()
            producer.send(stage.topics.messages, value, name.encode(), partition=partition)
            producer.flush()
        except ValueError:  # the broker does not tell of the new partition yet
            return True
        finally:
            producer.close()
        return False

    until(lambda: not refused())


def test_partitions_are_added(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    stage.send(5)
    worker = stage.worker("a")
    source = worker.loop.source
    until(lambda: worker.loop.metrics.decisions == 5, lambda: worker.step(0.05))
    source.table.patience = 0.0
    add_partition(stage, stage.topics.messages)
    send(stage, "new", 1)
    join_state, feedback = stage.topics.join_state, stage.topics.feedback
    missing = f"{join_state}, {feedback}: no partition 1"
    until(lambda: missing in source.table.problem(), lambda: worker.step(0.05), seconds=60.0)
    until(lambda: missing in caplog.text, lambda: worker.step(0.05))
    # The other partition continues meanwhile.
    send(stage, "old", 0)
    until(lambda: worker.loop.metrics.decisions == 6, lambda: worker.step(0.05))
    assert worker.runs() == {0}
    add_partition(stage, join_state, feedback)
    until(lambda: worker.loop.metrics.decisions == 7, lambda: worker.step(0.05), seconds=60.0)
    assert worker.runs() == {0, 1}
    decided = stage.decisions()
    assert decided["old"] == decided["new"] == 1
    assert stage.twice() == 0


def test_a_worker_starts_between_the_additions(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = stage._cluster
    monkeypatch.setattr(
        stage, "_cluster", lambda name: dataclasses.replace(cluster(name), metadata_seconds=60.0)
    )
    add_partition(stage, stage.topics.messages)
    later = threading.Timer(
        3.0, add_partition, (stage, stage.topics.join_state, stage.topics.feedback)
    )
    later.start()
    worker = stage.worker("a")
    until(lambda: worker.runs() == {0, 1}, lambda: worker.step(0.05))
    assert not later.is_alive()
