"""Fixtures: a broker shared by the test run, and a broker for one test."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamnb_consumers.kafka.drivers import CLIENTS
from support.broker import Broker, BrokerUnavailableError, locked


def _unavailable(reason: str) -> None:
    if os.environ.get("STREAMNB_REQUIRE_DATA") == "1":
        pytest.fail(f"STREAMNB_REQUIRE_DATA=1, and {reason}")
    pytest.skip(reason)


def _check_client() -> None:
    try:
        import kafka  # noqa: F401
    except ImportError:
        _unavailable("kafka-python is not installed (pip install 'streamnb[kafka]')")


def _controller() -> int:
    """Return the process that ends with the whole test run: the parent of xdist's workers."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def _shared() -> Iterator[Broker]:
    """Share one broker among all workers of a test run: the first starts it, the last stops it."""
    folder = Path(tempfile.gettempdir()) / f"streamnb-kafka-of-{_controller()}"
    lock, note = folder.with_name(f"streamnb-kafka-{os.getuid()}.lock"), folder / "broker.json"
    with locked(lock):
        if note.exists():
            known = json.loads(note.read_text())
        else:
            shutil.rmtree(folder, ignore_errors=True)
            # Nobody restarts this broker, so a long session is fine. On a busy machine heartbeats
            # took more than a second, and all partitions lost their leader.
            calm = {"broker.session.timeout.ms": "30000"}
            started = Broker(owners=[_controller()], folder=folder, properties=calm)
            started.start()
            known = {"bootstrap": started.bootstrap, "pid": started.pid, "users": 0}
        note.write_text(json.dumps(known | {"users": known["users"] + 1}))
    shared = Broker(bootstrap=known["bootstrap"])
    shared.log = folder / "log"
    yield shared
    with locked(lock):
        known = json.loads(note.read_text())
        note.write_text(json.dumps(known | {"users": known["users"] - 1}))
        if known["users"] == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(known["pid"], signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """The broker of the whole test run."""
    _check_client()
    given = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if given:
        yield Broker(bootstrap=given)
        return
    try:
        yield from _shared()
    except BrokerUnavailableError as error:
        _unavailable(str(error))


@pytest.fixture(scope="module")
def old_broker() -> Iterator[Broker]:
    """A broker before Kafka 4.0, which has only the classic group protocol."""
    _check_client()
    try:
        made = Broker(version="3.9.1")
        made.start()
    except BrokerUnavailableError as error:
        _unavailable(str(error))
    yield made
    made.close()


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    """The Kafka client that workers use."""
    return str(request.param)


@pytest.fixture
def own_broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A broker for one test, which may kill it."""
    _check_client()
    if os.environ.get("KAFKA_BOOTSTRAP_SERVERS"):
        pytest.skip("KAFKA_BOOTSTRAP_SERVERS names a broker that tests must not kill")
    try:
        properties = getattr(request, "param", None)
        own = Broker(owners=[os.getpid(), _controller()], properties=properties)
        atexit.register(own.close)
        own.start()
    except BrokerUnavailableError as error:
        _unavailable(str(error))
    try:
        yield own
    finally:
        own.close()
        atexit.unregister(own.close)
