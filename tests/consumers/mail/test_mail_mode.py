"""`streamnb-spam` with one mail, like bogofilter: exit status, headers, learning, locking."""

from __future__ import annotations

import email
import io
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamnb.mail.header_block import without_header
from streamnb_consumers.daemon import mail_mode, state_folder
from streamnb_consumers.daemon.command import run
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.state_folder import held, load
from streamnb_consumers.errors import BusyError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import SharedFilter

SPAM = b"From: Ann <ann@shop.example>\nSubject: win\n\nfree cash now, claim your prize\n"
HAM = b"From: bob@home.example\nMessage-ID: <7@home.example>\nSubject: noon\n\nsee you at dinner\n"
NEITHER = b"Subject: hello\n\nwhat is this\n"


class Mailer:
    """Runs the command in this process with a mail on standard input."""

    def __init__(self, folder: Path, monkeypatch: Any, capfdbinary: Any) -> None:
        self.folder, self._monkeypatch, self._captured = folder, monkeypatch, capfdbinary
        self.output = self.errors = b""

    def __call__(self, raw: bytes, *arguments: str) -> int:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        status = run("spam", ["--snapshots", str(self.folder), *arguments])
        self.output, self.errors = self._captured.readouterr()
        return status

    def state(self) -> bytes:
        snapshots = Snapshots(self.folder)
        return snapshots.read(snapshots.paths()[0])


@pytest.fixture
def mailer(tmp_path: Path, monkeypatch: Any, capfdbinary: Any) -> Mailer:
    return Mailer(tmp_path / "state", monkeypatch, capfdbinary)


@pytest.fixture
def taught(mailer: Mailer) -> Mailer:
    assert mailer(SPAM, "-s") == mailer(HAM, "-n") == 0
    return mailer


# --- exit status --------------------------------------------------------------------------------


def test_exit_status_is_the_decision(mailer: Mailer) -> None:
    assert mailer(SPAM, "--format=mail") == 2  # nothing is known yet
    assert json.loads(mailer.output)["label"] is None
    assert not mailer.folder.exists(), "asking leaves nothing behind"
    assert mailer(SPAM, "-s") == 0
    assert mailer.output == b""
    assert mailer(HAM, "-n") == 0
    assert mailer(SPAM, "--format=mail") == 0
    assert mailer(HAM, "--format=mail") == 1
    decision = json.loads(mailer.output)
    assert (decision["id"], decision["label"], decision["version"]) == (
        "<7@home.example>", "ham", 2,
    )  # fmt: skip
    cuts = ("--spam-cutoff=0.9999", "--ham-cutoff=0.0001")
    assert mailer(NEITHER, "--format=mail", *cuts) == 2
    assert json.loads(mailer.output)["label"] == "unsure"


def test_errors_have_their_own_exit_status(
    taught: Mailer, tmp_path: Path, monkeypatch: Any
) -> None:
    broken = tmp_path / "settings.toml"
    broken.write_text("batch = 0")
    for arguments in (
        ["-p", "--config", str(broken)], ["-p", "--config", "/no/such"], ["-q"], ["-pq"],
        ["-p", "--no-such-flag"], ["-s", "-n"], ["-sS"], ["-SN"], ["-sp"], ["-e"], ["-nu"],
        ["-p", "--model", "CNB"], ["-s", "--input", str(tmp_path / "none")],
        ["-p", "--bootstrap-servers", "a:1"], ["-p", "--format", "maildir"],
        ["-p", "--input", str(tmp_path)], ["-N"], ["-p", "--snapshots", "/dev/null"],
    ):  # fmt: skip
        assert taught(SPAM, *arguments) == 3, arguments
        assert taught.output == b"", "half a mail is worse than none"
        assert b"error" in taught.errors
    assert taught(b"", "-p") == taught(b"\n \n", "-s") == 3
    assert taught(b'{"id": "1", "text": "x"}', "-s", "--format=jsonl") == 3
    assert taught(b"", "-p", "--version") == taught(b"", "-p", "--check-config") == 0
    monkeypatch.setattr(mail_mode, "decide", lambda *_: 1 / 0)
    assert taught(SPAM, "-p") == 3
    assert b"ZeroDivisionError" in taught.errors


def test_damaged_state_is_an_error(taught: Mailer) -> None:
    for path in Snapshots(taught.folder).paths():
        path.write_bytes(path.read_bytes()[:-1])
    assert taught(SPAM, "-p") == taught(SPAM, "-s") == 3
    assert b"none of the snapshots" in taught.errors


# --- passing through ------------------------------------------------------------------------------


def test_mail_passes_through_with_status_header(taught: Mailer) -> None:
    assert taught(SPAM, "-p") == 0
    first, rest = taught.output.split(b"\n", 1)
    assert rest == SPAM
    header, probability, *_ = first.decode().split(", ")
    assert header == "X-Spam-Status: Yes"
    assert 0.9999 < float(probability.removeprefix("probability=")) <= 1
    assert first.endswith(b", version=2")
    assert taught(HAM, "-p", "-e") == 0
    assert taught.output.startswith(b"X-Spam-Status: No, probability=0.0")
    assert taught(HAM, "-p") == 1


def test_incoming_status_header_is_replaced(taught: Mailer) -> None:
    forged = b"From x Sat Jan 3\nx-spam-status : No,\n listed=allow\n" + SPAM
    assert taught(forged, "-pe") == 0
    found = email.message_from_bytes(taught.output)
    (status,) = found.get_all("X-Spam-Status")
    assert status.startswith("Yes, ")
    assert found.get_unixfrom() == "From x Sat Jan 3"
    again = taught.output
    assert taught(again, "-pe") == 0
    assert taught.output == again, "what it wrote itself says nothing to it"
    assert taught(again, "-S", "--format=mail") == 0
    assert taught(SPAM, "--status-header=X-Other", "-pe") == 0
    assert taught.output.startswith(b"X-Other: ")


def test_any_bytes_and_lengths_pass_through(taught: Mailer) -> None:
    for raw in (b"\xff\x00\r\r\n" * 9, SPAM.replace(b"\n", b"\r\n"), HAM + b"x" * 2**21, b"x"):
        assert taught(raw, "-pe", "--max-bytes=1000") == 0
        assert taught.output.split(b"\n", 1)[1] == raw


PIECES = [
    b"\n",
    b"\r\n",
    b"From: a@b.c",
    b"X-Spam-Status: No",
    b"\xff",
    b"\x00",
    b"{",
    b" ",
    b"win",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map(b"".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_any_mail_passes_through_with_one_header(taught: Mailer, raw: bytes) -> None:
    status = taught(raw, "-p")
    clean = without_header(raw, "X-Spam-Status")
    if not clean.strip():
        assert status == 3
        return
    assert status in (0, 1, 2)
    head, _, rest = taught.output.partition(b"\n")
    assert head.startswith((b"X-Spam-Status: ", b"From "))
    assert rest.endswith(clean[-5:])
    assert len(taught.output) - len(clean) < 200
    assert email.message_from_bytes(taught.output)["X-Spam-Status"].startswith(("Yes", "No", "Uns"))


# --- learning -------------------------------------------------------------------------------------


def test_unlearning_undoes_learning(mailer: Mailer) -> None:
    """A model that only counts is equal to the byte; the default model keeps its corrections."""
    counts = "--model=MNB(alpha=0.003, oov='skip')"
    assert mailer(SPAM, "-s", counts) == mailer(HAM, "-n", counts) == 0
    before = mailer.state()
    assert mailer(NEITHER, "-s", counts) == 0
    assert mailer.state() != before
    assert mailer(NEITHER, "-S", counts) == 0
    assert mailer.state() == before
    assert mailer(NEITHER, "-S", counts) == 3
    assert b"not learned" in mailer.errors
    assert mailer.state() == before


def test_a_mail_can_be_unlearned_once(taught: Mailer) -> None:
    assert taught(NEITHER, "-s") == taught(NEITHER, "-S") == 0
    before = taught.state()
    assert taught(NEITHER, "-S") == 3
    assert b"not learned" in taught.errors
    assert taught.state() == before


def test_a_label_is_corrected(taught: Mailer) -> None:
    wrong = NEITHER + b"dinner at noon"
    assert taught(wrong, "-s") == taught(wrong, "-Sn") == 0
    assert taught(wrong, "--format=mail") == 1
    assert taught(wrong, "-N", "-s") == 0
    assert taught(wrong, "--format=mail") == 0


def test_update_learns_decisions_except_unsure(taught: Mailer) -> None:
    assert taught(SPAM, "-u") == 0
    assert taught(SPAM, "-S") == 0
    assert taught(HAM, "-pue") == 0
    assert taught(HAM, "-N") == 0
    assert taught(SPAM, "--format=mail") == 0
    assert json.loads(taught.output)["version"] == 2
    before = taught.state()
    assert taught(NEITHER, "-u", "--spam-cutoff=0.9999", "--ham-cutoff=1e-9") == 2
    assert taught.state() == before


def test_a_file_has_one_mail(taught: Mailer, tmp_path: Path) -> None:
    path = tmp_path / "one.eml"
    path.write_bytes(NEITHER)
    assert taught(b"", "-s", "--input", str(path)) == 0
    assert taught(NEITHER, "--format=mail") == 0
    assert json.loads(taught.output)["version"] == 3
    before = taught.state()
    path = tmp_path / "box"
    path.write_bytes(b"From a@b.c Sat Jan  3 01:05:34 1996\n" + SPAM)
    assert taught(b"", "-s", "--input", str(path)) == 3
    assert b"takes one mail" in taught.errors
    assert taught(NEITHER, "-s", "--format=mbox") == 3
    assert taught.state() == before


def test_daemon_reads_the_learned_state(taught: Mailer, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text(json.dumps({"id": "1", "text": SPAM.decode()}) + "\nno JSON\n")
    output = tmp_path / "decisions"
    assert taught(b"", "--input", str(lines), "--output", str(output)) == 0
    decision = json.loads(output.read_text())
    assert (decision["label"], decision["version"]) == ("spam", 2)
    assert b"not JSON" in (tmp_path / "decisions.dead").read_bytes()


def test_shared_model_is_not_changed(taught: Mailer) -> None:
    worker = mail_mode.make_filter("spam", Settings(bootstrap_servers="broker:9092"))
    assert isinstance(worker, SharedFilter)
    load(worker, taught.folder, 2**30)
    worker.belong("the topic's id")
    Snapshots(taught.folder).save(state.dump(worker))
    assert taught(SPAM, "-p") == 0
    assert taught(SPAM, "-s") == taught(SPAM, "-u") == 3
    assert b"topic of training events" in taught.errors


# --- concurrency ----------------------------------------------------------------------------------


def test_learning_waits_for_the_lock(taught: Mailer) -> None:
    waiting = threading.Thread(target=lambda: statuses.append(taught(NEITHER, "-s")))
    statuses: list[int] = []
    with held(taught.folder, 1.0):
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert taught(SPAM, "--format=mail") == 0, "who only asks does not wait"
        before = taught.state()
    waiting.join(20.0)
    assert statuses == [0]
    assert taught.state() != before


def test_lock_timeout_is_a_temporary_failure(taught: Mailer) -> None:
    with held(taught.folder, 1.0):
        assert taught(NEITHER, "-s", "--commit-seconds=0.1") == 75
        assert b"another process has locked the state" in taught.errors
        with pytest.raises(BusyError), held(taught.folder, 0.0):
            pass
        loop = taught(b"", "--input", "/dev/null", "--format=jsonl", "--stop-seconds=0.1")
        assert loop == 1


def test_reader_retries_when_snapshots_are_replaced(taught: Mailer, monkeypatch: Any) -> None:
    worker = mail_mode.make_filter("spam", Settings())
    real, calls = Snapshots.load, []

    def replaced(self: Snapshots, restore: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            paths = self.paths()
            data = paths[0].read_bytes()
            for path in paths:
                path.unlink()
            (self.folder / "snapshot-000000000009.bin").write_bytes(data)
            raise state_folder.SnapshotError("gone")
        return real(self, restore)

    monkeypatch.setattr(Snapshots, "load", replaced)
    load(worker, taught.folder, 2**30)
    assert (len(calls), worker.learner.learned) == (2, 2)


PROGRAM = "from streamnb_consumers.daemon.command import run_spam; raise SystemExit(run_spam())"


def test_concurrent_deliveries_lose_nothing(taught: Mailer, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "--snapshots", str(taught.folder)]
    several = [
        subprocess.Popen([*command, "-s"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for number, each in enumerate(several):
        assert each.stdin is not None
        each.stdin.write(NEITHER + b"word%d\n" % number)
        each.stdin.close()
    assert [each.wait(60) for each in several] == [0, 0]
    for each in several:
        assert each.stderr is not None
        assert each.stderr.read() == b""
        each.stderr.close()
    assert taught(NEITHER, "--format=mail") == 0
    assert json.loads(taught.output)["version"] == 4


def test_mail_is_recognised_without_flags(taught: Mailer) -> None:
    command = [sys.executable, "-c", PROGRAM, "--snapshots", str(taught.folder)]
    done = subprocess.run(command, input=b"\n" + HAM, capture_output=True, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["label"]) == (1, "ham")
