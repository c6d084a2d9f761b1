"""A filter learns its confident decisions, with the same result in each worker and after kills."""

from __future__ import annotations

import random
from typing import Any

import pytest

from streamnb.active import self_train
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.options import SenderLists
from streamnb_consumers.pipeline.window import Bounds
from streamnb_consumers.records import Outputs, Partition, Record
from support.filters import WORDS, folded, make_filter, records, restored, text


def values(n: int = 400) -> list[dict[str, str]]:
    """Return messages, of which every fifth has a label."""
    generator = random.Random(1)
    found = []
    for number in range(n):
        label = generator.choice(["ham", "spam"])
        message = {"id": f"m{number}", "text": text(label, generator)}
        found.append(message if number % 5 else message | {"label": label})
    return found


def own(outputs: Outputs) -> list[tuple[str, str | None]]:
    """Return the messages that were learned without a user's label, and their labels."""
    return [(each.id, each.learn) for each in outputs.training if each.is_own]


def learning(shared: bool = False, **options: Any) -> Filter:
    return make_filter(shared, self_training=True, **options)


def test_filter_learns_as_the_library() -> None:
    worker, plain = learning(), make_filter().learner.model
    expected, found = [], []
    for value, record in zip(values(), records(values()), strict=True):
        features = worker.reader.read_many([record])[0].features
        outputs = worker.handle(record)
        if "label" in value:
            plain.learn_one(features, value["label"])
        elif (label := self_train(plain, features)) is not None:
            expected.append((value["id"], label))
        found += own(outputs)
    assert found == expected
    assert 50 < len(found) < 320
    assert worker.learner.model.to_bytes() == plain.to_bytes()
    assert not own(make_filter().handle_many(records(values())))


def test_batches_equal_single_records() -> None:
    one, many = learning(), learning()
    single = [one.handle(record) for record in records(values())]
    found = many.handle_many(records(values()))
    assert found.decisions == [decision for each in single for decision in each.decisions]
    assert found.training == [event for each in single for event in each.training]
    assert own(found)


def test_workers_and_restarts_learn_the_same() -> None:
    whole = folded(learning(), records(values()), learning)
    alone = learning()
    for at, record in enumerate(records(values())):
        alone.handle(record)
        if at % 97 == 0:
            alone = restored(alone, learning)
    assert whole.learner.model.to_bytes() == alone.learner.model.to_bytes()
    assert whole.learner.model.n_documents > 85


def test_labelled_listed_and_repeated_messages_are_not_learned() -> None:
    worker = learning(senders=SenderLists(deny=["+49"]))
    worker.handle_many(records(values()))
    sure = " ".join(WORDS["spam"])
    messages = [
        {"id": "new", "text": sure},
        {"id": "new", "text": sure},
        {"id": "listed", "text": sure, "sender": "+49"},
        {"id": "early", "label": "ham"},
        {"id": "early", "text": sure},
        {"id": "labelled", "text": sure, "label": "spam"},
    ]
    outputs = worker.handle_many(records(messages))
    assert [(each.id, each.learn, each.weight) for each in outputs.training] == [
        ("new", "spam", 0.1),
        ("early", "ham", 1.0),
        ("labelled", "spam", 1.0),
    ]


def test_questions_are_not_learned_before_their_answer() -> None:
    worker = learning(bounds=Bounds(questions=40_000.0))
    outputs = worker.handle_many(records(values()))
    asked = {each.id for each in outputs.decisions if each.ask}
    learned = {name for name, _ in own(outputs)}
    assert len(asked) > 30
    assert len(learned) > 30
    assert not asked & learned


def test_a_later_label_is_learned_completely() -> None:
    worker = learning()
    outputs = worker.handle_many(records(values()))
    name, label = own(outputs)[-1]
    wrong = "ham" if label == "spam" else "spam"
    before = worker.learner.model.class_count_
    events = worker.handle_many(records([{"id": name, "label": wrong}])).training
    assert [(each.learn, each.unlearn, each.weight) for each in events] == [(wrong, None, 1.0)]
    assert worker.learner.model.class_count_ == before | {wrong: before[wrong] + 1.0}


def test_bounds_and_metrics_do_not_count_own_labels() -> None:
    with_own, without = learning(max_fpr=0.05), make_filter(max_fpr=0.05)
    metrics, seen = PrometheusMetrics(), records(values())
    outputs = with_own.handle_many(seen)
    without.handle_many(seen)
    metrics.committed(seen, outputs, with_own, 0.1)
    exposed = metrics.text().decode()
    counted = len(own(outputs))
    assert (
        sum(
            float(line.split()[-1])
            for line in exposed.splitlines()
            if line.startswith("streamnb_self_trained_total{")
        )
        == counted
    )
    assert 0 < len(with_own.learner.recent) == len(without.learner.recent) < 1000
    assert with_own.learner.learned == without.learner.learned + counted


@pytest.mark.parametrize("weight", ["-1", "NaN", '"x"', "1e300"])
def test_crafted_weights_are_skipped(weight: str, caplog: pytest.LogCaptureFixture) -> None:
    worker = make_filter(shared=True)
    value = f'{{"id": "a", "features": "win", "learn": "spam", "weight": {weight}}}'
    worker.handle(Record(Partition("training", 0), 0, value.encode(), role="training"))
    assert "skipped an invalid record" in caplog.text
    assert worker.learner.learned == 0
    assert state.dump(worker) == state.dump(restored(worker, lambda: make_filter(shared=True)))
