"""Health and metrics of a worker right after a restart and during an outage of its cluster."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

from streamnb_consumers.daemon.command import set_up_logs
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.watchdog import Watchdog
from streamnb_consumers.kafka.confluent_client.client import LOGGER
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import kafka
from support.filters import make_filter, records, stream
from support.memory import MemoryLog, MemorySink, MemorySource

GAUGES = (
    "model_training_events",
    "model_words",
    "join_window_messages",
    "join_window_bytes",
    "pending_labels",
    "rolling_accuracy",
    "roc_auc",
    "decision_threshold",
    "snapshot_bytes",
)


def test_gauges_are_right_before_the_first_message(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")

    def make(log: MemoryLog) -> Loop:
        return Loop(
            MemorySource(log),
            MemorySink(log),
            make_filter(max_fpr=0.1),
            snapshots=Snapshots(tmp_path),
            limits=Limits(batch=17),
            metrics=PrometheusMetrics(),
        )

    def told(loop: Loop) -> dict[str, float | None]:
        assert isinstance(loop.metrics, PrometheusMetrics)
        samples = [each for kind in loop.metrics.registry.collect() for each in kind.samples]
        found = {each.name.removeprefix("streamnb_"): each.value for each in samples}
        return {name: found[name] for name in GAUGES}

    log = MemoryLog(records(stream(300)))
    before = make(log)
    before.run()
    after = make(log)
    after._start()
    assert told(after) == told(before)
    assert told(after)["model_training_events"]
    assert told(after)["snapshot_bytes"]


def test_whoever_waits_for_the_cluster_is_not_ready_after_a_session() -> None:
    now = [0.0]
    watchdog = Watchdog(end=lambda: None, clock=lambda: now[0])
    health = Health(limit=100.0, clock=lambda: now[0], session=10.0)
    health.watch(watchdog.busy)
    health.ready()
    for what, seconds, problem in (
        ("commit", 9.9, ""),
        ("commit", 10.5, "the cluster has not answered for 10 seconds (commit)"),
        ("poll", 11.0, "the cluster has not answered for 11 seconds (poll)"),
        ("snapshot", 50.0, ""),  # that is this worker's own time
    ):
        with watchdog.limit(what, 60.0):
            now[0] += seconds
            assert health.problem_of_readiness() == problem
        health.beat()
        assert health.problem_of_readiness() == ""


@pytest.mark.parametrize("level", ["WARNING", "INFO", "DEBUG"])
def test_a_client_logs_at_the_level_debug_only(level: str) -> None:
    file = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("kafka", "streamnb_consumers")]
    kept = [(each.handlers[:], each.level, each.propagate) for each in loggers]
    try:
        set_up_logs(level, "text", file)
        for client in ("kafka.net.manager", LOGGER.name):
            logging.getLogger(client).warning("no node")
        logging.getLogger("streamnb_consumers.daemon").warning("of our own")
    finally:
        for each, (handlers, number, propagate) in zip(loggers, kept, strict=True):
            each.handlers[:], each.propagate = handlers, propagate
            each.setLevel(number)
    lines = [line.partition(" WARNING: ")[2] for line in file.getvalue().splitlines()]
    assert lines == ["no node"] * 2 * (level == "DEBUG") + ["of our own"]


def test_the_last_words_of_a_broker_are_read() -> None:
    """As they stand, kafka-python throws them away with the end that comes with them."""

    class Socket:
        def __init__(self) -> None:
            self.left = [b"no such password", b""]

        def recv(self, size: int) -> bytes:
            return self.left.pop(0) if self.left else b""

    class Transport(kafka.net.transport.KafkaTCPTransport):  # type: ignore[misc]
        def __init__(self) -> None:
            self._sock = Socket()

        def __str__(self) -> str:
            return "transport"

    workarounds.fix_last_words()
    transport = Transport()
    assert transport._sock_recv() == (b"no such password", None)
    data, error = transport._sock_recv()
    assert data == b""
    assert isinstance(error, kafka.errors.KafkaConnectionError)
    upstream = kafka.net.transport.KafkaTCPTransport._sock_recv.upstream
    data, error = upstream(Transport())
    assert data
    assert error is not None  # what is read is lost: when this fails, the workaround can go
