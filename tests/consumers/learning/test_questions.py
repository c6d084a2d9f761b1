"""Questions: decisions that request a label keep to a budget, through restarts and moves."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import pytest

from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.errors import AbortedError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.options import SenderLists
from streamnb_consumers.pipeline.window import Bounds
from streamnb_consumers.records import Outputs, Partition, Record
from support.filters import PLACE, make_filter, records, restored, stream, text
from support.memory import MemoryLog, MemorySink, MemorySource
from support.profiles import also_in_soak

DAY = 86_400_000
STATE = Partition("join-state", 0)
# The stream of the tests takes minutes: most questions are of the advance.
MANY = Bounds(questions=150.0)


def messages(per_day: int, days: int, partitions: int = 1, seed: int = 1) -> list[Record]:
    """Return messages at random times, without labels."""
    generator = random.Random(seed)
    offsets, found = [0] * partitions, []
    for at in sorted(generator.randrange(days * DAY) for _ in range(per_day * days)):
        number = generator.randrange(partitions)
        words = text(generator.choice(["ham", "spam"]), generator)
        value = f'{{"id": "{at}-{len(found)}", "text": "{words} {generator.random()}"}}'.encode()
        found.append(Record(Partition("sms", number), offsets[number], value, timestamp=at))
        offsets[number] += 1
    return found


def asked(outputs: Outputs) -> list[str]:
    return [each.id for each in outputs.decisions if each.ask]


def moved(worker: Filter, changes: dict[tuple[int, bytes], bytes | None]) -> Filter:
    """Return the next owner of all partitions, from a compacted log."""
    new = make_filter(shared=True, bounds=worker.options.bounds)
    new.join.partitions = worker.join.partitions
    for (number, key), value in changes.items():
        place = Partition("join-state", number)
        assert new.handle(Record(place, 0, value, key, role="window")) == Outputs()
    return new


@pytest.mark.parametrize("partitions", also_in_soak([4], [1]))
@pytest.mark.parametrize("per_day", [8, 100])
def test_each_day_keeps_to_the_budget_through_moves(per_day: int, partitions: int) -> None:
    generator, days = random.Random(per_day), 4
    worker = make_filter(shared=True, bounds=Bounds(questions=per_day))
    worker.join.partitions = partitions
    counts, changes = [0] * days, {}
    for record in messages(300, days, partitions):
        outputs = worker.handle(record)
        assert record.timestamp is not None
        counts[record.timestamp // DAY] += len(asked(outputs))
        changes.update({(number, key): value for number, key, value in outputs.changes})
        if generator.random() < 0.01:
            worker = moved(worker, changes)
    rest = max(2.0 * partitions, 0.1 * per_day)
    assert max(counts) <= per_day + rest
    assert 0.9 * days * per_day - rest <= sum(counts) <= days * per_day + rest


def test_snapshots_of_a_local_filter_contain_the_budget() -> None:
    def new() -> Filter:
        return make_filter(bounds=MANY)

    values = records(stream(150))
    one, two, at = new(), new(), len(values) // 3
    expected = [one.handle(record) for record in values]
    found = [two.handle(record) for record in values[:at]]
    two = restored(two, new)
    found += [two.handle(record) for record in values[at:]]
    assert found == expected
    assert 20 < sum(len(asked(each)) for each in expected) < 100


@pytest.mark.parametrize("seed", range(4))
def test_next_owner_asks_the_same(seed: int) -> None:
    generator = random.Random(seed)
    bounds = Bounds(count=40, questions=150.0)
    before, changes = make_filter(shared=True, bounds=bounds), {}
    values = records(stream(150, seed))
    for at, record in enumerate(values):
        found = before.handle(record).changes
        changes.update({(number, key): value for number, key, value in found})
        if generator.random() < 0.1:
            after, same = moved(before, changes), copy.deepcopy(before)
            for each in values[at + 1 : at + 30]:
                assert after.handle(each) == same.handle(each)
            window = after.join.window(0)
            assert list(window.questions.open) == list(same.join.window(0).questions.open)


@pytest.mark.parametrize("every", [0.0, 3.0, 1e9])
def test_aborted_transactions_ask_once(every: float) -> None:
    def run(fail: Any) -> tuple[MemoryLog, bytes]:
        log, ticks = MemoryLog(records(stream(300))), iter(range(10**6))
        worker = make_filter(bounds=MANY)
        limits = Limits(batch=17, snapshot=every)
        Loop(
            MemorySource(log),
            MemorySink(log, fail),
            worker,
            limits=limits,
            clock=lambda: next(ticks),
        ).run()
        return log, state.dump(worker)

    def fail(number: int) -> None:
        if number % 3 == 2:
            raise AbortedError("injected")

    (log, final), (expected, wanted) = run(fail), run(lambda number: None)
    assert log.outputs == expected.outputs
    assert final == wanted
    assert len(log.outputs.questions) == len(asked(log.outputs)) >= 30


def test_questions_are_answered_once_and_measured() -> None:
    pytest.importorskip("prometheus_client")
    metrics, worker = PrometheusMetrics(clock=lambda: 10.0), make_filter(bounds=MANY)
    values: list[Any] = [
        {"id": "a", "text": "win cash"},
        {"id": "b", "text": "see you at noon"},
        {"id": "a", "label": "spam"},
        {"id": "a", "label": "spam"},
        {"id": "a", "label": "ham"},
    ]

    def value(name: str) -> float | None:
        return metrics.registry.get_sample_value(f"streamnb_{name}")

    found = []
    for record in records(values):
        outputs = worker.handle(record)
        metrics.committed([record], outputs, worker, 0.0)
        found.append((asked(outputs), outputs.answers, value("open_questions")))
    assert found == [(["a"], [], 1), (["b"], [], 2), ([], [2.0], 1), ([], [], 1), ([], [], 1)]
    assert value("questions_total") == 2
    assert value("answer_delay_seconds_sum") == 2.0
    assert value("oldest_question_seconds") == 9.0


def test_known_labels_are_not_requested() -> None:
    senders = SenderLists(deny=["bad.example"])
    worker = make_filter(bounds=MANY, senders=senders)
    values: list[Any] = [
        {"id": "labelled", "text": "win cash", "label": "spam"},
        {"id": "early", "label": "ham"},
        {"id": "early", "text": "see you at noon"},
        {"id": "listed", "text": "urgent offer now", "sender": "x@bad.example"},
        {"id": "twice", "text": "dinner at home"},
        {"id": "twice", "text": "dinner at home"},
        {"id": "near", "text": "dinner at home!"},
        {"id": "other", "text": "claim the free prize"},
    ]
    outputs = worker.handle_many(records(values))
    assert asked(outputs) == ["twice", "other"]
    assert [question.to_json()["features"] for question in outputs.questions] == [
        "dinner at home",
        "claim the free prize",
    ]
    plain = outputs.questions[0].to_json()
    assert plain["ask"] is True
    assert (plain["id"], plain["partition"], plain["offset"]) == ("twice", 0, 4)


@pytest.mark.parametrize(("count", "again"), [(2, True), (10, False)])
def test_near_duplicate_is_asked_after_the_question_left_the_window(
    count: int, again: bool
) -> None:
    worker = make_filter(bounds=Bounds(count=count, questions=150.0))
    texts = ["dinner at home", "urgent offer now", "see you at noon", "dinner at home"]
    outputs = worker.handle_many(
        records([{"id": str(at), "text": each} for at, each in enumerate(texts)])
    )
    assert ("0" in asked(outputs), "3" in asked(outputs)) == (True, again)


def test_without_a_budget_nothing_is_written() -> None:
    worker = make_filter(shared=True)
    outputs = worker.handle_many(records([{"id": "a", "text": "win cash"}]))
    assert not asked(outputs)
    assert [change.key for change in outputs.changes] == [b"m:a"]


@pytest.mark.parametrize(
    "value", [b"", b"[]", b"[1,2]", b'["x",1,1,1,1,1]', b"[null,-1,0,0,0,0]", b"[null,1,0,1,0,2]"]
)
def test_invalid_budget_is_skipped(value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    worker = make_filter(shared=True, bounds=MANY)
    worker.handle(Record(STATE, 0, value, b"q:", role="window"))
    assert "skipped an invalid record" in caplog.text
    outputs = worker.handle(records([{"id": "a", "text": "win cash"}])[0])
    assert asked(outputs) == ["a"]


def test_records_without_timestamps_use_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = make_filter(bounds=Bounds(questions=20.0))
    now = [1000.0]
    worker.join.window(PLACE.number)._clock = lambda: now[0]
    counts = []
    for record in messages(500, 4):
        if record.offset % 500 == 0:
            counts.append(0)
        now[0] = 1000.0 + math.floor(record.offset * 86_400 / 500)
        counts[-1] += len(asked(worker.handle(record._replace(timestamp=None))))
    assert max(counts) <= 22
    assert sum(counts) >= 76
