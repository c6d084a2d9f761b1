"""Settings that leave the model valid are changed although the training log was truncated."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamnb_consumers.errors import SnapshotError
from support.broker import Broker
from support.groups import Group
from support.stepped import until


@pytest.mark.parametrize("kept", ["own", "shared"])
def test_max_fpr_changes_without_the_training_events(
    broker: Broker, client: str, tmp_path: Path, kept: str
) -> None:
    group = Group(broker, tmp_path, client=client, model="OnlineNB()", snapshots_kept=1)
    own = {"snapshots": str(tmp_path / "own")}
    try:
        first = group.worker(**own, training_log_truncate=True)
        group.ready(first)
        group.teach(50)
        until(lambda: first.worker.learner.learned == 50, group.step)
        first._save()
        first.state.close(10.0)
        assert group.log_start() == 50
        group.end(first)
        changed = {"max_fpr": "0.05"} | (
            {} if kept == "shared" else {**own, "shared_snapshots": ""}
        )
        with pytest.raises(SnapshotError, match=r"max_fpr: '0\.01', and here '0\.05'"):
            group.ready(group.worker(**changed))
        second = group.worker(**changed, training_log_adopt=True)
        group.ready(second)
        assert second.worker.learner.learned == 50
        group.label("m0")
        until(lambda: second.worker.learner.learned == 51, group.step)
    finally:
        group.close()
