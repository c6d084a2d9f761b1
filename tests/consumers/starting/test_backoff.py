"""Backoff: waiting time, log lines and the limit of aborted transactions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from streamnb_consumers.daemon.backoff import Backoff
from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.errors import (
    AbortedError,
    RefusedError,
    UnreachableError,
    exit_status,
)
from support.filters import make_filter, records, stream
from support.memory import MemoryLog, MemorySink, MemorySource


class Time:
    """A clock that advances only during sleep."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_an_hour_without_a_cluster_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    backoff = Backoff(most=3, longest=5.0, clock=time)
    while time.now < 3600.0:
        time.sleep(backoff.note(UnreachableError("no broker answers")))
    backoff.over()
    lines = [each.getMessage() for each in caplog.records]
    assert 58 <= len(lines) <= 62  # one a minute
    begin = r"the cluster does not answer, or is not ready, for (\d+) s now \("
    found = re.match(begin, lines[0])
    assert found is not None
    assert 5 <= int(found[1]) <= 10
    assert lines[-1] == f"the cluster is back after {time.now:.0f} s"
    for _ in range(3):  # what may be aborted may still be aborted
        backoff.note(AbortedError("refused"))
    with pytest.raises(AbortedError, match="refused"):
        backoff.note(AbortedError("refused"))


def test_waits_double_up_to_the_longest_and_differ_between_workers() -> None:
    for share in (0.0, 0.7, 1.0):
        backoff = Backoff(longest=4.0, draw=lambda share=share: share)
        waits = [backoff.note(UnreachableError("x")) for _ in range(2_000)]
        expected = [min(4.0, 0.04 * 2.0**at) * (1 - share / 2) for at in range(10)]
        assert waits[:10] == pytest.approx(expected)
        assert waits[-1] == pytest.approx(4.0 * (1 - share / 2))
        backoff.over()
        assert backoff.note(UnreachableError("x")) == pytest.approx(expected[0])


def test_an_outage_of_the_loop_is_waited_out(caplog: pytest.LogCaptureFixture) -> None:
    time, log = Time(), MemoryLog(records(stream(50)))

    class Away(MemorySource):
        def start(self, offsets: Any, timeout: float) -> Any:
            if time.now < 3600.0:
                raise UnreachableError("no broker answers")
            return super().start(offsets, timeout)

    loop = Loop(
        Away(log),
        MemorySink(log),
        make_filter(),
        limits=Limits(aborts=3),
        clock=time,
        sleep=time.sleep,
    )
    loop.run()
    assert len(log.outputs.decisions) == 50
    assert 58 <= sum("does not answer" in each.getMessage() for each in caplog.records) <= 62


def test_a_worker_that_never_came_so_far_saves_nothing(tmp_path: Any) -> None:
    from streamnb_consumers.daemon.snapshots.local import Snapshots

    class Away:
        def identity(self, timeout: float) -> str:
            loop.stop()
            raise UnreachableError("no broker answers")

        def truncate(self, offsets: Any, timeout: float) -> None: ...

    log, snapshots = MemoryLog([]), Snapshots(tmp_path)
    worker = make_filter(shared=True)
    loop = Loop(MemorySource(log), MemorySink(log), worker, snapshots=snapshots, log=Away())
    loop.run()
    assert snapshots.paths() == []


@pytest.mark.parametrize("why", ["password", "right"])
def test_a_refusal_ends_at_once(why: str) -> None:
    tried = []

    class Refusing(MemorySource):
        def start(self, offsets: Any, timeout: float) -> Any:
            tried.append(why)
            raise RefusedError(why)

    log = MemoryLog([])
    with pytest.raises(RefusedError, match=why) as found:
        Loop(Refusing(log), MemorySink(log), make_filter()).run()
    assert len(tried) == 1
    assert exit_status(found.value) == 2


def test_a_call_that_hangs_is_an_outage(caplog: pytest.LogCaptureFixture) -> None:
    """A thread tells of a request without an answer, while the loop waits for it."""
    time = Time()
    backoff = Backoff(clock=time)
    for seconds in (1.0, 4.9, 5.0, 6.0, 50.0, 70.0):
        time.now = seconds
        backoff.tell("commit", seconds)
    backoff.over()
    backoff.over()
    assert [each.getMessage() for each in caplog.records] == [
        f"the cluster does not answer, or is not ready, for {seconds} s now (0 attempts). "
        f"Processing continues when it is back: commit takes {seconds} s"
        for seconds in (5, 70)
    ] + ["the cluster is back after 70 s"]


def test_a_short_outage_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    backoff = Backoff(clock=time)
    time.sleep(backoff.note(UnreachableError("x")))
    backoff.over()
    assert not caplog.records


@pytest.mark.parametrize("call", ["start", "poll", "commit"])
def test_a_refusal_after_success_is_an_outage(call: str, caplog: pytest.LogCaptureFixture) -> None:
    time, log = Time(), MemoryLog(records(stream(50)))
    refused: list[float] = []

    def refuse(now: str) -> None:
        """Refuse a call for 100 s, after the worker has committed something."""
        if now == call and log.committed and (not refused or time.now < refused[0] + 100.0):
            refused.append(time.now)
            raise RefusedError("TOPIC_AUTHORIZATION_FAILED")

    class Source(MemorySource):
        def start(self, offsets: Any, timeout: float) -> Any:
            refuse("start")
            return super().start(offsets, timeout)

        def poll(self, max_records: int, timeout: float) -> Any:
            refuse("poll")
            if call == "start" and log.committed and not refused:
                raise UnreachableError("so the loop starts again")
            return super().poll(max_records, timeout)

    class Sink(MemorySink):
        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            refuse("commit")
            super().commit(offsets, token, timeout)

    limits = Limits(batch=10)
    loop = Loop(Source(log), Sink(log), make_filter(), limits=limits, clock=time, sleep=time.sleep)
    loop.run()
    assert len(log.outputs.decisions) == 50
    assert refused[-1] - refused[0] > 90.0
    said = [each.getMessage() for each in caplog.records]
    assert any(
        "has refused this worker for" in each and "accepted it before" in each for each in said
    )
    assert said[-1].startswith("the cluster is back after 1")


def test_a_refusal_that_lasts_ends_the_worker() -> None:
    time, log = Time(), MemoryLog(records(stream(50)))

    class Sink(MemorySink):
        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            if log.committed:
                raise RefusedError("TOPIC_AUTHORIZATION_FAILED")
            super().commit(offsets, token, timeout)

    limits = Limits(batch=10, authorization=300.0)
    loop = Loop(
        MemorySource(log), Sink(log), make_filter(), limits=limits, clock=time, sleep=time.sleep
    )
    with pytest.raises(RefusedError):
        loop.run()
    assert 300.0 <= time.now <= 310.0


def test_a_refusal_during_an_outage_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """Its next step differs from that of the outage; the two do not alternate."""
    time = Time()
    backoff = Backoff(longest=1.0, clock=time, draw=lambda: 0.0)
    while time.now < 10.0:
        time.sleep(backoff.note(UnreachableError("no broker answers")))
    for _ in range(3):
        time.sleep(backoff.note(RefusedError("certificate expired")))
        time.sleep(backoff.note(UnreachableError("no broker answers")))
    lines = [each.getMessage() for each in caplog.records]
    assert len(lines) == 2
    assert lines[0].startswith("the cluster does not answer")
    assert lines[1].startswith("the cluster has refused this worker for 10 s")
    backoff.over()
    assert caplog.records[-1].getMessage().startswith("the cluster is back")
