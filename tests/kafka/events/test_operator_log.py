"""The log at its default level: one line for each event that concerns an operator."""

from __future__ import annotations

import json
import logging
import re
import signal
from pathlib import Path

import pytest

from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.brokers.damage import damage
from support.clients import LIMIT, Clients
from support.scenes.scene import Scene
from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long


def test_the_life_of_a_worker(broker: Broker, client: str, tmp_path: Path) -> None:
    with Scene(broker, tmp_path, partitions=2, client=client, log_level="auto") as scene:
        producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
        for value in (
            b"no JSON",
            b"no JSON either",
            b'{"id": "a", "text": 1}',
            b'{"id": "b", "text": "hi"}',
        ):
            producer.send(scene.topics.messages, value, partition=1)
        producer.flush()
        producer.close()
        worker = scene.worker("a")
        until(lambda: scene.count(scene.topics.dead_letters) == 3, seconds=60.0)
        worker.wait_until_ready()  # it may write them before
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(30) == 0
        lines = [line.partition(" INFO: ")[2] for line in worker.text().splitlines()]
        events = [line for line in lines if line and not line.startswith("not ready")]
        wanted = [
            "starting streamnb-sms ",
            f"partitions of {scene.topics.messages} assigned: [0, 1]",
            "partition 0: reading its join window from offset 0",
            "partition 1: reading its join window from offset 0",
            "ready",
            f"first dead letter of a kind: {scene.topics.messages} 1, offset ",
            "stopped with status 0: SIGTERM",
        ]
        for each in wanted:
            assert any(line.startswith(each) for line in events), (each, worker.text())
        assert sum(line.startswith("first dead letter") for line in events) == 2
        assert f"client {client}, group {scene.settings['group']}" in events[0]
        assert len(events) <= 14, events


SINCE = r"since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"


def test_each_fault_of_a_partition_has_its_place_begin_reason_and_next_step(
    broker: Broker, client: str, tmp_path: Path
) -> None:
    """Three partitions have a fault each, a topic has other settings, and one partition decides."""
    settings = {"client": client, "log_level": "auto", "transaction_seconds": 5}
    settings |= {"circuit_breaker_records": 50}
    clients = Clients(broker)
    with Scene(broker, tmp_path, partitions=4, **settings) as scene:
        topics = scene.topics
        unreadable, held, invalid, sound = range(4)
        plain = clients.producer("plain", init=False, transactional_id=None, linger_ms=1_000)

        def send(number: int, *values: bytes) -> None:
            for value in values:
                plain.send(topics.messages, value, partition=number)
            plain.flush()

        def message(name: str) -> bytes:
            return json.dumps({"id": name, "text": "win cash"}).encode()

        for batch in ("xyz", "abc"):  # one batch each
            send(unreadable, *map(message, batch))
        damage(broker, topics.messages, unreadable, b'"b"')
        holder = clients.producer(broker.unique("holder"), transaction_timeout_ms=300_000)
        workarounds.begin(holder)
        opened = holder.send(topics.messages, b"other", partition=held).get(LIMIT).offset
        send(invalid, *[b"\x00\x00\x00\x00\x07schema registry"] * 60)
        send(sound, message("sound"))
        admin = kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap)
        wanted = {"retention.ms": "604800000", "max.message.bytes": "1000000"}
        kind = kafka.admin.ConfigResourceType.TOPIC
        admin.alter_configs([kafka.admin.ConfigResource(kind, topics.training, wanted)])
        admin.close()
        worker = scene.worker("a")
        place, repair = re.escape(topics.messages), r"Repair: kafka-configs\.sh --bootstrap-server"
        good, stop = "restore the partition from a good replica", "end the producer"
        lines = [
            rf"{place} {unreadable} is blocked at offset 3 {SINCE}, unreadable batch: offsets 3 to",
            rf"{place} {unreadable} .*\. Next step: {good}, or set unreadable_batches = skip",
            rf"{place} {held} is waiting at offset {opened} {SINCE}, open transaction: ",
            rf"{place} {held} .*\. Next step: {stop} .*--partition {held}\), or abort the",
            rf"{place} {invalid} is blocked at offset \d+ {SINCE}, invalid records: 50 of the last",
            rf"{place} {invalid} .*\. Next step: find out what writes them",
            rf"topic {topics.training}: retention\.ms is 604800000 .*\. {repair}",
            rf"topic {topics.training}: max\.message\.bytes is 1000000, .*\. {repair}",
        ]

        def missing() -> list[str]:
            assert worker.process.poll() is None, worker.text()[-3000:]
            return [each for each in lines if not re.search(each, worker.text())]

        try:
            until(lambda: not missing(), seconds=90.0)
        except AssertionError as error:
            raise AssertionError(f"{missing()} in\n{worker.text()[-5000:]}") from error
        assert "sound" in scene.decisions()
        workarounds.abort(holder, LIMIT)
        clients.close()
        assert worker.stop() == 0


def test_a_backlog_is_logged(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """Its size, its begin and the next step, and its end."""
    caplog.set_level(logging.INFO, logger="streamnb_consumers")
    stage.send(3_000)
    worker = stage.worker("a", batch=10)
    worker.loop.backlog.most = 100
    until(lambda: "caught up after " in caplog.text, lambda: worker.step(0.05), seconds=90.0)
    (line,) = [each for each in caplog.messages if each.startswith("this worker is behind by ")]
    assert re.search(rf"{SINCE}: {stage.topics.messages} 0 by \d+", line)
    assert "Next step: none, if the number falls; else start more workers" in line
