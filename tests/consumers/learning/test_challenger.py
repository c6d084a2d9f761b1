"""Filters with a challenged model: reference lists, kills and corrected labels."""

from __future__ import annotations

import dataclasses
import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamnb import MNB, OnlineNB
from streamnb.challenger import Challenger
from streamnb.model.drift import DriftAlarm
from streamnb_consumers.daemon.assembly import make_filter as assembled
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import ForeignError, SettingsError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, LocalFilter, SharedFilter
from streamnb_consumers.pipeline.identity import model_text
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.records import Message, Record, TrainingEvent
from support.filters import FlakySink, folded, new_filter, records, restored, text
from support.memory import MemoryLog, MemorySink, MemorySource
from support.profiles import also_in_soak

MODELS: dict[str, Callable[[], Any]] = {
    "MNB": MNB,
    "OnlineNB": OnlineNB,
    "MNB(half_life=100)": lambda: MNB(half_life=100),
    "MNB(half_life=1h)": lambda: MNB(half_life="1h"),
    "MNB(window_size=150)": lambda: MNB(window_size=150),
}


def challenged(model: Any = None, shared: bool = False, **options: Any) -> Filter:
    parameters = {"span": 40, "patience": 200} | options
    wrapped = Challenger(MNB() if model is None else model, **parameters)
    return new_filter(wrapped, SmsReader(("ham", "spam")), Options(explain_top_k=1), shared)


def values(n: int = 700, swapped: int = 300) -> list[Any]:
    """Return messages whose labels follow two later and swap; some are corrected much later.

    One label in eleven is wrong, and corrected after 5 to 120 others: so messages of before the
    alarm are corrected while a challenger runs, and when it has won.
    """
    rng = random.Random(8)
    other = {"ham": "spam", "spam": "ham"}
    found: list[Any] = []
    labels: dict[int, list[Any]] = {}
    for number in range(n):
        side = rng.choice(["ham", "spam"])
        name = f"m{number}"
        found.append({"id": name, "text": text(side, rng)})
        label = side if number < swapped else other[side]
        if number % 11 == 3:
            later = number + 2 + rng.choice([5, 20, 60, 120])
            labels.setdefault(later, []).append({"id": name, "label": label})
            label = other[label]
        labels.setdefault(number + 2, []).append({"id": name, "label": label})
        found += labels.pop(number, [])
    return found + [each for late in sorted(labels) for each in labels[late]]


class Lists:
    """Reference: lists of the messages that each of the two models has learned."""

    def __init__(self, span: int, margin: float, patience: int) -> None:
        self.span, self.margin, self.patience = span, margin, patience
        self.model, self.rival = MNB(), None
        self.known: dict[str, tuple[Any, str]] = {}
        self.rivals: dict[str, tuple[Any, str]] = {}
        self.alarm = DriftAlarm("adwin")
        self.judged: list[tuple[bool, bool]] = []
        self.happened: list[str] = []

    def learn(self, event: TrainingEvent) -> None:
        mine = self.model.predict_one(event.features)
        theirs = self.rival.predict_one(event.features) if self.rival else None
        for model, known in ((self.model, self.known), (self.rival, self.rivals)):
            if model is None:
                continue
            if event.unlearn is not None and event.id in known:
                model.unlearn_one(event.features, event.unlearn)
            model.learn_one(event.features, event.learn)
            known[event.id] = (event.features, event.learn)
        if event.unlearn is not None:
            return
        raised = mine is not None and self.alarm.update(mine != event.learn)
        if self.rival is None:
            if raised:
                self.rival, self.rivals, self.judged = MNB(), {}, []
                self.happened.append("started")
            return
        self.judged.append((mine == event.learn, theirs == event.learn))
        last = self.judged[-self.span :]
        gain = sum(right for _, right in last) - sum(right for right, _ in last)
        if len(last) == self.span and gain / self.span > self.margin:
            self.model, self.known = self.rival, self.rivals
            self.rival, self.rivals, self.alarm = None, {}, DriftAlarm("adwin")
            self.happened.append("swapped")
        elif len(self.judged) == self.patience:
            self.rival, self.rivals = None, {}
            self.happened.append("given_up")


def learned(known: dict[str, tuple[Any, str]]) -> bytes:
    model = MNB()
    for features, label in known.values():
        model.learn_one(features, label)
    return model.to_bytes()


@pytest.mark.parametrize(
    ("margin", "patience", "happened"),
    [
        (0.05, 200, ["started", "swapped"]),
        (1.0, 120, ["started", "given_up"]),
    ],
)
def test_models_equal_the_reference_after_each_event(
    margin: float, patience: int, happened: list[str]
) -> None:
    worker, lists = challenged(margin=margin, patience=patience), Lists(40, margin, patience)
    corrected = {"before": 0, "while": 0, "after": 0}
    for record in records(values()):
        said, found = worker.handle(record), worker.reader.read(record)
        if isinstance(found, Message):
            assert said.decisions[0].label == lists.model.predict_one(found.features)
        for event in said.training:
            lists.learn(event)
            if event.unlearn is not None:
                when = "while" if lists.rival else "after" if lists.happened else "before"
                corrected[when] += 1
        assert not said.dead_letters
        model = worker.learner.model
        assert (model.challenger is None) is (lists.rival is None)
        if record.offset % 30 == 0:
            assert model.model.to_bytes() == learned(lists.known)
            if model.challenger is not None:
                assert model.challenger.to_bytes() == learned(lists.rivals)
    assert lists.happened == happened
    ended = (model.n_started, model.n_swaps, model.n_given_up)
    assert ended == tuple(lists.happened.count(e) for e in ("started", "swapped", "given_up"))
    assert min(corrected.values()) > 0


# --- kills ---


@pytest.mark.parametrize("name", also_in_soak(list(MODELS)[:3], list(MODELS)[3:]))
def test_killed_filter_decides_and_ends_alike(name: str) -> None:
    def make() -> Filter:
        return challenged(MODELS[name](), span=20, margin=0.0)

    stream = records(values(400, swapped=220))
    whole, killed = make(), make()
    running = 0
    for record in stream:
        one, other = whole.handle(record), killed.handle(record)
        assert other == one
        running += whole.learner.model.challenger is not None
        if record.offset % 13 == 0:
            killed = restored(killed, make)
    assert state.dump(killed) == state.dump(whole)
    assert whole.learner.model.n_swaps >= 1
    assert running > 20


@pytest.mark.parametrize("size", [2, 64, 2000])
def test_batches_equal_single_records(size: int) -> None:
    stream = records(values())
    alone, batched = challenged(), challenged()
    one = [each for record in stream for each in alone.handle(record).decisions]
    many = [
        each
        for at in range(0, len(stream), size)
        for each in batched.handle_many(stream[at : at + size]).decisions
    ]
    assert many == one
    assert state.dump(batched) == state.dump(alone)


def test_workers_with_the_same_log_have_equal_bytes(caplog: pytest.LogCaptureFixture) -> None:
    alone = challenged()
    whole = folded(alone, records(values()), challenged)
    # A filter that learns locally has the same model, except for the times of the alarm.
    assert whole.learner.model.model.to_bytes() == alone.learner.model.model.to_bytes()
    assert whole.learner.model.n_swaps == 1
    assert "skipped an invalid record" not in caplog.text


# --- corrections ---


def started(worker: Filter) -> Iterator[Record]:
    """Process records until a challenger runs; return the remaining records."""
    rest = iter(records(values()))
    for record in rest:
        worker.handle(record)
        if worker.learner.model.challenger is not None:
            break
    return rest


def test_challenger_unlearns_only_what_it_learned() -> None:
    worker = challenged()
    started(worker)
    model, learner = worker.learner.model, worker.learner
    total = model.model.n_documents
    learner.learn(TrainingEvent("x", "win cash prize", "spam"))
    assert model.challenger.n_documents == 1
    # A message with the same words, which only the model knows: nothing of the challenger goes.
    model.model.learn_one("cash win prize", "spam")
    learner.learn(TrainingEvent("old", "cash win prize", "ham", unlearn="spam"))
    assert (model.model.n_documents, model.challenger.n_documents) == (total + 2, 2)
    assert model.challenger.joint_log_likelihood_one("win").keys() == {"ham", "spam"}
    # A corrected message is relearned; its first label leaves no other trace.
    learner.learn(TrainingEvent("x", "win cash prize", "ham", unlearn="spam"))
    assert (model.model.n_documents, model.challenger.n_documents) == (total + 2, 2)
    assert list(model.challenger.classes_) == ["ham"]


def test_label_from_before_the_swap_is_corrected() -> None:
    worker = challenged()
    for record in started(worker):
        worker.handle(record)
        if worker.learner.model.n_swaps:
            break
    model, before = worker.learner.model, worker.learner.model.model.n_documents
    entry = worker.join.window(0).get("m50")
    assert entry is not None
    label = {"ham": "spam", "spam": "ham"}[str(entry.label)]
    (record,) = records([{"id": "m50", "label": label}])
    outputs = worker.handle(record._replace(offset=10_000))
    assert [(event.learn, event.unlearn != label) for event in outputs.training] == [(label, True)]
    assert not outputs.dead_letters
    assert model.model.n_documents == before + 1
    with pytest.raises(Exception, match="a model that it replaced may have"):
        worker.learner.learn(TrainingEvent("x", "never learned", None, "ham"))


# --- snapshots ---


def test_challenger_continues_from_snapshot_of_plain_model() -> None:
    plain = LocalFilter(MNB(alpha=0.1), SmsReader(("ham", "spam")), Options(max_fpr=0.05))
    for record in records(values(20)):
        plain.handle(record)
    model = Challenger(MNB(alpha=0.1), span=30)
    worker = LocalFilter(model, SmsReader(("ham", "spam")), Options(max_fpr=0.05))
    state.restore(worker, state.dump(plain))
    assert worker.learner.learned == plain.learner.learned > 0
    assert worker.learner.model.model.n_documents == plain.learner.model.n_documents
    assert worker.learner.alarm is worker.learner.model.alarm
    assert worker.learner.alarm.seen == 0
    assert worker.learner.model.span == 30
    restored(worker, lambda: LocalFilter(model.clone(), SmsReader(("ham", "spam")), worker.options))


def test_snapshots_of_other_models_are_refused() -> None:
    plain = LocalFilter(MNB(), SmsReader(("ham", "spam")), Options())
    with pytest.raises(ForeignError, match=r"holds the model Challenger\(.*model=MNB\("):
        state.restore(plain, state.dump(challenged()))
    for other in (challenged(MNB(alpha=0.5)), challenged(span=41)):
        with pytest.raises(ForeignError, match="the settings ask for Challenger"):
            state.restore(challenged(), state.dump(other))
    with pytest.raises(ForeignError, match=r"MNB\(alpha=0.5"):
        state.restore(
            challenged(), state.dump(LocalFilter(MNB(alpha=0.5), plain.reader, Options()))
        )
    # With a shared log, a plain model must not become a challenged one.
    shared = SharedFilter(MNB(), SmsReader(("ham", "spam")), Options())
    with pytest.raises(ForeignError, match="the settings ask for Challenger"):
        state.restore(challenged(shared=True), state.dump(shared))


# --- metrics and logs ---


def value(metrics: PrometheusMetrics, name: str, **labels: str) -> float | None:
    found: float | None = metrics.registry.get_sample_value(f"streamnb_{name}", labels)
    return found


def test_challengers_are_logged_and_counted(caplog: Any) -> None:
    metrics, worker = PrometheusMetrics(), challenged()
    log = MemoryLog(records(values()))
    with caplog.at_level(logging.WARNING):
        Loop(MemorySource(log), MemorySink(log), worker, metrics=metrics).run()
    model = worker.learner.model
    told = [each for each in caplog.records if each.message.startswith("drift: ")]
    assert [each.message.partition(" ")[2][:23] for each in told[:3]] == [
        "the accuracy of decisio",
        "a challenger starts to ",
        "the challenger was bett",
    ]
    assert told[0].alarms == 1
    assert told[0].learned == told[1].learned < told[2].learned
    assert value(metrics, "drift_alarms_total") == model.alarm.count > 0
    assert value(metrics, "drift_timestamp_seconds") == model.alarm.last / 1000
    events = {"started": model.n_started, "swapped": 1, "given_up": model.n_given_up}
    for event, count in events.items():
        assert (value(metrics, "challengers_total", event=event) or 0) == count
    # A new process restores the events of the snapshot and does not report them again.
    running = challenged()
    started(running)
    fresh = PrometheusMetrics()
    fresh.started(running, 1)
    assert value(fresh, "challenger_running") == 1
    assert value(fresh, "challengers_total", event="started") == 0


def test_aborted_transactions_count_challengers_once() -> None:
    metrics, log, worker = PrometheusMetrics(), MemoryLog(records(values())), challenged()
    loop = Loop(MemorySource(log), FlakySink(log), worker, metrics=metrics, sleep=lambda _: None)
    loop.limits = dataclasses.replace(loop.limits, batch=50, pause=0.0)
    loop.backoff.__init__(100, 0.0)  # type: ignore[misc]
    loop.run()
    quiet = challenged()
    for record in records(values()):
        quiet.handle(record)
    assert worker.learner.model.to_bytes() == quiet.learner.model.to_bytes()
    assert value(metrics, "challengers_total", event="swapped") == 1


# --- settings ---


def test_challenged_model_is_a_setting() -> None:
    worker = assembled("sms", Settings(model="Challenger"))
    assert isinstance(worker.learner.model, Challenger)
    assert isinstance(worker.learner.model.model, OnlineNB)
    assert worker.options.max_fpr == 0.01  # as of the model alone, which is calibrated
    assert model_text(worker.learner.model) == "Challenger(model=OnlineNB())"
    mail = assembled("spam", Settings(model="Challenger(span=200, detector='ddm')"))
    own = model_text(assembled("spam", Settings()).learner.model)
    assert model_text(mail.learner.model) == f"Challenger(model={own}, detector='ddm', span=200)"
    assert mail.reader.gives_texts
    words = assembled("spam", Settings(model="Challenger(model=MNB(alpha=0.5))"))
    assert not words.reader.gives_texts
    assert model_text(words.learner.model) == "Challenger(model=MNB(alpha=0.5))"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "Challenger", "drift": "ddm"}, r"as in Challenger\(detector='ddm'\)"),
        ({"model": "Challenger(span=0)"}, "span must be a whole number"),
        ({"model": "Challenger(model=Challenger())"}, "a model of this package"),
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        assembled("sms", Settings(**settings))  # type: ignore[arg-type]
