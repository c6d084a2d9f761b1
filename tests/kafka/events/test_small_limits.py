"""Small record limits of topics, and a slow link: batches become as small as they must be."""

from __future__ import annotations

import dataclasses
import logging
import subprocess

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import JAVA_OPTIONS, Broker
from support.stepped import Stage, SteppedWorker, until

pytestmark = pytest.mark.broker_long


def limit(stage: Stage, size: int) -> None:
    """Set the record limit of all topics that workers write."""
    topics = stage.topics
    admin = kafka.KafkaAdminClient(bootstrap_servers=stage.broker.bootstrap)
    kinds, wanted = kafka.admin.ConfigResourceType, {"max.message.bytes": str(size)}
    written = (topics.decisions, topics.training, topics.join_state, topics.dead_letters)
    admin.alter_configs([kafka.admin.ConfigResource(kinds.TOPIC, each, wanted) for each in written])
    admin.close()


def decide(worker: SteppedWorker, count: int, seconds: float = 60.0) -> None:
    metrics = worker.loop.metrics
    until(lambda: metrics.decisions >= count, lambda: worker.step(0.05), seconds=seconds)


def test_limits_of_topics(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(broker, partitions=1, client=client)
    try:
        limit(stage, 20_000)
        stage.send(1_000)
        worker = stage.worker("a", batch=1_000)
        decide(worker, 1_000)
        assert "aborted" not in caplog.text
        # The limit becomes smaller while the worker runs.
        limit(stage, 2_000)
        stage.send(1_000)
        decide(worker, 2_000)
        assert stage.twice() == 0
        assert len(stage.decisions()) == 2_000
    finally:
        stage.close()


def test_a_quota_makes_transactions_smaller(
    own_broker: Broker,
    client: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each transaction of full size would take longer than transaction_seconds."""
    stage = Stage(own_broker, partitions=1, client=client)
    try:
        stage.send(600)
        arguments = ["--bootstrap-server", own_broker.bootstrap, "--alter"]
        arguments += ["--add-config", "producer_byte_rate=4000", "--entity-type", "clients"]
        subprocess.run(
            [
                *("java", "-cp", own_broker._classpath, *JAVA_OPTIONS),
                *("kafka.admin.ConfigCommand", *arguments, "--entity-default"),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        made = stage._cluster
        monkeypatch.setattr(
            stage, "_cluster", lambda name: dataclasses.replace(made(name), transaction_seconds=4.0)
        )
        worker = stage.worker("a", batch=600)
        caplog.set_level(logging.INFO, logger="streamnb_consumers")
        decide(worker, 600, seconds=240.0)
        if client == "kafka-python":  # librdkafka sends a batch of this size in one request
            # They may be larger again at the end.
            assert "the next transactions have at most 300 records" in caplog.text
        assert stage.twice() == 0
    finally:
        stage.close()
