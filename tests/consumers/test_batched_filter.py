"""Batches give the same decisions, training events and windows as single records."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from streamnb import MNB, OnlineNB
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, LocalFilter, SharedFilter
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.pipeline.window import Bounds, JoinWindow
from streamnb_consumers.records import Outputs, Partition, Record, TrainingEvent
from support.filters import extend, new_filter, records, stream

MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "MNB": (MNB, {}),
    "MNB, bounded loss": (MNB, {"max_fpr": 0.1, "explain_top_k": 3}),
    "MNB, learned threshold": (lambda: MNB(threshold="auto"), {}),
    "OnlineNB": (OnlineNB, {}),
}


def cut(found: list[Record], seed: int) -> Iterator[list[Record]]:
    """Split records into batches of 1 to 40."""
    generator = random.Random(seed)
    while found:
        size = generator.randint(1, 40)
        yield found[:size]
        found = found[size:]


def worker(name: str, shared: bool) -> Filter:
    make, options = MODELS[name]
    bounds = Bounds(count=20)  # so that messages and labels leave
    return new_filter(make(), SmsReader(("ham", "spam")), Options(bounds=bounds, **options), shared)


def training(events: list[TrainingEvent], first: int) -> list[Record]:
    """Return training events as records of the training log."""
    place = Partition("training", 0)
    return [
        Record(place, first + at, canonical(event), role="training")
        for at, event in enumerate(events)
    ]


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("name", MODELS)
def test_batches_equal_single_records(name: str, shared: bool) -> None:
    values, together, single = stream(400), worker(name, shared), worker(name, shared)
    asked: list[int] = []
    both, learned = (Outputs(), Outputs()), 0
    for batch in cut(records(values), seed=3):
        given = together.handle_many(batch)
        singles = Outputs()
        for record in batch:
            extend(singles, single.handle(record))
        assert given.decisions == singles.decisions
        assert given.training == singles.training
        assert given.dead_letters == singles.dead_letters
        extend(both[0], given)
        extend(both[1], singles)
        asked.append(len(given.decisions))
        if shared:  # the log comes back before the next batch, in the middle of it
            log = training(given.training, learned)
            learned += len(log)
            together.handle_many(log)
            for record in log:
                single.handle(record)
    assert max(asked) > 10
    assert len(both[0].training) > 200
    assert any(event.unlearn for event in both[0].training)
    assert state.dump(together) == state.dump(single)
    if shared:
        assert len(both[0].changes) < len(both[1].changes)
        windows = [restored(outputs) for outputs in both]
        assert windows[0] == windows[1] == messages_in(together.join.window(0))


def messages_in(window: JoinWindow) -> list[Any]:
    return [change for change in window.to_json()["changes"] if change[0].startswith("m:")]


def restored(outputs: Outputs) -> Any:
    """Return the messages of a window that is rebuilt from its log."""
    window = JoinWindow(Bounds(count=20))
    for change in outputs.changes:
        window.apply(change.key, change.value)
    return messages_in(window)


def test_training_events_within_a_batch_apply_in_order() -> None:
    """Messages after a training event are decided on by a model that has learned it."""
    together, single = worker("MNB", True), worker("MNB", True)
    messages = records([{"id": f"m{at}", "text": "win cash"} for at in range(6)])
    events = training(
        [TrainingEvent("a", "win cash", "spam"), TrainingEvent("b", "see you", "ham")], 0
    )
    mixed = [*messages[:2], events[0], *messages[2:4], events[1], *messages[4:]]
    found = together.handle_many(mixed).decisions
    assert [each.version for each in found] == [0, 0, 1, 1, 2, 2]
    assert found == [each for record in mixed for each in single.handle(record).decisions]


def test_committed_outputs_are_not_returned() -> None:
    batch = records([{"id": str(at), "text": "win", "label": "spam"} for at in range(4)])
    batch[1] = batch[1]._replace(value=b"bad")
    batch[3] = batch[3]._replace(value=b"bad")
    place, told = batch[0].partition, []
    outputs = worker("MNB", False).handle_many(batch, {place: 2}, lambda *noted: told.append(noted))
    assert [each.id for each in outputs.decisions] == ["2"]
    assert [each.record.offset for each in outputs.dead_letters] == [3]
    assert told == [(place, False), (place, True)]


def test_models_without_batch_methods_predict_single_messages() -> None:
    class Careful(MNB):
        def predictions_many(self, *arguments: Any) -> Any:
            raise AssertionError("asked at once")

    # Models without calls for many are asked one by one.
    class Single:
        def __init__(self) -> None:
            self.model = MNB()

        def __getattr__(self, name: str) -> Any:
            if name.endswith("_many"):
                raise AttributeError(name)
            return getattr(self.model, name)

    one = LocalFilter(Single(), SmsReader(), Options())  # type: ignore[arg-type]
    values = [{"id": str(at), "text": "win"} for at in range(5)]
    assert len(one.handle_many(records(values)).decisions) == 5
    with pytest.raises(AssertionError, match="asked at once"):
        LocalFilter(Careful(), SmsReader(), Options()).handle_many(records(values))


def test_keys_that_were_never_written_are_not_deleted() -> None:

    found = SharedFilter(MNB(), SmsReader(), Options(bounds=Bounds(count=2)))
    outputs = found.handle_many(records([{"id": str(at), "text": "x"} for at in range(10)]))
    assert [change.key for change in outputs.changes] == [b"m:8", b"m:9"]
    outputs = found.handle_many(
        [each._replace(offset=10 + each.offset) for each in records([{"id": "a", "text": "x"}])]
    )
    assert [(change.key, change.value is None) for change in outputs.changes] == [
        (b"m:a", False),
        (b"m:8", True),
    ]
