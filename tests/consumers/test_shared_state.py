"""Workers that share state through logs, from which models and join state are rebuilt."""

from __future__ import annotations

import copy
import json
import random
from collections import defaultdict
from typing import Any

import msgspec
import pytest

from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.window import Bounds
from streamnb_consumers.records import (
    Change,
    DeadLetter,
    Decision,
    Outputs,
    Partition,
    Record,
    TrainingEvent,
)
from support.filters import PLACE, make_filter, records, stream
from support.profiles import also_in_soak

TOPICS = Topics("sms", "labels", "decisions", "training", "join-state", "dead")
LIMITS = defaultdict(lambda: 1_000)  # bytes of a record, by topic
LOG = Partition("join-state", 0)


def restored(changes: list[Change], generator: random.Random, **options: Any) -> Filter:
    """Return a filter that has read a partly compacted log of a window."""
    last = {change.key: at for at, change in enumerate(changes)}
    compacted = generator.randint(0, len(changes))
    worker = make_filter(shared=True, **options)
    for at, (_, key, value) in enumerate(changes):
        if at >= compacted or (last[key] == at and value is not None):
            outputs = worker.handle(Record(LOG, at, value, key, role="window"))
            assert outputs == Outputs()
    return worker


def held(worker: Filter) -> tuple[Any, int]:
    window = worker.join.window(PLACE.number)
    return window.to_json()["changes"], window.size


@pytest.mark.parametrize(
    "bounds", [Bounds(), Bounds(count=9), Bounds(age=9_000), Bounds(size=4_000)], ids=str
)
@pytest.mark.parametrize("seed", also_in_soak([0, 1], [2, 3]))
def test_window_is_rebuilt_from_its_log(bounds: Bounds, seed: int) -> None:
    """The next owner of a partition continues like the previous one."""
    generator = random.Random(seed)
    before, changes = make_filter(shared=True, bounds=bounds), []
    values = records(stream(150, seed))
    for at, record in enumerate(values):
        changes += before.handle(record).changes
        if generator.random() < 0.1:
            after = restored(changes, generator, bounds=bounds)
            assert held(after) == held(before)
            same = copy.deepcopy(before)
            for each in values[at + 1 : at + 20]:
                assert after.handle(each) == same.handle(each)


def test_only_changes_are_written() -> None:
    worker = make_filter(shared=True)
    (message, label, again) = records(
        [{"id": "a", "text": "hi"}, {"id": "a", "label": "ham"}, {"id": "a", "label": "ham"}]
    )
    assert [len(worker.handle(each).changes) for each in (message, label, again)] == [1, 1, 0]


def test_local_filter_writes_no_changes() -> None:
    assert all(not make_filter().handle(record).changes for record in records(stream(20)))


def test_window_of_a_lost_partition_is_dropped() -> None:
    worker = make_filter(shared=True)
    worker.handle(records([{"id": "a", "text": "hi"}])[0])
    worker.forget([0, 1])
    assert not worker.join.windows


def test_same_training_events_give_the_same_state() -> None:
    written = [each for record in records(stream(100)) for each in _events(record)]
    events = msgspec.to_builtins(written)
    states = []
    for start in (0, 50):
        worker = make_filter(shared=True)
        for record in records(stream(start)):
            worker.handle(record)  # its own share of the messages
        for record in records(events, Partition("training", 0), role="training"):
            worker.handle(record)
        states.append(state.dump(worker))
    assert states[0] == states[1]
    again = make_filter(shared=True)
    state.restore(again, states[0])
    assert state.dump(again) == states[0]
    assert again.learner.accuracy() is not None


_TEACHER = make_filter()


def _events(record: Record) -> list[TrainingEvent]:
    return _TEACHER.handle(record).training


@pytest.mark.parametrize("value", [b"", b"{}", b'{"id": 1}', b'{"id":1,"features":2,"learn":3}'])
def test_invalid_training_event_is_skipped(value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    (record,) = records([value], Partition("training", 0), role="training")
    worker = make_filter(shared=True)
    assert worker.handle(record) == Outputs()
    assert worker.offsets == {record.partition: 1}
    assert "skipped an invalid record" in caplog.text


@pytest.mark.parametrize(
    ("key", "value"), [(b"", b"{}"), (b"x:a", b"{}"), (b"m:a", b"{"), (b"l:a", b"[]")]
)
def test_invalid_window_change_is_skipped(
    key: bytes, value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    worker = make_filter(shared=True)
    assert worker.handle(Record(LOG, 0, value, key, role="window")) == Outputs()
    assert "skipped an invalid record" in caplog.text


# --- encoding of outputs -------------------------------------------------------------------------


def test_each_output_has_its_topic() -> None:
    place = Partition("sms", 1)
    letter = DeadLetter(Record(place, 7, b"\xff", b"k", (("h", b"1"),)), "not UTF-8")
    outputs = Outputs(
        [Decision("a", "spam", {"spam": 1.0}, 2.0, 3, place, 5)],
        [TrainingEvent("a", "hi", "ham", "spam", 2.0, "spam", 1.5)],
        [letter],
        [Change(1, b"m:a", None)],
    )
    decision, event, change, dead = encode(outputs, TOPICS, LIMITS)
    assert (decision.topic, decision.key) == ("decisions", b"a")
    assert json.loads(decision.value or b"")["label"] == "spam"
    assert (event.topic, event.key) == ("training", b"a")
    assert (change.topic, change.partition, change.value) == ("join-state", 1, None)
    assert (dead.topic, dead.key, dead.value) == ("dead", b"k", b"\xff")
    assert dict(dead.headers)["offset"] == b"7"
    assert dict(dead.headers)["h"] == b"1"


def test_large_dead_letter_is_truncated() -> None:
    letter = DeadLetter(Record(PLACE, 0, b"x" * 2_000), "too long")
    (written,) = encode(Outputs(dead_letters=[letter]), TOPICS, LIMITS)
    assert written.size <= 1_000
    assert dict(written.headers)["truncated"] == b"2000"
    assert (written.value or b"").startswith(b"xxx")


def test_dead_letter_without_value_and_key_is_written() -> None:
    (written,) = encode(
        Outputs(dead_letters=[DeadLetter(Record(PLACE, 0, None), "null")]), TOPICS, LIMITS
    )
    assert written.key is not None


def test_large_training_event_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    outputs = Outputs(training=[TrainingEvent("a", "x" * 2_000, "ham")])
    assert list(encode(outputs, TOPICS, LIMITS)) == []
    assert outputs.unwritten == 1
    assert f"left out a record for {TOPICS.training}: it has" in caplog.text
