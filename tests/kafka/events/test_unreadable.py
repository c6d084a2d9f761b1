"""A damaged batch blocks its partition, or is skipped; the other partitions continue."""

from __future__ import annotations

import json

import pytest

from streamnb_consumers.daemon.topic_commands import replay_dead_letters
from streamnb_consumers.io.partition_table import Reason
from streamnb_consumers.kafka import unreadable
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.brokers.damage import damage
from support.stepped import Stage, SteppedWorker, until

pytestmark = pytest.mark.broker_long


def batches(stage: Stage) -> None:
    """Send three batches of five messages to each partition."""
    for _ in range(3):
        stage.send(5)


def decide(worker: SteppedWorker, count: int) -> None:
    until(lambda: worker.loop.metrics.decisions >= count, lambda: worker.step(0.05))
    for _ in range(5):
        worker.step(0.05)
    assert worker.loop.metrics.decisions == count


def rows(worker: SteppedWorker) -> dict[Partition, tuple[Reason, int | None]]:
    found = worker.loop.source.table.rows()
    return {place: (row.reason, row.offset) for place, row in found if row is not None}


def test_a_damaged_batch_blocks_its_partition(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(broker, partitions=2, client=client)
    try:
        batches(stage)  # partition 0: m0 to m4, m10 to m14, m20 to m24
        topic, place = stage.topics.messages, Partition(stage.topics.messages, 0)
        damage(broker, topic, 0, b'"m12"')
        worker = stage.worker("a")
        decide(worker, 20)
        until(lambda: rows(worker) == {place: (Reason.UNREADABLE, 5)}, lambda: worker.step(0.05))
        worker.step()
        problem = worker.loop.health.problem_of_readiness()
        assert f"{topic} 0 is blocked at offset 5 since 20" in problem
        assert "unreadable batch: offsets 5 to 9: " in problem
        assert "Next step: restore the partition from a good replica, or set unread" in problem

        def said() -> list[str]:
            lines = [each for each in caplog.records if "is blocked at offset 5" in each.message]
            return [each.levelname for each in lines if each.name.endswith("partition_table")]

        until(said, lambda: worker.step(0.05))
        assert said() == ["ERROR"]
        # The other partition continues, and the worker leaves in an orderly way.
        stage.send(1)
        decide(worker, 21)
        # A leader with a good copy ends it, which the next attempt notices.
        damage(broker, topic, 0, b'"m12"'[:-1] + bytes([b'"'[0] ^ 1]))
        monkeypatch.setattr(unreadable, "_AGAIN", 0.0)
        waiting = worker.loop.source._unreadable._blocked  # type: ignore[attr-defined]
        waiting.update({each: (*found[:2], 0.0) for each, found in waiting.items()})
        decide(worker, 32)
        until(lambda: not rows(worker), lambda: worker.step(0.05))
        assert f"{topic} 0 is no longer blocked: unreadable batch ended after" in caplog.text
        assert stage.twice() == 0
    finally:
        stage.close()


def test_a_damaged_batch_is_skipped_with_a_dead_letter(
    broker: Broker,
    client: str,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stage = Stage(broker, partitions=2, client=client, unreadable_batches="skip")
    try:
        batches(stage)
        topics = stage.topics
        damage(broker, topics.messages, 0, b'"m12"')
        for name in ("m0", "m10", "m20"):
            stage.label(name)
        damage(broker, topics.feedback, 0, b'"m10"')
        worker = stage.worker("a")
        decide(worker, 25)
        learner = worker.loop.worker.learner
        until(lambda: learner.learned == 2, lambda: worker.step(0.05))
        assert not rows(worker)
        worker.close()
        dead = broker.read_all(topics.dead_letters)
        found = {each.headers[-4][1].decode(): dict(each.headers) for each in dead}
        assert found[topics.messages]["unreadable"] == b"5-9"
        assert found[topics.feedback]["unreadable"] == b"1-1"
        assert b"offsets 5 to 9 are unreadable and skipped" in found[topics.messages]["error"]
        assert f"{topics.messages} 0: offsets 5 to 9 are unreadable and skipped" in caplog.text
        # The offset is committed, so the next worker does not find the batch again.
        stage.send(1)
        after = stage.worker("b")
        decide(after, 2)
        assert len(broker.read_all(topics.dead_letters)) == 2
        assert stage.twice() == 0
        arguments = [f"--bootstrap-servers={broker.bootstrap}", f"--group={stage.group}"]
        arguments.append(f"--dead-letters-topic={topics.dead_letters}")
        assert replay_dead_letters(["sms", *arguments, "--dry-run"]) == 1
        assert "for a batch that no client could read" in capsys.readouterr().err
    finally:
        stage.close()


def test_a_damaged_training_event(broker: Broker, client: str) -> None:
    """Training events are never skipped; messages are decided with the model so far."""
    stage = Stage(broker, partitions=1, client=client, unreadable_batches="skip")
    try:
        stage.send(3)
        worker = stage.worker("a")
        decide(worker, 3)
        learner, topic = worker.loop.worker.learner, stage.topics.training
        stage.label("m0")
        until(lambda: learner.learned == 1, lambda: worker.step(0.05))
        worker.close()
        damage(broker, topic, 0, b'"id":"m0"')
        second = stage.worker("b")
        place = Partition(topic, 0)
        until(lambda: rows(second) == {place: (Reason.UNREADABLE, 0)}, lambda: second.step(0.05))
        assert f"{topic} 0 is blocked at offset 0" in second.loop.source.table.problem()
        assert "training events are never skipped" in second.loop.source.table.problem()
        assert second.loop.worker.learner.learned == 0
        assert second.loop.source.waiting == "the training events are being read"
    finally:
        stage.close()


def test_a_damaged_join_state_is_skipped(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage(broker, partitions=1, client=client, unreadable_batches="skip")
    try:
        stage.send(3)
        worker = stage.worker("a")
        decide(worker, 3)
        worker.close()
        damage(broker, stage.topics.join_state, 0, b"m:m0")
        stage.send(1)
        second = stage.worker("b")
        decide(second, 1)
        assert f"{stage.topics.join_state} 0: offsets 0 to" in caplog.text
        values = [json.loads(each.value)["id"] for each in broker.read_all(stage.topics.decisions)]
        assert sorted(values) == sorted(stage.sent)
    finally:
        stage.close()
