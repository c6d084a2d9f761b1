"""Labels in other partitions than their messages are noticed, logged once and counted."""

from __future__ import annotations

import pytest

from support.broker import Broker
from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long


def test_labels_in_another_partition(
    broker: Broker, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage(broker, partitions=2, client=client)
    try:
        stage.send(3)  # m0 to m2 in partition 0, m3 to m5 in partition 1
        worker = stage.worker("a")
        until(lambda: worker.loop.metrics.decisions == 6, lambda: worker.step(0.05))
        for name in ("m0", "m3", "m4"):
            stage.label(name)  # all labels go to partition 0
        windows = worker.loop.worker.join.windows
        until(lambda: windows[0].waiting == 2, lambda: worker.step(0.05))
        for _ in range(2):
            worker.loop.labels._due = 0.0
            until(lambda: worker.loop.labels._due > 0, lambda: worker.step(0.05))
        assert worker.loop.labels.misplaced == 2
        text = "2 of the latest labels cannot meet their messages: for example, the label of 'm"
        assert caplog.text.count(text) == 1
        assert "is in partition 0, and its message is in partition 1. Write each" in caplog.text
        assert "murmur2_random" in caplog.text
    finally:
        stage.close()
