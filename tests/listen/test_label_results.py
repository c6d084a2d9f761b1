"""Answers to labels report the result, also after the text of a message has left the window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamnb_consumers.daemon.listen.service import content_id
from support.listener import Listener, listening

pytest.importorskip("uvicorn")

DECIDED = "SPAMD/1.1 0 EX_OK"


def mail(number: int, words: str = "claim your prize", header: str = "") -> bytes:
    return f"{header}Message-ID: <{number}@x>\n\n{words} {number}".encode()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    """Return a listener whose window holds one text."""
    with listening(tmp_path, flags=("--join-window-count", "1")) as found:
        yield found


def tell(listener: Listener, raw: bytes, label: str) -> str:
    status, told, _ = listener.spamd("TELL", raw, Message_class=label, Set="local")
    assert status == DECIDED
    return told["Streamnb-Result"]


def messages_by_label(listener: Listener) -> dict[str, float]:
    fill(listener)  # the metrics of a batch are set after its answers, and before the next batch
    _, body = listener.http("GET", "/metrics")
    found = re.findall(rb'model_messages\{[^}]*label="(\w+)"\} ([0-9.]+)', body)
    return {label.decode(): float(count) for label, count in found}


def results(listener: Listener) -> dict[str, float]:
    fill(listener)
    _, body = listener.http("GET", "/metrics")
    found = re.findall(rb'labels_total\{[^}]*result="(\w+)"\} ([0-9.]+)', body)
    return {result.decode(): float(count) for result, count in found}


def fill(listener: Listener) -> None:
    """Let the texts of all earlier messages leave the window."""
    listener.spamd("CHECK", mail(9999, "see you at noon"))


def test_a_label_is_learned_once_although_its_text_is_gone(listener: Listener) -> None:
    assert tell(listener, mail(1), "spam") == "learned"
    assert tell(listener, mail(2, "see you"), "ham") == "learned"
    assert tell(listener, mail(3, "see you"), "ham") == "learned"
    before = messages_by_label(listener)
    for raw in (mail(1), mail(1, header="Received: by y\n")):
        fill(listener)
        assert tell(listener, raw, "spam") == "learned_before"
    fill(listener)
    found = listener.post("/learn", {"id": content_id(mail(1)), "label": "spam"})
    assert found == {
        "id": content_id(mail(1)), "learned": None, "unlearned": None, "result": "learned_before"
    }  # fmt: skip
    assert messages_by_label(listener) == before
    assert results(listener) == {"learned": 3.0, "learned_before": 3.0}


def test_a_correction_with_the_same_text_unlearns_it(listener: Listener) -> None:
    for number in range(4):
        tell(listener, mail(number), "spam")
    fill(listener)
    assert tell(listener, mail(1), "ham") == "corrected"
    assert messages_by_label(listener) == {"spam": 3.0, "ham": 1.0}


def test_a_correction_with_another_text_names_the_label_that_stays(listener: Listener) -> None:
    for number in range(4):
        tell(listener, mail(number), "spam")
    fill(listener)
    changed = mail(1, header="Subject: other words\n")
    assert tell(listener, changed, "ham") == "too_old; kept=spam"
    assert messages_by_label(listener) == {"spam": 4.0, "ham": 1.0}
    # From now on the label is ham, and its text is known.
    assert tell(listener, changed, "ham") == "learned_before"
    fill(listener)
    assert tell(listener, changed, "spam") == "corrected"
    assert messages_by_label(listener) == {"spam": 5.0}


def test_labels_without_a_text_report_that_it_is_gone_or_unknown(listener: Listener) -> None:
    for number in range(4):
        tell(listener, mail(number), "spam")
    fill(listener)
    name = content_id(mail(1))
    before = messages_by_label(listener)
    expected = {"id": name, "learned": None, "unlearned": None, "result": "too_old", "kept": "spam"}
    assert listener.post("/learn", {"id": name, "label": "ham"}) == expected
    assert listener.post("/unlearn", {"id": name}) == expected
    assert listener.spamd("TELL", mail(1), Remove="local")[1]["Streamnb-Result"] == (
        "too_old; kept=spam"
    )
    assert messages_by_label(listener) == before
    assert listener.post("/learn", {"id": "never", "label": "ham"})["result"] == "unknown"
    learned = listener.post("/classify", {"id": "never", "text": "Subject: a\n\nb"})
    assert learned["id"] == "never"
    # The label waited for its message.
    assert listener.post("/learn", {"id": "never", "label": "ham"})["result"] == "learned_before"


def test_past_labels_survive_a_crash_and_a_stop(listener: Listener) -> None:
    for number in range(4):
        tell(listener, mail(number), "spam")
    for stop in (listener.kill, listener.stop):
        stop()
        listener.start()
        before = messages_by_label(listener)
        assert tell(listener, mail(1), "spam") == "learned_before"
        fill(listener)
        assert messages_by_label(listener) == before


def test_another_text_with_an_own_id_is_another_message(listener: Listener) -> None:
    listener.post("/learn", {"id": "7", "text": "Subject: a\n\nb", "label": "spam"})
    fill(listener)
    found = listener.post("/learn", {"id": "7", "text": "Subject: c\n\nd", "label": "ham"})
    assert (found["result"], found["learned"]) == ("learned", "ham")


def test_no_label_is_kept_beyond_its_days(tmp_path: Path) -> None:
    flags = ("--join-window-count", "1", "--past-label-days", "0")
    with listening(tmp_path, flags=flags) as listener:
        assert tell(listener, mail(1), "spam") == "learned"
        fill(listener)
        assert tell(listener, mail(1), "spam") == "learned"
