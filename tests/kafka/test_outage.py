"""An outage longer than a session loses nothing, doubles nothing and ends no worker."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import STEADY, Broker
from support.groups import Group
from support.scenes.deaths import kill_broker
from support.stepped import until

SESSION = 2.0  # seconds


@pytest.mark.broker_long
@pytest.mark.parametrize(
    ("client", "how", "own_broker"),
    [
        ("kafka-python", "killed", {}),
        ("kafka-python", "paused", STEADY),
        ("confluent", "killed", {}),
        ("confluent", "paused", STEADY),
    ],
    indirect=["own_broker"],
)
def test_the_broker_is_away(
    own_broker: Broker,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    client: str,
    how: str,
) -> None:
    group = Group(own_broker, tmp_path, client=client, session_seconds=SESSION, commit_seconds=10.0)
    loop = group.worker(shared_snapshots="", transaction_seconds=60.0)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            loop.run()
        except BaseException as error:
            ended.append(error)

    def ready() -> bool:
        assert not ended, ended
        return not loop.health.problem_of_readiness()

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    until(ready)
    names = [f"m{at}" for at in range(400)]
    group.send(names[:200])
    until(lambda: loop.metrics.decisions >= 200)
    kill_broker(own_broker) if how == "killed" else own_broker.pause()
    begun = time.monotonic()
    until(lambda: not ready())
    # The last heartbeat may have been sent just before; allow time for a busy machine.
    assert time.monotonic() - begun < 2 * SESSION
    while time.monotonic() < begun + 3 * SESSION:
        assert not ready()
        time.sleep(0.05)
    own_broker.start() if how == "killed" else own_broker.resume()
    until(ready)
    group.send(names[200:])
    until(lambda: loop.metrics.decisions >= len(names) or bool(ended), seconds=60.0)
    loop.stop()
    worker.join(30.0)
    assert not worker.is_alive()
    assert not ended
    found = group.broker.read_all(group.settings["decisions_topic"])
    assert Counter(json.loads(each.value)["id"] for each in found) == Counter(names)
    # One line at the start of the wait, one at the end.
    said = [each.getMessage() for each in caplog.records if "the cluster " in each.getMessage()]
    assert sum("does not answer" in each for each in said) <= 1


def leader_epoch(group: Group) -> int:
    """Return how often the messages have had a new leader."""
    admin = kafka.KafkaAdminClient(bootstrap_servers=group.broker.bootstrap)
    try:
        (topic,) = admin.describe_topics([group.name])
        return int(topic["partitions"][0]["leader_epoch"])
    finally:
        admin.close()


@pytest.mark.broker_long
@pytest.mark.parametrize("own_broker", [STEADY], indirect=True, ids=["steady"])
def test_a_busy_worker_notices_a_frozen_broker(
    own_broker: Broker, tmp_path: Path, caplog: pytest.LogCaptureFixture, client: str
) -> None:
    """A worker with a backlog is not ready after a session, and logs the outage after 5 s."""
    group = Group(own_broker, tmp_path, client=client, session_seconds=SESSION, batch=50)
    loop = group.worker(shared_snapshots="", transaction_seconds=60.0)
    worker = threading.Thread(target=loop.run, daemon=True)
    worker.start()
    until(lambda: not loop.health.problem_of_readiness())
    names = [f"m{at}" for at in range(3_000)]
    group.send(names)
    until(lambda: loop.metrics.decisions > 0)
    epoch = leader_epoch(group)
    own_broker.pause()
    begun = time.monotonic()
    until(loop.health.problem_of_readiness)
    assert time.monotonic() - begun < 15.0
    until(lambda: "the cluster does not answer" in caplog.text)
    assert time.monotonic() - begun < 15.0
    own_broker.resume()
    until(lambda: loop.metrics.decisions >= len(names), seconds=180.0)
    # Else a transaction may have lost its markers and stay open, which no worker can repair.
    assert leader_epoch(group) == epoch
    until(lambda: "the cluster is back after" in caplog.text)
    loop.stop()
    worker.join(30.0)
    found = group.broker.read_all(group.settings["decisions_topic"])
    assert Counter(json.loads(each.value)["id"] for each in found) == Counter(names)
