"""SIGTERM ends a worker within `stop_seconds`, whatever the broker does, in the state of a kill."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from streamnb_consumers.daemon.loop import TERMINATED
from support.broker import STEADY, Broker
from support.scenes.deaths import kill_broker
from support.scenes.scene import Scene, sms

pytestmark = pytest.mark.broker_long

STOP = 6.0  # seconds
SLACK = 2.0  # seconds, for a busy machine


@pytest.mark.parametrize(
    ("broker_is", "own_broker"), [("killed", {}), ("frozen", STEADY)], indirect=["own_broker"]
)
def test_sigterm_without_a_broker(
    own_broker: Broker, client: str, broker_is: str, tmp_path: Path
) -> None:
    messages = sms(3_000)
    settings = {"client": client, "batch": 20, "stop_seconds": STOP}
    # A transaction that expires while a killed broker is down would hang (see `deaths`). With
    # the name, the second worker aborts the first one's transaction when it starts.
    settings |= {"instance_id": "a", "transaction_seconds": 60}
    with Scene(own_broker, tmp_path, **settings) as scene:
        worker = scene.worker("a")
        worker.wait_until_ready()
        (feeding,) = scene.feed(messages[:1_500])
        time.sleep(1.0)  # in the middle of its transactions
        kill_broker(own_broker, worker.process) if broker_is == "killed" else own_broker.pause()
        time.sleep(1.0)
        begun = time.monotonic()
        status = worker.stop()
        seconds = time.monotonic() - begun
        assert status in (0, TERMINATED), worker.text()[-3000:]
        assert seconds < STOP + SLACK, worker.text()[-3000:]
        own_broker.start() if broker_is == "killed" else own_broker.resume()
        feeding.join(60.0)
        after = scene.worker("a")
        after.wait_until_ready()
        (feeding,) = scene.feed(messages[1_500:])
        feeding.join(60.0)
        scene.wait_until_done(len(messages), 0, seconds=180.0)
        assert scene.decisions() == Counter(name for name, _, _ in messages)
        assert after.stop() == 0


@pytest.mark.parametrize(
    ("broker_is", "moments"),
    [
        (("alive",), 10),
        pytest.param(("alive", "killed", "frozen"), 100, marks=pytest.mark.soak),
    ],
)
def test_sigterm_at_random_moments(
    own_broker: Broker, client: str, broker_is: tuple[str, ...], moments: int, tmp_path: Path
) -> None:
    """At any moment, also before the first log line, a worker ends in the state of a kill."""
    generator = random.Random(1)
    messages = sms(4_000)
    settings = {"client": client, "batch": 20, "stop_seconds": STOP}
    # A transaction that expires while a killed broker is down would hang (see `deaths`).
    with Scene(own_broker, tmp_path, **settings, transaction_seconds=60) as scene:
        (feeding,) = scene.feed(messages, seconds=5.0 * moments)
        for _ in range(moments):
            worker = scene.worker("a")
            time.sleep(generator.random() * 4.0)
            state = generator.choice(broker_is)
            if state == "killed":
                kill_broker(own_broker, worker.process)
            elif state == "frozen":
                own_broker.pause()
            if state != "alive":
                time.sleep(generator.random() * 2.0)
            begun = time.monotonic()
            assert worker.stop() in (0, TERMINATED, -signal.SIGTERM), worker.text()[-3000:]
            assert time.monotonic() - begun < STOP + SLACK, worker.text()[-3000:]
            if state != "alive":
                own_broker.start() if state == "killed" else own_broker.resume()
        feeding.join(120.0)
        worker = scene.worker("a")
        scene.wait_until_done(len(messages), 0, seconds=180.0)
        assert scene.decisions() == Counter(name for name, _, _ in messages)
        worker.wait_until_ready()  # all messages may have been decided before its start
        assert worker.stop() == 0
