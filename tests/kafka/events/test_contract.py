"""Settings of topics that would break a promise stop the start; others are logged with a repair."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.errors import ForeignError, SettingsError
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.pipeline import state
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.stepped import Stage, SteppedWorker, until

pytestmark = pytest.mark.broker_long


def configure(stage: Stage, topic: str, **settings: str) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=stage.broker.bootstrap)
    kind = kafka.admin.ConfigResourceType.TOPIC
    wanted = {name.replace("_", "."): value for name, value in settings.items()}
    admin.alter_configs([kafka.admin.ConfigResource(kind, topic, wanted)])
    admin.close()


def test_settings_of_topics(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    topics = stage.topics
    configure(stage, topics.training, cleanup_policy="compact")
    with pytest.raises(SettingsError, match="workers would have different models") as found:
        stage.worker("a")
    assert "kafka-configs.sh --bootstrap-server" in str(found.value)
    assert "cleanup.policy=delete,retention.ms=-1" in str(found.value)
    configure(stage, topics.training, cleanup_policy="delete", retention_ms="604800000")
    configure(stage, topics.join_state, cleanup_policy="delete")
    worker = stage.worker("b")
    source: Any = worker.loop.source
    assert f"topic {topics.training}: retention.ms is 604800000" in caplog.text
    assert f"topic {topics.join_state}: cleanup.policy is delete, not compact" in caplog.text
    assert source.differences == 2
    # The same comparison while the worker runs: it logs new differences once.
    configure(stage, topics.training, retention_ms="-1")
    configure(stage, topics.join_state, cleanup_policy="compact", max_message_bytes="1000000")
    caplog.clear()
    stage.send(3)
    for _ in range(2):
        source._checked = -1e9
        until(lambda: source._checked > 0, lambda: worker.step(0.05))
    assert source.differences == 1
    assert caplog.text.count("max.message.bytes is 1000000, and messages may have 33554432") == 1
    until(lambda: worker.loop.metrics.decisions == 3, lambda: worker.step(0.05))


def test_a_training_log_that_was_set_back(stage: Stage) -> None:
    """The snapshot of a worker has an event that the log does not have, at the same offset."""
    stage.send(3)
    worker = stage.worker("a")
    filter_: Any = worker.loop.worker
    until(lambda: worker.loop.metrics.decisions == 3, lambda: worker.step(0.05))
    stage.label("m0")
    until(lambda: filter_.learner.learned == 1, lambda: worker.step(0.05))
    place, digest = filter_.last_event
    assert place == Partition(stage.topics.training, 0)
    # The same log: the worker starts again, and learns nothing twice.
    worker.loop.state.go_back()
    worker.loop._start()
    stage.label("m1")
    until(lambda: filter_.learner.learned == 2, lambda: worker.step(0.05))
    filter_.last_event = place, digest
    worker.loop._start()
    with pytest.raises(ForeignError, match=r"another training event at offset .* set back"):
        until(lambda: False, lambda: worker.step(0.05), seconds=10.0)
    filter_.offsets[place] += 100
    with pytest.raises(ForeignError, match=r"ends at offset .* set back"):
        worker.loop._start()


def learn(stage: Stage, worker: SteppedWorker, name: str, count: int) -> None:
    """Label a message, and let a worker learn it."""
    stage.label(name)
    learner = worker.loop.worker.learner
    until(lambda: learner.learned == count, lambda: worker.step(0.05), seconds=60.0)
    time.sleep(1.0)  # the transaction has its markers


def last_event(stage: Stage) -> tuple[int, str]:
    """Return the offset and the message of the last training event on the broker."""
    found = stage.broker.read_all(stage.topics.training)[-1]
    return found.offset, json.loads(found.value)["id"]


def test_a_restored_backup(own_broker: Broker, client: str, tmp_path: Path) -> None:
    """A backup of the training log is restored on the disk of the broker, and the log grows again.

    At the offset of the last event that the worker has learned is another event. The worker itself
    is refused, and the start of another one from its snapshot.
    """
    refusal = r"another training event at offset .* set back.* set snapshots and shared_snapshots"
    stage, backup = Stage(own_broker, partitions=1, client=client), tmp_path / "backup"
    log = own_broker.logs[0] / f"{stage.topics.training}-0"
    try:
        stage.send(4)
        worker = stage.worker("a")
        until(lambda: worker.loop.metrics.decisions == 4, lambda: worker.step(0.05))
        learn(stage, worker, "m0", 1)
        own_broker.kill()
        shutil.copytree(log, backup)
        own_broker.start()
        learn(stage, worker, "m1", 2)
        offset, name = last_event(stage)
        assert name == "m1"
        own_broker.kill()
        shutil.rmtree(log)
        shutil.copytree(backup, log)
        own_broker.start()
        # Without a snapshot, the model of another worker is that of the log.
        worker.loop.source.close(1.0)
        other = stage.worker("b")
        learn(stage, other, "m2", 2)
        assert last_event(stage) == (offset, "m2")
        started = stage.worker("c")
        state.restore(started.loop.worker, state.dump(worker.loop.worker))
        for each in (worker, started):
            each.loop._start()
            with pytest.raises(ForeignError, match=refusal):
                until(lambda: False, lambda each=each: each.step(0.05), seconds=60.0)
    finally:
        stage.close()
