"""A filter whose model forgets faster at an alarm: killed, folded three ways, told of."""

from __future__ import annotations

import logging
import random
from typing import Any

import pytest

from streamnb import MNB, OnlineNB
from streamnb.challenger import Challenger
from streamnb.drift_forgetting import DriftForgetting
from streamnb_consumers.daemon.assembly import make_filter as assembled
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import ForeignError, SettingsError
from streamnb_consumers.io.memory import MemoryLog, MemorySink, MemorySource
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from support.filters import folded, records, restored, text


def forgetting(model: Any = None, shared: bool = False, **options: Any) -> Filter:
    parameters = {"short_half_life": 15, "span": 60} | options
    wrapped = DriftForgetting(MNB(half_life=10_000) if model is None else model, **parameters)
    return Filter(wrapped, SmsReader(("ham", "spam")), Options(shared=shared, top_words=1))


def values(n: int = 700, swapped: int = 300) -> list[Any]:
    """Messages that change sides, with labels two later; each ninth is corrected much later."""
    rng = random.Random(8)
    other = {"ham": "spam", "spam": "ham"}
    found: list[Any] = []
    labels: dict[int, list[Any]] = {}
    for number in range(n):
        side, name = rng.choice(["ham", "spam"]), f"m{number}"
        found.append({"id": name, "text": text(side, rng)})
        label = side if number < swapped else other[side]
        if number % 9 == 3:
            late = number + rng.choice([7, 22, 120])
            labels.setdefault(late, []).append({"id": name, "label": label})
            label = other[label]
        labels.setdefault(number + 2, []).append({"id": name, "label": label})
        found += labels.pop(number, [])
    return found + [each for late in sorted(labels) for each in labels[late]]


def wrong_after(worker: Filter, swapped: int = 300) -> int:
    """Decisions that are wrong, of the messages from the swap on."""
    sides = {v["id"]: v["label"] for v in values() if "label" in v}  # the last one is right
    decisions = [d for r in records(values()) for d in worker.handle(r).decisions]
    return sum(d.label != sides[d.id] for d in decisions if int(d.id[1:]) >= swapped)


def test_it_errs_less_after_the_change_than_the_model_alone() -> None:
    alone = Filter(MNB(half_life=10_000), SmsReader(("ham", "spam")), Options(top_words=1))
    assert wrong_after(forgetting()) < 0.6 * wrong_after(alone)


@pytest.mark.parametrize(
    "model", [MNB(half_life=900), MNB(half_life="1h"), OnlineNB(half_life=900)]
)
def test_a_filter_that_is_killed_again_and_again_decides_and_ends_alike(model: Any) -> None:
    whole, killed = forgetting(model.clone()), forgetting(model.clone())
    at_work = 0
    for record in records(values(400, swapped=220)):
        assert killed.handle(record) == whole.handle(record)
        at_work += whole.learner.model._left > 0
        if record.offset % 7 == 0:
            killed = restored(killed, lambda: forgetting(model.clone()))
    assert state.dump(killed) == state.dump(whole)
    assert whole.learner.model.alarm.count >= 1
    assert at_work > 50


def test_workers_that_fold_the_same_log_are_the_same_bytes_however_they_began() -> None:
    alone = forgetting()
    whole = folded(alone, records(values()), forgetting)
    assert whole.learner.model.model.to_bytes() == alone.learner.model.model.to_bytes()
    assert (whole.learner.model.alarm.count > 0, whole.counters["bad_log"]) == (True, 0)


@pytest.mark.parametrize("size", [2, 64, 2000])
def test_batches_are_one_by_one(size: int) -> None:
    stream = records(values())
    alone, batched = forgetting(), forgetting()
    one = [each for record in stream for each in alone.handle(record).decisions]
    starts = range(0, len(stream), size)
    many = [d for at in starts for d in batched.handle_many(stream[at : at + size]).decisions]
    assert many == one
    assert state.dump(batched) == state.dump(alone)


def test_snapshots_of_other_models_are_refused_and_of_the_model_alone_go_on() -> None:
    alone = Filter(MNB(half_life=10_000), SmsReader(("ham", "spam")), Options(top_words=1))
    for record in records(values())[:100]:
        alone.handle(record)
    worker = forgetting()
    state.restore(worker, state.dump(alone))
    assert worker.learner.model.model.to_bytes() == alone.learner.model.to_bytes()
    with pytest.raises(ForeignError, match="the settings ask for DriftForgetting"):
        state.restore(forgetting(span=61), state.dump(worker))
    rival = Filter(
        Challenger(MNB(half_life=10_000)), SmsReader(("ham", "spam")), Options(top_words=1)
    )
    with pytest.raises(ForeignError, match="holds the model DriftForgetting"):
        state.restore(rival, state.dump(worker))


def test_the_metrics_and_the_log_tell_of_it(caplog: Any) -> None:
    metrics, worker, log = PrometheusMetrics(), forgetting(), MemoryLog(records(values()))
    with caplog.at_level(logging.WARNING):
        Loop(MemorySource(log), MemorySink(log), worker, metrics=metrics).run()
    told = [each.message for each in caplog.records if each.message.startswith("drift: ")]
    count = worker.learner.model.alarm.count
    assert (
        told
        == [
            "drift: decisions are less often right than they were",
            "drift: the model forgets faster for a while",
        ]
        * count
    )
    value = metrics.registry.get_sample_value
    assert value("streamnb_drift_alarms_total") == count > 0
    assert value("streamnb_challenger_running") == 0
    assert value("streamnb_challengers_total", {"event": "shortened"}) is None


def test_the_setting_names_the_model() -> None:
    named = "DriftForgetting(model=OnlineNB(half_life=1000), span=90)"
    worker = assembled("sms", Settings(model=named))
    assert worker.belong("x").model == named
    assert (worker.options.ham_target, worker.learner.model.span) == (0.01, 90)
    for model, said in (
        ("DriftForgetting", "must have a half-life"),
        ("DriftForgetting(model=HMNB())", "must have a half-life"),
    ):
        with pytest.raises(SettingsError, match=said):
            assembled("sms", Settings(model=model))
    with pytest.raises(SettingsError, match=r"as in DriftForgetting\(detector='ddm'\)"):
        assembled("sms", Settings(model=named, drift="ddm"))
