"""Offsets outside of a partition: a worker continues inside of it and decides nothing twice."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.stepped import LIMIT, Stage, SteppedWorker, until


@pytest.fixture
def admin(broker: Broker) -> Any:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def delete_records(admin: Any, topic: str, before: int) -> None:
    """Delete records as retention does."""
    for future in admin.delete_records([TopicPartition(topic, 0, before)]).values():
        future.result(LIMIT)


def start(stage: Stage, name: str) -> SteppedWorker:
    worker = stage.worker(name)
    worker.loop.metrics = PrometheusMetrics()
    return worker


def decide(worker: SteppedWorker, count: int) -> None:
    """Step until the worker has committed so many decisions, and a little longer."""
    until(lambda: worker.loop.metrics.decisions >= count, lambda: worker.step(0.05))
    for _ in range(5):
        worker.step(0.05)
    assert worker.loop.metrics.decisions == count


def decide_first(stage: Stage, count: int) -> None:
    """Let a worker decide the first messages, commit them and leave."""
    stage.send(count)
    worker = start(stage, "a")
    decide(worker, count)
    worker.close()


def move_beyond(stage: Stage, admin: Any) -> None:
    """Commit offset 500 of the messages for the group, which has no members."""
    beyond = ConsumerGroupTopicPartitions(
        stage.group, [TopicPartition(stage.topics.messages, 0, 500)]
    )

    def moved() -> bool:
        # A new broker may have no coordinator of groups yet: the request fails after its timeout,
        # or has an error for each partition.
        asked = admin.alter_consumer_group_offsets([beyond], request_timeout=LIMIT / 10)
        (future,) = asked.values()
        try:
            return all(each.error is None for each in future.result(LIMIT).topic_partitions)
        except KafkaException:
            return False

    until(moved, lambda: time.sleep(0.1), seconds=2 * LIMIT)


def missing(worker: SteppedWorker) -> float | None:
    registry: Any = worker.loop.metrics.registry  # type: ignore[attr-defined]
    found: float | None = registry.get_sample_value("streamnb_missing_records_total")
    return found


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "records, offsets" in each.getMessage()]


def start_behind_a_gap(stage: Stage, admin: Any) -> SteppedWorker:
    """Return a worker of a group that decided 20 messages; of the next 10, 5 are deleted."""
    decide_first(stage, 20)
    stage.send(10)
    delete_records(admin, stage.topics.messages, 25)
    return start(stage, "b")


def test_retention_deleted_unread_messages(
    stage: Stage, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    second = start_behind_a_gap(stage, admin)
    decide(second, 5)
    assert "5 records, offsets 20 to 24, were deleted" in errors(caplog)[0]
    assert missing(second) == 5
    # The same for a worker that runs, and has not fetched the messages.
    stage.send(10)
    delete_records(admin, stage.topics.messages, 36)
    source: Any = second.loop.source
    source._group.seek(Partition(stage.topics.messages, 0), 0)  # drops what it may have fetched
    decide(second, 9)
    assert "6 records, offsets 30 to 35, were deleted" in errors(caplog)[1]
    assert missing(second) == 11
    assert len(errors(caplog)) == 2
    assert stage.twice() == 0


def test_they_count_before_the_worker_is_a_member(
    stage: Stage, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The partition starts during a rebalance: the poll that finds the gap has no records."""
    second = start_behind_a_gap(stage, admin)
    source: Any = second.loop.source
    with monkeypatch.context() as patched:
        patched.setattr(source._group, "membership", lambda: None)
        until(second.runs, lambda: second.step(1.0))
    decide(second, 5)
    assert missing(second) == 5


def test_retention_deleted_unread_labels(
    stage: Stage, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stage.send(4)
    first = start(stage, "a")
    decide(first, 4)
    stage.label("m0")
    learner = first.loop.worker.learner
    until(lambda: learner.learned == 1, lambda: first.step(0.05))
    first.close()
    for name in ("m1", "m2", "m3"):
        stage.label(name)
    delete_records(admin, stage.topics.feedback, 3)
    second = start(stage, "b")
    learner = second.loop.worker.learner
    until(lambda: learner.learned == 2, lambda: second.step(0.05))
    assert "2 records, offsets 1 to 2, were deleted" in errors(caplog)[0]
    learned = [
        json.loads(each.value)["id"] for each in stage.broker.read_all(stage.topics.training)
    ]
    assert learned == ["m0", "m3"]


def test_the_committed_offset_lies_beyond_the_end(
    stage: Stage, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The join state has the offset, so messages that came before the start are decided."""
    decide_first(stage, 20)
    move_beyond(stage, admin)
    stage.send(5)
    second = start(stage, "b")
    decide(second, 5)
    assert not errors(caplog)
    assert "the committed offset 500 lies beyond the end 25, continuing at offset 20" in caplog.text
    assert stage.twice() == 0


def test_the_offset_of_a_new_group_lies_beyond_the_end(
    stage: Stage, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stage.send(20)
    move_beyond(stage, admin)
    first = start(stage, "a")
    until(first.runs, lambda: first.step(0.05))
    stage.send(5)
    decide(first, 5)
    assert "480 records, offsets 20 to 499, were read and do not exist" in errors(caplog)[0]


def test_the_committed_offsets_expired(
    stage: Stage, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Brokers delete the offsets of a group that is idle for a week; the join state has them."""
    decide_first(stage, 20)
    for future in admin.delete_consumer_groups([stage.group]).values():
        future.result(LIMIT)
    stage.send(5)
    second = start(stage, "b")
    decide(second, 5)
    assert stage.twice() == 0
    assert not errors(caplog)
    second.close()
    third = start(stage, "c")  # the second worker has committed offsets again
    stage.send(5)
    decide(third, 5)
    expired = [each for each in caplog.records if "have expired" in each.getMessage()]
    assert len(expired) == 1
    assert stage.twice() == 0


@pytest.mark.parametrize("stage", [{"missing_records": "wait"}], indirect=True)
def test_a_partition_may_wait(stage: Stage, admin: Any, caplog: pytest.LogCaptureFixture) -> None:
    decide_first(stage, 20)
    stage.send(10)
    delete_records(admin, stage.topics.messages, 25)
    second = start(stage, "b")
    problem = second.loop.source.table.problem
    until(lambda: "offset 20 of" in problem(), lambda: second.step(0.05))
    assert f"{stage.topics.messages} 0 is blocked at offset 20" in problem()
    for _ in range(10):
        second.step(0.05)
    assert second.loop.metrics.decisions == 0
    place = Partition(stage.topics.messages, 0)
    until(lambda: second.loop.source.lag().get(place) == 5, lambda: second.step(0.05))
    assert "missing_records = wait" in errors(caplog)[0]
