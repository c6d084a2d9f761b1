"""A topic is deleted and created again, and filled at once, while a worker runs."""

from __future__ import annotations

from typing import Any

import pytest

from streamnb_consumers.errors import ForeignError
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.clients import create_known_topics
from support.groups import Group
from support.stepped import Stage, SteppedWorker, until

pytestmark = pytest.mark.broker_long


def create_again(stage: Stage, topic: str) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=stage.broker.bootstrap)
    admin.delete_topics([topic])
    until(lambda: admin.describe_topics([topic])[0]["error_code"] == 3)
    admin.close()
    layouts = [each for each in stage.topics.layouts(1) if each.name == topic]
    create_known_topics(stage._cluster("topics"), layouts)


def step_until(worker: SteppedWorker, condition: Any) -> None:
    """Step, and compare the ids at each step as if a minute had passed."""

    def step() -> None:
        worker.loop.source._ids.compared = 0.0  # type: ignore[attr-defined]
        worker.loop.source._ask = 0.0  # type: ignore[attr-defined]
        worker.step(0.05)

    until(condition, step, seconds=60.0)


@pytest.mark.parametrize("kind", ["messages", "feedback", "join_state"])
def test_a_topic_is_created_again_under_a_worker(
    stage: Stage, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    topic = getattr(stage.topics, kind)
    stage.send(10)
    worker = stage.worker("a")
    until(lambda: worker.loop.metrics.decisions == 10, lambda: worker.step(0.05))
    stage.label("m0")
    learner = worker.loop.worker.learner
    until(lambda: learner.learned == 1, lambda: worker.step(0.05))
    create_again(stage, topic)
    if kind == "messages":
        stage.send(15)  # more than before: the old offset exists
    elif kind == "feedback":
        stage.label("m1")
        stage.label("m2")

    def told() -> list[str]:
        said = [each.getMessage() for each in caplog.records]
        return [each for each in said if each.startswith(f"topic {topic} was deleted")]

    step_until(worker, told)
    stage.send(5)
    decided = 30 if kind == "messages" else 15
    until(lambda: worker.loop.metrics.decisions >= decided, lambda: worker.step(0.05))
    if kind == "feedback":
        until(lambda: learner.learned == 3, lambda: worker.step(0.05))
    stage.label("m14")  # a message that was read after the topic was created again
    expected = learner.learned + 1
    until(lambda: learner.learned == expected, lambda: worker.step(0.05))
    assert stage.twice() == 0
    assert len(told()) == 1


def test_the_training_topic_is_created_again_under_a_worker(
    broker: Broker, client: str, tmp_path: Any
) -> None:
    """The model comes from the old log, so the worker ends."""
    group = Group(broker, tmp_path, client=client, shared_snapshots="")
    try:
        loop = group.worker()
        group.ready(loop)
        group.teach(10)
        until(lambda: loop.worker.learner.learned == 10, group.step)
        group.make_anew()
        group.teach(20)
        source: Any = loop.source
        source._ids.compared = source._ask = 0.0
        with pytest.raises(ForeignError, match="recreated while this worker ran"):
            until(lambda: False, group.step)
    finally:
        group.close()
