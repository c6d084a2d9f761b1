"""Mails as texts, and filters with texts or words."""

from __future__ import annotations

import random

import pytest

from streamnb.mail.content import mail_text
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError, SnapshotError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.records import Partition, Record, TrainingEvent

pytest.importorskip("lxml")

WORDS = "MNB(alpha=0.003, oov='skip')"
MAIL = (
    b"Subject: =?utf-8?b?xb3DrXQ=?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/html; charset=latin-1\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    b"PGI+Y2Fm6TwvYj4=\r\n--b\r\nContent-Type: application/zip\r\n"
    b"Content-Disposition: attachment; filename=a.zip\r\n\r\nPK\r\n--b--\r\n"
)


def test_text_contains_headers_and_parts() -> None:
    text = mail_text(MAIL)
    for part in ("Subject: Žít", "<b>café</b>", "filename=a.zip"):
        assert part in text
    assert "PK" not in text


def test_any_bytes_give_a_text_of_bounded_length() -> None:
    rng = random.Random(2)
    for _ in range(200):
        raw = bytearray(MAIL)
        for _ in range(rng.randint(0, 12)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        assert mail_text(bytes(raw)).encode()
    long = b"".join(b"X-%d: " % n + b"a" * 900 + b"\n" for n in range(150)) + b"\n" + b"b " * 9000
    assert len(mail_text(long)) == 2 * 8192 + 1
    assert mail_text(b"").encode() == b""


def test_models_with_tokenizer_get_texts_and_others_words() -> None:
    record = Record(Partition("mail", 0), 0, MAIL)
    default, words = make_filter("spam", Settings()), make_filter("spam", Settings(model=WORDS))
    assert default.reader.read(record).features == mail_text(MAIL)  # type: ignore[union-attr]
    assert "attached:zip" in words.reader.read(record).features  # type: ignore[union-attr]
    with pytest.raises(SnapshotError, match="must not have a tokenizer"):
        state.restore(default, state.dump(words))
    words.handle(record)
    again = make_filter("spam", Settings(model=WORDS))
    state.restore(again, state.dump(words))
    assert state.dump(again) == state.dump(words)


@pytest.mark.parametrize(("model", "features"), [("", {"free": 1.0}), (WORDS, "free")])
def test_log_with_other_features_stops_the_filter(model: str, features: object) -> None:
    worker = make_filter("spam", Settings(model=model, bootstrap_servers="broker:9092"))
    event = TrainingEvent("1", features, "spam")  # type: ignore[arg-type]
    record = Record(Partition("log", 0), 0, canonical(event.to_json()), role="training")
    with pytest.raises(SettingsError, match="the training events contain"):
        worker.handle(record)
    assert worker.learner.learned == 0


def test_max_fpr_is_set_for_calibrated_models() -> None:
    cases = {
        Settings(): 0.01,
        Settings(max_fpr=0.0): None,
        Settings(max_fpr=0.2): 0.2,
        Settings(model=WORDS): None,
        Settings(spam_cutoff=0.9): None,
    }
    for settings, target in cases.items():
        assert make_filter("spam", settings).options.max_fpr == target
