"""The feed of the page reads the records of a filter, whatever others have written there."""

from __future__ import annotations

import json

import pytest

from streamnb.errors import InputError
from streamnb.web.board import FILTER
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.page import KafkaFeed, ListenerFeed, open_filter
from streamnb_consumers.records import Partition, Record

pytest.importorskip("kafka")

DECISION = {
    "label": "ham", "probabilities": {"ham": 1}, "score": None, "version": 3, "ask": True,
}  # fmt: skip


def feed_of(topic: str = "sms", options: str = "") -> KafkaFeed:
    found = open_filter(f"kafka://127.0.0.1:1/{topic}{options}", {})
    assert isinstance(found, KafkaFeed)
    return found


def take(feed: KafkaFeed, *records: tuple[str, object]) -> None:
    """Give records of topics to the feed: a JSON value, or bytes."""
    for offset, (topic, value) in enumerate(records):
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        feed._take(Record(Partition(topic, 1), offset, raw, b"key"))


def test_records_of_all_topics_become_a_message_with_its_history() -> None:
    feed = feed_of()
    board = feed.board
    take(
        feed,
        ("sms", {"id": 7, "text": "win cash", "sender": "+44 1"}),
        ("sms-decisions", {**DECISION, "id": "7"}),
        ("sms-feedback", {"id": 7, "label": "spam", "source": "page", "annotator": "ann"}),
        ("sms-training", {"id": "7", "learn": "spam", "decided": "ham", "features": "win cash"}),
        ("sms-training", {"id": "7", "learn": "ham", "features": "win cash", "weight": 0.1}),
    )
    (item,) = board.search(sender="+44")
    assert (item["id"], item["text"], item["label"]) == ("7", "win cash", "spam")
    assert board.items(["7"])[0].partition == 1
    (entry,) = board.history()
    assert (entry["annotator"], entry["status"]) == ("ann", "learned at sms-training 1:3")


def test_a_dead_letter_refuses_its_label() -> None:
    feed = feed_of()
    board = feed.board
    take(feed, ("sms-feedback", {"id": "1", "label": "fax"}))
    headers = {"topic": "sms-feedback", "partition": "1", "offset": "0", "error": "not one of ham"}
    pairs = tuple((name, value.encode()) for name, value in headers.items())
    feed._take(Record(Partition("sms-dead-letters", 0), 0, b"{}", headers=pairs))
    assert board.history()[0]["status"] == "refused: not one of ham"


def test_raw_mails_are_read() -> None:
    feed = feed_of("spam")
    raw = b"From: Ann <a@x.example>\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\n\r\nsee you\r\n"
    take(feed, ("spam", raw))
    (item,) = feed.board.search()
    assert (item["sender"], item["subject"], item["id"]) == (
        "Ann <a@x.example>",
        "caf\u00e9",
        "key",
    )
    assert item["text"].strip() == "see you"


@pytest.mark.parametrize(
    "value",
    [
        *(b"", b"{", b"\xff", b"[" * 10_000, b"null", b"[]", b"5", b"{}"),
        {"id": 5},
        {"id": "a", "label": [5], "learn": 5},
        {"id": "a", "probabilities": [1], "learn": ["x"]},
        {**DECISION, "id": "a", "label": None, "probabilities": {"ham": "high"}, "decided": {}},
        {"id": "a", "words": [{"word": 1}], "learn": {"x": 1}},
    ],
)
def test_records_of_another_form_are_skipped(value: object) -> None:
    feed = feed_of()
    board = feed.board
    topics = ("sms", "sms-decisions", "sms-feedback", "sms-training", "sms-dead-letters")
    take(feed, *((topic, value) for topic in topics))
    for topic in topics:
        feed._take(Record(Partition(topic, 0), 0, None))
    assert board.search() == board.history() == []
    assert board.state()["models"]["filter"]["messages"] == 0


def test_options_are_the_settings_of_the_filter() -> None:
    feed = feed_of("mail", "?kind=spam&decisions_topic=verdicts&labels=ham,spam,fax")
    assert feed._topics.decisions == "verdicts"
    assert feed._topics.training == "mail-training"
    assert feed.board.state()["labels"] == ["ham", "spam", "fax"]
    assert isinstance(open_filter("http://127.0.0.1:7830/", {}), ListenerFeed)
    with pytest.raises(SettingsError, match="security_protocol"):
        feed_of("sms", "?security_protocol=none")
    with pytest.raises(InputError, match="feedback_topic is empty"):
        feed_of("sms", "?feedback_topic=")
    with pytest.raises(InputError, match="give kafka://HOST:PORT/TOPIC"):
        open_filter("http://127.0.0.1:7830/x", {})


def test_both_opinions_are_shown_if_a_teacher_has_decided() -> None:
    feed = feed_of()
    decision = {**DECISION, "ask": False, "probabilities": {"ham": 0.7, "spam": 0.3}}
    taught = {**decision, "label": "spam", "source": "teacher", "status": "answered"}
    take(
        feed,
        ("sms-decisions", {**taught, "id": "a", "model_label": "ham"}),
        ("sms-decisions", {**taught, "id": "b", "model_label": "spam"}),
        ("sms-decisions", {**decision, "id": "c", "source": "model"}),
    )
    (shown,) = feed.board.search("disputed")
    assert shown["id"] == "a"
    found = {name: each["label"] for name, each in shown["answers"].items()}
    assert found == {"teacher": "spam", FILTER: "ham"}
    assert feed.board.state()["disputed"] == 1
    newest = feed.board.search("")[0]
    assert (newest["id"], list(newest["answers"])) == ("c", [FILTER])


SETS = {
    "labels": ["corn"],
    "probabilities": {"corn": 0.9, "wheat": 0.2},
    "score": None,
    "version": 3,
}


@pytest.mark.parametrize("decided_first", [False, True])
def test_records_of_several_labels_are_shown_whatever_the_settings(decided_first: bool) -> None:
    """The page does not need the model among its settings: the records show what it is."""
    feed = feed_of()
    board = feed.board
    decision = ("sms-decisions", {**SETS, "id": "7", "words": [{"word": "corn", "towards": 2.0}]})
    records = [
        ("sms", {"id": 7, "text": "corn and wheat", "labels": ["wheat"]}),
        ("sms-feedback", {"id": 7, "labels": ["wheat", "corn"], "annotator": "ann"}),
        ("sms-training", {"id": "7", "learn": ["corn", "wheat"], "decided": ["corn"],
                          "features": "corn and wheat"}),
        ("sms-feedback", {"id": 7, "labels": []}),
    ]  # fmt: skip
    take(feed, *([decision, *records] if decided_first else [*records, decision]))
    (item,) = board.search()
    assert (item["given"], item["label"]) == (("wheat",), ("corn", "wheat"))
    assert (item["sent"], item["answers"][FILTER]["label"]) == ({"label": ()}, ("corn",))
    assert [(one["label"], one["status"]) for one in board.history()] == [
        ((), "sent"),
        (("corn", "wheat"), "learned at sms-training 1:3"),
    ] or not decided_first
    state = board.state()
    assert state["several"] is True
    assert state["labelled"] == {"corn": 1, "wheat": 1}
    figures = state["models"][FILTER]
    assert (figures["messages"], figures["accuracy"]) == (1, 0.0)
    assert figures["micro_f1"] == pytest.approx(2 / 3)
    assert board.open("7")["arrival"][FILTER]["tokens"] == [("corn", 2.0)]
    # A filter of one label may read records that have a field `labels` for another program.
    take(feed, ("sms-decisions", {**DECISION, "id": "8"}))
    take(feed, ("sms", {"id": 8, "text": "win cash", "label": "spam", "labels": ["x"]}))
    assert board.search(text="win")[0]["given"] == "spam"
    assert board.state()["several"] is False
