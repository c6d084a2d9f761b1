"""`streamnb evaluate`, `learn` and `classify` read mail as `streamnb-spam` does."""

from __future__ import annotations

import base64
import json
import quopri
import random
from pathlib import Path

import pytest

from streamnb import MNB
from streamnb.cli import main
from streamnb.datasets import read_messages, stream
from streamnb.mail.content import mail_text
from streamnb.model.compression import decompressed
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.io.files import mail_records
from streamnb_consumers.pipeline.mail_reading import DEFAULT_MODEL
from streamnb_consumers.records import Decision, Message, Partition, Record
from support.filters import WORDS, text


def mail(generator: random.Random, label: str) -> bytes:
    """Return a mail with an encoded subject and base64 and quoted-printable parts."""
    subject, first, second = (text(label, generator) for _ in range(3))
    encoded = base64.b64encode(f"é {subject}".encode()).decode()
    return (
        f"From: =?utf-8?q?{label[0].upper()}?= <{label}@x.example>\r\n"
        f"Subject: =?utf-8?b?{encoded}?=\r\n"
        "X-Spam-Status: Yes, probability=0.9,\r\n score=7\r\n"
        "Content-Type: multipart/alternative; boundary=b\r\n\r\n"
        "--b\r\nContent-Type: text/plain; charset=latin-1\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        f"{quopri.encodestring(f'à {first}'.encode('latin-1')).decode()}\r\n"
        "--b\r\nContent-Type: text/html; charset=utf-16\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\n"
        f"{base64.b64encode(f'<b>{second}</b>'.encode('utf-16')).decode()}\r\n--b--\r\n"
    ).encode()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    generator = random.Random(3)
    folder = tmp_path / "corpus"
    for number in range(40):
        label = generator.choice(list(WORDS))
        (folder / label).mkdir(parents=True, exist_ok=True)
        (folder / label / f"{number:04}.eml").write_bytes(mail(generator, label))
    return folder


def decided(corpus: Path, settings: Settings) -> tuple[bytes, list[Decision]]:
    """Return the filter of the daemon after a folder of mails, and its decisions on them."""
    worker = make_filter("spam", settings)
    outputs = [
        worker.handle(record)
        for record in mail_records(corpus, "eml", Partition("mails", 0), 2**24)
    ]
    return worker.learner.model.to_bytes(), [each for out in outputs for each in out.decisions]


def test_texts_equal_those_of_the_daemon(corpus: Path) -> None:
    worker = make_filter("spam", Settings(format="eml"))
    found = list(read_messages(corpus))
    records = list(mail_records(corpus, "eml", Partition("mails", 0), 2**24))
    assert len(found) == len(records) == 40
    for message, record in zip(found, records, strict=True):
        read = worker.reader.read(record)
        assert isinstance(read, Message)
        assert (read.id, read.label, read.features) == (message.id, message.label, message.text)
        assert "X-Spam-Status" not in message.text
        assert any(word in message.text for word in WORDS[message.label])


def test_mails_in_json_lines_are_read_like_in_the_daemon(corpus: Path, tmp_path: Path) -> None:
    lines = tmp_path / "mails.jsonl"
    mails = [mail(random.Random(seed), "spam").decode() for seed in range(5)]
    made = ({"text": raw, "label": "spam", "id": str(n)} for n, raw in enumerate(mails))
    lines.write_text("".join(json.dumps(each) + "\n" for each in made))
    worker, place = make_filter("spam", Settings(format="jsonl")), Partition("mails", 0)
    found = list(read_messages(lines, mails=True))
    assert len(found) == 5
    for number, line in enumerate(lines.read_bytes().splitlines()):
        read = worker.reader.read(Record(place, number, line))
        assert isinstance(read, Message)
        assert (read.id, read.features) == (found[number].id, found[number].text)
    assert [each.text for each in read_messages(lines)] == mails
    assert [each.text for each in read_messages(corpus, mails=True)] == [
        each.text for each in read_messages(corpus)
    ]


def test_named_stream_may_contain_mails(tmp_path: Path) -> None:
    file, model = tmp_path / "model", MNB()
    which = ["synthetic-sms", "--mails", "--limit", "60", "--model", "MNB"]
    assert main(["learn", *which, "-o", str(file)]) == 0
    for message in stream("synthetic-sms", limit=60).messages():
        model.learn_one(mail_text(message.text.encode()), message.label)
    assert decompressed(file.read_bytes()) == model.to_bytes()


def test_commands_learn_and_decide_like_the_daemon(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(format="eml", max_fpr=0.0)
    learned, decisions = decided(corpus, settings)
    file = tmp_path / "spam.model"
    assert main(["learn", str(corpus), "--model", DEFAULT_MODEL, "-o", str(file)]) == 0
    assert decompressed(file.read_bytes()) == learned
    capsys.readouterr()

    assert main(["evaluate", str(corpus), "--model", DEFAULT_MODEL, "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    right = [each.label == each.id.partition("/")[0] for each in decisions if each.label]
    assert model["cumulative"]["accuracy"] == pytest.approx(sum(right) / len(right))

    new = tmp_path / "new.eml"
    new.write_bytes(mail(random.Random(9), "spam"))
    assert main(["classify", str(file), str(new)]) == 0
    answer = json.loads(capsys.readouterr().out)
    worker = make_filter("spam", settings)
    for record in mail_records(corpus, "eml", Partition("mails", 0), 2**24):
        worker.handle(record)
    (record,) = mail_records(new, "mail", Partition("mails", 1), 2**24)
    (decision,) = worker.handle(record).decisions
    assert answer["label"] == decision.label
    assert answer["probabilities"] == decision.probabilities
