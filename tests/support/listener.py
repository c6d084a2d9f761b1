"""A resident filter as a process, and clients of both protocols."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PROGRAM = """
import sys
from streamnb_consumers.daemon.command import run
sys.exit(run(sys.argv[1], sys.argv[2:]))
"""


class Listener:
    """`streamnb-spam listen` on a free port of this machine.

    Parameters
    ----------
    folder
        Folder of its state.
    kind
        `spam` or `sms`.
    flags
        Further flags.
    environment
        Further variables.
    """

    def __init__(
        self,
        folder: Path,
        kind: str = "spam",
        flags: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.host = "127.0.0.1"  # that clients connect to
        self._arguments = [kind, "listen", "--port", str(self.port), "--snapshots", str(folder)]
        self._arguments += flags
        self._environment = os.environ | (environment or {})
        self.start()

    def start(self) -> None:
        """Start the process, and wait until it is ready."""
        command = [sys.executable, "-c", PROGRAM, *self._arguments]
        self.process = subprocess.Popen(command, env=self._environment)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if self.http("GET", "/readyz")[0] == 200:
                    return
            assert self.process.poll() is None, f"ended with {self.process.returncode}"
            time.sleep(0.05)
        raise AssertionError("not ready after 60 seconds")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Stop it with SIGTERM; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(90)

    def spamd(
        self, command: str, raw: bytes = b"", **headers: str
    ) -> tuple[str, dict[str, str], bytes]:
        """Return the status line, the headers and the body of a spamd answer."""
        lines = [f"{command} SPAMC/1.5", f"Content-length: {len(raw)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return self.spamd_bytes("\r\n".join(lines).encode() + b"\r\n\r\n" + raw)

    def spamd_bytes(self, request: bytes) -> tuple[str, dict[str, str], bytes]:
        """Send the bytes of a request."""
        with socket.create_connection((self.host, self.port), 30) as client:
            client.sendall(request)
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_WR)
            data = b"".join(iter(lambda: client.recv(65_536), b""))
        head, _, body = data.partition(b"\r\n\r\n")
        status, *lines = head.decode().strip().split("\r\n")  # errors end without an empty line
        return status, dict(line.split(": ", 1) for line in lines), body

    def http(
        self,
        method: str,
        path: str,
        body: Any = None,
        kind: str = "application/json",
        **headers: str,
    ) -> tuple[int, bytes]:
        """Return the status and the body of an HTTP answer."""
        client = http.client.HTTPConnection(self.host, self.port, timeout=30)
        with contextlib.closing(client):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            client.request(method, path, data, {"Content-Type": kind} | headers)
            answer = client.getresponse()
            return answer.status, answer.read()

    def post(self, path: str, body: Any) -> dict[str, Any]:
        """Return the object that answers another one."""
        status, text = self.http("POST", path, body)
        assert status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found

    def learned(self) -> int:
        """Return the number of training events that the model has learned."""
        # The metrics of a batch are set after its answers, and before the next batch.
        self.spamd("CHECK", b"Subject: x\n\ny")
        text = self.http("GET", "/metrics")[1].decode()
        (line,) = [
            line for line in text.splitlines() if line.startswith("streamnb_model_training_")
        ]
        return round(float(line.rpartition(" ")[2]))


@contextlib.contextmanager
def listening(folder: Path, *args: Any, **kwargs: Any) -> Iterator[Listener]:
    """Run a listener, and kill it at the end if it still runs."""
    listener = Listener(folder, *args, **kwargs)
    try:
        yield listener
    finally:
        if listener.process.poll() is None:
            listener.kill()
