"""Reading SMS and mail; no input raises an unexpected error or takes long."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb import _core
from streamnb.mail.content import mail_words
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.pipeline.mail_reading import MailReader
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.records import Feedback, Message, Partition, Record

PLACE = Partition("topic", 3)
FORMATS = [SmsReader(labels=("ham", "spam")), MailReader(labels=("ham", "spam"))]


def record(value: Any, **more: Any) -> Record:
    if not isinstance(value, bytes) and value is not None:
        value = json.dumps(value).encode()
    return Record(PLACE, 7, value, **more)


MAIL = b"""\
Received: from mx.shop.example (mx.shop.example [192.0.2.7]) by here.example
From: "Shop" <offers@mail.shop.example>
To: you@here.example
Subject: =?utf-8?q?Gratis_caf=C3=A9?=
Message-ID: <123456@mail.shop.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Caf=E9 for you at https://www.shop.example/best-offer?x=1
--b
Content-Type: text/html; charset=no-such-charset

<p>V<b>iag</b>ra <a href="http://click.bad.example/go/now">here</a><script>hidden()</script>
--b
Content-Type: application/zip; name="Invoice 7.zip"
Content-Disposition: attachment; filename="Invoice 7.zip"
Content-Transfer-Encoding: base64

UEsDBA==
--b--
"""


def test_sms_is_read() -> None:
    reader = FORMATS[0]
    assert reader.read(record({"id": 5, "text": "hi", "sender": "X", "time": None})) == Message(
        "5", "hi", senders=("x",)
    )
    assert reader.read(record({"id": "a", "label": "ham"})) == Feedback("a", "ham")
    assert reader.read(record({"text": "hi"}, key=b"k1")) == Message("k1", "hi")
    assert reader.read(record({"text": "hi \ud800"})) == Message("3-7", "hi ?")


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\xff",
        b"[]",
        b"7",
        b"{",
        b"[" * 100_000,
        [1],
        {},
        {"id": "a"},
        {"id": "a", "text": 5},
        {"id": "a", "text": ["x"]},
        {"id": True, "text": "x"},
        {"id": {}, "text": "x"},
        {"id": "", "text": "x"},
        {"id": "a" * 300, "text": "x"},
        {"id": "\ud800", "text": "x"},
        {"id": "a", "text": "x", "label": 1},
        {"id": "a", "text": "x", "label": "eggs"},
        {"label": "spam"},
        {"id": 2**70, "text": "x"},
        b'{"id": ' + b"9" * 5_000 + b"}",
        {"id": "a", "text": "x" * 70_000},
    ],
)
def test_invalid_sms_is_rejected(value: Any) -> None:
    with pytest.raises(BadRecordError):
        FORMATS[0].read(record(value))


def test_mail_becomes_words() -> None:
    words = mail_words(MAIL)
    assert {
        "subject:Gratis", "subject:café", "from:mail.shop.example", "message-id:mail.shop.example",
        "header:received", "received:mx.shop.example", "Café", "Viagra", "mime:text/html",
        "charset:no-such-charset", "host:shop.example",
        "host:www.shop.example", "url:offer", "host:click.bad.example", "url:now",
        "extension:zip", "attached:invoice", "mime:application/zip",
    } <= set(words)  # fmt: skip
    assert not any("hidden" in word or "123456" in word for word in words)


@pytest.mark.parametrize(
    "value",
    [
        MAIL,
        {"id": "3-7", "text": MAIL.decode()},
        {"id": "3-7", "base64": base64.b64encode(MAIL).decode()},
    ],
)
def test_mail_has_three_record_formats(value: Any) -> None:
    message = FORMATS[1].read(record(value))
    senders = ("offers@mail.shop.example",)
    assert message == Message("3-7", dict.fromkeys(mail_words(MAIL), 1), senders=senders)


@pytest.mark.parametrize(
    "value", [None, b"", b" \n", b"{", {"id": "a", "base64": "?"}, {"id": "a"}]
)
def test_invalid_mail_is_rejected(value: Any) -> None:
    with pytest.raises(BadRecordError):
        FORMATS[1].read(record(value))


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "idna", "punycode", "hex", "rot13", "\0"])
def test_any_charset_is_accepted(charset: str) -> None:
    head = f"Content-Type: text/plain; charset={charset}\n\n".encode()
    words = mail_words(head + b"free \xff\xfe money")
    assert "mime:broken" not in words


@given(st.binary(max_size=2_000))
def test_arbitrary_bytes_do_not_raise(raw: bytes) -> None:
    mail_words(raw)
    for reader in FORMATS:
        try:
            found = reader.read(record(raw))
        except BadRecordError:
            continue
        assert isinstance(found, (Message, Feedback))


PIECES = st.sampled_from(
    [
        b"Content-Type: multipart/mixed; boundary=b\n", b"Content-Type: text/html; charset=",
        b"Content-Type: message/rfc822\n", b"Content-Transfer-Encoding: base64\n", b"\n", b"--b\n",
        b"--b--\n", b"=?utf-8?b?", b"?=", b"From: <", b"To: (((\n", b"Subject: ", b"<a href=", b">",
        b"http://[", b"\xff\xfe", b"\0", b"Content-Disposition: attachment; filename*=utf-8''%ff\n",
        b"Date: x\n", b"utf-8", b"; a*0=b", b"begin 644 x\nM", b"begin",
    ]
)  # fmt: skip


@given(st.lists(PIECES | st.binary(max_size=20), max_size=60))
def test_malformed_mails_do_not_raise(pieces: list[bytes]) -> None:
    words = mail_words(b"".join(pieces))
    assert all(isinstance(word, str) and count > 0 for word, count in words.items())
    "".join(words).encode()  # no lone surrogates, which a model would refuse


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\n" * 200_000,
        b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5_000)
        ),
        b"Content-Type: text/html\n\n" + b"<div>" * 200_000,
        b"X: y\n" * 100_000,
        b"To: " + b"((((" * 250_000 + b"\n\n",
        b"Subject: " + b"=?utf-8?q?a?= " * 70_000 + b"\n\n",
        b"\n\n" + b"http://" * 150_000,
    ],
    ids=["parts", "nested", "html", "headers", "comment", "encoded", "urls"],
)
def test_malicious_mails_take_bounded_time(raw: bytes) -> None:
    """Without bounds, each of them takes minutes or quadratic time."""
    began = time.process_time()
    mail_words(raw)
    assert time.process_time() - began < 10


def test_html_gives_the_visible_text() -> None:
    text, hidden, urls, tags, comments = _core.read_html(
        "<title>T</title>a<br>b <img src=/x.gif alt=pic><style>p{}</style><!-- c -->&eacute;",
        room=100,
    )
    assert (text.split(), hidden) == (["a", "b", "pic", "é"], "T")
    assert (urls, dict(tags)["img"], comments) == (["/x.gif"], 1, 1)
    assert _core.read_html("", room=1)[0] == ""
