"""`streamnb-transactions` repairs a batch whose offsets are committed and whose outputs hang."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from streamnb_consumers.daemon.topic_commands import repair_transactions as main
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Progress
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.clients import LIMIT, Clients
from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long


def split(broker: Broker, stage: Stage, names: list[str], end: int) -> None:
    """Leave the state of a broker that lost a transaction between its markers.

    The offsets are committed. Decisions and join state are undecided, and no coordinator knows it.
    """
    messages, clients = Partition(stage.topics.messages, 0), Clients(broker)
    topic_id = open_driver(stage._cluster("ids")).describe([messages.source])[messages.source].id
    producer = clients.producer(broker.unique("lost"), transaction_timeout_ms=600_000)
    workarounds.begin(producer)
    sent = [
        producer.send(stage.topics.decisions, json.dumps({"id": name}).encode(), partition=0)
        for name in names
    ]
    place = stage.topics.join_state, 0
    noted = Progress(stage.group, messages.source, topic_id, end).write(*place)
    sent.append(producer.send(noted.topic, noted.value, noted.key, partition=0))
    producer.flush()
    for each in sent:
        each.get(LIMIT)
    broker.kill()
    clients.close()
    assert broker.folder is not None
    state = broker.folder / "log" / "__transaction_state-0"
    for file in state.iterdir():
        if file.name != "partition.metadata":
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    broker.start()
    set_offset(broker, stage, end)


def set_offset(broker: Broker, stage: Stage, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    places = [TopicPartition(stage.topics.messages, 0, offset)]

    def refused() -> bool:  # the coordinator may still load its state
        group = ConsumerGroupTopicPartitions(stage.group, places)
        (future,) = admin.alter_consumer_group_offsets([group]).values()
        return any(each.error for each in future.result(LIMIT).topic_partitions)

    until(lambda: not refused())


def flags(stage: Stage) -> list[str]:
    kinds = ("messages", "feedback", "decisions", "training", "join_state", "dead_letters")
    return [
        *("sms", f"--bootstrap-servers={stage.broker.bootstrap}", f"--group={stage.group}"),
        *(f"--{kind.replace('_', '-')}-topic={getattr(stage.topics, kind)}" for kind in kinds),
    ]


def test_a_split_transaction_is_repaired(
    own_broker: Broker, client: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(own_broker, partitions=1, client=client)
    try:
        stage.send(20)
        worker: Any = stage.worker("a")
        until(lambda: worker.loop.metrics.decisions == 20, lambda: worker.step(0.05))
        worker.close()
        stage.send(5)
        split(own_broker, stage, stage.sent[20:], 25)
        arguments = flags(stage)
        assert main([*arguments, "--dry-run"]) == 0
        printed = capsys.readouterr().out
        assert f"set the offset of {stage.topics.messages} 0 from 25 to 20" in printed
        for topic in (stage.topics.decisions, stage.topics.join_state):
            assert f"in {topic} 0 from offset" in printed
        # A dry run changes nothing.
        assert main([*arguments, "--dry-run"]) == 0
        assert capsys.readouterr().out == printed
        assert main(arguments) == 0
        capsys.readouterr()
        assert main(arguments) == 0
        assert capsys.readouterr().out == ""  # nothing hangs any more
        after: Any = stage.worker("b")
        until(lambda: after.loop.metrics.decisions == 5, lambda: after.step(0.05), seconds=60.0)
        decided = stage.decisions()
        assert set(decided) == set(stage.sent)
        assert stage.twice() == 0
    finally:
        stage.close()


def test_a_worker_that_runs_has_no_hanging_transaction(
    broker: Broker, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(broker, partitions=1, client=client)
    try:
        stage.send(5)
        worker = stage.worker("a")
        until(lambda: worker.loop.metrics.decisions == 5, lambda: worker.step(0.05))
        arguments = flags(stage)
        assert main(arguments) == 0
        assert "0 hanging transactions aborted" in capsys.readouterr().err
        stage.send(5)
        until(lambda: worker.loop.metrics.decisions == 10, lambda: worker.step(0.05))
        assert stage.twice() == 0
    finally:
        stage.close()
