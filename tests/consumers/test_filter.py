"""The filter: one decision per message, each label learned once, canonical state."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from streamnb import CNB, MNB, OnlineNB
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, LocalFilter
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.pipeline.threshold import FalsePositiveBound
from streamnb_consumers.pipeline.window import Bounds
from streamnb_consumers.records import Outputs, Partition, Record
from support.filters import PLACE, handle_all, make_filter, new_filter, records, stream

SPAM = {"id": "a", "text": "win cash now", "label": "spam"}
HAM = {"id": "b", "text": "see you at noon", "label": "ham"}


def trained(**options: Any) -> Filter:
    worker = make_filter(**options)
    handle_all(worker, [SPAM, HAM])
    return worker


def learned(*events: tuple[str, str]) -> bytes:
    model = MNB()
    for text, label in events:
        model.learn_one(text, label)
    return model.to_bytes()


def test_a_labelled_message_is_predicted_and_then_learned() -> None:
    first, second = (
        out.decisions[0] for out in handle_all(make_filter(), [SPAM, SPAM | {"id": "c"}])
    )
    assert (first.label, first.version) == (None, 0)
    assert (second.label, second.version) == ("spam", 1)


def test_a_decision_says_why() -> None:
    worker = trained(explain_top_k=2)
    (outputs,) = handle_all(worker, [{"id": "c", "text": "cash cash at home"}])
    (decision,) = outputs.decisions
    plain = json.loads(json.dumps(decision.to_json()))
    assert set(plain) == {"id", "label", "probabilities", "score", "version", "words"}
    assert plain["label"] == "spam"
    assert plain["words"][0]["word"] == "cash"
    odds = worker.learner.model.joint_log_likelihood_one("cash cash at home")
    assert plain["score"] == pytest.approx((odds["spam"] - odds["ham"]) / 4)


def test_a_wrong_decision_is_explained_by_the_model_before_it_learned_the_message() -> None:
    worker = new_filter(OnlineNB(warm_up=0), SmsReader(("ham", "spam")), Options(explain_top_k=100))
    handle_all(worker, [SPAM, HAM])
    before = type(worker.learner.model).from_bytes(worker.learner.model.to_bytes())
    text = "win cash prizes at home"
    (outputs,) = handle_all(worker, [{"id": "c", "text": text, "label": "ham"}])
    (decision,) = outputs.decisions
    explained = before.explain_one(text).in_words().towards("spam", "ham")
    assert (decision.label, decision.words) == ("spam", tuple(explained))
    assert "win cash" in dict(explained)
    assert worker.learner.model.explain_one(text).in_words().towards("spam", "ham") != explained


def test_unlearning_restores_the_state_before_the_label() -> None:
    worker = make_filter(max_fpr=0.1)
    handle_all(worker, [HAM, {"id": "x", "text": "see cash"}])
    model, bound = worker.learner.model.to_bytes(), worker.learner.bound.to_json()
    unlearn = {"id": "x", "unlearn": True}
    later = [{"id": "x", "label": "spam"}, unlearn, unlearn]
    outputs = [worker.handle(each) for each in records([{}, {}, *later])[2:]]
    events = [[(event.learn, event.unlearn) for event in each.training] for each in outputs]
    assert events == [[("spam", None)], [(None, "spam")], []]
    assert worker.learner.model.to_bytes() == model
    assert worker.learner.bound.to_json() == bound
    assert not any(each.dead_letters for each in outputs)


@pytest.mark.parametrize(
    "value",
    [
        {"id": "b", "unlearn": True, "label": "ham"},
        {"id": "b", "unlearn": False},
        {"id": "b", "unlearn": "yes"},
        {"unlearn": True},
    ],
)
def test_unlearning_needs_an_id_and_no_label(value: dict[str, Any]) -> None:
    worker = trained()
    (dead,) = worker.handle(records([value])[0]).dead_letters
    assert "unlearn" in dead.error
    assert worker.learner.learned == 2


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_label_by_id_joins_its_message_late_or_early(order: list[int]) -> None:
    both = [{"id": "a", "text": SPAM["text"]}, {"id": "a", "label": "spam"}]
    worker = make_filter()
    outputs = handle_all(worker, [both[place] for place in order])
    assert [len(out.training) for out in outputs] == [0, 1]
    assert worker.learner.model.to_bytes() == learned((SPAM["text"], "spam"))


@pytest.mark.parametrize("labels", [["spam", "ham"], ["ham", "spam", "ham"], ["spam", None]])
def test_all_labels_that_wait_for_a_message_are_learned(labels: list[str | None]) -> None:
    """They are learned in order, as if they had come after it, also from the log of the window."""
    told = [{"id": "a"} | ({"label": label} if label else {"unlearn": True}) for label in labels]
    message = {"id": "a", "text": SPAM["text"]}
    late, early = make_filter(), make_filter()
    events = [event for out in handle_all(late, [message, *told]) for event in out.training]
    assert len(events) == len(labels)
    handle_all(early, [*told, message])
    assert early.learner.model.to_bytes() == late.learner.model.to_bytes()
    shared, other = make_filter(shared=True), make_filter(shared=True)
    for outputs in handle_all(shared, told):
        for _, key, value in outputs.changes:
            other.handle(Record(Partition("join-state", 0), 0, value, key, role="window"))
    (outputs,) = handle_all(other, [message])
    changes = [(each.unlearn, each.learn) for each in events]
    assert [(each.unlearn, each.learn) for each in outputs.training] == changes


def test_labels_that_wait_for_one_message_are_bounded() -> None:
    worker = make_filter()
    told = [{"id": "a", "label": label} for label in 50 * ["ham", "spam"]]
    outputs = handle_all(worker, [*told, {"id": "a", "text": SPAM["text"]}])
    assert [each.learn for each in outputs[-1].training] == 5 * ["ham", "spam"]


def test_a_repeated_label_is_ignored() -> None:
    worker = make_filter()
    label = {"id": "a", "label": "spam"}
    outputs = handle_all(worker, [SPAM, label, label, SPAM])
    assert [len(out.training) for out in outputs] == [1, 0, 0, 0]
    assert not any(out.dead_letters for out in outputs)
    assert worker.learner.model.to_bytes() == learned((SPAM["text"], "spam"))


def test_a_corrected_label_unlearns_the_old_one() -> None:
    worker = trained()
    (outputs,) = handle_all(worker, [{"id": "a", "label": "ham"}])
    assert (outputs.training[0].unlearn, outputs.training[0].learn) == ("spam", "ham")
    assert worker.learner.model.to_bytes() == learned((SPAM["text"], "ham"), (HAM["text"], "ham"))


@pytest.mark.parametrize("memory", [{"half_life": 1.0}, {"window_size": 2}])
def test_a_label_is_corrected_though_the_model_forgot_the_old_one(memory: Any) -> None:
    worker = LocalFilter(MNB(**memory), SmsReader(labels=("ham", "spam")), Options())
    handle_all(worker, [SPAM, *(HAM | {"id": f"{n}"} for n in range(5))])
    (outputs,) = handle_all(worker, [{"id": "a", "label": "ham"}])
    assert not outputs.dead_letters
    assert (outputs.training[0].unlearn, outputs.training[0].learn) == ("spam", "ham")
    assert worker.learner.model.predict_one(SPAM["text"]) == "ham"


def test_metrics_come_from_decisions_against_later_labels() -> None:
    worker = trained()
    asked = [{"id": "c", "text": "win cash"}, {"id": "d", "text": "at noon"}]
    told = [{"id": "c", "label": "spam"}, {"id": "d", "label": "spam"}]
    outputs = handle_all(worker, [*asked, *told])
    assert [out.decisions[0].label for out in outputs[:2]] == ["spam", "ham"]
    assert list(worker.learner.recent) == [False, True, False]
    handle_all(worker, [{"id": "d", "label": "ham"}])
    assert list(worker.learner.recent) == [False, True, False], "a correction does not count"


def test_the_window_is_bounded_by_count_age_and_bytes() -> None:
    messages = [{"id": f"m{n}", "text": "hello"} for n in range(50)]
    for bounds in (Bounds(count=10), Bounds(age=9_000), Bounds(size=10 * 410)):
        worker = make_filter(bounds=bounds)
        handle_all(worker, messages)
        assert len(worker.join.window(0)) == 10, bounds


def test_a_window_full_of_messages_drops_no_waiting_label() -> None:
    """Messages fill the memory of a window, but do not expire the labels that wait in it."""
    texts = [{"id": f"m{at}", "text": "cash " * 100} for at in range(40)]
    worker = make_filter(bounds=Bounds(size=20_000))
    outputs = handle_all(worker, [*texts[:30], {"id": "m39", "label": "spam"}, *texts[30:]])
    assert [len(each.training) for each in outputs] == [0] * 40 + [1]
    assert not any(each.dead_letters for each in outputs)
    assert len(worker.join.window(0)) < 40


def test_a_label_without_a_message_becomes_a_dead_letter_in_the_end() -> None:
    worker = make_filter(bounds=Bounds(count=2))
    labels = [{"id": f"m{n}", "label": "ham"} for n in range(4)]
    outputs = handle_all(worker, labels)
    dead = [letter.record.offset for out in outputs for letter in out.dead_letters]
    assert dead == [0, 1]
    assert [letter.record.offset for letter in worker.finish().dead_letters] == [2, 3]
    assert not worker.finish().dead_letters


def test_memory_is_bounded_whatever_comes() -> None:
    bounds = Bounds(count=100, size=50_000)
    worker = make_filter(bounds=bounds)
    for record in records([{"id": f"m{n}", "text": "x" * 1_000} for n in range(500)]):
        worker.handle(record)
    for record in records([{"id": f"e{n}", "label": "ham"} for n in range(500)]):
        worker.handle(record)
    assert worker.join.window(0).size <= bounds.size
    assert worker.join.window(0).waiting <= 100


def test_bad_records_become_dead_letters_and_change_nothing() -> None:
    worker = trained()
    before = worker.learner.model.to_bytes()
    (outputs,) = handle_all(worker, [b"\xff\x00"])
    (letter,) = outputs.dead_letters
    headers = dict(letter.headers())
    assert letter.record.value == b"\xff\x00"
    assert (headers["topic"], headers["partition"], headers["offset"]) == (b"sms", b"0", b"0")
    assert b"UTF-8" in headers["error"]
    assert letter.to_json()["value"] == "/wA="
    assert worker.learner.model.to_bytes() == before


def test_training_log_rebuilds_the_model() -> None:
    """A worker that reads the training log has the model of the worker that wrote it."""
    writer = make_filter()
    alone = handle_all(writer, stream(200))
    teaching = make_filter(shared=True)
    written = [each for out in handle_all(teaching, stream(200)) for each in out.training]
    events = msgspec.to_builtins(written)
    assert len(events) == sum(len(out.training) for out in alone)
    assert teaching.learner.model.classes_ == []  # type: ignore[attr-defined]
    for _ in range(2):
        reader = make_filter(shared=True)
        for record in records(events, Partition("training", 0), role="training"):
            assert reader.handle(record) == Outputs()
        assert reader.learner.model.to_bytes() == writer.learner.model.to_bytes()


def test_feedback_may_contain_the_message() -> None:
    worker = make_filter()
    (record,) = records([SPAM], Partition("feedback", 0), role="feedback")
    for _ in range(2):
        assert worker.handle(record).decisions == []
    assert worker.learner.model.to_bytes() == learned((SPAM["text"], "spam"))


# --- the decision threshold -----------------------------------------------------------------------


def test_false_positive_rate_stays_below_the_target() -> None:
    bound = FalsePositiveBound(0.05)
    for n in range(1_000):
        bound.record(n / 100, positive=False)
    above = sum(n / 100 > bound.threshold for n in range(1_000))
    assert 30 <= above <= 50  # bins are 2 % wide


@pytest.mark.parametrize(("target", "lost"), [(0.1, 0), (0.125, 1), (0.25, 2), (0.49, 3)])
def test_threshold_uses_the_allowed_false_positives(target: float, lost: int) -> None:
    scores = [2.0**n for n in range(8)]  # each in a bin of its own
    bound = FalsePositiveBound(target)
    for score in scores:
        bound.record(score, positive=False)
        bound.record(3 * score, positive=True)
    assert sum(score > bound.threshold for score in scores) == lost


def test_threshold_applies_to_decisions() -> None:
    free, bound = (make_filter(max_fpr=target) for target in (None, 0.001))
    lost = []
    for worker in (free, bound):
        outputs = handle_all(worker, stream(2_000))
        labels = {event.id: event.learn for out in outputs for event in out.training}
        decided = [each for out in outputs for each in out.decisions]
        assert all(each.score is not None for each in decided[50:])
        lost.append(sum(each.label == "spam" and labels.get(each.id) == "ham" for each in decided))
    assert lost[1] <= lost[0]


# --- state ----------------------------------------------------------------------------------------


def test_state_survives_bytes_after_each_record() -> None:
    whole = make_filter()
    expected = handle_all(whole, stream(60))
    for stop in range(0, len(expected), 7):
        first = make_filter()
        everything = records(stream(60))
        outputs = [first.handle(record) for record in everything[:stop]]
        second = make_filter()
        state.restore(second, state.dump(first))
        assert state.dump(second) == state.dump(first)
        outputs += [second.handle(record) for record in everything[stop:]]
        assert outputs == expected
        assert state.dump(second) == state.dump(whole)


def test_restored_model_uses_the_threads_of_the_settings() -> None:
    """The number of threads is not part of a model file."""
    first, second = (LocalFilter(MNB(n_jobs=jobs), SmsReader()) for jobs in (None, 2))
    handle_all(first, stream(20))
    before = second.learner.model
    state.restore(second, state.dump(first))
    model = second.learner.model
    assert model is not before
    assert model.n_jobs == 2
    assert state.dump(second) == state.dump(first)


def test_invalid_snapshot_is_rejected() -> None:
    worker = trained()
    data = state.dump(worker)
    for bad in (b"", data[:-1], data[:60], data[:100] + b"x" + data[101:], b"x" * 200):
        with pytest.raises(SnapshotError):
            state.restore(worker, bad)
    assert state.dump(worker) == data


def test_snapshot_with_other_settings_is_rejected() -> None:
    data = state.dump(trained())
    for model in (CNB(), MNB(alpha=0.5)):
        with pytest.raises(SnapshotError, match="holds the model MNB"):
            state.restore(LocalFilter(model, SmsReader(), Options()), data)


def test_offsets_are_in_the_state() -> None:
    worker = make_filter()
    worker.handle(Record(PLACE, 41, b"bad"))
    other = make_filter()
    state.restore(other, state.dump(worker))
    assert other.offsets == {PLACE: 42}
