"""Producers may compress their records with any codec of Kafka."""

from __future__ import annotations

import json

import confluent_kafka
import pytest

from streamnb_consumers.errors import SettingsError, exit_status
from support.broker import Broker
from support.stepped import Stage, until

CODECS = ("gzip", "snappy", "lz4", "zstd")


def send(stage: Stage, codec: str, count: int = 5) -> None:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": stage.broker.bootstrap, "compression.type": codec, "linger.ms": 50}
    )
    for number in range(count):
        value = json.dumps({"id": f"{codec}{number}", "text": "win cash " * 50}).encode()
        producer.produce(stage.topics.messages, value)
    producer.flush(30.0)


def test_records_of_every_codec_are_decided(broker: Broker, client: str) -> None:
    stage = Stage(broker, partitions=1, client=client)
    try:
        for codec in CODECS:
            send(stage, codec)
        worker = stage.worker("a")
        until(lambda: worker.loop.metrics.decisions == 5 * len(CODECS), lambda: worker.step(0.05))
        assert stage.twice() == 0
    finally:
        stage.close()


def test_a_missing_codec_is_named(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervisor must not restart the worker: status 2, and the package to install."""
    stage = Stage(broker, partitions=1)
    for module in ("lz4", "lz4f", "lz4framed"):  # as after an import that failed
        monkeypatch.setattr(f"kafka.codec.{module}", None)
    try:
        send(stage, "lz4")
        worker = stage.worker("a")
        with pytest.raises(SettingsError, match=r"lz4 compression codec .* install lz4,") as found:
            until(lambda: False, lambda: worker.step(0.05))
        assert exit_status(found.value) == 2
    finally:
        stage.close()
