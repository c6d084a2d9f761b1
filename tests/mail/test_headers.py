"""A mail's headers: plain ones are taken as they are, with the words that parsing would find."""

from __future__ import annotations

import json
import re
from collections import Counter
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from references.text.mail import SlowPolicy
from references.text.mail import mail_words as slow_words
from streamnb.datasets.lines import read_lines
from streamnb.mail.headers import HeaderPolicy, header_text
from streamnb.mail.words import mail_words
from support.data import require_data

WORD = re.compile(r"[\w$€£!%][\w$€£!%'.@-]*")
HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
ONLY_HOSTS = ("date", "message-id", "references")
SLOW: Any = SlowPolicy()

ANY_NAME = st.sampled_from([*HeaderRegistry().registry, "received", "references", "x-mailer"])
PARTICLES = st.sampled_from(
    [
        "a", "Bob", "x@y.z", "b.c@d.example", "<a@b.c>", "<", ">", "@", ",", '"', "'", "(c)", "(",
        ")", ";", "=", "/", "text/plain", "charset=us-ascii", "boundary=b", 'name="a b"',
        "filename=x.zip", "*0=", "*=utf-8''%41", "%41", "\\", ".", "..", "1.0", "=?utf-8?q?a=20b?=",
        "=?", "?=", "é", "base64", "[1.2.3.4]", ":", "undisclosed-recipients:;",
        "-", "_", "#", "`", "{", "Q.",
        "2001.06", "&", "!", "~", " ", "  ", "\t", "\n ", "\r\n\t", "\udcff", "\0",
        "25 Jun 2001 12:18:19 +0100",
    ]
)  # fmt: skip
ADDRESSES = st.sampled_from(
    [
        "Bob", "O'Neil", '"A, B"', '"x"', '""', " ", " ", "  ", "\t", "\n ", "<a@b.c>", "x@y.z",
        "<x.y@z.example>", ", ", ",", "-", '"a  b"', '"a;b"', "a.b", "(c)",
    ]
)  # fmt: skip
PARAMETERS = st.sampled_from(
    [
        "text/plain", "multipart/mixed", ";", "; ", "; ", ";\n\t", "charset=us-ascii", "name=", "x",
        '"a b.zip"', '"x"', '""', "a=b", "A=c", "a=d", " ", "*", '"a  b"', '"a\tb"',
        'boundary="=_7"',
    ]
)  # fmt: skip


def check_same(name: str, value: str) -> None:
    value = value.strip(" \t\r\n")  # as the standard library hands it over
    found, wanted = header_text(name, value), str(SLOW.header_fetch_parse(name, value))
    if name in ONLY_HOSTS:
        found, wanted = found.rpartition("@")[2], wanted.rpartition("@")[2]
        assert HOST.findall(found) == HOST.findall(wanted)
        return
    assert WORD.findall(found) == WORD.findall(wanted)
    assert mime(HeaderPolicy(), name, value) == mime(SLOW, name, value)


def mime(policy: Any, name: str, value: str) -> list[Any]:
    """Return what the standard library reads from a MIME header, or how it fails."""
    message = EmailMessage(policy=policy)
    message.set_raw(name, value)  # type: ignore[attr-defined]
    found: list[Any] = [str(message.get("content-transfer-encoding")).lower().strip()]
    for ask in (
        message.get_content_type,
        message.get_boundary,
        message.get_filename,
        lambda: message.get_param("charset"),
    ):
        try:
            found.append(ask())
        except Exception as error:
            found.append(type(error))
    return found


@settings(max_examples=500)
@given(ANY_NAME, st.lists(PARTICLES, max_size=9))
def test_any_header_has_the_words_of_its_parsed_text(name: str, pieces: list[str]) -> None:
    check_same(name, "".join(pieces))


@settings(max_examples=300)
@given(st.sampled_from(["from", "to", "sender", "resent-to", "message-id"]), st.lists(ADDRESSES))
def test_addresses_have_the_words_of_their_parsed_text(name: str, pieces: list[str]) -> None:
    check_same(name, "".join(pieces))


@settings(max_examples=300)
@given(st.sampled_from(["content-type", "content-disposition"]), st.lists(PARAMETERS))
def test_parameters_are_those_of_the_parsed_text(name: str, pieces: list[str]) -> None:
    check_same(name, "text/html; " + "".join(pieces))
    check_same(name, "".join(pieces))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("from", '"x"Bob <a@b.c>'),  # one word: xBob
        ("to", '"x""y"<a@b.c>'),
        ("to", "Bob<a@b.c>"),
        ("cc", '"A, B"\t<a@b.c>,\r\n\tc.d@e.f'),
        ("content-type", "text/plain; a=b; a=c"),
        ("content-type", 'text/plain; name="a  b"'),
        ("message-id", "<a@b.c> (added by d.e)"),
        ("date", "Mon, 25 Jun 2001 12:18:19 +0100 (added by x.y)"),
        ("subject", "\udcc3\udca9 \udcff"),
    ],
)
def test_nearly_plain_headers_have_the_words_of_their_parsed_text(name: str, value: str) -> None:
    check_same(name, value)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """Count the headers that the standard library is asked to parse."""
    counts: Counter[tuple[str, str]] = Counter()
    original = HeaderRegistry.__call__

    def count(self: HeaderRegistry, name: str, value: str) -> Any:
        counts[name.lower(), value] += 1
        return original(self, name, value)

    monkeypatch.setattr(HeaderRegistry, "__call__", count)
    return counts


def test_plain_headers_are_never_parsed(parsed: Counter[tuple[str, str]]) -> None:
    mail = b"""\
Received: from mx.shop.example (mx.shop.example [192.0.2.7]) by here.example; Mon, 25 Jun 2001
Date: Mon, 25 Jun 2001 12:18:19 +0100 (IST)
From: "Shop, Inc" <offers@mail.shop.example>
To: you@here.example, Some One <one@here.example>
Subject: Free
Message-ID: <123456.7@mail.shop.example>
MIME-Version: 1.0
Content-Type: multipart/mixed;
\tboundary="b"

--b
Content-Type: text/html; charset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

Caf=E9
--b
Content-Type: application/zip; name="Invoice 7.zip"
Content-Disposition: attachment; filename="Invoice 7.zip"
Content-Transfer-Encoding: base64

UEsDBA==
--b--
"""
    found = mail_words(mail)
    assert not parsed
    assert found == slow_words(mail)
    assert max(parsed.values()) > 5  # by the slow reader, so these were counted


def test_each_other_header_is_parsed_once(parsed: Counter[tuple[str, str]]) -> None:
    # Comments make them other than plain; nothing else in these tests has these headers.
    mail = b"""\
From: shop@once.example (parsed once)
Subject: =?utf-8?q?parsed_once_caf=C3=A9?=
Content-Type: multipart/mixed (parsed once); boundary=b
Content-Transfer-Encoding: 7bit (parsed once)

--b
Content-Type: text/plain (parsed once); charset*=utf-8''iso-8859-1
Content-Transfer-Encoding: quoted-printable (parsed once)

Caf=E9
--b--
"""
    found = mail_words(mail)
    assert len(parsed) == 6
    assert set(parsed.values()) == {1}
    assert found == slow_words(mail)


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\n" * 300,
        b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(60)
        ),
        b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(900)
        ),
        b"Content-Type: message/rfc822\n\n" * 50 + b"Subject: deep\n\nwords",
        b"Content-Type: multipart/digest; boundary=a\n\n--a\n\nSubject: x\n\nhi\n--a--\n",
        b"Content-Type: multipart/mixed\n\nno boundary",
        b"Content-Type: text/plain; charset=utf-8; charset=latin-1\n\n\xe9",
        b"Content-Type: text/plain\nContent-Type: text/html\n\n<b>two types</b>",
        b"X: y\n" * 300,
        b"".join(b"%s: (%d)\n" % (b"X" * n, n) for n in range(1, 120)) + b"\nhi",
        b"To: " + b"((((" * 400 + b"\n\n",
        b"To: " + b"a@b.example, " * 400 + b"\n\n",
        b"To: " + b'"a" ' * 400 + b"\n\n",
        b"Subject: " + b"=?utf-8?q?a?= " * 200 + b"\n\n",
        b"Subject: \xff\xfe 8 bit\nFrom: \xe9 <a@b.example>\n\n\xe9",
        b"Subject: a\r\n\tb\rFrom: c@d.example\r\n\r\nhi\rthere",
        b"\n\n" + b"http://" * 300 + b" WWW.x.example HTTPS://y.example/z ftP://q.example",
        b"Content-Transfer-Encoding: base64\n\n!!!=",
        b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n#86)C\n`\nend\n",
        b"no header at all\nbut text",
        b"",
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_hostile_mail_has_the_words_of_the_slow_reader(raw: bytes) -> None:
    assert mail_words(raw) == slow_words(raw)


def test_real_mail_has_the_words_of_the_slow_reader() -> None:
    path = require_data("text/spamassassin.jsonl.xz")
    for number, line in enumerate(read_lines(path)):
        if number % 12 == 0:  # some five hundred from all of the years
            raw = json.loads(line.text)["text"].encode()
            assert mail_words(raw) == slow_words(raw), f"mail {number}"
