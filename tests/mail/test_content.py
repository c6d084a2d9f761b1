"""The content of mail: standard mail as the standard library reads it, and damaged mail."""

from __future__ import annotations

import json
import re
from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb import _core
from streamnb.mail.content import mail_text, mail_words
from support.data import cases_folder
from support.linear import assert_linear

# Two budgets of 8,192, and the beginnings of 1,000 parts; blanks may fill four times as much.
LONGEST = 250_000
TEXTS = {
    "us-ascii": "Free prize, call now",
    "utf-8": "Срочный перевод 奖金 €",
    "iso-8859-1": "café à la carte",
    "windows-1251": "Приз денег сегодня",
    "koi8-r": "Приз денег сегодня",
    "gb18030": "恭喜中奖，请领取",
    "shift_jis": "当選おめでとう",
    "euc-kr": "축하합니다 당첨",
    "big5": "恭喜中獎",
    "iso-2022-jp": "会社限定の番組",
}
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20
)


def shown(text: str) -> str:
    """The text without characters that programs do not show."""
    ignorable = (
        "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
        "\U000e0100-\U000e01ef]"
    )
    return re.sub(ignorable, "", text)


def folded(text: str) -> str:
    return " ".join(text.split())


def test_damaged_mail_gives_the_expected_texts() -> None:
    folder = cases_folder()
    expected = json.loads((folder / "expected_mail.json").read_text(encoding="utf-8"))
    for name, texts in expected.items():
        found = folded(mail_text((folder / "mail" / name).read_bytes()))
        for text in texts:
            assert folded(text) in found, name


def test_text_without_an_empty_line_before_it_is_kept() -> None:
    for text in ("hello\nworld", "( see : x )\nsee you\nfrom : ann\n\nsecond", "a b\n\n\nc: d"):
        assert mail_text(f"Subject: x\n{text}".encode()) == f"Subject: x\n{text}"


ENCODED = [
    (charset, encoding)
    for charset in TEXTS
    for encoding in ("7bit", "8bit", "quoted-printable", "base64")
    if encoding != "7bit" or charset in ("us-ascii", "iso-2022-jp")
]


@pytest.mark.parametrize(("charset", "encoding"), ENCODED)
def test_each_charset_and_encoding_is_decoded(charset: str, encoding: str) -> None:
    text = TEXTS[charset]
    message = EmailMessage(policy=SMTP)
    message["Subject"] = text
    message.set_content(text + "\n", charset=charset, cte=encoding)
    found = mail_text(message.as_bytes())
    assert found.startswith(f"Subject: {text}\n")
    assert found.rstrip().endswith(text)


@given(subject=WORDS, text=WORDS, html=WORDS, name=WORDS)
def test_standard_mail_has_the_parts_of_the_standard_library(
    subject: str, text: str, html: str, name: str
) -> None:
    message = EmailMessage(policy=SMTP)
    message["Subject"] = subject
    message.set_content(text)
    message.add_alternative(f"<p>{html}</p>", subtype="html")
    message.add_attachment(b"data", maintype="application", subtype="zip", filename=name)
    headers, _, kinds, parts = _core.read_mail(message.as_bytes(), room=10_000)
    assert dict(headers)["Subject"] == shown(subject)
    assert kinds == [part.get_content_type() for part in message.walk()]
    leaves = [part for part in message.walk() if not part.is_multipart()]
    for (kind, charset, file_name, _, content), part in zip(parts, leaves, strict=True):
        assert (kind, charset) == (part.get_content_type(), part.get_content_charset())
        assert file_name == part.get_filename()
        if kind == "text/html":  # the words have no blanks and may be markup
            assert content == _core.read_html(part.get_content(), room=10_000)
        elif kind == "text/plain":
            assert content[0] == shown(part.get_content().replace("\r\n", "\n"))


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\n" * 200_000,
        b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(900)
        ),
        b"Content-Type: message/rfc822\n\n" * 70_000 + b"Subject: deep\n\nwords",
        b"Content-Type: multipart/digest; boundary=a\n\n--a\n\n" * 900 + b"Subject: x\n\nhi",
        b"X: y\n" * 100_000,
        b"To: " + b"((((" * 100_000 + b"\n\n",
        b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\n",
        b"Subject: " + b"=?" * 500_000 + b"\n\n",
        b"Content-Type: text/html\n\n" + b"a<b>" * 500_000,
        b"Content-Type: text/html\n\n" + b"<" * 2_000_000,
        b"Content-Transfer-Encoding: base64\n\n" + b"A=" * 500_000,
        b"Content-Type: text/plain" + b"; a=b" * 100_000 + b"\n\nx",
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_hostile_mail_is_read_within_its_bounds(raw: bytes) -> None:
    assert len(mail_text(raw)) <= LONGEST
    assert len(mail_words(raw, room=1_000)) < 10_000


def test_bytes_beyond_ascii_in_many_headers_take_linear_time() -> None:
    """They are read in the first charset of the mail, which is searched once."""
    head = b"From: a@x.example\nContent-Type: multipart/mixed; boundary=b\n\n"
    part = b"--b\n" + b"a: \xe9\n" * 190 + b"\nhi\n"

    def read(size: int) -> None:
        half = size // 2
        mail_text(head + b"harset" * (half // 6) + b"\n" + part * (half // len(part)))

    assert_linear(read)
