"""The mail reader on mutated mails; `make soak` takes an hour, or STREAMNB_FUZZ_SECONDS.

STREAMNB_FUZZ_SEED repeats the mails of an earlier run.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from streamnb.mail.content import mail_text, mail_words, texts_and_senders
from support.data import cases_folder
from support.drawn.mutations import mutated
from support.profiles import fuzz_seed

SECONDS = float(os.environ.get("STREAMNB_FUZZ_SECONDS", "3600"))
LIMIT = 5.0  # seconds of processor time for one mail
LONGEST = 250_000  # characters of a text
PIECES = [
    b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"=", b"=?", b"?=", b"--",
    b"From: a@x, ", b"Content-Type: multipart/mixed; boundary=",
    b"Content-Type: message/rfc822\n\n",
    b"Content-Type: text/html\n\n", b"Content-Transfer-Encoding: base64\n",
    b"Content-Transfer-Encoding: quoted-printable\n", b"; charset=", b"utf-7", b"gb2312", b"cp866",
    b"=?utf-8?b?", b"=?koi8-r?q?", b"; name*0*=utf-8''", b"<", b">", b"<!--", b"</b>", b'"', b"(",
    b"<style>", b"</style>", b"@media ", b"{", b"}", b"/*", b"*/", b".a b", b"#b>", b"[class=",
    b":after", b"display:none;", b"font-size:0", b"color:rgba(", b"content:'", b" class=a ",
    b" id=b ", b" style='", b"BEGIN:VEVENT\n", b"DESCRIPTION:", b"begin 644 a\n", b"; delsp=yes",
    b"Content-Type: text/calendar\n\n",
]  # fmt: skip


def check(raw: bytes) -> None:
    began = time.process_time()
    ((text, senders),) = texts_and_senders([raw])
    assert len(text) <= LONGEST
    assert text == mail_text(bytes(raw))
    assert len(senders) <= 100
    assert all("@" in sender for sender in senders)
    assert all(mail_words(raw, room=2_000).values())
    text.encode()  # no lone surrogates
    assert time.process_time() - began < LIMIT


def fuzz(seed: int, inputs: int, until: float, folder: Path) -> None:
    """Read mutated mails; the last one stays in a file, also if the process is killed."""
    generator = random.Random(seed)
    mails = [path.read_bytes() for path in sorted((cases_folder() / "mail").rglob("*.*"))]
    current = folder / f"seed-{seed}.eml"
    for _ in range(inputs):
        raw = mutated(generator.choice(mails), generator.choice(mails), PIECES, generator)
        current.write_bytes(raw)
        check(raw)
        if generator.random() < 0.02:  # changes accumulate
            mails[generator.randrange(len(mails))] = raw
        if time.monotonic() > until:
            return


def test_mutated_mails_are_read_within_bounds(tmp_path: Path) -> None:
    fuzz(seed=1, inputs=300, until=float("inf"), folder=tmp_path)


@pytest.mark.soak
def test_mutated_mails_are_read_for_an_hour(tmp_path: Path) -> None:
    seed = fuzz_seed()
    print(f"mails in {tmp_path}")
    fuzz(seed, 10**12, time.monotonic() + SECONDS, tmp_path)
