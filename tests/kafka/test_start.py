"""A worker starts from shared snapshots, and on a training log that was truncated or recreated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.shared import name_of
from streamnb_consumers.errors import (
    ForeignError,
    SettingsError,
    SnapshotError,
    TruncatedError,
    UnreachableError,
)
from streamnb_consumers.kafka import training_log
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.identity import HEADER
from streamnb_consumers.records import Partition, Record
from support.broker import Broker
from support.groups import Group, events
from support.stepped import until


def save(loop: Loop) -> None:
    """Take a snapshot, and wait until the shared one is written."""
    loop._save()
    loop.state.close(10.0)


@pytest.fixture(
    params=["kafka-python", pytest.param("confluent", marks=pytest.mark.broker_long)],
)
def group(request: pytest.FixtureRequest, broker: Broker, tmp_path: Path) -> Iterator[Group]:
    made = Group(broker, tmp_path, client=request.param)
    yield made
    made.close()


def test_a_start_goes_from_step_to_step_without_waiting_for_records(group: Group) -> None:
    """Join, assignment and restore follow each other without waiting for a whole poll."""
    longest = 15.0
    assert group.ready(group.worker(poll_seconds=longest)) < longest


def test_no_request_of_a_start_waits_behind_a_fetch(group: Group) -> None:
    """The reader of the logs fetches from the start on, and a fetch without records waits."""
    loop = group.worker()
    loop._start()
    source: Any = loop.source

    def ask(topic: str) -> None:
        raise AssertionError(topic)

    source._side.partitions = ask
    group.running.append(loop)
    until(lambda: not loop.health.problem_of_readiness(), group.step)


def test_a_worker_is_ready_once_its_partitions_run(group: Group) -> None:
    """It is not ready before the group has assigned them, nor before their windows are restored."""
    names = {f"m{at}" for at in range(200)}
    first = group.worker()
    group.ready(first)
    group.send(names)
    until(lambda: first.metrics.decisions == len(names), group.step)
    group.end(first)
    second = group.worker()
    group.ready(second)
    source: Any = second.source
    assert [owned.number for owned in source._partitions._running()] == [0]
    assert set(second.worker.join.window(0).names()) == names


def test_a_worker_that_hears_nothing_for_long_connects_anew(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a client stops searching for brokers, the worker continues with new clients."""
    loop = group.worker(shared_snapshots="")
    group.ready(loop)
    group.send(["m1"])
    until(lambda: loop.metrics.decisions == 1, group.step)
    source: Any = loop.source
    deaf = source._side

    def silence(topic: str) -> None:
        raise UnreachableError("nobody there")

    deaf.partitions = silence
    monkeypatch.setattr(training_log, "_RENEW", 0.0)
    with pytest.raises(UnreachableError):
        source.start({}, 10.0)
    loop.state.go_back()
    loop._start()
    assert source._side is not deaf
    group.send(["m2"])
    until(lambda: loop.metrics.decisions == 2, group.step)


def test_a_new_worker_begins_with_the_snapshot_of_another(group: Group) -> None:
    first = group.worker(snapshots_kept=1, training_log_truncate=True)
    group.ready(first)
    group.teach(2_000)
    until(lambda: first.worker.learner.learned == 2_000, group.step)
    save(first)
    assert group.log_start() == 2_000  # the snapshot has what was deleted
    second = group.worker()
    second._start()
    assert second.worker.learner.learned == 2_000
    group.ready(second)
    # Both get the events after the snapshot from the log.
    group.label("later")
    workers = (first, second)
    until(lambda: all(each.worker.learner.learned == 2_001 for each in workers), group.step)
    assert state.dump(first.worker) == state.dump(second.worker)
    # A worker without a snapshot and without the whole log does not start with a smaller model.
    with pytest.raises(TruncatedError, match=r"training events 0 to 2,000 .* were deleted"):
        group.ready(group.worker(shared_snapshots=""))
    # The same holds if its own snapshot ends too early, unless a shared snapshot continues it.
    third = group.worker(snapshots=str(group.folder / "own"), shared_snapshots="")
    assert third.state.snapshots is not None
    old = make_filter("sms", Settings(**group.settings))
    old.handle(Record(Partition(group.training, 0), 0, events(1)[0], role="training"))
    third.state.snapshots.save(state.dump(old))
    with pytest.raises(TruncatedError, match="training events 1 to 2,000"):
        group.ready(third)
    fourth = group.worker(snapshots=str(group.folder / "own"))
    group.ready(fourth)
    assert fourth.worker.learner.learned == 2_001


def test_a_worker_that_the_log_was_truncated_under_takes_the_snapshot_of_another(
    group: Group,
) -> None:
    slow = group.worker()
    slow._start()
    group.teach(100)
    fast = group.worker(snapshots_kept=1, training_log_truncate=True)
    group.ready(fast)
    save(fast)
    assert group.log_start() == 100
    assert slow.worker.learner.learned == 0
    slow._start()  # as after an aborted transaction
    assert slow.worker.learner.learned == 100


def test_workers_with_other_settings_are_told(group: Group) -> None:
    first = group.worker()
    group.ready(first)
    group.label("m0")
    until(lambda: first.worker.learner.learned == 1, group.step)
    (event,) = group.broker.read_all(group.training)
    assert first.worker.identity is not None
    assert event.headers == [(HEADER, first.worker.identity.header)]
    # With the log, with shared snapshots, and in the other order where they are adopted.
    other = {"model": "CNB()", "shared_snapshots": str(group.folder / "other")}
    wrong = group.worker(**other)
    with pytest.raises(SettingsError, match=r"model: 'MNB\(\)', and here 'CNB\(\)'"):
        group.ready(wrong)
    group.end(wrong)
    save(first)
    with pytest.raises(ForeignError, match=r"model: 'MNB\(\)', and here 'CNB\(\)'"):
        group.ready(group.worker(model="CNB()"))
    changed = group.worker(**other, training_log_adopt=True)
    group.ready(changed)
    assert changed.worker.learner.learned == 1
    group.end(first)  # else it may be given the message
    group.label("m1")
    until(lambda: changed.worker.learner.learned == 2, group.step)
    with pytest.raises(SettingsError, match=r"model: 'CNB\(\)', and here 'MNB\(\)'"):
        group.ready(group.worker(shared_snapshots=""))


def test_a_topic_made_anew_is_another_log(group: Group) -> None:
    first = group.worker(snapshots=str(group.folder / "own"))
    group.ready(first)
    group.teach(10)
    until(lambda: first.worker.learner.learned == 10, group.step)
    save(first)
    group.make_anew()
    group.teach(20)
    with pytest.raises(ForeignError, match="recreated while this worker ran"):
        first._start()
    group.running.remove(first)  # it has ended
    for settings in ({"snapshots": str(group.folder / "own"), "shared_snapshots": ""}, {}):
        with pytest.raises(SnapshotError, match="topic id of the training events"):
            group.ready(group.worker(**settings))
    last = group.worker(shared_snapshots="")
    group.ready(last)
    assert last.worker.learner.learned == 20


@pytest.mark.broker_long
def test_a_hundred_thousand_training_events(group: Group) -> None:
    first = group.worker()
    first._start()
    values = group.teach(100_000)
    # Created without the broker, which would take ten seconds, and with the names that a worker
    # uses.
    worker = make_filter("sms", Settings(**group.settings))
    assert first.worker.identity is not None
    worker.belong(first.worker.identity.log)
    place = Partition(group.training, 0)
    for at, value in enumerate(values):
        worker.handle(Record(place, at, value, role="training"))
    folder = group.folder / "shared"
    folder.mkdir()
    name = name_of(worker.offsets, first.worker.identity.digest).name
    (folder / name).write_bytes(state.dump(worker))
    group.ready(first)
    group.end(first)
    second = group.worker()
    seconds = group.ready(second)
    assert second.worker.learner.learned == first.worker.learner.learned == 100_000
    assert state.dump(second.worker) == state.dump(first.worker)
    assert second.metrics.records <= 1  # the last one is compared
    assert seconds < 5.0
