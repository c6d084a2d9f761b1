"""The loop commits one decision per message and keeps one model, despite failures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.backoff import Breaker
from streamnb_consumers.daemon.loop import Limits, Loop, stopping_on_signals
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.watchdog import Watchdog
from streamnb_consumers.errors import AbortedError, BadInputError, FencedError
from streamnb_consumers.io.protocols import Batch
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.records import Outputs
from support.filters import make_filter, records, stream
from support.memory import MemoryLog, MemorySink, MemorySource

STREAM = stream(300)


class CrashError(Exception):
    """The process dies here."""


def run(
    log: MemoryLog, fail: Callable[[int], None] = lambda n: None, **parts: Any
) -> tuple[Filter, Loop]:
    worker = make_filter()
    parts.setdefault("limits", Limits(batch=17, snapshot=0.0))
    loop = Loop(MemorySource(log), MemorySink(log, fail), worker, **parts)
    loop.run()
    return worker, loop


def undisturbed() -> tuple[MemoryLog, bytes]:
    log = MemoryLog(records(STREAM))
    worker, _ = run(log)
    return log, state.dump(worker)


def places(log: MemoryLog) -> list[tuple[object, int]]:
    return [(each.partition, each.offset) for each in log.outputs.decisions]


def test_each_message_gets_one_decision() -> None:
    log, _ = undisturbed()
    assert len(places(log)) == len(set(places(log))) == 300
    assert log.committed[log.records[0].partition] == len(log.records)


@pytest.mark.parametrize("polled", [1, 4])
@pytest.mark.parametrize("snapshot", [0.0, 3.0, 1e9])
def test_aborted_transactions_are_done_again(snapshot: float, polled: int) -> None:
    """With the last snapshot before every batch, before some, and never after the start."""
    expected, final = undisturbed()
    log = MemoryLog(records(STREAM))

    def fail(number: int) -> None:
        if number % 3 == 2:
            raise AbortedError("injected")

    ticks = iter(range(10**6))
    worker, _ = run(
        log, fail, limits=Limits(17, polled, snapshot=snapshot), clock=lambda: next(ticks)
    )
    assert log.outputs == expected.outputs
    assert state.dump(worker) == final


@pytest.mark.parametrize("polled", [1, 3])
@pytest.mark.parametrize("crash_at", [0, 1, 5, 20])
@pytest.mark.parametrize("every", [0.0, 30.0])
def test_a_crash_anywhere_doubles_and_loses_nothing(
    tmp_path: Path, crash_at: int, every: float, polled: int
) -> None:
    expected, final = undisturbed()
    log = MemoryLog(records(STREAM))
    ticks = iter(range(10**6))
    crashes = 0

    def fail(number: int) -> None:
        # Before the commit in the first life, later and later in the next ones.
        if crashes < 4 and number == crash_at + crashes:
            raise CrashError

    while True:
        try:
            worker, _ = run(
                log,
                fail,
                snapshots=Snapshots(tmp_path, keep=2),
                limits=Limits(11, polled, snapshot=every),
                clock=lambda: next(ticks),
            )
            break
        except CrashError:
            crashes += 1
    assert crashes
    assert log.outputs == expected.outputs
    assert state.dump(worker) == final
    assert len(list(tmp_path.iterdir())) <= 2


def test_the_next_records_are_handled_during_a_commit() -> None:
    handled = [threading.Event() for _ in range(4)]
    log, worker = MemoryLog(records(STREAM[:20])), make_filter()

    class Slow(MemorySink):
        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            number = self._commits
            assert number % 2 or handled[number + 1].wait(10), "the next part was not handled"
            assert number % 2 == 0 or not any(each.is_set() for each in handled[number + 1 :])
            super().commit(offsets, token, timeout)

    class Told(Loop):
        def _handle(self, batch: Batch) -> Outputs:
            outputs = super()._handle(batch)
            handled[batch.records[0].offset // 5].set()
            return outputs

    Told(MemorySource(log), Slow(log), worker, limits=Limits(5, polled=2)).run()
    assert [each.is_set() for each in handled] == [True] * 4
    assert log.committed[log.records[0].partition] == 20


def test_an_error_during_a_commit_waits_for_it() -> None:
    log = MemoryLog(records(STREAM[:20]))

    class Bad(Loop):
        def _handle(self, batch: Batch) -> Outputs:
            if batch.records[0].offset:
                raise CrashError
            return super()._handle(batch)

    with pytest.raises(CrashError):
        Bad(MemorySource(log), MemorySink(log), make_filter(), limits=Limits(5, polled=4)).run()
    assert log.committed[log.records[0].partition] == 5


def test_a_crash_after_the_commit_doubles_nothing(tmp_path: Path) -> None:
    expected, final = undisturbed()
    log = MemoryLog(records(STREAM))

    class Dying(MemorySink):
        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            super().commit(offsets, token, timeout)
            if self._commits == 5:
                raise CrashError

    parts: dict[str, Any] = {"snapshots": Snapshots(tmp_path), "limits": Limits(batch=13)}
    with pytest.raises(CrashError):
        Loop(MemorySource(log), Dying(log), make_filter(), **parts).run()
    worker, _ = run(log, **parts)
    assert log.outputs == expected.outputs
    assert state.dump(worker) == final


def test_the_stream_continues_while_a_snapshot_is_written(tmp_path: Path) -> None:
    decided = threading.Event()

    class Slow(Snapshots):
        def save(self, data: bytes) -> Path:
            assert decided.wait(60.0)
            return super().save(data)

    class Counting(MemorySink):
        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            super().commit(offsets, token, timeout)
            if len(log.outputs.decisions) == 300:
                decided.set()

    log = MemoryLog(records(STREAM))
    worker = make_filter()
    limits = Limits(batch=17, snapshot=0.0)
    Loop(MemorySource(log), Counting(log), worker, snapshots=Slow(tmp_path), limits=limits).run()
    restored = make_filter()
    assert Snapshots(tmp_path).load(lambda data: state.restore(restored, data))
    assert state.dump(restored) == state.dump(worker)


def test_it_gives_up_after_many_aborts() -> None:
    def fail(number: int) -> None:
        raise AbortedError("always")

    with pytest.raises(AbortedError, match="always"):
        run(MemoryLog(records(STREAM)), fail, limits=Limits(aborts=3))


def test_transactions_become_as_small_as_they_must_be() -> None:
    """A commit of more than seven decisions never succeeds, as on a link that is too slow."""
    log = MemoryLog(records(STREAM))
    sizes: list[int] = []

    class Slow(MemorySink):
        def commit(self, offsets: Any, token: object, timeout: float) -> None:
            sizes.append(len(self._open.decisions))
            if sizes[-1] > 7:
                raise AbortedError("too slow")
            super().commit(offsets, token, timeout)

    limits = Limits(batch=64, aborts=20, pause=0.001, transaction=1e-9)
    loop = Loop(MemorySource(log), Slow(log), make_filter(), limits=limits)
    loop.run()
    assert log.outputs.decisions == undisturbed()[0].outputs.decisions
    assert loop.bounds.records <= 16
    large = [each for each in sizes if each > 7]
    assert large == sorted(large, reverse=True)
    assert len(large) <= 4


def test_a_fenced_loop_ends_and_writes_nothing() -> None:
    def fail(number: int) -> None:
        raise FencedError("another worker has this one's place")

    log = MemoryLog(records(STREAM))
    with pytest.raises(FencedError):
        run(log, fail)
    assert log.outputs.decisions == []


def test_the_breaker_stops_when_most_is_bad(tmp_path: Path) -> None:
    log = MemoryLog(records([b"bad"] * 500))
    with pytest.raises(BadInputError, match=r"50 of the last 50 records are invalid .*not JSON"):
        run(log, breaker=Breaker(0.5, 50), limits=Limits(batch=40), snapshots=Snapshots(tmp_path))
    assert len(log.outputs.dead_letters) == 80
    assert log.committed[log.records[0].partition] == 80


def test_the_breaker_bears_some_bad_input() -> None:
    log = MemoryLog(records([b"bad", {"text": "hi"}] * 300))
    run(log, breaker=Breaker(0.8, 100))
    assert (len(log.outputs.dead_letters), len(log.outputs.decisions)) == (300, 300)


def test_sigterm_ends_after_the_batch_with_a_snapshot(tmp_path: Path) -> None:
    log = MemoryLog(records(STREAM))

    def fail(number: int) -> None:
        if number == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    worker = make_filter()
    loop = Loop(
        MemorySource(log),
        MemorySink(log, fail),
        worker,
        snapshots=Snapshots(tmp_path),
        limits=Limits(batch=10),
    )
    with stopping_on_signals(loop):
        loop.run()
    assert signal.getsignal(signal.SIGTERM) == before
    assert list(log.committed.values()) == [30]
    (snapshot,) = Snapshots(tmp_path).paths()
    assert Snapshots(tmp_path).read(snapshot) == state.dump(worker)


def test_the_watchdog_ends_a_call_that_hangs() -> None:
    now, ended = [0.0], []
    watchdog = Watchdog(end=lambda: ended.append(now[0]), clock=lambda: now[0])
    with watchdog.limit("commit", 10.0):
        now[0] = 9.9
        watchdog.check()
        assert not ended
        now[0] = 10.0
        watchdog.check()
    assert ended == [10.0]
    now[0] = 100.0
    watchdog.check()
    assert ended == [10.0]


def test_a_process_whose_call_hangs_ends_with_70() -> None:
    program = (
        "import time\n"
        "from streamnb_consumers.daemon.command import set_up_logs\n"
        "from streamnb_consumers.daemon.watchdog import Watchdog\n"
        "set_up_logs('INFO', 'text')\n"
        "watchdog = Watchdog()\n"
        "watchdog.start(every=0.05)\n"
        "with watchdog.limit('commit', 0.2):\n"
        "    time.sleep(60.0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 70, done.stderr
    assert "commit took more than 0.2 s: ending the process with status 70" in done.stderr


def test_every_wait_of_the_loop_has_a_timeout_and_a_limit() -> None:
    seen: list[tuple[str, float]] = []

    class Watching(Watchdog):
        def limit(self, what: str, seconds: float) -> Any:
            seen.append((what, seconds))
            return super().limit(what, seconds)

    run(MemoryLog(records(STREAM)), watchdog=Watching())
    assert {what for what, _ in seen} == {"start", "poll", "commit", "snapshot", "stop"}
    assert all(0 < seconds < 600 for _, seconds in seen)


def test_prometheus_sees_what_happened() -> None:
    client = pytest.importorskip("prometheus_client")
    metrics = PrometheusMetrics(clock=lambda: 1_000.0)
    log = MemoryLog(records(STREAM))
    worker, _ = run(log, metrics=metrics)
    value = metrics.registry.get_sample_value
    assert value("streamnb_records_total", {"role": "message"}) == len(STREAM)
    decided = [value("streamnb_decisions_total", {"label": each}) for each in ("", "ham", "spam")]
    assert sum(each or 0 for each in decided) == 300
    assert value("streamnb_dead_letters_total") == len(log.outputs.dead_letters)
    assert value("streamnb_rolling_accuracy") == worker.learner.accuracy()
    assert value("streamnb_snapshot_age_seconds") == 0.0
    assert b"streamnb_batch_seconds_bucket" in client.generate_latest(metrics.registry)
