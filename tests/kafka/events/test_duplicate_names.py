"""Two workers with the same `instance_id`: the later one replaces the earlier one."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from support.broker import Broker
from support.scenes.scene import START_SECONDS, Scene

pytestmark = pytest.mark.broker_long


def test_a_replaced_worker_backs_off(broker: Broker, client: str, tmp_path: Path) -> None:
    settings = {"client": client, "instance_id": "worker-1", "poll_seconds": 0.1}
    with Scene(broker, tmp_path, **settings) as scene:
        first = scene.worker("a")
        first.wait_until_ready()
        second = scene.worker("b")
        deadline = time.monotonic() + START_SECONDS
        number = 0
        # A worker notices the fence when it commits, so both get messages.
        while "replace each other at every restart" not in first.text():
            assert first.process.poll() is None, first.text()[-3000:]
            assert time.monotonic() < deadline, first.text()[-3000:]
            (feeding,) = scene.feed([(f"m{number}", "win cash", "spam")])
            feeding.join(30.0)
            number += 1
            time.sleep(0.5)
        waits = time.monotonic()
        assert first.process.wait(60.0) == 3, first.text()[-3000:]
        assert time.monotonic() - waits > 3.0
        # A broker that gets the second worker's first request during a commit of the first worker
        # may answer this commit with an unknown error. Then the next producer of the first worker
        # replaces the second one, and both end. Their supervisors start them again.
        if "replace each other at every restart" in second.text():
            assert second.process.wait(60.0) == 3, second.text()[-3000:]
            second = scene.worker("b")
        second.wait_until_ready()
        deadline = time.monotonic() + START_SECONDS
        while sum(scene.decisions().values()) < number:
            assert time.monotonic() < deadline, second.text()[-3000:]
            time.sleep(0.2)
        assert second.stop() == 0
        assert max(scene.decisions().values()) == 1
