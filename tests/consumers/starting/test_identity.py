"""The identity of a filter: stored with its training events and in its snapshots."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from typing import Any

import pytest

from streamnb import CNB, MNB
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.errors import ForeignError, SettingsError, TruncatedError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, SharedFilter
from streamnb_consumers.pipeline.identity import HEADER, model_text
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.records import Outputs, Partition, Record, TrainingEvent
from support.filters import make_filter, records
from support.memory import MemoryLog, MemorySink, MemorySource

PLACE = Partition("training", 0)
TOPICS = Topics("sms", "labels", "decisions", "training", "join-state", "dead")
EVENT = canonical(TrainingEvent("a", "win cash", "spam"))


def make(log: str = "x", model: Any = None, labels: tuple[str, ...] = (), **options: Any) -> Filter:
    sizes = {name: options.pop(name) for name in ("max_bytes", "max_text") if name in options}
    worker = SharedFilter(model or MNB(), SmsReader(labels, **sizes), Options(**options))
    worker.belong(log)
    return worker


def make_with_unicode(version: str) -> Filter:
    worker = make()
    assert worker.identity is not None
    worker.identity = dataclasses.replace(worker.identity, unicode=version)
    return worker


def event(by: Filter | None, offset: int = 0) -> Record:
    headers = () if by is None else ((HEADER, by.identity.header),)  # type: ignore[union-attr]
    return Record(PLACE, offset, EVENT, b"a", headers, role="training")


def decide(worker: Filter) -> Outputs:
    return worker.handle(records([{"id": "m", "text": "hi"}])[0])


OTHERS = {
    "model": (lambda: make(model=CNB()), "model: 'CNB.+', and here 'MNB.+'"),
    "parameter": (lambda: make(model=MNB(alpha=0.5)), r"model: 'MNB\(alpha=0.5\)', and here"),
    "labels": (lambda: make(labels=("ham", "spam")), r"labels: .*ham.*spam.*, and here '\[\]'"),
    "pos_label": (
        lambda: make(pos_label="ham", negative="spam"),
        "pos_label: 'ham', and here 'spam'",
    ),
    "max_fpr": (lambda: make(max_fpr=0.01), "max_fpr: '0.01', and here 'None'"),
    "drift": (lambda: make(drift="adwin"), "drift: 'adwin', and here 'None'"),
    "max_text": (lambda: make(max_text=10), "max_text: '10', and here '4096'"),
    "max_bytes": (lambda: make(max_bytes=10), "max_bytes: '10', and here '65536'"),
    "log": (lambda: make(log="y"), "topic id of the training events: 'y', and here 'x'"),
    "unicode": (lambda: make_with_unicode("1.1"), "Unicode version of the tokenizer: '1.1', and"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_worker_with_other_settings_does_not_begin(what: str) -> None:
    other, said = OTHERS[what]
    worker = make()
    worker.handle(event(None))
    worker.handle(event(other(), 1))
    worker.handle(event(None, 2))  # the rest of its transaction
    with pytest.raises(SettingsError, match=said):
        decide(worker)
    assert worker.learner.learned == 3


@pytest.mark.parametrize("what", OTHERS)
def test_a_worker_that_another_one_joins_ends(what: str) -> None:
    other, said = OTHERS[what]
    worker = make()
    worker.handle(event(worker))
    decide(worker)
    with pytest.raises(SettingsError, match=said):
        worker.handle(event(other(), 1))
    assert worker.learner.learned == 1


@pytest.mark.parametrize("what", OTHERS)
def test_other_settings_are_adopted_where_that_is_set(what: str) -> None:
    other, said = OTHERS[what]
    worker = make(adopt=True)
    worker.handle(event(other()))
    decide(worker)
    worker.handle(event(worker, 1))
    assert worker.learner.learned == 2
    with pytest.raises(SettingsError, match=said):  # from now on there is one kind of settings
        worker.handle(event(other(), 2))


def test_settings_that_were_changed_back_are_the_same() -> None:
    worker = make()
    worker.handle(event(make(log="y")))
    worker.handle(event(worker, 1))
    decide(worker)


def test_a_log_of_before_is_adopted() -> None:
    worker = make()
    worker.handle(event(None))
    decide(worker)
    worker.handle(event(None, 1))
    assert worker.learner.learned == 2


@pytest.mark.parametrize("header", [b"", b"{", b"[]", b"\xff", b"[" * 10_000, None])
def test_settings_that_cannot_be_read_are_other_settings(header: bytes | None) -> None:
    worker = make()
    worker.handle(Record(PLACE, 0, EVENT, b"a", ((HEADER, header),), role="training"))
    with pytest.raises(SettingsError, match="other settings"):
        decide(worker)


def test_equal_settings_are_the_same_however_they_are_written() -> None:
    assert model_text(MNB()) == model_text(MNB(alpha=1.0)) != model_text(MNB(alpha=0.5))
    one, other = make(labels=("ham", "spam")), make(labels=("spam", "ham"))
    assert one.identity == other.identity
    assert json.loads(one.identity.header)["labels"] == ["ham", "spam"]  # type: ignore[union-attr]


# --- writing --------------------------------------------------------------------------------------


def test_the_first_training_event_of_a_transaction_says_who_wrote_it() -> None:
    log = MemoryLog(records([{"id": str(n), "text": "hi", "label": "ham"} for n in range(3)]))
    worker, sent = make(), []

    class Sink(MemorySink):
        def send(self, outputs: Outputs) -> None:
            sent.extend(encode(outputs, TOPICS, defaultdict(lambda: 9_999)))
            super().send(outputs)

    Loop(MemorySource(log), Sink(log), worker).run()
    events = [each for each in sent if each.topic == "training"]
    assert worker.identity is not None
    assert [each.headers for each in events] == [[(HEADER, worker.identity.header)], [], []]
    reader = make()
    for offset, each in enumerate(events):
        headers = tuple(each.headers)
        reader.handle(Record(PLACE, offset, each.value, each.key, headers, role="training"))
    decide(reader)


# --- snapshots -----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", OTHERS)
def test_a_snapshot_of_other_settings_is_refused(what: str) -> None:
    other, said = OTHERS[what]
    worker = make()
    with pytest.raises(ForeignError, match=said):
        state.restore(worker, state.dump(other()))
    assert worker.offsets == {}


MODEL_STAYS = ("max_fpr", "drift", "max_text", "max_bytes")


@pytest.mark.parametrize("what", OTHERS)
def test_a_snapshot_of_the_same_model_is_adopted_where_that_is_set(what: str) -> None:
    other, said = OTHERS[what]
    before, worker = other(), make(adopt=True)
    before.handle(event(before))
    if what in MODEL_STAYS:
        state.restore(worker, state.dump(before))
        assert worker.learner.learned == 1
        decide(worker)
    else:
        with pytest.raises(ForeignError, match=said):
            state.restore(worker, state.dump(before))


def test_a_snapshot_of_before_is_adopted() -> None:
    before = make_filter(shared=True)  # knows no log
    before.handle(event(None))
    worker = SharedFilter(MNB(), SmsReader(("ham", "spam")), Options())
    worker.belong("x")
    state.restore(worker, state.dump(before))
    assert worker.learner.learned == 1
    again = make_filter(shared=True)
    state.restore(again, state.dump(worker))  # and whoever knows no log takes any


# --- the loop ------------------------------------------------------------------------------------


class Log:
    """Training log that can be recreated."""

    def __init__(self) -> None:
        self.name = "x"

    def identity(self, timeout: float) -> str:
        return self.name

    def truncate(self, offsets: Any, timeout: float) -> None: ...


def test_a_log_made_anew_while_a_worker_runs_ends_it() -> None:
    log, memory = Log(), MemoryLog([])
    loop = Loop(MemorySource(memory), MemorySink(memory), make_filter(shared=True), log=log)
    loop._start()
    loop._start()  # after an aborted transaction
    log.name = "y"
    with pytest.raises(ForeignError, match=r"recreated.*'x', and here 'y'"):
        loop._start()


def test_a_truncated_log_without_a_snapshot_ends_the_start() -> None:
    class Truncated(MemorySource):
        def start(self, offsets: Any, timeout: float) -> Any:
            raise TruncatedError("training events 0 to 7 were deleted")

    memory = MemoryLog([])
    loop = Loop(Truncated(memory), MemorySink(memory), make_filter(shared=True), log=Log())
    with pytest.raises(TruncatedError, match="0 to 7 were deleted"):
        loop.run()
