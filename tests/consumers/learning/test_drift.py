"""Drift alarm of filters: state, metrics and log lines."""

from __future__ import annotations

import dataclasses
import logging
import random
from typing import Any

import pytest
from river import drift

from streamnb.model.drift import DriftAlarm
from streamnb_consumers.daemon.assembly import make_filter as assembled
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.training import Learner
from streamnb_consumers.records import Outputs, TrainingEvent
from support.filters import FlakySink, make_filter, records, text
from support.memory import MemoryLog, MemorySink, MemorySource

SWAPPED = 300


def values(n: int = 600) -> list[Any]:
    """Return messages whose labels follow two later, and swap half way."""
    rng = random.Random(5)
    found: list[Any] = []
    waiting: list[Any] = []
    for number in range(n):
        label = rng.choice(["ham", "spam"])
        other = "ham" if label == "spam" else "spam"
        found.append({"id": f"m{number}", "text": text(label, rng)})
        waiting.append({"id": f"m{number}", "label": label if number < SWAPPED else other})
        if len(waiting) > 2:
            found.append(waiting.pop(0))
    return found + waiting


def errors_of(outputs: list[Outputs]) -> list[bool]:
    events = [event for each in outputs for event in each.training]
    return [event.decided != event.learn for event in events if event.decided is not None]


@pytest.mark.parametrize("name", ["adwin", "ddm"])
def test_detector_sees_each_decision_and_label(name: str) -> None:
    worker = make_filter(drift=name)
    direct = {"adwin": drift.ADWIN, "ddm": drift.binary.DDM}[name]()
    raised, outputs = [], []
    for record in records(values()):
        before = worker.learner.alarm.count
        outputs.append(worker.handle(record))
        if worker.learner.alarm.count > before:
            raised.append(record)
    errors = errors_of(outputs)
    assert worker.learner.alarm.seen == len(errors) > 500
    expected = 0
    for wrong in errors:
        mean = getattr(direct, "estimation", 0.0)
        direct.update(int(wrong))
        expected += direct.drift_detected and getattr(direct, "estimation", 1.0) > mean
    assert worker.learner.alarm.count == len(raised) == expected > 0
    assert 2 * SWAPPED < raised[0].offset < 2 * SWAPPED + 200
    assert worker.learner.alarm.last == raised[-1].timestamp


def test_unsure_decisions_and_corrected_labels_are_not_errors() -> None:
    learner = Learner(make_filter().learner.model, Options(drift="adwin"))
    for decided, unlearn in [("ham", None), ("unsure", None), (None, None), ("ham", "spam")]:
        if unlearn is not None:
            learner.model.learn_one("win", unlearn)
        learner.learn(TrainingEvent("a", "win", "ham", unlearn, 0.5, decided))
    assert learner.alarm is not None
    assert (learner.alarm.seen, learner.alarm.count) == (1, 0)


def test_state_with_an_alarm_survives_bytes() -> None:
    stream = records(values())
    whole = make_filter(drift="adwin")
    worker = make_filter(drift="adwin")
    for record in stream:
        whole.handle(record)
        worker.handle(record)
        if record.offset % 40 == 7:
            data = state.dump(worker)
            worker = make_filter(drift="adwin")
            state.restore(worker, data)
            assert state.dump(worker) == data
    assert worker.learner.alarm.count == whole.learner.alarm.count > 0
    assert state.dump(worker) == state.dump(whole)


def test_snapshot_of_another_detector_starts_a_new_one() -> None:
    worker = make_filter(drift="adwin")
    for record in records(values(50)):
        worker.handle(record)
    data = state.dump(worker)
    other, none = make_filter(drift="ddm"), make_filter()
    for each in (other, none):
        state.restore(each, data)
        assert each.learner.learned == worker.learner.learned
    assert (other.learner.alarm.detector, other.learner.alarm.seen) == ("ddm", 0)
    assert none.learner.alarm is None
    state.restore(worker, state.dump(none))
    assert (worker.learner.alarm.detector, worker.learner.alarm.seen) == ("adwin", 0)


def test_alarms_are_logged_and_counted(caplog: Any) -> None:
    metrics = PrometheusMetrics()
    value = metrics.registry.get_sample_value
    worker, log = make_filter(drift="adwin"), MemoryLog(records(values()))
    with caplog.at_level(logging.WARNING):
        Loop(MemorySource(log), MemorySink(log), worker, metrics=metrics).run()
    alarm = worker.learner.alarm
    assert value("streamnb_drift_alarms_total") == alarm.count > 0
    assert value("streamnb_drift_timestamp_seconds") == alarm.last / 1000
    told = [each for each in caplog.records if each.message.startswith("drift: ")]
    assert [each.alarms for each in told] == list(range(1, alarm.count + 1))
    assert told[-1].at == alarm.last
    assert told[-1].detector == "adwin"
    # A new process restores the alarms of the snapshot and does not report them again.
    fresh = PrometheusMetrics()
    fresh.started(worker, 1)
    fresh.committed([], Outputs(), worker, 0.0)
    assert fresh.registry.get_sample_value("streamnb_drift_alarms_total") == 0
    told_since = fresh.registry.get_sample_value("streamnb_drift_timestamp_seconds")
    assert told_since == alarm.last / 1000


def test_aborted_transactions_count_alarms_once() -> None:
    metrics, log = PrometheusMetrics(), MemoryLog(records(values()))
    worker = make_filter(drift="adwin")
    loop = Loop(MemorySource(log), FlakySink(log), worker, metrics=metrics, sleep=lambda _: None)
    loop.limits = dataclasses.replace(loop.limits, batch=50, pause=0.0)
    loop.backoff.__init__(100, 0.0)  # type: ignore[misc]
    loop.run()
    assert worker.learner.alarm.count > 0
    told = metrics.registry.get_sample_value("streamnb_drift_alarms_total")
    assert told == worker.learner.alarm.count


def test_detector_is_a_setting() -> None:
    assert assembled("sms", Settings(model="MNB")).learner.alarm is None
    alarm = assembled("sms", Settings(model="MNB", drift="ddm")).learner.alarm
    assert isinstance(alarm, DriftAlarm)
    assert alarm.detector == "ddm"
