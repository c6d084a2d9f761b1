"""A filter's snapshot of an earlier version is restored, and the filter decides as it did then.

The snapshot of `fixtures/filter` was written by version 0.1.0, before its modules moved. It is
never written again: a later version has to read it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consumer_support import handle_all, make_filter
from consumers import state

SAVED = Path(__file__).parent.parent / "fixtures" / "filter"


def test_a_snapshot_of_before_is_restored_and_goes_on() -> None:
    expected = json.loads((SAVED / "expected.json").read_text())
    worker = make_filter(ham_target=expected["ham_target"])
    state.restore(worker, (SAVED / "sms.snapshot").read_bytes())
    assert worker.counters["lessons"] == expected["lessons"]
    outputs = handle_all(worker, expected["records"])
    for out, decisions in zip(outputs, expected["decisions"], strict=True):
        for decision, then in zip(out.decisions, decisions, strict=True):
            now = decision.to_json()
            assert now.keys() == then.keys()
            assert now["label"] == then["label"]
            assert now["version"] == then["version"]
            assert now["score"] == pytest.approx(then["score"], abs=1e-9)
            assert now["probabilities"] == pytest.approx(then["probabilities"], abs=1e-9)
    assert worker.counters["lessons"] == expected["lessons_after"]
