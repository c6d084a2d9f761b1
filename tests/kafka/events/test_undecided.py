"""Offsets in a transaction that never ends: the worker waits and logs the likely cause."""

from __future__ import annotations

import logging

import pytest

from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.clients import LIMIT, Clients, nobody, offset
from support.stepped import Stage, until


def test_offsets_that_stay_undecided(
    broker: Broker, caplog: pytest.LogCaptureFixture, client: str
) -> None:
    stage, clients = Stage(broker, partitions=1, client=client), Clients(broker)
    try:
        stage.send(10)
        holder = clients.producer(broker.unique("holder"))
        workarounds.begin(holder)
        place = kafka.TopicPartition(stage.topics.messages, 0)
        workarounds.send_offsets(holder, {place: offset(3)}, nobody(stage.group), LIMIT)
        worker = stage.worker("a")
        source = worker.loop.source
        source.table.patience = 0.5

        def told() -> list[str]:
            # Another test may have switched on the lines of each change of readiness.
            said = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
            return [each for each in said if "undecided" in each]

        until(told, lambda: worker.step(0.05))
        assert source.waiting == "the committed offsets of partitions [0] are unknown or undecided"
        for _ in range(3):
            worker.step(0.05)
        assert len(told()) == 1
        assert not worker.runs()
        lag = Partition(stage.topics.messages, 0)
        until(lambda: source.lag().get(lag) == 10, lambda: worker.step(0.05))
        workarounds.abort(holder, LIMIT)
        until(lambda: worker.loop.metrics.decisions == 10, lambda: worker.step(0.05))
        assert not source.waiting
        assert stage.twice() == 0
    finally:
        stage.close()
        clients.close()


def test_a_join_state_behind_an_undecided_transaction(
    broker: Broker, caplog: pytest.LogCaptureFixture, client: str
) -> None:
    stage, clients = Stage(broker, partitions=1, client=client), Clients(broker)
    try:
        stage.send(10)
        holder = clients.producer(broker.unique("holder"))
        workarounds.begin(holder)
        holder.send(stage.topics.join_state, key=b"m:x", value=None, partition=0).get(LIMIT)
        worker = stage.worker("a")
        source = worker.loop.source
        source.table.patience = 0.5
        waits = f"{stage.topics.join_state} is read up to offset 0 of 1"
        until(lambda: waits in caplog.text, lambda: worker.step(0.05))
        assert source.waiting == "the join windows of partitions [0] are being restored"
        lag = Partition(stage.topics.messages, 0)
        until(lambda: source.lag().get(lag) == 10, lambda: worker.step(0.05))
        workarounds.abort(holder, LIMIT)
        until(lambda: worker.loop.metrics.decisions == 10, lambda: worker.step(0.05))
        assert not source.waiting
    finally:
        stage.close()
        clients.close()
