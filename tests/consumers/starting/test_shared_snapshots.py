"""Shared snapshots are named by content, and workers load the newest valid one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streamnb_consumers.daemon.snapshots.local import content
from streamnb_consumers.daemon.snapshots.shared import SharedSnapshots, name_of
from streamnb_consumers.daemon.snapshots.stores import FolderStore, ObjectStore, Store, open_store
from streamnb_consumers.errors import ForeignError, SettingsError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.records import Partition
from support.filters import make_filter, records, stream

LOG = Partition("training", 0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def filter_at(events: int, log: str = "one", **options: Any) -> Filter:
    """A filter that has read a number of training events from a log."""
    teacher, worker = make_filter(), make_filter(shared=True, **options)
    worker.belong(log)
    written = [
        msgspec.to_builtins(event)
        for record in records(stream(3 * events + 9))
        for event in teacher.handle(record).training
    ]
    for record in records(written[:events], LOG, role="training"):
        worker.handle(record)
    assert worker.learner.learned == events
    return worker


def at_once(name: str, call: Callable[[], None]) -> Future[None]:
    done: Future[None] = Future()
    done.set_result(call())
    return done


def shared(store: Store, clock: Clock | None = None, **options: Any) -> SharedSnapshots:
    return SharedSnapshots(
        store,
        clock=clock or Clock(),
        draw=lambda: 0.5,
        spawn=at_once,
        **{"every": 0.0, **options},
    )


def offer(to: SharedSnapshots, worker: Filter) -> None:
    assert worker.identity is not None
    to.offer(state.dump(worker), worker.offsets, worker.identity.digest)


def load(of: SharedSnapshots, worker: Filter, after: int = -1) -> str | None:
    assert worker.identity is not None
    return of.load(worker.identity.digest, lambda data: state.restore(worker, data), after)


@pytest.fixture(params=["folder", "objects"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return open_store(str(tmp_path / "shared"))
    pytest.importorskip("fsspec")
    made = open_store(f"memory://{tmp_path.name}/shared")
    assert isinstance(made, ObjectStore)
    return made


def test_a_new_worker_takes_the_newest(store: Store) -> None:
    writer = shared(store, keep=2)
    for events in (10, 20, 30):
        offer(writer, filter_at(events))
    assert len(store.names()) == 2  # the oldest is gone
    new = filter_at(0)
    new.offsets.clear()
    assert load(shared(store), new) == max(store.names())
    assert state.dump(new) == state.dump(filter_at(30))


def test_there_may_be_none(store: Store) -> None:
    assert load(shared(store), filter_at(0)) is None


def test_whoever_writes_it_writes_the_same(store: Store) -> None:
    for _ in range(2):
        offer(shared(store), filter_at(10))
    (name,) = store.names()
    assert content(store.read(name, 2**20), 2**20) == state.dump(filter_at(10))


def test_one_that_is_no_newer_is_not_taken(store: Store) -> None:
    offer(shared(store), filter_at(10))
    worker = filter_at(10)
    assert load(shared(store), worker, after=10) is None
    assert load(shared(store), worker, after=9) is not None


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "renamed"])
def test_a_damaged_one_is_passed_over(
    store: Store, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    writer = shared(store)
    for events in (10, 20):
        offer(writer, filter_at(events))
    newest = max(store.names())
    data = store.read(newest, 2**20)
    if damage == "renamed":
        worker = filter_at(30)
        assert worker.identity is not None
        newest = name_of(worker.offsets, worker.identity.digest).name
    store.write(
        newest,
        {"cut": data[:-1], "empty": b"", "flipped": data[:-1] + b"?", "renamed": data}[damage],
    )
    new = filter_at(0)
    load(shared(store), new)
    assert "skipping the shared snapshot" in caplog.text
    assert new.learner.learned == (20 if damage == "renamed" else 10)


def test_where_all_are_damaged_the_log_is_read(store: Store) -> None:
    offer(shared(store), filter_at(10))
    (name,) = store.names()
    store.write(name, b"no snapshot")
    new = filter_at(0)
    assert load(shared(store), new) is None
    assert new.learner.learned == 0


def test_those_of_other_settings_are_passed_over(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    writer = shared(store, keep=1)
    offer(writer, filter_at(30, pos_label="ham", negative="spam"))
    offer(shared(store, keep=1), filter_at(10))
    assert len(store.names()) == 2  # each worker forgets its own only
    new = filter_at(0)
    load(shared(store), new)
    assert new.learner.learned == 10
    assert "1 shared snapshots are of other settings" in caplog.text


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"log": "two"}, "topic id of the training events: 'two', and here 'one'"),
        (
            {"pos_label": "ham", "negative": "spam"},
            "pos_label: 'ham', and here 'spam'",
        ),
    ],
)
def test_where_all_are_of_others_nothing_begins(
    store: Store, other: dict[str, Any], said: str
) -> None:
    offer(shared(store), filter_at(10, **other))
    with pytest.raises(ForeignError, match=said):
        load(shared(store), filter_at(0))


def test_one_worker_writes_at_a_time(store: Store) -> None:
    clock = Clock()
    workers = [shared(store, clock, every=100.0) for _ in range(3)]

    def offered(events: int) -> list[int]:
        clock.now += 101.0
        written = []
        for number, each in enumerate(workers):
            before = store.names()
            offer(each, filter_at(events + number))
            if store.names() != before:
                written.append(number)
        return written

    assert offered(10) == [0]  # the others see that somebody has written
    assert offered(20) == [0]
    workers.pop(0)  # the one that wrote ends: another takes over
    assert offered(30) == [0]


def test_it_is_written_when_it_is_due(store: Store) -> None:
    clock = Clock()
    writer = shared(store, clock, every=100.0)
    clock.now = 99.0
    offer(writer, filter_at(10))
    assert store.names() == []
    clock.now = 100.0
    offer(writer, filter_at(10))
    assert len(store.names()) == 1


def test_workers_do_not_all_write_at_once() -> None:
    waits = set()
    for share in (0.0, 0.3, 1.0):
        made = SharedSnapshots(FolderStore(Path("x")), every=100.0, draw=lambda share=share: share)
        waits.add(round(made._wait()))
    assert waits == {75, 90, 125}


def test_a_store_that_fails_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    broken = shared(FolderStore(file))
    offer(broken, filter_at(10))
    assert "can't write a shared snapshot" in caplog.text
    assert load(broken, filter_at(0)) is None  # then the log is read
    assert "can't be listed" in caplog.text


def test_a_store_that_hangs_holds_up_nobody(tmp_path: Path) -> None:
    class Hanging(FolderStore):
        def names(self) -> list[str]:
            time.sleep(0.5)
            return super().names()

    writer = SharedSnapshots(Hanging(tmp_path), every=0.0)
    begun = time.monotonic()
    offer(writer, filter_at(3))
    offer(writer, filter_at(4))  # the one before is being written: this one is left out
    assert time.monotonic() - begun < 0.4
    writer.close(10.0)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    for name, age in ((".shared-1.bin.x", 10_000.0), (".shared-2.bin.x", 1.0)):
        (tmp_path / name).write_bytes(b"half")
        at = time.time() - age
        os.utime(tmp_path / name, (at, at))
    offer(shared(FolderStore(tmp_path)), filter_at(3))
    assert len(list(tmp_path.glob(".shared-*"))) == 1  # it may still be being written


def test_pipes_and_large_files_are_passed_over(tmp_path: Path) -> None:
    offer(shared(FolderStore(tmp_path)), filter_at(3))
    worker = filter_at(9)
    assert worker.identity is not None
    os.mkfifo(tmp_path / name_of(worker.offsets, worker.identity.digest).name)
    new = filter_at(0)
    load(shared(FolderStore(tmp_path)), new)
    assert new.learner.learned == 3
    assert load(shared(FolderStore(tmp_path), largest=100), filter_at(0)) is None


def truncating(
    store: Store, keep: int = 2
) -> tuple[SharedSnapshots, list[Mapping[Partition, int]]]:
    truncated: list[Mapping[Partition, int]] = []
    return shared(store, keep=keep, truncate=truncated.append), truncated


def test_the_log_is_truncated_up_to_the_oldest_that_is_kept(store: Store) -> None:
    writer, truncated = truncating(store)
    for events, expected in ((10, []), (20, [10]), (30, [10, 20])):
        offer(writer, filter_at(events))
        assert truncated == [{LOG: at} for at in expected]


@pytest.mark.parametrize("spoil", [lambda data: b"", lambda data: data[:-1] + b"?"])
def test_nothing_is_deleted_that_no_good_snapshot_has(
    store: Store, spoil: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    writer, truncated = truncating(store)
    offer(writer, filter_at(10))
    (name,) = store.names()
    store.write(name, spoil(store.read(name, 2**20)))
    offer(writer, filter_at(20))
    assert truncated == []
    assert "no training events were deleted" in caplog.text


def test_an_unknown_protocol_is_a_wrong_setting() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(SettingsError, match="shared_snapshots"):
        open_store("nosuchthing://bucket/x")


def test_a_url_of_a_file_is_a_folder(tmp_path: Path) -> None:
    assert isinstance(open_store(f"file://{tmp_path}"), FolderStore)
