"""Future timestamps, headers without values, irregular files and crafted snapshots."""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB
from streamnb.datasets import read_messages
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.errors import BadRecordError, SnapshotError
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.entries import WindowEntry
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.pipeline.training import read_training_event
from streamnb_consumers.pipeline.window import Bounds, JoinWindow
from streamnb_consumers.records import DeadLetter, Message, Outputs, Partition, Record
from support.filters import PLACE, handle_all, make_filter, records, stream

NOW = 1_800_000_000_000  # milliseconds since 1970
CENTURY = 100 * 365 * 86_400_000
TOPICS = Topics("sms", "labels", "decisions", "training", "join-state", "dead")


def test_tombstones_are_skipped_and_are_not_invalid_input() -> None:
    worker, noted = make_filter(), []
    found = [*records([{"id": "a", "text": "win cash", "label": "spam"}, b"?"])]
    found += [Record(PLACE, offset, None, b"key") for offset in (2, 3, 4)]
    outputs = worker.handle_many(found, note=lambda *told: noted.append(told))
    assert (len(outputs.decisions), len(outputs.dead_letters)) == (1, 1)
    assert noted == [(PLACE, False), (PLACE, True)]
    assert worker.offsets == {PLACE: 5}


@pytest.mark.parametrize(("given", "label"), [(1, "1"), (0, "0"), (True, "true"), (1.5, "1.5")])
def test_numeric_labels_are_those_of_the_command(given: Any, label: str) -> None:
    line = json.dumps({"id": "a", "text": "win cash", "label": given}).encode()
    (message,) = read_messages(io.BytesIO(line), format="jsonl")
    found = SmsReader().read(Record(PLACE, 0, line))
    assert isinstance(found, Message)
    assert found.label == message.label == label


# --- future timestamps ---------------------------------------------------------------------------


def test_a_full_window_costs_no_more_with_time() -> None:
    """Finding the oldest message takes the same time, however many have left."""
    found, spent = JoinWindow(Bounds(count=50_000)), []
    for start in range(0, 150_000, 50_000):
        begun = time.thread_time()
        for offset in range(start, start + 50_000):
            found.add(str(offset), entry(offset, offset))
        spent.append(time.thread_time() - begun)
    assert max(spent[1:]) < 5 * spent[0]


def window(logged: bool = False) -> JoinWindow:
    bounds = Bounds(age=3_600_000, future=60_000)
    return JoinWindow(bounds, logged=logged, clock=lambda: NOW / 1000)


def entry(timestamp: int, offset: int = 0) -> WindowEntry:
    return WindowEntry(b'"hello"', "ham", -1.0, timestamp, offset=offset)


@pytest.mark.parametrize("jump", [CENTURY, 2**62, 2**63 - 1 - NOW])
def test_future_message_expires_nothing(jump: int) -> None:
    found = window()
    assert found.add("labels", entry(NOW - 1_000)) == []
    assert found.wait("label", Record(PLACE, 9, b"{}", timestamp=NOW)) == []
    assert found.add("future", entry(NOW + jump, 1)) == []
    assert found.add("later", entry(NOW, 2)) == []
    assert [found.get(name) is not None for name in ("labels", "future", "later")] == [True] * 3
    assert found.waiting == 1


def test_future_message_expires_in_time() -> None:
    """It leaves the window an hour after it arrived, and so do later messages."""
    moment = [NOW]
    found = JoinWindow(Bounds(age=3_600_000, future=60_000), clock=lambda: moment[0] / 1000)
    found.add("future", entry(NOW + CENTURY))
    found.wait("label", Record(PLACE, 1, b"{}", timestamp=NOW + CENTURY))
    found.add("behind", entry(NOW, 2))
    moment[0] += 2 * 3_600_000
    expired = found.add("last", entry(moment[0], 3))
    assert [found.get(name) is None for name in ("future", "behind", "last")] == [True, True, False]
    assert [letter.record.offset for letter in expired] == [1]


def test_gap_in_the_stream_is_accepted() -> None:
    found = window()
    found.add("old", entry(NOW - CENTURY))
    found.add("new", entry(NOW, 1))
    assert (found.get("old"), found.get("new") is None) == (None, False)


def test_future_timestamps_in_the_log_are_bounded() -> None:
    """Future timestamps in the log of a window are bounded like those of records."""
    before = JoinWindow(Bounds(age=3_600_000, future=None), logged=True)
    before.add("future", entry(NOW + CENTURY))
    restored, loaded = window(), JoinWindow.from_json(before.to_json(), Bounds(age=3_600_000))
    for change in before.take_changes():
        restored.apply(*change)
    for found in (restored, loaded):
        found.add("now", entry(NOW, 1))
        assert found.get("now") is not None


# --- headers -------------------------------------------------------------------------------------


def test_headers_without_values_are_encoded() -> None:
    record = Record(PLACE, 3, b"oops", headers=(("none", None), ("some", b"1")))
    outputs = Outputs(dead_letters=[DeadLetter(record, "not JSON")])
    (written,) = encode(outputs, TOPICS, {TOPICS.dead_letters: 1_000})
    assert written.headers[:2] == [("none", None), ("some", b"1")]
    assert written.size > 100


@pytest.mark.parametrize(
    ("header", "words"),
    [(None, None), (b"", None), (b"x", None), (b"-1", None), (b"1", 1), (b"9" * 5_000, 2)],
)
def test_the_number_of_explained_words_is_bounded(header: bytes | None, words: int | None) -> None:
    worker = make_filter()
    learned = {"a": ("win cash", "spam"), "b": ("see you", "ham")}
    lines = [{"id": name, "text": text, "label": label} for name, (text, label) in learned.items()]
    worker.handle_many(records(lines))
    asked = Record(PLACE, 2, b'{"id": "c", "text": "win cash"}', headers=(("explain", header),))
    (decision,) = worker.handle(asked).decisions
    assert (decision.words and len(decision.words)) == words


def test_headers_without_values_survive_a_snapshot() -> None:
    worker = make_filter()
    record = Record(PLACE, 0, b'{"id": "a", "label": "ham"}', headers=(("none", None),))
    worker.handle(record)
    again = make_filter()
    state.restore(again, state.dump(worker))
    (expired,) = again.finish().dead_letters
    assert expired.record.headers == (("none", None),)


# --- training events -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field",
    ['"score": NaN', '"score": Infinity', '"score": "1"', '"delay": NaN', '"learn": 1', '"id": []'],
)
def test_crafted_training_events_are_rejected(field: str, caplog: pytest.LogCaptureFixture) -> None:
    good = {"id": "a", "features": "win", "learn": "spam"}
    value = json.dumps(good)[:-1] + f", {field}}}"
    with pytest.raises(BadRecordError, match="not a training event"):
        read_training_event(value.encode())
    worker = make_filter(shared=True)
    worker.handle(Record(Partition("training", 0), 0, value.encode(), role="training"))
    assert caplog.text.count("skipped an invalid record") == 1
    assert worker.learner.learned == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"m:a", b'"text"\n[null,NaN,0,null,0]'),
        (b"m:a", b'"text"\n[1,null,0,null,0]'),
        (b"m:a", b'"text"\n[null,null,"0",null,0]'),
        (b"m:a", b"7\n[null,null,0,null,0]"),
        (b"m:a", b"text\n[null,null,0,null,0]"),
        (b"m:a", b"[]"),
        (b"l:a", b'[[["sms",0,0],null,null,[],0,"training"]]'),
        (b"l:a", b'[[["sms","0",0],null,null,[],0,"feedback"]]'),
        (b"m:\xff", b""),
        (b"", b""),
    ],
)
def test_crafted_window_changes_are_rejected(key: bytes, value: bytes) -> None:
    found = window()
    with pytest.raises(SnapshotError, match="invalid change of a join window"):
        found.apply(key, value)
    assert len(found) == found.waiting == found.size == 0


# --- snapshots that are not regular files ---------------------------------------------------------


def snapshots(folder: Path, largest: int = 2**20) -> tuple[Snapshots, Path]:
    """Return a folder with one good snapshot, and the path of a newer one."""
    made = Snapshots(folder, largest=largest)
    worker = make_filter()
    handle_all(worker, stream(10))
    made.save(state.dump(worker))
    return made, folder / "snapshot-000000000002.bin"


def load(made: Snapshots) -> str:
    """Load in a thread, because a pipe may block; return the name of the loaded snapshot."""
    worker, names = make_filter(), []

    def run() -> None:
        path = made.load(lambda data: state.restore(worker, data))
        names.append(path.name if path else "none")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20.0)
    assert names, "the load hangs"
    return names[0]


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: path.symlink_to("/no/such/file"), "No such file"),
        (lambda path: path.touch() or os.truncate(path, 2**40), "1,099,511,627,776 bytes"),
    ],
    ids=["pipe", "device", "folder", "broken link", "a tebibyte"],
)
def test_irregular_files_are_skipped(
    make: Callable[[Path], Any], why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made, newer = snapshots(tmp_path)
    make(newer)
    assert load(made) == "snapshot-000000000001.bin"
    assert why in caplog.text
    (tmp_path / "snapshot-000000000001.bin").unlink()
    with pytest.raises(SnapshotError, match=f"none of the snapshots.*{why}"):
        made.load(lambda data: state.restore(make_filter(), data))


def test_too_large_snapshot_is_not_written(tmp_path: Path) -> None:
    made, newer = snapshots(tmp_path)
    with pytest.raises(SnapshotError, match="raise snapshot_bytes"):
        made.save(b"x" * (2**20 + 1))
    assert not newer.exists()


# --- crafted snapshots with a valid checksum -----------------------------------------------------


def crafted(change: Callable[[dict[str, Any]], Any] | bytes, model: bytes | None = None) -> bytes:
    """Return a snapshot with a changed header, or with these bytes, and a valid checksum."""
    worker = make_filter()
    handle_all(worker, [*stream(20), {"id": "waits", "label": "ham"}])
    data = state.dump(worker)
    length = int.from_bytes(data[44:52], "little")
    header, body = data[52 : 52 + length], data[52 + length :]
    if callable(change):
        fields = json.loads(header)
        change(fields)
        header = json.dumps(fields).encode()
    else:
        header = change
    rest = len(header).to_bytes(8, "little") + header + (body if model is None else model)
    return data[:12] + hashlib.sha256(rest).digest() + rest


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that sets a value in the header."""

    def change(fields: Any) -> None:
        for step in path[:-1]:
            fields = fields[step]
        fields[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"reader": "sms"}',
        put("learned", value=2**70),
        put("learned", value="5"),
        put("learned", value=1e400),
        put("offsets", value=[["sms", 0, -5]]),
        put("offsets", value=[["sms", "0", 5]]),
        put("offsets", value=[[["sms"], 0, 5]]),
        put("offsets", value={"sms": 5}),
        put("windows", value=[[0, None]]),
        put("windows", 0, 0, value=-1),
        put("windows", 0, 1, "now", value="now"),
        put("windows", 0, 1, "changes", value={}),
        put("windows", 0, 1, "changes", 0, value=[]),
        put("windows", 0, 1, "changes", 0, 0, value="x:a"),
        put("windows", 0, 1, "changes", 0, 1, value=7),
        put("windows", 0, 1, "changes", 0, 1, value="no JSON"),
        put("windows", 0, 1, "changes", 0, 1, value='"win"\n["ham",NaN,1,"ham",0,false]'),
        put("windows", 0, 1, "changes", 0, 1, value='"win"\n["ham",1,"then","ham",0,false]'),
        put("windows", 0, 1, "changes", 0, 1, value='"win"\n["ham",1,1,["ham"],0,false]'),
        put("windows", 0, 1, "changes", 0, value=["l:waits", "5"]),
        put("windows", 0, 1, "changes", 0, value=["l:a", '[[["sms",0],0,"","",[],0,"training"]]']),
        put(
            "windows", 0, 1, "changes", 0, value=["l:a", '[[["sms",0],0,"?",null,[],0,"message"]]']
        ),
        put("threshold", value=[]),
        put("threshold", value=[[[0, "1"]], []]),
        put("threshold", value=[[[10**9, 1]], []]),
        put("threshold", value=[[[0.5, 1]], []]),
        put("recent", value=[]),
        put("recent", value={}),
        put("recent", value=1),
        put("reader", value="spam"),
        put("reader", value=None),
    ],
)
def test_crafted_snapshot_is_rejected_without_effect(
    change: Callable[[dict[str, Any]], Any] | bytes,
) -> None:
    worker = make_filter()
    handle_all(worker, stream(5))
    before = state.dump(worker)
    with pytest.raises(SnapshotError):
        state.restore(worker, crafted(change))
    assert state.dump(worker) == before


@pytest.mark.parametrize(
    "model",
    [b"", b"no model", MNB().to_bytes()[:-1], MNB(alpha=2.0).to_bytes(), b"\x00" * 1_000],
    ids=["none", "text", "truncated", "another", "zeros"],
)
def test_snapshot_with_crafted_model_is_rejected(model: bytes) -> None:
    worker = make_filter()
    with pytest.raises(SnapshotError):
        state.restore(worker, crafted(lambda fields: None, model))
    assert worker.learner.learned == 0


def test_header_longer_than_snapshot_is_rejected() -> None:
    data = crafted(lambda fields: None)
    rest = (2**63).to_bytes(8, "little") + data[52:]
    with pytest.raises(SnapshotError):
        state.restore(make_filter(), data[:12] + hashlib.sha256(rest).digest() + rest)


def test_unchanged_snapshot_is_restored() -> None:
    worker = make_filter()
    state.restore(worker, crafted(lambda fields: None))
    assert worker.learner.learned > 0
    for record in records([{"id": "waits", "text": "see you"}]):
        assert len(worker.handle(record).training) == 1
