"""Where records come from and outputs go: standard input and output, files, snapshots."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.io.files import FileSink, FileSource
from streamnb_consumers.io.stdio import StdinSource, StdoutSink
from streamnb_consumers.pipeline import state
from support.filters import make_filter, records, stream
from support.profiles import also_in_soak

LINES = b"".join(
    (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in stream(120)
)
LIMITS = Limits(batch=10, snapshot=0.0)


class CrashError(Exception):
    """The process dies here."""


def command(kind: str, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    code = (
        f"from streamnb_consumers.daemon.command import run_{kind}; raise SystemExit(run_{kind}())"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env={key: each for key, each in os.environ.items() if not key.startswith("STREAMNB_")},
    )


# --- standard input and output --------------------------------------------------------------------


def test_sms_with_no_configuration() -> None:
    lines = [
        {"id": "1", "text": "win cash now", "label": "spam"},
        {"id": "2", "text": "see you at noon", "label": "ham"},
        {"id": "3", "text": "cash now"},
    ]
    done = command(
        "sms", stdin=b"".join(json.dumps(each).encode() + b"\n" for each in lines) + b"?"
    )
    decisions = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["id"], each["label"]) for each in decisions] == [
        ("1", None), ("2", "spam"), ("3", "spam"),
    ]  # fmt: skip
    assert sum(decisions[2]["probabilities"].values()) == pytest.approx(1)
    assert done.stderr.startswith(b"line 4: not JSON")
    assert done.returncode == 0


def test_spam_with_no_configuration() -> None:
    mail = {"id": "1", "text": "Subject: free\n\n<html>cash", "label": "spam"}
    done = command("spam", stdin=json.dumps(mail).encode())
    assert json.loads(done.stdout)["id"] == "1"


def test_input_of_nothing_but_bad_lines_fails() -> None:
    assert command("sms", stdin=b"a\nb\n").returncode == 1


@pytest.mark.parametrize("kind", ["sms", "spam"])
def test_an_empty_standard_input_is_an_error(kind: str) -> None:
    done = command(kind)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"empty" in done.stderr


@pytest.mark.parametrize(
    "flag", also_in_soak(["-p", "--format=mail"], ["-pe", "-u", "-s", "-n", "-S", "-N"])
)
def test_an_empty_mail_is_an_error(flag: str, tmp_path: Path) -> None:
    done = command("spam", flag, "--snapshots", str(tmp_path / "state"))
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"the mail is empty" in done.stderr


def test_bad_lines_go_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "dead"
    done = command("sms", "--dead-letters", str(path), stdin=b'bad\n{"text":"hi"}\n')
    assert (done.stderr, done.returncode) == (b"", 0)
    assert json.loads(path.read_bytes())["value"] == "YmFk"


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    done = command("sms", "--dry-run", "--snapshots", str(folder), stdin=LINES)
    assert done.stdout == b""
    assert b"120 decisions" in done.stderr
    assert not folder.exists()


def test_lines_come_whole_whatever_the_blocks() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file:
        source = StdinSource(file, max_bytes=20, clock=lambda: 5.0)
        source.start({}, 1.0)
        assert source.poll(10, 0.0).records == []
        os.write(writing, b"one\r\n\ntw")
        assert [each.value for each in source.poll(10, 0.0).records] == [b"one"]
        os.write(writing, b"o\n" + b"x" * 100)
        assert [each.value for each in source.poll(10, 0.0).records] == [b"two"]
        assert not source.ended
        os.write(writing, b"x" * 100 + b"\nlast")
        os.close(writing)
        (long,) = source.poll(1, 0.0).records
        assert (long.value, long.offset, long.timestamp) == (b"x" * 21, 2, 5_000)
        assert not source.ended
        assert [each.value for each in source.poll(1, 0.0).records] == [b"last"]
        assert source.ended


def test_a_reader_that_takes_nothing_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb", 0) as file:
        while True:
            try:
                os.write(writing, b"x" * 4096)
            except BlockingIOError:
                break
        sink = StdoutSink(file, errors=io.StringIO())
        worker = make_filter()
        sink.send(worker.handle(records([{"text": "hi"}])[0]))
        with pytest.raises(TimeoutError, match="accepted nothing"):
            sink.commit({}, None, 0.0)


# --- files ----------------------------------------------------------------------------------------


def paths(folder: Path) -> dict[str, Path]:
    source = folder / "in.jsonl"
    source.write_bytes(LINES)
    return {"source": source, "sink": folder / "out.jsonl", "dead": folder / "out.jsonl.dead"}


def run_files(found: dict[str, Path], sink: FileSink, **parts: Any) -> bytes:
    worker = make_filter()
    Loop(FileSource(found["source"], sink), sink, worker, limits=LIMITS, **parts).run()
    return worker.learner.model.to_bytes()


def test_files_are_filtered_exactly_once_through_crashes(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    calm, stormy = paths(one), paths(two)
    model = run_files(calm, FileSink(calm["sink"]))

    class Dying(FileSink):
        """Die in the third commit, after the outputs and before what says so."""

        commits = 0

        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            self.commits += 1
            if self.commits == 3:
                mark, self._mark = self._mark, self._mark.with_name("elsewhere")
                super().commit(offsets, token, timeout)
                self._mark = mark
                raise CrashError
            super().commit(offsets, token, timeout)

    for parts in ({}, {"snapshots": Snapshots(two / "snapshots")}) * 3:
        with pytest.raises(CrashError):
            run_files(stormy, Dying(stormy["sink"]), **parts)
    assert run_files(stormy, FileSink(stormy["sink"])) == model
    for name in ("sink", "dead"):
        written = stormy[name].read_bytes().replace(b"/two/", b"/one/")
        assert written == calm[name].read_bytes(), name
    # And once more: there is nothing left to do.
    assert run_files(stormy, FileSink(stormy["sink"])) == model
    assert len(stormy["sink"].read_bytes()) == len(calm["sink"].read_bytes())


def test_outputs_of_something_else_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")
    with pytest.raises(SnapshotError, match="move it away"):
        FileSink(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "precious"


# --- snapshots ------------------------------------------------------------------------------------


def test_the_last_few_snapshots_are_kept(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path, keep=3)
    for number in range(6):
        snapshots.save(bytes([number]))
    assert [snapshots.read(path) for path in snapshots.paths()] == [b"\5", b"\4", b"\3"]


def test_the_newest_good_snapshot_is_loaded(tmp_path: Path) -> None:
    snapshots, worker = Snapshots(tmp_path), make_filter()
    good = snapshots.save(state.dump(worker))
    snapshots.save(state.dump(worker)[:-3])
    snapshots.save(b"")
    assert snapshots.load(lambda data: state.restore(worker, data)) == good


def test_without_a_good_snapshot_nothing_starts(tmp_path: Path) -> None:
    snapshots, worker = Snapshots(tmp_path), make_filter()
    assert snapshots.load(lambda data: state.restore(worker, data)) is None
    snapshots.save(b"bad")
    with pytest.raises(SnapshotError, match="none of the snapshots"):
        snapshots.load(lambda data: state.restore(worker, data))


def test_half_written_snapshots_are_swept_away(tmp_path: Path) -> None:
    (tmp_path / ".snapshot-000000000001.bin.x").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("kept")
    assert Snapshots(tmp_path).paths() == []
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
