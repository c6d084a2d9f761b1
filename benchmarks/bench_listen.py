"""A listener under parallel clients, next to the same filter on a file.

50 clients send CHECK and some TELL, first without pauses, then at half that rate. The listener and
the clients share the machine. Nothing may be lost: each request gets its answer, and each label is
learned once. The processor time also counts on a busy machine.

    python benchmarks/bench_listen.py --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
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
TELL = 50  # one of this number of requests is TELL
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
        rate, processor = on_file([raw for _, raw in mails], Path(folder, "taught"))
        print(f"a file: {rate:,.0f} mails a second, {processor:,.0f} µs of processor time each")
        port = free_port()
        command = [sys.executable, "-c", RUN, "listen", "--port", str(port)]
        process = subprocess.Popen([*command, "--snapshots", str(Path(folder, "listen"))])
        try:
            wait_ready(port)
            clients = Clients(port, mails, options.clients)
            before = processor_seconds(process.pid)
            clients.run(options.seconds, None)
            used = 1e6 * (processor_seconds(process.pid) - before) / clients.sent
            full = clients.report(f"without pauses, {used:,.0f} µs of processor time each")
            wanted = full[0] / 2
            clients.run(options.seconds, wanted)
            paced = clients.report(f"{wanted:,.0f} requests a second were asked for")
            learned = count_learned(port) - TAUGHT
        finally:
            process.terminate()
            process.wait(30)
    print(
        Target("p99 of CHECK at half the rate", paced[1], LATENCY, True, " ms").line(),
        Target("p99 of CHECK without pauses", full[1], LATENCY, True, " ms").line(),
        Target("rate without pauses, next to a file", full[0] / rate, 0.5).line(),
        Target("processor time of a request, next to a file", used / processor, 2.0, True).line(),
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


def filter_lines(objects: Sequence[dict[str, str]], folder: Path) -> tuple[float, float]:
    """Run a filter on a file; return the seconds, and those of the processor."""
    command = [sys.executable, "-c", RUN, "--format", "jsonl", "--snapshots", str(folder)]
    with tempfile.TemporaryFile() as file:
        file.write("".join(json.dumps(each) + "\n" for each in objects).encode())
        file.seek(0)
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, used


def on_file(mails: Sequence[bytes], folder: Path) -> tuple[float, float]:
    """Return the rate of a filter on a file, and its processor time per mail in microseconds.

    Start and end, which write a snapshot, do not count.
    """
    objects = [{"text": raw.decode()} for raw in mails]
    rounds = []
    for at in range(3):
        copy = shutil.copytree(folder, folder.with_name(f"file-{at}"))
        whole = filter_lines(objects, copy)
        # Snapshots contain the same number of messages.
        start = filter_lines(objects[:1], copy)
        rounds.append([part - without for part, without in zip(whole, start, strict=True)])
    seconds, used = (statistics.median(each) for each in zip(*rounds, strict=True))
    return len(mails) / seconds, 1e6 * used / len(mails)


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
