"""An idle worker sleeps."""

from __future__ import annotations

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


def test_an_idle_worker_sleeps(broker: Broker, tmp_path: Path, client: str) -> None:
    """It wakes up some dozens of times per second; busy waiting gave several hundred."""
    with Scene(broker, tmp_path, client=client, model="MNB()", poll_seconds=0.5) as scene:
        worker = scene.worker("a")
        worker.wait_until_ready()
        time.sleep(SECONDS)  # it waits longer and longer
        before = wake_ups(worker.process.pid)
        time.sleep(SECONDS)
        assert wake_ups(worker.process.pid) - before < 160 * SECONDS
