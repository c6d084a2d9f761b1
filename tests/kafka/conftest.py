"""What the tests on a broker share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.broker import Broker
from support.clients import Clients


@pytest.fixture
def clients(broker: Broker) -> Iterator[Clients]:
    made = Clients(broker)
    yield made
    made.close()
