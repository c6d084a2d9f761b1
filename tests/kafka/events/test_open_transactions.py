"""A transaction of another program that stays open, in any topic: the partition is reported."""

from __future__ import annotations

import json

import pytest

from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.io.partition_table import Reason
from streamnb_consumers.kafka import open_transactions
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.clients import LIMIT, Clients
from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long


def said(caplog: pytest.LogCaptureFixture, start: str, starts: bool) -> int:
    """Return the number of log lines about waiting partitions, with or without this start."""
    lines = [each for each in caplog.messages if "is waiting at offset" in each]
    return sum(each.startswith(start) == starts for each in lines)


def test_open_transactions_are_reported(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_transactions, "_LOOK", 0.1)
    stage, clients = Stage(broker, partitions=2, client=client), Clients(broker)
    try:
        stage.send(10)
        worker = stage.worker("a")
        loop, table = worker.loop, worker.loop.source.table
        loop.metrics = PrometheusMetrics()
        loop.metrics.watch(loop.health.problem_of_readiness, table)
        until(lambda: loop.metrics.decisions == 20, lambda: worker.step(0.05))
        loop.source._transactions._seconds = 0.5  # type: ignore[attr-defined]
        topics = stage.topics
        watched = [topics.messages, topics.feedback, topics.training, topics.decisions]
        holder = clients.producer(broker.unique("holder"))
        workarounds.begin(holder)
        first = {}
        for topic in watched:
            value = json.dumps({"id": "other", "text": "hello"}).encode()
            sent = holder.send(topic, value, b"other", partition=0).get(LIMIT)
            first[Partition(topic, 0)] = sent.offset
        stage.send(5)  # partition 0 waits behind the transaction, partition 1 continues

        def found() -> dict[Partition, int | None]:
            return {
                place: row.offset
                for place, row in table.rows()
                if row is not None and row.reason is Reason.OPEN
            }

        until(lambda: found() == first, lambda: worker.step(0.05))
        until(lambda: loop.metrics.decisions == 25, lambda: worker.step(0.05))
        problem = loop.health.problem_of_readiness()
        assert "open transaction: a transaction is open for longer than transaction_s" in problem
        assert "(3 more partitions do not run)" in problem
        lines = 4  # one for each partition, and at most as many about the readiness
        until(lambda: said(caplog, "not ready", False) == lines, lambda: worker.step(0.05))
        for _ in range(40):  # longer than a second, in which the wait goes on
            worker.step(0.05)
        assert said(caplog, "not ready", True) <= lines
        assert said(caplog, "not ready", False) == lines
        text = loop.metrics.text().decode()
        for topic in watched:
            line = f'partition="0",reason="open transaction",state="waiting",topic="{topic}"}}'
            assert line in text
        assert f'partition="1",reason="",state="running",topic="{topics.messages}"}} 0.0' in text
        workarounds.abort(holder, LIMIT)
        until(lambda: loop.metrics.decisions == 30, lambda: worker.step(0.05))
        until(lambda: not found(), lambda: worker.step(0.05))
        assert caplog.text.count("open transaction ended after") == 4
        assert not loop.health.problem_of_readiness()
        assert stage.twice() == 0
    finally:
        stage.close()
        clients.close()


def test_labels_of_a_message_behind_an_open_transaction(broker: Broker, client: str) -> None:
    """They wait for their message, which comes after them, and all of them are learned."""
    stage, clients = Stage(broker, partitions=1, client=client), Clients(broker)
    try:
        worker = stage.worker("a")
        holder = clients.producer(broker.unique("holder"))
        workarounds.begin(holder)
        value = json.dumps({"id": "m", "text": "win cash"}).encode()
        holder.send(stage.topics.messages, value, b"m", partition=0).get(LIMIT)
        stage.label("m", "spam")
        stage.label("m", "ham")
        join = worker.loop.worker.join
        until(lambda: len(join.window(0)._labels.get("m", ())) == 2, lambda: worker.step(0.05))
        workarounds.commit(holder, LIMIT)
        until(lambda: stage.decisions(), lambda: worker.step(0.05))
        events = [json.loads(each.value) for each in broker.read_all(stage.topics.training)]
        changes = [(each["unlearn"], each["learn"]) for each in events]
        assert changes == [(None, "spam"), ("spam", "ham")]
    finally:
        stage.close()
        clients.close()
