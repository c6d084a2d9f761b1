"""Both protocols of a listener on mutated requests; `make soak` takes half an hour.

STREAMNB_FUZZ_SECONDS sets another time, and STREAMNB_FUZZ_SEED the seed of an earlier run.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import socket
import time
from pathlib import Path

import pytest

from support.data import cases_folder
from support.drawn.mutations import mutated
from support.listener import Listener, listening
from support.profiles import fuzz_seed

pytest.importorskip("uvicorn")

SECONDS = float(os.environ.get("STREAMNB_FUZZ_SECONDS", "1800"))
MEMORY = 700_000  # kB of the process; a listener starts with about 100,000
LATE = 0.2  # seconds without an answer after which a client leaves
SPAM = b"Subject: prize\r\n\r\nclaim your prize now"
ANSWER = re.compile(
    rb"SPAMD/1\.\d (0|65|75|76) [A-Z_]+|"
    rb"HTTP/1\.1 (200|400|401|403|404|405|413|415|421|422|503) "
)
PIECES = [
    b"\r\n", b"\n", b"\r", b"\0", b"\r\n\r\n", b": ", b" ", b"/", b"?", b"&", b"=", b"%", b"%00",
    b"%ff", b"\xff\xfe", b"SPAMC/1.5", b"SPAMC/9.9", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0",
    b"PRI * ", b"Content-length: 0\r\n", b"Content-length: -1\r\n",
    b"Content-length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
    b"Transfer-Encoding: gzip\r\n", b"Compress: zlib\r\n", b"Expect: 100-continue\r\n",
    b"Upgrade: h2c\r\n", b"Connection: close\r\n", b"Host: x\r\n", b"Set: local, remote\r\n",
    b"Remove: local\r\n", b"Message-class: ham\r\n", b"User: \xff\r\n", b'"', b"{", b"}", b"[",
    b"]", b"[" * 5_000, b"1" * 5_000, b"1e999", b"NaN", b"null", b"true", b'"\\ud800"', b'"id":',
    b'"label":', b'"text":', b'"fields":', b'"time":', b'"weight":-1,', b"TELL", b"SKIP", b"PING",
    b"GET ", b"POST ", b"/learn?label=", b"/decisions?after=", b"/unlearn",
]  # fmt: skip


def requests() -> list[bytes]:
    """Return valid requests of both protocols."""
    mails = [path.read_bytes() for path in sorted((cases_folder() / "mail").rglob("*.eml"))[::9]]
    found = [b"PING SPAMC/1.5\r\n\r\n", b"SKIP SPAMC/1.5\r\n\r\n"]
    for at, mail in enumerate(mail[:20_000] for mail in mails):
        label = (b"spam", b"ham")[at % 2]
        length = b"Content-length: %d\r\n" % len(mail)
        command = (b"CHECK", b"SYMBOLS", b"REPORT", b"PROCESS", b"HEADERS")[at % 5]
        found.append(command + b" SPAMC/1.5\r\n" + length + b"User: ann\r\n\r\n" + mail)
        tell = (b"Set: local", b"Remove: local")[at % 3 == 0]
        teach = b"TELL SPAMC/1.5\r\n" + length + b"Message-class: " + label + b"\r\n" + tell
        found.append(teach + b"\r\n\r\n" + mail)
        path = (b"/classify", b"/learn?label=" + label, b"/explain", b"/unlearn")[at % 4]
        found.append(post(path, b"message/rfc822", mail))
        record = {"id": f"m{at}", "text": mail.decode("utf-8", "replace"), "label": label.decode()}
        record |= {"fields": {"user": "ann"}, "source": "bob"}
        line = json.dumps(record).encode()
        found.append(post(path.partition(b"?")[0], b"application/json", line))
        found.append(post(b"/learn", b"application/x-ndjson", line + b"\n" + line + b"\n{}\n"))
    paths = (b"/healthz", b"/readyz", b"/metrics", b"/decisions?after=0", b"/openapi.json")
    return found + [b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path for path in paths]


def post(path: bytes, kind: bytes, body: bytes) -> bytes:
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n" % (path, kind)
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def send(listener: Listener, raw: bytes, generator: random.Random) -> bytes:
    """Send a request in one or more pieces; return the first bytes of the answer."""
    with socket.create_connection((listener.host, listener.port), 30) as client:
        with contextlib.suppress(OSError):  # the answer came before the end
            cut = generator.randint(0, len(raw)) if generator.random() < 0.3 else len(raw)
            client.sendall(raw[:cut])
            if generator.random() < 0.5:
                time.sleep(0)  # the pieces are read one by one
            client.sendall(raw[cut:])
            if generator.random() < 0.5:
                client.shutdown(socket.SHUT_WR)
        client.settimeout(LATE)
        answer = b""
        with contextlib.suppress(ConnectionError, TimeoutError):
            answer = client.recv(65_536)
            if answer.startswith(b"HTTP/1.1 100 "):  # asked for by Expect; the answer follows it
                answer = answer.partition(b"\r\n\r\n")[2]
                answer = answer or client.recv(65_536)
    return answer


def resident(listener: Listener) -> int:
    """Return the resident memory of a process in kB."""
    status = Path(f"/proc/{listener.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def fuzz(
    seed: int, inputs: int, until: float, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Send mutated requests; the last one stays in a file."""
    generator = random.Random(seed)
    known = requests()
    current = folder / f"seed-{seed}.request"
    answered = learned = 0
    with listening(folder / "state", flags=("--journal-bytes", "20000000")) as listener:
        for number in range(1, inputs + 1):
            raw = generator.choice(known)
            if generator.random() < 0.9:
                raw = mutated(raw, generator.choice(known), PIECES, generator)
            current.write_bytes(raw)
            answer = send(listener, raw, generator)
            assert not answer or ANSWER.match(answer), (raw[:200], answer[:300])
            answered += answer != b""
            if number % 50 == 0:  # others are served, and nothing was written to the log
                status, headers, _ = listener.spamd("CHECK", SPAM)
                assert status == "SPAMD/1.1 0 EX_OK"
                assert headers["Spam"]
                raw = b"Message-ID: <%d@own>\r\n" % number + SPAM
                told = listener.spamd("TELL", raw, Message_class="spam", Set="local")
                assert told[1]["DidSet"] == "local", told
                assert listener.http("GET", "/readyz")[0] == 200
                assert listener.process.poll() is None
                assert resident(listener) < MEMORY
                logged = capfd.readouterr().err
                assert "Traceback" not in logged, logged
            if number % 1_000 == 0:
                before = listener.learned()
                listener.kill()
                listener.start()
                learned = listener.learned()
                assert learned == before
            if time.monotonic() > until:
                break
        assert listener.learned() >= max(learned, number // 50)
        assert listener.stop() == 0
    assert answered > number // 2
    print(f"seed {seed}: {number:,} requests, {answered:,} answered")


def test_mutated_requests_do_not_stop_a_listener(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fuzz(1, 150, float("inf"), tmp_path, capfd)


@pytest.mark.soak
def test_mutated_requests_for_half_an_hour(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with capfd.disabled():
        seed = fuzz_seed()
        print(f"requests in {tmp_path}")
    fuzz(seed, 10**12, time.monotonic() + SECONDS, tmp_path, capfd)
