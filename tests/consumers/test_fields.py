"""Fields other than the text, such as the user: tokens of their own, and words for each value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import structs

from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline.identity import model_text
from streamnb_consumers.records import Record
from support.filters import PLACE, folded, handle_all, records, restored

# Words whose label depends on the user.
OFFERS = [
    {"text": word, "user": user, "label": label}
    for _ in range(50)
    for user, word, label in [
        ("ann", "golf", "ham"),
        ("bob", "golf", "spam"),
        ("ann", "poker", "spam"),
        ("bob", "poker", "ham"),
    ]
]


SETTINGS = Settings(fields=("user",), per_field="user", max_fpr=0.0)


def check_words_by_user(worker: Any) -> None:
    questions = [{"text": each["text"], "user": each["user"]} for each in OFFERS[:4]]
    for record, each in zip(records([*OFFERS, *questions])[-4:], OFFERS, strict=False):
        (decision,) = worker.handle(record).decisions
        assert decision.label == each["label"]


def test_a_word_has_another_label_for_each_user() -> None:
    worker = make_filter("sms", SETTINGS)
    model = worker.learner.model
    assert "fields=('user',), per_field='user'" in model_text(model)
    handle_all(worker, OFFERS)
    check_words_by_user(worker)
    words = model.explain_one({"text": "golf", "user": "bob"}).words
    assert {"user=bob", "golf", "user=bob: golf"} <= set(words)
    check_words_by_user(restored(worker, lambda: make_filter("sms", SETTINGS)))


def test_workers_share_fields_by_the_training_log() -> None:
    settings = structs.replace(SETTINGS, bootstrap_servers="localhost:9092")
    alone = make_filter("sms", SETTINGS)
    check_words_by_user(folded(alone, records(OFFERS), lambda shared: make_filter("sms", settings)))


def test_fields_of_a_mail_come_from_headers_or_the_object() -> None:
    worker = make_filter("spam", Settings(fields=("user", "sender")))
    mail = b"From: Ann <Ann@x.example>\nSubject: golf\n\nsee you\x1euser=\x1feve\n"
    raw = Record(PLACE, 0, mail, headers=(("user", b"bob"), ("unset", None)))
    value = json.dumps({"text": mail.decode(), "user": "bob", "sender": "eve"}).encode()
    for record, sender in [(raw, "ann@x.example"), (raw._replace(value=value), "eve")]:
        message = worker.reader.read(record)
        tokens = worker.learner.model.tokenizer(message.features)
        assert tokens[:3] == ["user=bob", f"sender={sender}", "subject: golf"]
        assert not any("=" in token[1:-1] and " " not in token for token in tokens[2:])


def test_without_the_setting_other_fields_change_nothing() -> None:
    worker = make_filter("sms", Settings())
    (record,) = records([{"text": "win", "user": "bob"}])
    assert worker.reader.read(record).features == "win"


@pytest.mark.parametrize("value", [["bob"], {"name": "bob"}])
def test_a_field_that_is_no_value_is_a_dead_letter(value: Any) -> None:
    worker = make_filter("sms", Settings(fields=("user",)))
    (found,) = handle_all(worker, [{"text": "win", "user": value}])
    assert "the field 'user' must be a str" in found.dead_letters[0].error


def test_numbers_are_binned_and_other_values_are_dead_letters() -> None:
    worker = make_filter("sms", Settings(fields=("price",), numbers=("price",)))
    good, header, bad = records([{"text": "ring", "price": 9.9}, {"text": "a"}, {"text": "a"}])
    for record in (good, header._replace(headers=(("price", b"8"),))):
        tokens = worker.learner.model.tokenizer(worker.reader.read(record).features)
        assert "price=8..12" in tokens
    (letter,) = worker.handle(bad._replace(headers=(("price", b"cheap"),))).dead_letters
    assert "'price' must be a finite number" in letter.error


def test_lone_surrogates_of_fields_are_replaced() -> None:
    worker = make_filter("sms", Settings(fields=("user",)))
    (found,) = handle_all(worker, [{"text": "win", "user": "b\ud800"}])
    assert found.decisions
    assert not found.dead_letters


def test_settings_of_fields_are_checked() -> None:
    with pytest.raises(SettingsError, match="per_field must be None or one of fields"):
        make_filter("sms", Settings(per_field="user"))
    with pytest.raises(SettingsError, match="fields must be a tuple of names"):
        make_filter("spam", Settings(fields=("a b",), model="MNB()"))
    worker = make_filter("spam", Settings(fields=("user",), model="Challenger(model=MNB())"))
    assert worker.learner.model.model.tokenizer.fields == ("user",)
