"""Mails as texts, and filters with texts or words."""

from __future__ import annotations

import random

import pytest

from streamnb.mail.content import mail_text
from streamnb_consumers.daemon import assembly
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import BadRecordError, SettingsError, SnapshotError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.mail_reading import MailReader
from streamnb_consumers.pipeline.reading import caught
from streamnb_consumers.records import Message, Partition, Record, TrainingEvent

WORDS = "MNB(alpha=0.003, oov='skip')"
MAIL = (
    b"Subject: =?utf-8?b?xb3DrXQ=?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/html; charset=latin-1\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    b"PGI+Y2Fm6TwvYj4=\r\n--b\r\nContent-Type: application/zip\r\n"
    b"Content-Disposition: attachment; filename=a.zip\r\n\r\nPK\r\n--b--\r\n"
)


def test_text_contains_headers_and_parts() -> None:
    text = mail_text(MAIL)
    for part in ("Subject: Žít", "\ncafé\x1e", "filename=a.zip"):
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


def test_mails_read_together_equal_single_ones() -> None:
    values = [MAIL, b" ", b'{"id": 1}', b'{"text": "Subject: a\\n\\nb", "label": 7}', b"x: y\n\nz"]
    given = [Record(Partition("mail", 0), at, value) for at, value in enumerate(values * 30)]
    for texts in (True, False):
        reader, single = MailReader(texts=texts, threads=3), MailReader(texts=texts)
        found = reader.read_many(given)
        singles = [caught(single.read, record) for record in given]
        assert [type(each) for each in found[:3]] == [Message, BadRecordError, BadRecordError]
        assert [str(each) for each in found] == [str(each) for each in singles]


def test_models_of_filters_predict_on_several_threads_unless_told() -> None:
    assert make_filter("spam", Settings()).learner.model.n_jobs == assembly._JOBS >= 1
    model = "Challenger(model=MNB(n_jobs=3))"
    assert make_filter("sms", Settings(model=model)).learner.model.model.n_jobs == 3
    assert make_filter("sms", Settings(model="MNB(n_jobs=5)")).learner.model.n_jobs == 5


@pytest.mark.parametrize(("model", "features"), [("", {"free": 1.0}), (WORDS, "free")])
def test_log_with_other_features_stops_the_filter(model: str, features: object) -> None:
    worker = make_filter("spam", Settings(model=model, bootstrap_servers="broker:9092"))
    event = TrainingEvent("1", features, "spam")  # type: ignore[arg-type]
    record = Record(Partition("log", 0), 0, canonical(event), role="training")
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
