"""The log at its default level: one line for each event that concerns an operator."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.scenes.scene import Scene
from support.stepped import until

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
            "ready",
            f"first dead letter of a kind: {scene.topics.messages} 1, offset ",
            "stopped with status 0: SIGTERM",
        ]
        for each in wanted:
            assert any(line.startswith(each) for line in events), (each, worker.text())
        assert sum(line.startswith("first dead letter") for line in events) == 2
        assert f"client {client}, group {scene.settings['group']}" in events[0]
        assert len(events) <= 12, events
