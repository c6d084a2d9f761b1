"""Filters with a model of several labels: records and decisions have `labels`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamnb import MultiLabelNB
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.entries import WindowEntry
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.training import read_training_event
from streamnb_consumers.records import TrainingEvent
from support.filters import handle_all
from support.scenes.scene import topics

MODEL = "MultiLabelNB()"
GRAIN = {"id": "g", "text": "wheat and corn prices fall", "labels": ["wheat", "corn", "wheat"]}


def made(**settings: Any) -> Filter:
    return make_filter("sms", Settings(model=MODEL, **{"labels": (), **settings}))


def of(messages: list[Any]) -> list[dict[str, Any]]:
    return [{"id": name, "text": text, "labels": label} for name, text, label in messages]


def learned(*pairs: tuple[str, Any], worker: Filter) -> bytes:
    model = MultiLabelNB()
    for text, labels in pairs:
        model.learn_one(text, labels)
    expected = make_filter("sms", Settings(model=MODEL))
    expected.learner.model = model
    expected._pruning_key = worker._pruning_key
    expected.protect()
    return bytes(model.to_bytes())


def train(worker: Filter) -> Filter:
    handle_all(worker, of(topics(600)))
    return worker


def test_decisions_have_labels_and_their_probabilities() -> None:
    worker = train(made(explain_top_k=3))
    text = topics(601)[-1][1]
    (outputs,) = handle_all(worker, [{"id": "x", "text": text}])
    (decision,) = outputs.decisions
    plain = json.loads(json.dumps(decision.to_json()))
    assert set(plain) == {"id", "labels", "probabilities", "score", "version", "words"}
    model = worker.learner.model
    assert plain["labels"] == sorted(model.predict_one(text)) != []
    assert plain["probabilities"] == model.predict_proba_one(text)
    assert plain["score"] is None
    words = model.explain_one(text).in_words().words
    for each in plain["words"]:
        total = sum(words[each["word"]][label] for label in plain["labels"])
        assert each["towards"] == pytest.approx(total, abs=1e-9)


def test_the_model_has_learned_each_list_once() -> None:
    worker = made()
    handle_all(worker, of(topics(50)) + of(topics(50)))
    pairs = [(text, labels) for _, text, labels in topics(50)]
    assert worker.learner.model.to_bytes() == learned(*pairs, worker=worker)
    assert worker.learner.learned == 50


def test_an_empty_list_is_learned() -> None:
    worker = made()
    outputs = handle_all(worker, [GRAIN, {"id": "n", "text": "see you at noon", "labels": []}])
    assert worker.learner.learned == 2
    assert worker.learner.model.n_documents == 2
    assert [each.result for each in outputs[1].results] == ["learned"]
    (again,) = handle_all(worker, [{"id": "n", "labels": []}])
    assert [each.result for each in again.results] == ["learned_before"]


def test_feedback_corrects_and_unlearns_whole_lists() -> None:
    worker = made()
    first = {"id": "h", "text": "corn harvest begins"}
    steps: list[tuple[dict[str, Any], str, list[Any]]] = [
        (first, "none", []),
        ({"id": "h", "labels": ["corn"]}, "learned", [("corn harvest begins", {"corn"})]),
        ({"id": "h", "labels": ["wheat", "corn"]}, "corrected", []),
        ({"id": "h", "labels": ["corn", "wheat"]}, "learned_before", []),
        ({"id": "h", "unlearn": True}, "unlearned", []),
        ({"id": "h", "unlearn": True}, "not_learned", []),
    ]
    for record, result, pairs in steps:
        (outputs,) = handle_all(worker, [record])
        assert [each.result for each in outputs.results] == ([result] if result != "none" else [])
        if pairs:
            assert worker.learner.model.to_bytes() == learned(*pairs, worker=worker)
    assert worker.learner.model.n_documents == 0
    assert worker.learner.model.classes_ == []


def test_labels_may_come_before_their_message() -> None:
    worker = made()
    handle_all(worker, [{"id": "h", "labels": ["corn"]}, {"id": "h", "text": "corn harvest"}])
    pairs = ("corn harvest", {"corn"})
    assert worker.learner.model.to_bytes() == learned(pairs, worker=worker)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"label": "corn"}, "give labels, an array"),
        ({"labels": "corn"}, "labels must be an array of strings, not str"),
        ({"labels": {"corn": True}}, "labels must be an array of strings, not dict"),
        ({"labels": ["corn", None]}, "one of them is null"),
        ({"labels": ["corn", ["x"]]}, "label must be a string, not list"),
        ({"labels": ["corn", ""]}, "1 to 256 characters"),
        ({"labels": ["corn", "x" * 257]}, "1 to 256 characters"),
    ],
)
def test_other_labels_are_dead_letters(fields: dict[str, Any], message: str) -> None:
    for record in ({"id": "a", "text": "corn", **fields}, {"id": "a", **fields}):
        worker = made()
        (outputs,) = handle_all(worker, [record])
        assert [message in each.error for each in outputs.dead_letters] == [True]
        assert worker.learner.learned == 0


def test_the_allowed_labels_bound_each_label() -> None:
    worker = made(labels=("corn", "wheat"), pos_label="corn", negative="wheat")
    outputs = handle_all(worker, [GRAIN, {"id": "b", "text": "rain", "labels": ["corn", "rain"]}])
    assert [len(each.dead_letters) for each in outputs] == [0, 1]


def test_the_number_of_labels_is_bounded() -> None:
    worker = made(max_classes=3)
    records = [GRAIN, {"id": "b", "text": "rain", "labels": ["corn", "rain", "sun"]}]
    outputs = handle_all(worker, records)
    assert "label 'sun' would be the 4th (max_classes)" in outputs[1].dead_letters[0].error
    assert worker.learner.model.classes_ == ["corn", "wheat"]


def test_a_snapshot_restores_the_model_and_the_windows() -> None:
    worker = train(made())
    restored = made()
    state.restore(restored, state.dump(worker))
    assert restored.learner.model.to_bytes() == worker.learner.model.to_bytes()
    for each in (worker, restored):
        (outputs,) = handle_all(each, [{"id": "m7", "labels": ["topic-0"]}])
        assert [one.result for one in outputs.results] == ["corrected"]
    assert restored.learner.model.to_bytes() == worker.learner.model.to_bytes()


def test_events_and_entries_keep_lists() -> None:
    event = TrainingEvent("7", "corn", ("corn", "wheat"), (), decided=("corn",))
    assert read_training_event(canonical(event)) == event
    entry = WindowEntry(b'"corn"', ("corn",), None, 5, ())
    assert WindowEntry.decode(entry.encode()) == entry


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("spam", {}, "streamnb-sms with the texts of the mails"),
        ("sms", {"model": "MultiLabelNB(output='dicts')"}, "'sets'"),
        ("sms", {"max_fpr": "0.01"}, "max_fpr: MultiLabelNB"),
        ("sms", {"self_training": True}, "self_training: MultiLabelNB"),
        ("sms", {"ask_per_day": 5.0, "ready_after": "10"}, "ready_after, ask_per_day: Multi"),
    ],
)
def test_settings_of_one_label_are_refused(kind: str, settings: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_filter(kind, Settings(**{"model": MODEL, **settings}))


def test_files_and_a_listener_have_no_assumed_labels() -> None:
    for listens in (False, True):
        options = make_filter("sms", Settings(model=MODEL), listens).options
        assert (options.assume_after, options.ready_after, options.max_fpr) == (None, 0.0, None)
