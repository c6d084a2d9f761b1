"""An idle worker sleeps."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from support.broker import Broker
from support.scenes.scene import Scene

SECONDS = 5.0
_SWITCHES = "voluntary_ctxt_switches:"


def wake_ups(process: int) -> int:
    """Return how often the threads of a process have woken up so far."""
    tasks = Path(f"/proc/{process}/task")
    if not tasks.exists():
        pytest.skip("this system does not count the wake-ups of a process")
    texts = [(task / "status").read_text() for task in tasks.iterdir()]
    return sum(int(text.split(_SWITCHES, 1)[1].split()[0]) for text in texts)


def processor(process: int) -> float:
    """Return the seconds of processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_idle_worker_sleeps(broker: Broker, tmp_path: Path, client: str) -> None:
    """It wakes up some dozens of times per second; busy waiting gave several hundred.

    It needs about a hundredth of a core (`benchmarks/bench_start.py --window`), even on a busy
    machine less than three; kafka-python once needed eight.
    """
    with Scene(broker, tmp_path, client=client, model="MNB()", poll_seconds=0.5) as scene:
        worker = scene.worker("a")
        worker.wait_until_ready()
        time.sleep(SECONDS)  # it waits longer and longer
        before, spent = wake_ups(worker.process.pid), processor(worker.process.pid)
        time.sleep(2 * SECONDS)
        assert processor(worker.process.pid) - spent < 0.03 * 2 * SECONDS
        assert wake_ups(worker.process.pid) - before < 160 * 2 * SECONDS
