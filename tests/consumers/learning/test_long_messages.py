"""A filter reads only the first characters of a long message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamnb.mail.content import mail_words
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.pipeline.mail_reading import MailReader
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.records import Message, Partition, Record

FLOOD = " ".join(f"w{number:05}" for number in range(9_000))  # 7 characters a word
TEXTS = "MNB(tokenizer=Tokenizer(words=(1, 1)))"


def read(reader: Any, value: bytes) -> Any:
    found = reader.read(Record(Partition("in", 0), 0, value))
    assert isinstance(found, Message)
    return found.features


def words(features: Any) -> int:
    """Return the number of complete words that are left."""
    text = features if isinstance(features, str) else " ".join(features)
    return sum(len(word) == 6 and word.startswith("w") for word in text.split())


def test_sms_is_truncated() -> None:
    value = json.dumps({"id": "a", "text": FLOOD}).encode()
    assert read(SmsReader(), value) == FLOOD[:4096]
    assert read(SmsReader(max_text=70), value) == FLOOD[:70]
    short = json.dumps({"id": "a", "text": "x" * 4096}).encode()
    assert read(SmsReader(), short) == "x" * 4096


@pytest.mark.parametrize("texts", [False, True])
def test_mail_is_truncated(texts: bool) -> None:
    mail = f"Subject: hi\n\n{FLOOD}".encode()
    assert words(read(MailReader(record_format="raw", texts=texts, max_text=700), mail)) == 100
    assert words(read(MailReader(record_format="raw", texts=texts), mail)) == (
        1170 if texts else 9000
    )
    parts = "".join(f"--b\nContent-Type: text/plain\n\n{FLOOD[:350]}\n" for _ in range(9))
    mail = f"Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n".encode()
    # The beginning of each part has a room of its own.
    assert words(read(MailReader(record_format="raw", texts=True, max_text=700), mail)) == 9 * 50
    assert "mime:long" in mail_words(mail, room=700)


@pytest.mark.parametrize(
    ("kind", "model", "given", "expected"),
    [
        ("sms", "MNB", 0, 585),
        ("sms", "MNB", 70, 10),
        ("spam", TEXTS, 0, 1170),
        ("spam", TEXTS, 70, 10),
        ("spam", "MNB", 70, 10),
    ],
)
def test_max_text_is_a_setting(kind: str, model: str, given: int, expected: int) -> None:
    worker = make_filter(kind, Settings(model=model, max_text=given, format="jsonl"))
    value = json.dumps({"id": "a", "text": FLOOD if kind == "sms" else f"\n{FLOOD}"}).encode()
    assert words(read(worker.reader, value)) == expected
