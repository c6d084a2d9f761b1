"""The next owner of a partition whose decisions waited for a teacher."""

from __future__ import annotations

import time

import pytest

from support.stepped import Stage, until

pytestmark = pytest.mark.broker_long

WAIT = 0.5  # seconds of a decision
TEACHER = {
    "teacher_agreement": 0.97,
    "teacher_wait_seconds": WAIT,
    "teacher_url": "http://127.0.0.1:9",
    "teacher_model": "none",
}


@pytest.mark.parametrize("stage", [TEACHER], indirect=True)
def test_no_decision_is_written_twice(stage: Stage) -> None:
    """The log has the decisions that wait, and much later that they were written.

    The next owner reads it in several polls, and handles each poll in up to three parts.
    """
    stage.send(100)
    first = stage.worker("first", batch=10)
    until(lambda: len(stage.decisions()) == 100, lambda: first.step(0.05))
    first.close()
    time.sleep(WAIT)  # all decisions have waited long enough
    second = stage.worker("second", batch=10)
    until(lambda: second.runs() == {0}, lambda: second.step(0.05))
    for _ in range(10):
        second.step(0.05)
    assert stage.twice() == 0
