"""OAUTHBEARER with a token provider, and services without transactions."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from streamnb_consumers.daemon.kafka_settings import make_cluster
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError, exit_status
from streamnb_consumers.kafka.confluent_client.client import meaning
from streamnb_consumers.kafka.python_client.client import kafka, translated
from support.broker import Broker, BrokerUnavailableError
from support.brokers.tokens import make_token_broker
from support.groups import Group
from support.stepped import until

OAUTH: dict[str, Any] = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}


@pytest.fixture(scope="module")
def token_broker() -> Iterator[tuple[Broker, int]]:
    try:
        broker, port = make_token_broker()
    except BrokerUnavailableError as error:
        pytest.skip(str(error))
    atexit.register(broker.close)
    yield broker, port
    broker.close()
    atexit.unregister(broker.close)


@pytest.mark.broker_long
def test_a_worker_uses_a_token_provider(
    token_broker: tuple[Broker, int], client: str, tmp_path: Path
) -> None:
    broker, port = token_broker
    group = Group(
        broker,
        tmp_path,
        bootstrap_servers=f"127.0.0.1:{port}",
        client=client,
        shared_snapshots="",
        sasl_token_provider="support.brokers.tokens:token",
        **OAUTH,
    )
    try:
        loop = group.worker()
        group.ready(loop)
        group.send(["m0"])
        until(lambda: loop.metrics.decisions == 1, group.step)
    finally:
        group.close()


@pytest.mark.parametrize("name", ["no_such_module:token", "json:token", "json:loads", "time:time"])
def test_a_wrong_token_provider_is_named(name: str) -> None:
    settings = Settings(bootstrap_servers="kafka:9092", sasl_token_provider=name, **OAUTH)
    with pytest.raises(SettingsError, match=f"sasl_token_provider: {name} can't be used"):
        make_cluster("sms", settings, {})


def test_oauthbearer_needs_a_token_provider() -> None:
    with pytest.raises(SettingsError, match="sasl_token_provider is empty"):
        Settings(bootstrap_servers="kafka:9092", **OAUTH)
    with pytest.raises(SettingsError, match="sasl_mechanism is SCRAM-SHA-512"):
        Settings(bootstrap_servers="kafka:9092", sasl_token_provider="a:b")


def test_a_service_without_transactions_ends_with_status_2() -> None:
    error = confluent_kafka.KafkaError(confluent_kafka.KafkaError.UNSUPPORTED_VERSION)
    found = meaning("start of transactions", error)
    assert exit_status(found) == 2
    assert "without transactions" in str(found)
    with pytest.raises(SettingsError, match="without transactions"), translated("start"):
        raise kafka.errors.UnsupportedVersionError("InitProducerId")
