"""A listener in operation: private state, full disks, many idle clients, signals, Unix sockets."""

from __future__ import annotations

import contextlib
import http.client
import resource
import shutil
import signal
import socket
import stat
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamnb_consumers.daemon.listen.service import content_id
from support.listener import PROGRAM, Listener, listening

pytest.importorskip("uvicorn")

SPAM, HAM = b"Message-ID: <1@x>\n\nclaim your prize", b"Message-ID: <2@x>\n\nsee you at noon"
DECIDED, BUSY = "SPAMD/1.1 0 EX_OK", "SPAMD/1.1 75 EX_TEMPFAIL"


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    with listening(tmp_path_factory.mktemp("state")) as found:
        yield found


def teach(listener: Listener) -> None:
    for label, raw in (("spam", SPAM), ("ham", HAM)):
        assert listener.spamd("TELL", raw, Message_class=label, Set="local")[0] == DECIDED


def test_nobody_else_reads_the_state(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)
    (folder / "snapshot-000000000000.bin.old").write_bytes(b"mail")
    with listening(folder, flags=("--dead-letters", str(folder / "refused"))) as listener:
        teach(listener)
        listener.spamd("CHECK", b"")
        assert listener.stop() == 0
    found = [folder, *folder.rglob("*")]
    assert any(path.name.startswith("snapshot-") for path in found)
    assert any(path.name.startswith("journal-") for path in found)
    assert not [path for path in found if path.stat().st_mode & 0o077]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((name, 200) for name in ("localhost", "127.0.0.1:80", "[::1]:80", "LOCALHOST:1")),
        *((name, 421) for name in ("evil.example", "localhost.evil.example", "", "192.0.2.1")),
    ],
)
def test_other_host_names_get_no_content(listener: Listener, host: str, status: int) -> None:
    assert listener.http("GET", "/decisions", Host=host)[0] == status
    assert listener.http("POST", "/classify", {"text": "x"}, Host=host)[0] == status
    assert listener.http("GET", "/metrics", Host=host)[0] == status
    assert listener.http("GET", "/readyz", Host=host)[0] == 200


def test_pages_of_other_sites_get_no_content(listener: Listener) -> None:
    assert listener.http("GET", "/decisions", **{"Sec-Fetch-Site": "cross-site"})[0] == 403


def test_the_token_opens_any_host_name(tmp_path: Path) -> None:
    with listening(tmp_path, environment={"STREAMNB_LISTEN_TOKEN": "secret"}) as listener:
        asked = {"Host": "mail.example", "Authorization": "Bearer secret"}
        assert listener.http("GET", "/decisions", **asked)[0] == 200
        assert listener.http("GET", "/decisions", Host="mail.example")[0] == 421


def test_a_question_learns_nothing(listener: Listener) -> None:
    before = listener.learned()
    for path in ("/classify", "/explain"):
        listener.post(path, {"id": "q1", "text": "Subject: a\n\nb", "label": "spam"})
    assert listener.learned() == before


def test_mails_without_id_and_body_are_different_mails() -> None:
    one, other = b"From: a@x\nSubject: one\n\n", b"From: a@x\nSubject: two\n\n"
    assert content_id(one) != content_id(other)
    assert content_id(one) == content_id(b"Received: by y\n" + one)


def test_refused_requests_are_not_stored(tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        for number in range(20):
            asked = {"id": "x" * 300_000, "text": "hi", "number": number}
            assert listener.http("POST", "/classify", asked)[0] == 422
            asked = {"id": str(number), "text": 7, "more": "x" * 300_000}
            assert listener.http("POST", "/classify", asked)[0] == 422
        assert sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl")) < 10_000
        teach(listener)
        listener.kill()
        listener.start()
        assert listener.learned() == 2


def test_the_journal_is_bounded_in_bytes(tmp_path: Path) -> None:
    flags = ("--journal-bytes", "400000", "--snapshots-kept", "1")
    with listening(tmp_path, flags=flags) as listener:
        teach(listener)
        deadline = time.monotonic() + 120
        number = 0
        while len(list(tmp_path.glob("snapshot-*"))) < 1 or number < 20:
            raw = b"Message-ID: <c%d@x>\n\n" % number + b"word " * 10_000
            listener.spamd("CHECK", raw)
            number += 1
            assert time.monotonic() < deadline
        listener.kill()
        listener.start()
        assert listener.learned() == 2


def test_a_start_reads_a_long_journal_in_bounded_memory(tmp_path: Path) -> None:
    def most_memory() -> int:
        """Return the largest memory of the process so far, in kB."""
        text = Path(f"/proc/{listener.process.pid}/status").read_text()
        (line,) = (line for line in text.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1])

    flags = ("--join-window-count", "20", "--snapshot-seconds", "3600")
    with listening(tmp_path, flags=flags) as listener:
        teach(listener)
        listener.kill()
        listener.start()
        before = most_memory()
        for number in range(300):
            raw = b"Message-ID: <c%d@x>\n\n" % number + b"word " * 40_000
            assert listener.spamd("CHECK", raw)[0] == DECIDED
        listener.kill()
        (journal,) = (path.stat().st_size for path in tmp_path.rglob("*.jsonl"))
        assert journal > 50_000_000
        listener.start()
        assert listener.learned() == 2
        assert most_memory() - before < 30_000


def test_a_full_disk_stops_learning_and_not_deciding(tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        teach(listener)
        (journal,) = tmp_path.rglob("*.jsonl")
        size = journal.stat().st_size
        # No file of the process can grow, as on a full disk.
        resource.prlimit(listener.process.pid, resource.RLIMIT_FSIZE, (size, size * 1000))
        for number in range(5):
            status, headers, _ = listener.spamd("CHECK", SPAM + b" %d" % number)
            assert status == DECIDED
            assert headers["Spam"]
        for number in range(30):
            raw = SPAM + b" label %d" % number
            status, *_ = listener.spamd("TELL", raw, Message_class="spam", Set="local")
            assert status.startswith(BUSY)
            assert listener.spamd("CHECK", HAM + b" %d" % number)[0] == DECIDED
        assert journal.stat().st_size == size
        resource.prlimit(listener.process.pid, resource.RLIMIT_FSIZE, (size * 1000, size * 1000))
        time.sleep(5.1)  # labels are tried again after some seconds
        status, *_ = listener.spamd("TELL", SPAM + b" new", Message_class="spam", Set="local")
        assert status == DECIDED
        listener.kill()
        listener.start()
        assert listener.learned() == 3


def test_spamc_reports_labels_that_were_not_taken(tmp_path: Path) -> None:
    program = shutil.which("spamc")
    if program is None:
        pytest.skip("spamc is not installed")
    with listening(tmp_path) as listener:
        teach(listener)
        command = [program, "-p", str(listener.port), "-x", "--connect-retries=1", "-L", "spam"]

        def learned() -> int:
            return subprocess.run(command, input=SPAM + b" x", stdout=subprocess.DEVNULL).returncode

        (journal,) = tmp_path.rglob("*.jsonl")
        size = journal.stat().st_size
        resource.prlimit(listener.process.pid, resource.RLIMIT_FSIZE, (size, size * 1000))
        assert learned() == 74
        resource.prlimit(listener.process.pid, resource.RLIMIT_FSIZE, (size * 1000, size * 1000))
        time.sleep(5.1)  # labels are tried again after some seconds
        assert learned() == 0
        assert listener.learned() == 3


HALVES = {
    "nothing": b"",
    "a part of a line": b"CHECK SPA",
    "a line": b"CHECK SPAMC/1.5\r\n",
    "a part of a mail": b"CHECK SPAMC/1.5\r\nContent-length: 100\r\n\r\nhello",
    "a mail without a length": b"TELL SPAMC/1.5\r\n\r\nhello",
    "a part of a body": b"POST /classify HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
    "a whole request": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES.keys())
def test_clients_that_send_no_more_do_not_lock_others_out(tmp_path: Path, half: bytes) -> None:
    with (
        listening(tmp_path, flags=("--connections", "20")) as listener,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(60):
            client = socket.create_connection((listener.host, listener.port), 10)
            stack.enter_context(client)
            client.sendall(half)
            time.sleep(0.005)  # the listener reads it
        for _ in range(5):
            assert listener.spamd("PING")[0] == "SPAMD/1.5 0 PONG"
            assert listener.spamd("CHECK", HAM)[0] == DECIDED


def test_bytes_that_are_not_http_after_a_request_log_no_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    raw = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    with listening(tmp_path) as listener:
        for _ in range(3):
            with socket.create_connection((listener.host, listener.port), 30) as client:
                client.sendall(raw)
                assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
        assert listener.http("GET", "/healthz")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_hangup_reads_the_lists_again(tmp_path: Path) -> None:
    lists = tmp_path / "deny"
    lists.write_text("bad.example\n")
    raw = b"From: ann@new.example\nMessage-ID: <9@x>\n\nsee you at noon"
    with listening(tmp_path / "state", flags=("--deny-senders", str(lists))) as listener:
        teach(listener)

        def decided() -> bool:
            return listener.spamd("CHECK", raw)[1]["Spam"].startswith("True")

        assert not decided()
        lists.write_text("bad.example\nnew.example\n")
        listener.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 30
        while not decided():
            assert time.monotonic() < until
        lists.unlink()  # an invalid list changes nothing
        listener.process.send_signal(signal.SIGHUP)
        time.sleep(1)
        assert decided()
        assert listener.stop() == 0


def test_the_mode_of_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "filter.sock"
    flags = ["--socket", str(path), "--socket-mode", "660"]
    command = [sys.executable, "-c", PROGRAM, "spam", "listen", "--snapshots", str(tmp_path / "s")]
    process = subprocess.Popen([*command, *flags])
    try:
        until = time.monotonic() + 60
        while not (path.exists() and stat.S_IMODE(path.stat().st_mode) == 0o660):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        with socket.socket(socket.AF_UNIX) as client:
            while client.connect_ex(str(path)):
                assert time.monotonic() < until
                time.sleep(0.05)
            client.sendall(b"PING SPAMC/1.5\r\n\r\n")
            assert b"PONG" in client.recv(100)
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_kept_connection_is_not_slower_than_a_new_one(listener: Listener) -> None:
    def classify(connection: http.client.HTTPConnection) -> float:
        begun = time.perf_counter()
        connection.request("POST", "/classify", SPAM, {"Content-Type": "message/rfc822"})
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.read()
        return time.perf_counter() - begun

    def new() -> http.client.HTTPConnection:
        return http.client.HTTPConnection(listener.host, listener.port)

    kept = new()
    seconds: dict[str, list[float]] = {"kept": [], "new": []}
    for _ in range(15):
        seconds["kept"].append(classify(kept))
        with contextlib.closing(new()) as one:
            seconds["new"].append(classify(one))
    kept.close()
    # The delayed acknowledgement of a kept connection would take 40 times as long as a request.
    assert statistics.median(seconds["kept"]) < 5 * statistics.median(seconds["new"])


def test_questions_alone_write_no_snapshot(tmp_path: Path) -> None:
    environment = {"STREAMNB_SNAPSHOT_SECONDS": "0.3"}
    with listening(tmp_path, environment=environment) as listener:
        teach(listener)
        deadline = time.monotonic() + 60
        before: list[Path] = []
        # Until the labels are in a snapshot, and none has followed for a second.
        while not before or sorted(tmp_path.glob("snapshot-*")) != before:
            assert time.monotonic() < deadline
            before = sorted(tmp_path.glob("snapshot-*"))
            for _ in range(10):
                assert listener.spamd("CHECK", SPAM)[0] == DECIDED
                time.sleep(0.1)
        for _ in range(15):
            assert listener.spamd("CHECK", SPAM)[0] == DECIDED
            time.sleep(0.1)
        assert sorted(tmp_path.glob("snapshot-*")) == before
        teach_again = listener.spamd("TELL", HAM + b" again", Message_class="ham", Set="local")
        assert teach_again[0] == DECIDED
        while sorted(tmp_path.glob("snapshot-*")) == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)
