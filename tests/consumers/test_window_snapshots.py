"""Snapshots of join windows: with the later changes of the log they give the same window."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.snapshots.windows import WindowSnapshots
from streamnb_consumers.io.protocols import WindowMark
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.window import Bounds
from streamnb_consumers.records import Change, Partition, Record
from support.filters import PLACE, make_filter, records, stream
from support.profiles import also_in_soak

LOG = Partition("join-state", 0)
HOUR = 3600.0


class Marks:
    """A source that knows how far the window of one partition follows its log."""

    def __init__(self, offset: int, log: str = "id") -> None:
        self.mark = WindowMark(log, offset, [("sms", "topic", offset)])

    def window_marks(self) -> dict[int, WindowMark]:
        return {PLACE.number: self.mark}


def saved(folder: Path, worker: Filter, source: Any, **options: Any) -> WindowSnapshots:
    snapshots = WindowSnapshots(folder, **options)
    snapshots.begin(source, worker.join)
    snapshots.finish()
    return snapshots


def held(worker: Filter) -> tuple[Any, int]:
    window = worker.join.window(PLACE.number)
    return window.to_json(), window.size


@pytest.mark.parametrize("bounds", [Bounds(), Bounds(count=9, questions=5.0, labels=7.0)], ids=str)
@pytest.mark.parametrize("seed", also_in_soak(range(5), range(5, 100)))
def test_a_window_continues_from_a_snapshot_and_its_log(
    tmp_path: Path, bounds: Bounds, seed: int
) -> None:
    """The snapshot is taken in pieces while the window changes, and read with all later changes."""
    generator = random.Random(seed)
    worker = make_filter(shared=True, bounds=bounds)
    snapshots, log, mark = WindowSnapshots(tmp_path), list[Change](), -1
    values = records(stream(300, seed))
    begin = generator.randrange(100)
    for at, record in enumerate(values):
        if at == begin:
            mark = len(log)
            snapshots.begin(Marks(mark), worker.join)  # type: ignore[arg-type]
        log += worker.handle(record).changes
        if generator.random() < 0.05:
            snapshots.go_on()
    snapshots.finish()
    found = snapshots.load(PLACE.number, "id")
    assert found is not None
    assert found[0] == WindowMark("id", mark, [("sms", "topic", mark)])
    after = make_filter(shared=True, bounds=bounds)
    after.forget([PLACE.number], {PLACE.number: found[1]})
    for at, (_, key, value) in enumerate(log[mark:]):
        after.handle(Record(LOG, at, value, key, role="window"))
    assert held(after) == held(worker)
    for record in records(stream(400, seed))[300:]:
        assert after.handle(record) == worker.handle(record)


def test_a_kept_message_is_part_of_the_snapshot(tmp_path: Path) -> None:
    bounds = Bounds(count=2)
    worker = make_filter(shared=True, bounds=bounds)
    values = records([{"id": f"m{at}", "text": "hi"} for at in range(5)])
    label = records([{"id": "m0", "label": "ham"}], Partition("feedback", 0), role="feedback")
    worker.expect(label)
    for record in values:
        worker.handle(record)
    snapshots = saved(tmp_path, worker, Marks(1))
    found = snapshots.load(PLACE.number, "id")
    assert found is not None
    after = make_filter(shared=True, bounds=bounds)
    after.forget([PLACE.number], {PLACE.number: found[1]})
    after.expect(label)
    after.handle(records([{"id": "m5", "text": "hi"}])[0])
    (event,) = after.handle(label[0]).training
    assert (event.id, event.learn) == ("m0", "ham")


def test_unusable_snapshots_are_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    worker, now = make_filter(shared=True), [1e9]
    worker.handle(records([{"id": "a", "text": "hi"}])[0])

    def fresh() -> WindowSnapshots:
        now[0] = 1e9
        return saved(tmp_path, worker, Marks(7), clock=lambda: now[0])

    (path,) = [fresh()._path(PLACE.number)]
    assert fresh().load(PLACE.number, "id") is not None
    assert fresh().load(1, "id") is None
    assert fresh().load(PLACE.number, "created again") is None
    assert not path.exists()
    for later in (7 * HOUR, -1.0):  # too old for the marks of deleted entries; a wrong clock
        snapshots = fresh()
        now[0] += later
        assert snapshots.load(PLACE.number, "id") is None
    assert not caplog.text
    snapshots = fresh()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert snapshots.load(PLACE.number, "id") is None
    assert "skipping the join window" in caplog.text


def test_an_abort_and_a_moved_partition_end_a_snapshot(tmp_path: Path) -> None:
    worker = make_filter(shared=True)
    for numbers in (None, {PLACE.number}):
        snapshots = WindowSnapshots(tmp_path)
        snapshots.begin(Marks(7), worker.join)  # type: ignore[arg-type]
        snapshots.go_on()
        snapshots.drop(numbers)
        snapshots.finish()
        assert snapshots.load(PLACE.number, "id") is None
    other = WindowSnapshots(tmp_path)
    other.begin(Marks(7), worker.join)  # type: ignore[arg-type]
    other.drop({1})
    other.finish()
    assert other.load(PLACE.number, "id") is not None


def test_a_full_disk_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    saved(folder, make_filter(shared=True), Marks(7))
    assert "next start takes longer" in caplog.text
    assert saved(tmp_path, make_filter(shared=True), Marks(7)).load(0, "id") is not None
    nothing = WindowSnapshots(None)
    nothing.begin(Marks(7), make_filter(shared=True).join)  # type: ignore[arg-type]
    nothing.finish()
    assert nothing.load(0, "id") is None
