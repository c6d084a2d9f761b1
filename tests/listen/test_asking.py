"""`streamnb-spam -p` and labels go to a running listener through its Unix socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.listener import PROGRAM

pytest.importorskip("uvicorn")

ASK = "import sys; from streamnb_consumers.asking import run_spam; sys.exit(run_spam())"
SPAM, HAM = b"Message-ID: <1@x>\n\nclaim your prize now", b"Message-ID: <2@x>\n\nsee you at noon"


class Scene(NamedTuple):
    socket: Path
    folder: Path
    listener: subprocess.Popen[bytes]

    def ask(self, *flags: str, raw: bytes = SPAM) -> subprocess.CompletedProcess[bytes]:
        environment = os.environ | {"STREAMNB_SOCKET": str(self.socket)}
        command = [sys.executable, "-c", ASK, *flags]
        return subprocess.run(command, input=raw, capture_output=True, env=environment)


def listens(path: Path) -> bool:
    """Whether a program accepts connections to a Unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    path, folder = tmp_path / "filter.sock", tmp_path / "state"
    flags = ["--socket", str(path), "--snapshots", str(folder), "--ready-after", "1"]
    command = [sys.executable, "-c", PROGRAM, "spam", "listen", *flags, "--min-evidence", "0"]
    process = subprocess.Popen(command)
    try:
        until = time.monotonic() + 60
        while not listens(path):  # it exists a moment before, and the state folder would answer
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        yield Scene(path, folder, process)
    finally:
        process.terminate()
        process.wait(60)


def test_decisions_and_labels_of_a_listener(scene: Scene) -> None:
    assert scene.ask("-p").returncode == 2  # unsure: nothing was learned
    for _ in range(5):
        assert scene.ask("-s").returncode == 0
        assert scene.ask("-n", raw=HAM).returncode == 0
    for raw, status, header in ((SPAM, 0, b"Yes, score="), (HAM, 1, b"No, score=")):
        done = scene.ask("-p", raw=raw)
        assert done.returncode == status
        assert done.stdout.startswith(b"X-Spam-Status: " + header) or header in done.stdout
        assert done.stdout.endswith(raw.partition(b"\n\n")[2])
        assert scene.ask("-pe", raw=raw).returncode == 0
    # The listener learned each mail once; a correction and a withdrawal are its as well.
    assert scene.ask("-Sn").returncode == 0
    assert scene.ask("-N", raw=HAM).returncode == 0
    # A call with another flag starts a filter of its own, which the lock of the state keeps out.
    assert scene.ask("-s", "--commit-seconds", "0.1", "--snapshots", str(scene.folder)).returncode


def test_without_a_listener_the_state_folder_answers(scene: Scene, tmp_path: Path) -> None:
    for label, raw in (("-s", SPAM), ("-n", HAM)):
        scene.ask(label, raw=raw)
    scene.listener.terminate()
    scene.listener.wait(60)
    environment = os.environ | {
        "STREAMNB_SOCKET": str(scene.socket), "STREAMNB_SNAPSHOTS": str(scene.folder)
    }  # fmt: skip
    command = [sys.executable, "-c", ASK, "-p"]
    done = subprocess.run(command, input=SPAM, capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"X-Spam-Status: Yes, probability=")
    assert done.stdout.endswith(SPAM)


def test_a_request_imports_little() -> None:
    program = "import sys, streamnb_consumers.asking; print(*sorted(sys.modules))"
    command = [sys.executable, "-I", "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"streamnb", "msgspec", "socket", "json", "asyncio", "numpy"} & set(found)
