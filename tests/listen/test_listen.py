"""A resident filter answers `spamc` and HTTP clients, and keeps what it acknowledged."""

from __future__ import annotations

import concurrent.futures
import json
import random
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamnb.mail.content import mail_text
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.listen.journal import Journal, JournalSink, JournalSource
from streamnb_consumers.daemon.listen.requests import Requests
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.state_folder import load
from streamnb_consumers.records import Decision, Partition
from support.filters import WORDS, text
from support.listener import Listener, listening

pytest.importorskip("uvicorn")


def mail(label: str, number: int, generator: random.Random) -> bytes:
    return (
        f"From: {label}@x.example\r\nMessage-ID: <{number}@x.example>\r\n"
        f"Subject: {text(label, generator)}\r\n\r\n{text(label, generator)}\r\n"
    ).encode()


def mails(n: int) -> list[tuple[str, bytes]]:
    generator = random.Random(3)
    labels = [generator.choice(sorted(WORDS)) for _ in range(n)]
    return [(label, mail(label, number, generator)) for number, label in enumerate(labels)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    with listening(tmp_path_factory.mktemp("state")) as listener:
        for label, raw in mails(40):
            status, told, _ = listener.spamd("TELL", raw, Message_class=label, Set="local")
            assert (status, told["DidSet"]) == ("SPAMD/1.1 0 EX_OK", "local")
        yield listener


SPAM, HAM = (mail(label, 1000 + at, random.Random(9)) for at, label in enumerate(("spam", "ham")))


def test_checks_are_learned_without_a_label_and_survive_a_stop(tmp_path: Path) -> None:
    with listening(tmp_path, flags=("--self-training", "true")) as listener:
        for label, raw in mails(60):
            listener.spamd("TELL", raw, Message_class=label, Set="local")
        before = listener.learned()
        for raw in (SPAM, HAM, SPAM):
            assert "Spam" in listener.spamd("CHECK", raw)[1]
        assert listener.learned() == before + 2
        # The answer to a label does not take the own label for that of a user.
        told = listener.spamd("TELL", SPAM, Message_class="spam", Set="local")[1]
        assert "DidSet" in told
        assert listener.learned() == before + 3
        assert listener.stop() == 0
        listener.start()
        assert listener.learned() == before + 3


class TestSpamd:
    def test_check_answers_with_points(self, trained: Listener) -> None:
        for raw, expected in ((SPAM, "True"), (HAM, "False")):
            status, headers, body = trained.spamd("CHECK", raw)
            answer, _, points = headers["Spam"].partition(" ; ")
            score, _, required = points.partition(" / ")
            assert (status, answer, required, body) == ("SPAMD/1.1 0 EX_OK", expected, "5.0", b"")
            assert (float(score) >= 5.0) == (expected == "True")

    def test_symbols_and_reports_name_words(self, trained: Listener) -> None:
        words = trained.spamd("SYMBOLS", SPAM)[2].decode().split(",")
        assert set(words) & set(WORDS["spam"])
        for command in ("REPORT", "REPORT_IFSPAM"):
            assert b" cash\n" in trained.spamd(command, SPAM)[2]
        assert trained.spamd("REPORT_IFSPAM", HAM)[2] == b""

    def test_process_adds_headers_and_replaces_forged_ones(self, trained: Listener) -> None:
        forged = b"X-Spam-Status: No, forged\r\nX-Spam-Flag: NO\r\n" + SPAM
        whole = trained.spamd("PROCESS", forged)[2]
        head, _, body = whole.partition(b"\r\n\r\n")
        assert body == SPAM.partition(b"\r\n\r\n")[2]
        assert b"X-Spam-Flag: YES" in head
        assert b"X-Spam-Status: Yes, score=" in head
        assert b"forged" not in head
        assert trained.spamd("HEADERS", forged)[2] == head + b"\r\n\r\n"
        assert b"X-Spam-Flag" not in trained.spamd("PROCESS", HAM)[2]

    def test_tell_learns_corrects_and_unlearns_once(self, trained: Listener) -> None:
        raw = mail("ham", 2000, random.Random(4))
        before = trained.learned()
        tell = [
            ({"Message_class": "spam", "Set": "local"}, {"DidSet": "local"}, "learned"),
            ({"Message_class": "spam", "Set": "local"}, {}, "learned_before"),
            ({"Message_class": "ham", "Set": "local, remote"}, {"DidSet": "local"}, "corrected"),
            ({"Remove": "local"}, {"DidRemove": "local"}, "unlearned"),
            ({"Remove": "local"}, {}, "not_learned"),
        ]
        # On the way to the mailbox servers add headers, and line ends may change.
        forms = (raw, b"Delivered-To: ann@x.example\r\n" + raw, raw.replace(b"\r\n", b"\n"))
        for at, (headers, expected, result) in enumerate(tell):
            status, told, _ = trained.spamd("TELL", forms[at % 3], **headers)
            assert told.pop("Content-length") == "0"
            assert told == expected | {"Streamnb-Result": result}
            assert status == "SPAMD/1.1 0 EX_OK"
        assert trained.learned() == before + 3

    def test_ping_and_skip(self, trained: Listener) -> None:
        assert trained.spamd_bytes(b"PING SPAMC/1.2\r\n\r\n")[0] == "SPAMD/1.5 0 PONG"
        assert trained.spamd_bytes(b"SKIP SPAMC/1.2\r\n\r\n") == ("", {}, b"")

    @pytest.mark.parametrize(
        ("request_", "status", "why"),
        [
            (b"EAT SPAMC/1.5\r\n\r\n", 76, "no command EAT"),
            (b"CHECK SPAMC/1.5\r\nUser ann\r\n\r\n", 76, "not a header"),
            (b"CHECK SPAMC/1.5\r\nContent-length: x\r\n\r\n", 76, "must be a number"),
            (b"CHECK SPAMC/1.5\r\nContent-length: %b\r\n\r\n" % (b"9" * 5_000), 76, "a number"),
            (b"CHECK SPAMC/1.5\r\nContent-length: 99999999\r\n\r\n", 76, "max_bytes"),
            (b"CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\nshort", 76, "5 bytes"),
            (b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\nplain", 76, "not zlib"),
            (b"TELL SPAMC/1.5\r\nSet: local\r\n\r\nA: b\n\nc", 76, "Message-class must be"),
            (b"TELL SPAMC/1.5\r\nMessage-class: spam\r\n\r\nA: b\n\nc", 76, "Set: local"),
            (b"CHECK SPAMC/1.5\r\nContent-length: 0\r\n\r\n", 65, "empty"),
        ],
    )
    def test_bad_requests_say_why(
        self, trained: Listener, request_: bytes, status: int, why: str
    ) -> None:
        line = trained.spamd_bytes(request_)[0]
        assert line.startswith(f"SPAMD/1.1 {status} EX_")
        assert why in line

    def test_a_request_in_pieces_needs_no_end_of_input(self, trained: Listener) -> None:
        head = f"CHECK SPAMC/1.5\r\nUser: ann\r\nContent-length: {len(SPAM)}\r\n\r\n".encode()
        with socket.create_connection((trained.host, trained.port), 30) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(head + SPAM), 7):
                client.sendall((head + SPAM)[at : at + 7])
                time.sleep(0.001)
            answer = b"".join(iter(lambda: client.recv(65_536), b""))
        assert answer.startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True ; ")

    def test_older_clients_get_one_header(self, trained: Listener) -> None:
        """Exim reads the answer by position."""
        head = f"REPORT SPAMC/1.2\r\nUser: nobody\r\nContent-length: {len(SPAM)}\r\n\r\n"
        status, headers, body = trained.spamd_bytes(head.encode() + SPAM)
        assert (status, list(headers)) == ("SPAMD/1.1 0 EX_OK", ["Spam"])
        assert body.startswith(b"Content analysis details:   (")

    def test_spamc_checks_and_learns(self, trained: Listener) -> None:
        program = shutil.which("spamc")
        if program is None:
            pytest.skip("spamc is not installed")

        def spamc(*flags: str, raw: bytes) -> tuple[int, str]:
            command = [program, "-p", str(trained.port), "-x", *flags]
            done = subprocess.run(command, input=raw, capture_output=True, timeout=60)
            return done.returncode, done.stdout.decode()

        raw = mail("spam", 3000, random.Random(5))
        assert spamc("-c", raw=raw)[0] == 1
        assert spamc("-c", raw=HAM)[0] == 0
        assert "X-Spam-Flag: YES" in spamc(raw=raw)[1]
        assert spamc("-L", "spam", raw=raw) == (0, "Message successfully un/learned\n")
        assert spamc("-L", "spam", raw=raw) == (0, "Message was already un/learned\n")
        assert spamc("-L", "forget", raw=raw) == (0, "Message successfully un/learned\n")
        assert spamc("-K", raw=b"")[1].startswith("SPAMD/1.5 0")


class TestHttp:
    def test_classify_learn_unlearn_and_explain(self, trained: Listener) -> None:
        text = f"Subject: win cash\n\n{' '.join(WORDS['spam'])}"
        message = {"id": "h1", "text": text}
        decision = trained.post("/classify", message)
        assert (decision["id"], decision["label"]) == ("h1", "spam")
        assert trained.post("/explain", message)["words"]
        assert trained.post("/learn", {"id": "h1", "label": "ham"})["learned"] == "ham"
        corrected = trained.post("/learn", {"id": "h1", "label": "spam"})
        assert (corrected["learned"], corrected["unlearned"]) == ("spam", "ham")
        assert trained.post("/unlearn", {"id": "h1"})["unlearned"] == "spam"

    def test_a_message_without_an_id_is_the_same_message_again(self, trained: Listener) -> None:
        message = {"text": "Subject: y\n\nwin cash"}
        name = trained.post("/classify", message)["id"]
        assert trained.post("/learn", message | {"label": "spam"})["learned"] == "spam"
        assert trained.post("/learn", message | {"label": "spam"})["learned"] is None
        assert trained.post("/unlearn", message) == {
            "id": name,
            "learned": None,
            "unlearned": "spam",
            "result": "unlearned",
        }

    def test_lines_and_mails(self, trained: Listener) -> None:
        lines = b'{"id": "l1", "text": "Subject: x\\n\\nwin"}\noops\n{"id": "l2", "text": "hi"}\n'
        status, body = trained.http("POST", "/classify", lines, "application/x-ndjson")
        found = [json.loads(line) for line in body.splitlines()]
        assert (status, found[0]["id"], found[2]["id"]) == (200, "l1", "l2")
        assert "not JSON" in found[1]["error"]
        status, body = trained.http("POST", "/classify", SPAM, "message/rfc822")
        assert json.loads(body)["label"] == "spam"
        raw = mail("ham", 4000, random.Random(7))
        for path, key in (("/learn?label=ham", "learned"), ("/unlearn", "unlearned")):
            status, body = trained.http("POST", path, raw, "message/rfc822")
            assert (status, json.loads(body)[key]) == (200, "ham")

    def test_labels_of_one_message_in_one_request_have_their_own_answers(
        self, trained: Listener
    ) -> None:
        message = b'{"id": "s1", "text": "Subject: x\\n\\nwin", "label": "%s"}\n'
        lines = b"".join(message % label for label in (b"spam", b"ham", b"ham", b"spam"))
        _, body = trained.http("POST", "/learn", lines, "application/x-ndjson")
        found = [json.loads(line) for line in body.splitlines()]
        changes = [(each["learned"], each["unlearned"]) for each in found]
        assert changes == [("spam", None), ("ham", "spam"), (None, None), ("spam", "ham")]

    @pytest.mark.parametrize(
        ("path", "body", "kind", "status", "why"),
        [
            ("/classify", b"oops", "application/json", 422, "not JSON"),
            ("/classify", b'{"id": "1"}', "application/json", 422, "a message needs text"),
            ("/learn", b'{"id": "1"}', "application/json", 422, "a label is missing"),
            ("/learn", b'{"id": "1", "label": "x"}', "application/json", 422, "not one of"),
            ("/learn", b"A: b\n\nc", "message/rfc822", 422, "a label is missing"),
            ("/classify", b"{}", "text/plain", 415, "Content-Type must be"),
            ("/classify", b" " * (2**24 + 1), "message/rfc822", 413, "more than"),
            ("/learn/", b'{"id": "1", "label": "spam"}', "application/json", 404, "Not Found"),
        ],
    )
    def test_bad_requests_say_why(
        self, trained: Listener, path: str, body: bytes, kind: str, status: int, why: str
    ) -> None:
        found, answer = trained.http("POST", path, body, kind)
        assert (found, why in json.loads(answer)["error"]) == (status, True), answer

    def test_pages_of_other_sites_are_refused(self, trained: Listener) -> None:
        message = {"text": "hi"}
        status, _ = trained.http("POST", "/classify", message, Origin="http://evil.example")
        assert status == 403

    def test_health_metrics_and_description(self, trained: Listener) -> None:
        assert trained.http("GET", "/healthz") == (200, b"ok\n")
        for _ in range(2):  # an answer may come before the count of its decision
            trained.spamd("CHECK", SPAM)
        assert b'streamnb_decisions_total{filter="spam"' in trained.http("GET", "/metrics")[1]
        paths = json.loads(trained.http("GET", "/openapi.json")[1])["paths"]
        for path in paths:
            method = "GET" if "get" in paths[path] else "POST"
            assert trained.http(method, path)[0] not in (404, 405)

    def test_the_description_has_the_fields_of_the_answers(self, trained: Listener) -> None:
        schemas = json.loads(trained.http("GET", "/openapi.json")[1])["components"]["schemas"]
        found = trained.post("/explain", {"id": "o1", "text": "Subject: x\n\nwin"})
        learned = trained.post("/learn", {"id": "o1", "label": "spam"})
        asked = Decision("1", "a", {}, 0.0, 1, Partition("x", 0), 0, (), "deny", True).to_json()
        for name, answers in {"Decision": [found, asked], "Learned": [learned]}.items():
            for answer in answers:
                assert answer.keys() <= schemas[name]["properties"].keys()
                assert answer.keys() >= set(schemas[name]["required"])


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.soak)])
def test_kills_lose_no_acknowledged_label_and_double_none(tmp_path: Path, kills: int) -> None:
    """Kill the process at random moments while clients learn; then count the labels."""
    stream, generator = mails(100 * kills), random.Random(11)
    acknowledged: set[int] = set()
    with listening(tmp_path, flags=("--snapshot-seconds", "0.3")) as listener:
        for _ in range(kills):
            todo = [at for at in range(len(stream)) if at not in acknowledged]

            def tell(at: int) -> int | None:
                label, raw = stream[at]
                try:
                    told = listener.spamd("TELL", raw, Message_class=label, Set="local")
                except OSError:
                    return None
                return at if told[0].startswith("SPAMD/1.1 0") else None

            timer = threading.Timer(generator.uniform(0.05, 0.5), listener.kill)
            timer.start()
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                acknowledged |= {at for at in pool.map(tell, todo[:150]) if at is not None}
            timer.join()
            listener.start()
        for at in range(len(stream)):
            if at not in acknowledged:
                tell(at)
        assert listener.learned() == len(stream)
        for label, raw in stream[::7]:
            told = listener.spamd("TELL", raw, Message_class=label, Set="local")[1]
            assert "DidSet" not in told
        assert listener.stop() == 0
    assert acknowledged
    assert len(list((tmp_path / "journal").iterdir())) <= Snapshots(tmp_path).keep + 1


def test_both_protocols_and_files_give_one_model(tmp_path: Path) -> None:
    stream = mails(60)
    learned = {}
    for name in ("spamd", "http"):
        with listening(tmp_path / name) as listener:
            for label, raw in stream:
                if name == "spamd":
                    listener.spamd("CHECK", raw)
                    listener.spamd("TELL", raw, Message_class=label, Set="local")
                else:
                    listener.http("POST", "/classify", raw, "message/rfc822")
                    listener.http("POST", f"/learn?label={label}", raw, "message/rfc822")
            assert listener.stop() == 0
        worker = make_filter("spam", Settings())
        load(worker, tmp_path / name, 2**33)
        learned[name] = worker.learner.model.to_bytes()
    expected = make_filter("spam", Settings()).learner.model
    for label, raw in stream:
        expected.learn_one(mail_text(raw), label)
    assert learned == dict.fromkeys(learned, expected.to_bytes())


def test_a_second_process_on_the_state_is_refused(trained: Listener, tmp_path: Path) -> None:
    folder = trained._arguments[5]
    with pytest.raises(AssertionError, match="ended with"):
        Listener(Path(folder), flags=("--stop-seconds", "0.2"))


def test_remote_clients_need_a_token(tmp_path: Path) -> None:
    environment = {"STREAMNB_LISTEN_TOKEN": "secret"}
    with listening(tmp_path, environment=environment) as listener:
        assert listener.http("POST", "/classify", {"text": "hi"})[0] == 200
        headers = {"Origin": "http://other.example", "Authorization": "Bearer secret"}
        assert listener.http("POST", "/classify", {"text": "hi"}, **headers)[0] == 200
        headers["Authorization"] = "Bearer wrong"
        assert listener.http("POST", "/classify", {"text": "hi"}, **headers)[0] == 403


def test_the_user_of_a_request_is_a_field(tmp_path: Path) -> None:
    """Two users label the same mails, in both protocols."""
    answers = {"ann": "spam", "bob": "ham"}
    with listening(tmp_path, flags=("--fields", "user")) as listener:
        for at, (_, raw) in enumerate(mails(20)):
            for user, label in answers.items():
                if at % 2:
                    told = listener.spamd("TELL", raw, Message_class=label, Set="local", User=user)[
                        1
                    ]
                    assert told["DidSet"] == "local"
                else:
                    path = f"/learn?label={label}&user={user}"
                    status, body = listener.http("POST", path, raw, "message/rfc822")
                    assert (status, json.loads(body)["learned"]) == (200, label)
        assert listener.learned() == 40
        for user in answers:
            assert f"user_{user}" in listener.spamd("SYMBOLS", SPAM, User=user)[2].decode()
            message = {"text": SPAM.decode(), "user": user}
            words = [each["word"] for each in listener.post("/explain", message)["words"]]
            assert [word for word in words if word.startswith("user=")] == [f"user={user}"]
        told = listener.spamd("TELL", raw, Remove="local", User="ann")[1]
        assert told["DidRemove"] == "local"
        assert listener.learned() == 41  # events


def own_address() -> str:
    """Return the address of this machine in a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no network")
        address: str = probe.getsockname()[0]
    return address


@pytest.mark.parametrize("allowed", [False, True])
def test_clients_of_other_networks_change_nothing_unless_allowed(
    tmp_path: Path, allowed: bool
) -> None:
    address = own_address()
    flags = ("--host", "0.0.0.0", *(("--spamd-clients", f"{address}/32") if allowed else ()))
    with listening(tmp_path, flags=flags) as listener:
        listener.host = address
        told = listener.spamd("TELL", SPAM, Message_class="spam", Set="local")
        assert told[0].split()[1] == ("0" if allowed else "76")
        status, answer = listener.http("POST", "/learn?label=ham", HAM, "message/rfc822")
        assert (status, b"LISTEN_TOKEN" in answer) == (401, True)
        listener.host = "127.0.0.1"
        assert listener.learned() == allowed


def test_a_client_that_leaves_does_not_stop_the_filter(tmp_path: Path) -> None:
    requests, journal = Requests(), Journal(tmp_path, keep=1)
    source, sink = JournalSource(journal, requests), JournalSink(journal, requests)
    source.start({}, 1.0)
    gone, kept = (requests.submit(SPAM, name) for name in ("gone", "kept"))
    gone.cancel()
    batch = source.poll(10, 0.1)
    assert [record.key for record in batch.records] == [b"kept"]
    sink.commit({}, None, 1.0)
    assert kept.result(timeout=0).id == "kept"


def test_an_id_that_is_no_unicode_is_refused(trained: Listener) -> None:
    body = b'{"id": "\\ud800", "text": "hi"}'
    status, answer = trained.http("POST", "/classify", body)
    assert (status, "lone surrogate" in json.loads(answer)["error"]) == (422, True)
