"""Two workers with the same `instance_id`: the later one replaces the earlier one.

The transactions decide alone: the worker with the latest producer continues, and the other one
stops. If a worker itself explains the fence of its producer, it continues with a new producer, so
the worker that started later stops. Both never stop.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.errors import FencedError
from streamnb_consumers.records import Decision, Outputs, Partition
from support.broker import Broker
from support.scenes.scene import START_SECONDS, Scene
from support.stepped import LIMIT, Stage, SteppedWorker, until

pytestmark = pytest.mark.broker_long


def test_a_replaced_worker_backs_off(broker: Broker, client: str, tmp_path: Path) -> None:
    settings = {"client": client, "instance_id": "worker-1", "poll_seconds": 0.1}
    with Scene(broker, tmp_path, **settings) as scene:
        first = scene.worker("a")
        first.wait_until_ready()
        second = scene.worker("b")
        deadline = time.monotonic() + START_SECONDS
        number = 0
        # A worker notices the fence when it commits, so both get messages.
        while "replace each other at every restart" not in first.text():
            assert first.process.poll() is None, first.text()[-3000:]
            assert time.monotonic() < deadline, first.text()[-3000:]
            (feeding,) = scene.feed([(f"m{number}", "win cash", "spam")])
            feeding.join(30.0)
            number += 1
            time.sleep(0.5)
        waits = time.monotonic()
        assert first.process.wait(60.0) == 3, first.text()[-3000:]
        assert time.monotonic() - waits > 3.0
        second.wait_until_ready()
        deadline = time.monotonic() + START_SECONDS
        while sum(scene.decisions().values()) < number:
            assert time.monotonic() < deadline, second.text()[-3000:]
            time.sleep(0.2)
        assert second.stop() == 0
        assert max(scene.decisions().values()) == 1


EACH = 20  # messages of each partition that are sent at a time


@pytest.fixture
def stage(broker: Broker, client: str) -> Iterator[Stage]:
    """Return topics of two partitions: workers without a place of their own share them."""
    made = Stage(broker, partitions=2, client=client)
    yield made
    made.close()


def twin(stage: Stage, **more: Any) -> SteppedWorker:
    """Return a worker with the name that all workers of a test have."""
    one = f"{stage.group}-one"
    return stage.worker("one", instance_id="one", transactional_id=one, named=True, **more)


def decides(stage: Stage, worker: SteppedWorker) -> None:
    """Send messages, and let a worker decide all that are undecided."""
    stage.send(EACH)
    until(lambda: set(stage.decisions()) == set(stage.sent), lambda: worker.step(0.05))


def stopped(stage: Stage, *workers: SteppedWorker) -> SteppedWorker:
    """Step workers in turn while messages arrive; return the first one that stops."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        stage.send(EACH)
        for worker in workers * 3:
            try:
                worker.step(0.1)
            except FencedError:
                worker.close()
                return worker
    raise AssertionError("no worker stopped")


def is_member(worker: SteppedWorker) -> bool:
    return worker.loop.source.waiting == ""


def replace_producer(worker: SteppedWorker) -> None:
    """Let a worker create a new producer, as after a commit with an unknown error."""
    sink: Any = worker.loop.sink
    sink._writer.discard()
    sink._writer = None
    sink.start(10.0)


def expire(worker: SteppedWorker) -> None:
    """Let a worker stand still within a transaction, until the brokers have aborted it."""
    sink: Any = worker.loop.sink
    place = Partition(worker.stage.topics.messages, 0)
    sink.send(Outputs(decisions=[Decision("never", None, {}, None, 0, place, 0)]))
    time.sleep(3.0)  # also past the interval of the broker's search for such transactions


def test_the_later_one_continues(stage: Stage) -> None:
    first = twin(stage)
    decides(stage, first)
    second = twin(stage)
    assert stopped(stage, first, second) is first
    decides(stage, second)
    assert stage.twice() == 0


@pytest.mark.parametrize("joined", [False, True])
def test_the_one_with_the_latest_producer_continues(stage: Stage, joined: bool) -> None:
    """The first worker replaces its producer after an error, before or after the second one has
    taken its place in the group. It joins the group again instead of stopping as well.
    """
    first = twin(stage)
    decides(stage, first)
    second = twin(stage)
    if joined:
        until(lambda: is_member(second), lambda: second.step(0.05))
    replace_producer(first)
    assert stopped(stage, second, first) is second
    decides(stage, first)
    assert stage.twice() == 0


@pytest.mark.parametrize("client", ["kafka-python"])  # whose members have names
def test_an_idle_worker_that_is_replaced_stops(stage: Stage) -> None:
    first = twin(stage)
    decides(stage, first)
    second = twin(stage)
    until(lambda: is_member(second), lambda: second.step(0.05))
    with pytest.raises(FencedError, match="check of the producer"):
        until(lambda: False, lambda: first.step(0.05))
    decides(stage, second)
    assert stage.twice() == 0


def test_an_expired_transaction_stops_no_worker(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """For example, a broker started slowly. The log has the likely cause and the consequence."""
    worker = twin(stage, transaction_seconds=1.0)
    decides(stage, worker)
    expire(worker)
    decides(stage, worker)
    assert "the transaction was open for longer than transaction_seconds (1 s)" in caplog.text
    assert "a quota, a slow link or a stall; it is repeated with half of the" in caplog.text
    assert stage.twice() == 0
    assert "never" not in stage.decisions()


@pytest.mark.parametrize("joined", [False, True])
def test_an_expired_transaction_of_two_workers(stage: Stage, joined: bool) -> None:
    """A worker that stood still can't distinguish the two fences: it continues."""
    first = twin(stage, transaction_seconds=1.0)
    decides(stage, first)
    expire(first)
    second = twin(stage)
    if joined:
        until(lambda: is_member(second), lambda: second.step(0.05))
    assert stopped(stage, first, second) is second
    decides(stage, first)
    assert stage.twice() == 0
    assert "never" not in stage.decisions()
