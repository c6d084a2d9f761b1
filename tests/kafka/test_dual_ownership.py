"""A partition has one owner: two of the daemon's own workers are stepped into conflicts.

The faults are kafka-python's (`workarounds`). An expelled member claims its old partitions (false
claim), and the response to a join that finishes between two polls is dropped (lost answer).
Together they let a worker continue from an old position that another worker has passed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.stepped import SESSION, Stage, SteppedWorker, total, until

PHASE = 100  # messages of each partition that are sent at a time


@pytest.fixture
def stage(broker: Broker) -> Iterator[Stage]:
    made = Stage(broker, partitions=2)
    yield made
    made.close()


def in_order(worker: SteppedWorker, first: str) -> None:
    """Let the leader see this member first; brokers return members in any order."""
    coordinator = worker.coordinator
    perform = coordinator._perform_assignment

    def ordered(leader: str, protocol: str, members: Any) -> Any:
        return perform(
            leader, protocol, sorted(members, key=lambda member: member.member_id != first)
        )

    coordinator._perform_assignment = ordered


def finished(worker: SteppedWorker) -> bool:
    """Return whether the worker's join has a response that no poll has read."""
    task = worker.coordinator._join_task
    return task is not None and task.is_done


def twice_an_owner(stage: Stage) -> None:
    """One worker stalls past its session and returns; then the other one misses a response."""
    stage.send(PHASE)
    back = stage.worker("a")
    until(lambda: back.loop.metrics.decisions == 2 * PHASE, lambda: back.step(0.05))
    # It stalls for longer than its session, so the other worker gets its partitions.
    back.stall()
    time.sleep(SESSION)
    owner = stage.worker("b")
    until(lambda: owner.runs() == {0, 1}, lambda: owner.step(0.05))
    stage.send(PHASE)
    until(lambda: owner.loop.metrics.decisions == 2 * PHASE, lambda: owner.step(0.05))
    # It returns, and the owner, who is the leader, polls with the shortest timeout.
    in_order(owner, first=owner.coordinator._generation.member_id)
    back.wake()
    until(lambda: not back.coordinator.stable(), lambda: time.sleep(0.01))
    began = owner.coordinator._generation.generation_id

    def joined() -> bool:
        return bool(
            owner.coordinator._generation.generation_id > began
            and finished(owner)
            and back.coordinator.stable()
        )

    deadline = time.monotonic() + 10.0
    while not joined() and time.monotonic() < deadline:
        back.step(0.05)
        if not (owner.coordinator.rejoining and owner.coordinator._join_task is not None):
            owner.step()
    # The returned worker continues with its partitions while the other one does not poll.
    stage.send(PHASE)
    for _ in range(10):
        back.step(0.05)
    # It ends, and the other worker continues alone from the group's offsets.
    back.close()
    owner.step()

    def decided() -> bool:
        # Reading the decisions instead may take longer than the owner's session.
        return total([back, owner]) >= len(stage.sent)

    until(decided, lambda: owner.step(0.05))
    stage.send(PHASE)
    until(decided, lambda: owner.step(0.05))
    assert set(stage.decisions()) == set(stage.sent)


def test_no_message_is_decided_on_twice(stage: Stage) -> None:
    twice_an_owner(stage)
    assert stage.twice() == 0


@pytest.mark.broker_long
def test_positions_are_checked_at_each_generation(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No worker continues from an old position, despite false claims and lost answers."""
    for workaround in ("fix_false_claim", "fix_lost_answer"):
        monkeypatch.setattr(workarounds, workaround, lambda consumer: None)
    twice_an_owner(stage)
    assert stage.twice() == 0


def test_what_another_committed_is_not_given_again(stage: Stage) -> None:
    """After the next generation a worker uses the group's offsets and window, whichever worker
    moved them.
    """
    stage.send(PHASE)
    worker = stage.worker("a")
    until(lambda: worker.loop.metrics.decisions == 2 * PHASE, lambda: worker.step(0.05))
    stage.send(PHASE)
    commit(stage, worker, {0: 2 * PHASE})
    generation = worker.coordinator._generation.generation_id
    worker.coordinator.request_rejoin()
    until(
        lambda: (
            worker.coordinator._generation.generation_id > generation and worker.runs() == {0, 1}
        ),
        lambda: worker.step(0.05),
    )
    until(lambda: worker.loop.metrics.decisions == 3 * PHASE, lambda: worker.step(0.05))
    for _ in range(20):
        worker.step(0.05)
    decided = stage.decisions()
    assert sum(decided.values()) == len(decided) == 3 * PHASE


def commit(stage: Stage, worker: SteppedWorker, offsets: dict[int, int]) -> None:
    """Commit as a second owner of the worker's generation would."""
    writer = open_driver(worker.loop.sink._cluster).writer(stage.broker.unique("other"), 10.0)
    positions = {Partition(stage.topics.messages, number): at for number, at in offsets.items()}
    writer.begin()
    writer.commit(positions, worker.consumer.group_metadata(), 10.0)
    writer.close(1.0)


def test_members_with_the_shortest_polls_take_part(stage: Stage) -> None:
    """Two members that poll with timeout 0 share the partitions and decide messages."""
    stage.send(PHASE)
    workers = [stage.worker(name) for name in "ab"]

    def step() -> None:
        for worker in workers:
            worker.step()
        time.sleep(0.01)

    until(lambda: total(workers) == 2 * PHASE, step)
    until(lambda: [len(worker.runs()) for worker in workers] == [1, 1], step)
    stage.send(PHASE)
    until(lambda: total(workers) == 4 * PHASE, step)
    assert stage.twice() == 0
