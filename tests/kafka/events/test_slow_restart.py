"""Named workers and a broker that restarts slowly, and stands still: each continues with its name.

Two of three workers once ended with status 3: a request for a producer that was answered late, or
a transaction that expired, fenced the worker's own producer. This test does not force either of
them; `test_fenced_sink.py` and `test_duplicate_names.py` do.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from support.broker import Broker
from support.scenes.deaths import kill_broker
from support.scenes.scene import Scene, check_outputs, expected_training, sms

pytestmark = pytest.mark.broker_long

NAMES = ("a", "b", "c")
# A killed broker opens its port only after this time. It keeps its partitions while it stands still
# for a shorter one (see `STEADY`).
SLOW = {"broker.session.timeout.ms": "15000"}
STILL = 12.0  # seconds, longer than the time after which clients repeat a request
WORKING = (0.6, 2.0)  # seconds before each standstill


@pytest.mark.parametrize("own_broker", [SLOW], indirect=True, ids=["slow"])
def test_named_workers_continue(own_broker: Broker, client: str, tmp_path: Path) -> None:
    messages = sms(4_000)
    settings = {"client": client, "log_level": "auto", "batch": 50, "transaction_seconds": 120}
    with Scene(own_broker, tmp_path, partitions=len(NAMES), **settings) as scene:
        workers = [scene.worker(name, instance_id=name) for name in NAMES]
        for worker in workers:
            worker.wait_until_ready()
        (feeding,) = scene.feed(messages, seconds=20.0)
        time.sleep(2.0)
        kill_broker(own_broker, *(worker.process for worker in workers))
        own_broker.start()
        for seconds in WORKING:
            time.sleep(seconds)
            own_broker.pause()
            time.sleep(STILL)
            own_broker.resume()
        feeding.join(180.0)
        scene.wait_until_done(len(messages), len(expected_training(messages)), seconds=180.0)
        assert [worker.process.poll() for worker in workers] == [None] * len(NAMES)
        for worker in workers:
            text = worker.text()
            assert "the cluster does not answer, or is not ready, for " in text, text[-3000:]
            assert "the cluster is back after " in text, text[-3000:]
            worker.wait_until_ready()
            assert worker.stop() == 0, worker.text()[-3000:]
        check_outputs(scene, messages, ordered=False)
