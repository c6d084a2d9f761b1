"""A listener under parallel clients, next to the same filter on a file.

50 clients send CHECK, and now and then TELL, at a rate that the listener must sustain: half that of
the filter on a file. Then they send without pauses. The listener and the clients share the machine.
Nothing may be lost: each request gets its answer, and each label is learned once.

    python benchmarks/bench_listen.py --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from rounds import Target

from streamnb.datasets import data_folder
from streamnb.datasets.lines import read_lines

RUN = "import sys; from streamnb_consumers.daemon.command import run_spam; sys.exit(run_spam())"
TAUGHT = 1_000  # mails that are learned before
TELL = 50  # every so many requests are TELL
LATENCY = 50.0  # milliseconds, of the slowest percent of CHECK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    lines = list(read_lines(data_folder() / "text" / "spamassassin.jsonl.xz"))[::2]
    mails = [(each["label"], each["text"].encode()) for each in map(json.loads, map(text, lines))]
    with tempfile.TemporaryDirectory() as folder:
        teach(mails[:TAUGHT], Path(folder, "taught"))
        shutil.copytree(Path(folder, "taught"), Path(folder, "listen"))
        mails = mails[TAUGHT:]
        rate = rate_on_file([raw for _, raw in mails], Path(folder, "taught"))
        print(f"a file: {rate:,.0f} mails a second")
        port = free_port()
        command = [sys.executable, "-c", RUN, "listen", "--port", str(port)]
        process = subprocess.Popen([*command, "--snapshots", str(Path(folder, "listen"))])
        try:
            wait_ready(port)
            wanted = rate / 2
            clients = Clients(port, mails, options.clients)
            clients.run(options.seconds, wanted)
            paced = clients.report(f"{wanted:,.0f} requests a second were asked for")
            clients.run(options.seconds, None)
            full = clients.report("without pauses")
            learned = count_learned(port) - TAUGHT
        finally:
            process.terminate()
            process.wait(30)
    print(
        Target("p99 of CHECK at half the rate of a file", paced[1], LATENCY, True, " ms").line(),
        Target("rate without pauses, next to a file", full[0] / rate, 0.5).line(),
        Target("lost answers", clients.lost, 0, True, "").line(),
        Target("labels lost or doubled", abs(learned - len(clients.told)), 0, True, "").line(),
        sep="\n",
    )


def text(line: object) -> str:
    return line.text  # type: ignore[attr-defined,no-any-return]


def teach(mails: Sequence[tuple[str, bytes]], folder: Path) -> None:
    """Learn mails into the snapshot of a new folder."""
    labelled = [{"text": raw.decode(), "label": label} for label, raw in mails]
    filter_lines(labelled, folder)


def filter_lines(objects: Sequence[dict[str, str]], folder: Path) -> float:
    """Run a filter on a file; return the seconds."""
    command = [sys.executable, "-c", RUN, "--format", "jsonl", "--snapshots", str(folder)]
    with tempfile.TemporaryFile() as file:
        file.write("".join(json.dumps(each) + "\n" for each in objects).encode())
        file.seek(0)
        begun = time.perf_counter()
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def rate_on_file(mails: Sequence[bytes], folder: Path) -> float:
    """Return the mails that a filter decides per second, without its start and end."""
    objects = [{"text": raw.decode()} for raw in mails]
    rounds = [filter_lines(objects, folder) - filter_lines(objects[:1], folder) for _ in range(3)]
    return len(mails) / statistics.median(rounds)


class Clients:
    """Parallel clients of the spamd protocol, with a connection for each request."""

    def __init__(self, port: int, mails: Sequence[tuple[str, bytes]], count: int) -> None:
        self.port, self.mails, self.count = port, mails, count
        self.sent = self.lost = 0
        self.told: set[int] = set()
        self.seconds: list[float] = []  # of each CHECK
        self.elapsed = 0.0

    def run(self, seconds: float, rate: float | None) -> None:
        """Send for this time, at a rate of all clients together or without pauses."""
        self.seconds, self.sent = [], 0
        begun = time.perf_counter()
        asyncio.run(self._all(begun, seconds, rate))
        self.elapsed = time.perf_counter() - begun

    async def _all(self, begun: float, seconds: float, rate: float | None) -> None:
        async def client(number: int) -> None:
            at = 0
            while (now := time.perf_counter() - begun) < seconds:
                if rate is not None:
                    due = (at * self.count + number) / rate
                    await asyncio.sleep(due - now)
                at += 1
                await self._request(begun + due if rate is not None else time.perf_counter())

        await asyncio.gather(*(client(number) for number in range(self.count)))

    async def _request(self, due: float) -> None:
        self.sent += 1
        number = self.sent % len(self.mails)
        label, raw = self.mails[number]
        tells = self.sent % TELL == 0
        head = (
            f"TELL SPAMC/1.5\r\nMessage-class: {label}\r\nSet: local"
            if tells
            else "CHECK SPAMC/1.5"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"{head}\r\nContent-length: {len(raw)}\r\n\r\n".encode() + raw)
        answer = await reader.read()
        writer.close()
        if not answer.startswith(b"SPAMD/1.1 0 EX_OK"):
            self.lost += 1
        elif tells:
            self.told.add(number)
        else:
            # A request that had to wait for its client also counts from the time it was due.
            self.seconds.append(time.perf_counter() - due)

    def report(self, what: str) -> tuple[float, float]:
        """Print and return the rate, and the milliseconds of the slowest percent of CHECK."""
        parts = statistics.quantiles(self.seconds, n=100)
        rate, slow = self.sent / self.elapsed, 1000 * parts[98]
        print(
            f"{self.count} clients, {what}: {rate:,.0f} a second; CHECK takes "
            f"{1000 * parts[49]:.1f} ms (median), {slow:.1f} ms (p99); {os.cpu_count()} cores, "
            f"load {os.getloadavg()[0]:.1f}"
        )
        return rate, slow


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return str(answer.read().decode())


def wait_ready(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            get(port, "/readyz")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the listener is not ready after 60 seconds")


def count_learned(port: int) -> int:
    time.sleep(1.0)  # the metrics follow the last answers
    (line,) = (
        line
        for line in get(port, "/metrics").splitlines()
        if line.startswith("streamnb_model_training_")
    )
    return round(float(line.rpartition(" ")[2]))


if __name__ == "__main__":
    main()
