"""Fixtures of the broker tests."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator

import pytest

from support.broker import Broker, BrokerUnavailableError
from support.brokers.secure import SecureBroker, make_secure_broker
from support.clients import Clients
from support.stepped import Stage


@pytest.fixture
def clients(broker: Broker) -> Iterator[Clients]:
    made = Clients(broker)
    yield made
    made.close()


@pytest.fixture
def stage(broker: Broker, client: str, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Return topics of one partition; a parameter of the test may have more settings."""
    made = Stage(broker, partitions=1, client=client, **getattr(request, "param", {}))
    yield made
    made.close()


@pytest.fixture(scope="session")
def secure_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    """Return a broker with authentication; each process of a test run has its own."""
    try:
        made = make_secure_broker(tmp_path_factory.mktemp("tls"))
    except BrokerUnavailableError as error:
        if os.environ.get("STREAMNB_REQUIRE_DATA") == "1":
            raise
        pytest.skip(str(error))
    atexit.register(made.broker.close)
    try:
        yield made
    finally:
        made.broker.close()
        atexit.unregister(made.broker.close)
