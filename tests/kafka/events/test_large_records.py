"""Outputs that exceed the record limit of their topic are truncated or left out."""

from __future__ import annotations

import hashlib
import json

import pytest

from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.stepped import Stage, until

LIMIT = 100_000  # bytes of a record


def limit_records(stage: Stage, topic: str, most: int) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=stage.broker.bootstrap)
    kinds = kafka.admin.ConfigResourceType
    limit = {"max.message.bytes": str(most)}
    admin.alter_configs([kafka.admin.ConfigResource(kinds.TOPIC, topic, limit)])
    admin.close()


def test_large_outputs_do_not_stop_a_worker(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage(broker, partitions=1, client=client)
    try:
        limit_records(stage, stage.topics.dead_letters, LIMIT)
        limit_records(stage, stage.topics.join_state, 10_000)
        producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
        key, value = b"k" * 900_000, b"no JSON" * 10
        headers = [("large", b"h" * 90_000)]
        producer.send(stage.topics.messages, value, key, headers=headers)
        producer.send(stage.topics.messages, key, value)  # nearly all value
        large = json.dumps({"id": "large", "text": "\u4e2d" * 4_000}).encode()
        producer.send(stage.topics.messages, large, b"large")
        producer.close()
        stage.send(1)
        worker = stage.worker("a")
        worker.loop.metrics = metrics = PrometheusMetrics()
        until(lambda: metrics.decisions == 2, lambda: worker.step(0.05))
        first, second = broker.read_all(stage.topics.dead_letters)
        for found, whole in ((first, (key, value)), (second, (value, key))):
            headers = dict(found.headers)
            assert headers["sha256"].decode() == hashlib.sha256(b"".join(whole)).hexdigest()
            assert int(headers["truncated"]) == len(whole[1])
            assert headers["topic"].decode() == stage.topics.messages
            assert whole[0].startswith(found.key)
            assert whole[1].startswith(found.value)
            assert LIMIT - 2_000 < len(found.key) + len(found.value) < LIMIT
        # The message is decided on, but its entry in the join state has 12,000 bytes of JSON.
        assert stage.decisions() == {"large": 1, "m0": 1}
        assert f"left out a record for {stage.topics.join_state}: it has" in caplog.text
        assert metrics.registry.get_sample_value("streamnb_unwritten_records_total") == 1
    finally:
        stage.close()
