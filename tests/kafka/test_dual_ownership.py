"""A partition has one owner: forced step by step, with two of the daemon's own workers at once.

The faults are kafka-python's (`consumer_workarounds`): a member that was put out claims what it had
(a false claim), and the answer of a join that finishes between two polls is thrown away (a lost
answer). Together they let a worker go on from an old position where another one has been.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from streamnb_consumers.kafka.python_client import consumer_workarounds, producer_workarounds
from streamnb_consumers.kafka.python_client.client import open_producer
from streamnb_consumers.kafka.python_client.client_errors import kafka
from support.broker import Broker
from support.stepped import SESSION, Stage, SteppedWorker, total, until

PHASE = 100  # messages of each partition that are sent at a time


@pytest.fixture
def stage(broker: Broker) -> Iterator[Stage]:
    made = Stage(broker, partitions=2)
    yield made
    made.close()


def in_order(worker: SteppedWorker, first: str) -> None:
    """Let a leader see the members in one of the orders that brokers give: this one first."""
    coordinator = worker.coordinator
    perform = coordinator._perform_assignment

    def ordered(leader: str, protocol: str, members: Any) -> Any:
        return perform(
            leader, protocol, sorted(members, key=lambda member: member.member_id != first)
        )

    coordinator._perform_assignment = ordered


def finished(worker: SteppedWorker) -> bool:
    """Tell whether the worker's join has an answer that no poll has taken."""
    task = worker.coordinator._join_task
    return task is not None and task.is_done


def twice_an_owner(stage: Stage) -> None:
    """A worker stalls past its session and comes back, then the other one misses an answer."""
    stage.send(PHASE)
    back = stage.worker("a")
    until(lambda: back.loop.metrics.decisions == 2 * PHASE, lambda: back.step(0.05))
    # It stands still for longer than its session, so the other one is given all it had.
    back.stall()
    time.sleep(SESSION)
    owner = stage.worker("b")
    until(lambda: owner.runs() == {0, 1}, lambda: owner.step(0.05))
    stage.send(PHASE)
    until(lambda: owner.loop.metrics.decisions == 2 * PHASE, lambda: owner.step(0.05))
    # It comes back, and the owner, which is the leader, polls as shortly as one can.
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
    # What the one that came back was given it goes on with, while the other one does not poll.
    stage.send(PHASE)
    for _ in range(10):
        back.step(0.05)
    # It ends, and the other one goes on alone, from where the group is.
    back.close()
    owner.step()
    until(lambda: set(stage.decisions()) == set(stage.sent), lambda: owner.step(0.05))
    stage.send(PHASE)
    until(lambda: set(stage.decisions()) == set(stage.sent), lambda: owner.step(0.05))


def test_no_message_is_decided_on_twice(stage: Stage) -> None:
    twice_an_owner(stage)
    assert stage.twice() == 0


def test_positions_are_checked_at_each_generation(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the client claims falsely and loses answers, nobody goes on from an old position."""
    for workaround in ("fix_false_claim", "fix_lost_answer"):
        monkeypatch.setattr(consumer_workarounds, workaround, lambda consumer: None)
    twice_an_owner(stage)
    assert stage.twice() == 0


def test_what_another_committed_is_not_given_again(stage: Stage) -> None:
    """Offsets and window are those of the group, whoever moved them, after the next generation."""
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
    """Commit as a second owner would, in the generation that the worker is in."""
    producer = open_producer(worker.loop.sink._cluster, stage.broker.unique("other"), 10.0)
    producer_workarounds.begin(producer)
    producer_workarounds.send_offsets(
        producer,
        {
            kafka.TopicPartition(stage.topics.messages, number): kafka.structs.OffsetAndMetadata(
                offset, "", -1
            )
            for number, offset in offsets.items()
        },
        worker.consumer.group_metadata(),
        10.0,
    )
    producer_workarounds.commit(producer, 10.0)
    producer.close(timeout=1)


def test_members_with_the_shortest_polls_take_part(stage: Stage) -> None:
    """Two members that poll for no time at all share the partitions, and decide."""
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
