"""A folder of snapshots that cannot be written does not stop a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.metrics import PrometheusMetrics
from support.broker import Broker
from support.groups import Group
from support.stepped import until

READ_ONLY = Path("/proc/sys/kernel")  # nobody creates files here, not even root


@pytest.mark.skipif(not READ_ONLY.is_dir(), reason="needs a folder that root cannot write")
def test_a_worker_continues_without_snapshots(
    broker: Broker, client: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "own"
    folder.symlink_to(READ_ONLY)
    group = Group(broker, tmp_path, client=client, shared_snapshots="")
    try:
        loop = group.worker(snapshots=str(folder), snapshot_seconds=0.0)
        loop.metrics = PrometheusMetrics()
        group.ready(loop)
        group.label("m0")
        until(lambda: loop.worker.learner.learned == 1, group.step)
        until(lambda: f"can't write a snapshot to {folder}" in caplog.text, group.step)
        registry: Any = loop.metrics.registry
        assert registry.get_sample_value("streamnb_snapshot_failures_total") >= 1
        group.send(["m1"])
        until(lambda: loop.metrics.decisions == 2, group.step)
        assert not loop.health.problem_of_readiness()
    finally:
        group.close()
