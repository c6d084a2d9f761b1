"""Mails of mboxes, Maildirs and folders, compared with Python's readers."""

from __future__ import annotations

import email
import io
import mailbox
import os
import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from streamnb.cli import main
from streamnb.datasets import BadLine, read_mails, read_messages
from streamnb.datasets.mail import mail_format
from streamnb.errors import DataError, InputError

MAILS = [
    b"Subject: one\n\nFrom here on\n>From there\n\n\nFrom\n",
    b"Subject: two\r\n\r\nFrom CRLF\r\n",
    b"Subject: bytes\n\n\xff\x00\x80 caf\xe9\n" + b"x" * 200_000 + b"\n",
    b"no header\n",
    b"\n\nFrom an empty beginning\n",
]


def mbox_of(mails: list[bytes]) -> bytes:
    """An mbox as mboxrd describes it: a reference, written with regular expressions."""
    escaped = (re.sub(rb"(?m)^(>*From )", rb">\1", each) for each in mails)
    return b"".join(
        b"From ann@x.example Sat Jan  3 01:05:34 1996\n" + each + b"\n" for each in escaped
    )


def in_box(box: bytes, **options: int) -> list[bytes]:
    return [each.raw for each in read_mails(io.BytesIO(box), "mbox", **options)]


def test_an_mbox_gives_the_mails_that_were_put_in() -> None:
    assert in_box(mbox_of(MAILS)) == MAILS


PIECES = [b"", b"\r", b"From ", b"From x", b">From ", b">>From y", b">", b"a: b", b"F" * 70_000]


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), max_size=4))
def test_any_lines_come_back(lines: list[list[bytes]]) -> None:
    mails = [b"\n".join(each) + b"\n" for each in lines]
    assert in_box(mbox_of(mails)) == mails


@example(b"\r\x00")
@given(st.binary(max_size=200))
def test_any_bytes_are_mails_and_nothing_is_lost(data: bytes) -> None:
    assume(not data.startswith((b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")))  # packed
    found = b"".join(in_box(data))
    data = data.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
    if b"\n" not in data and b"\r" in data[:-1]:
        data = data.replace(b"\r", b"\n")  # the line ends of old Macs
    kept = re.sub(rb"(?m)^>(>*From )", rb"\1", data)
    assert len(found) <= len(data)
    if not data.startswith((b"From ", b"\1\1\1\1")) and b"\nFrom " not in data:  # mbox, MMDF
        assert found in (kept, kept.removesuffix(b"\n"), kept.removesuffix(b"\r\n"))


def test_the_standard_library_finds_the_same_mails(tmp_path: Path) -> None:
    path = tmp_path / "box"
    path.write_bytes(mbox_of(MAILS[:2]))
    box = mailbox.mbox(path)
    own = [email.message_from_bytes(each.raw)["Subject"] for each in read_mails(path, "mbox")]
    assert own == [each["Subject"] for each in box]


def test_a_from_line_alone_does_not_part_mails() -> None:
    box = b"From a\nSubject: x\nFrom b\n\ntext\nFrom c\n\nFrom d\nTo: e\n\nend"
    assert in_box(box) == [b"Subject: x\nFrom b\n\ntext\nFrom c\n", b"To: e\n\nend"]
    assert in_box(b"Subject: no line From\n\nhello\n") == [b"Subject: no line From\n\nhello\n"]
    assert in_box(b"") == []


def test_a_long_mail_is_cut_and_the_next_one_is_whole() -> None:
    box = mbox_of([b"a" * 300_000 + b"\n\nb\n", b"next\n"])
    assert in_box(box, max_bytes=1000) == [b"a" * 1001, b"next\n"]


def test_a_limit_beyond_the_memory_allocates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "one.eml"
    path.write_bytes(MAILS[0])
    for source, form in ((path, "mail"), (tmp_path, "eml")):
        (mail,) = read_mails(source, form, max_bytes=2**50)
        assert mail.raw == MAILS[0]


DATED = b"From a@x.example Mon Jan  5 10:00:00 2026\n"


@pytest.mark.parametrize(
    ("length", "body", "expected"),
    [
        (14, b"one\n\nFrom two\n", [b"one\n\nFrom two\n"]),  # mboxcl2: nothing is escaped
        (15, b"one\n\n>From two\n", [b"one\n\nFrom two\n"]),  # mboxcl
        (13, b"one\n\nFrom two\n", [b"one\n\nFrom two\n"]),  # without the last line end
        (3, b"one\n\n" + DATED + b"two\n", [b"one\n", b"two\n"]),
        (10**9, b"one\n\n" + DATED + b"two\n", [b"one\n", b"two\n"]),
        (5, b"one two\n", [b"one two\n"]),
        (0, b"one\n", [b"one\n"]),
        (40, DATED + b"Subject: inner\n\nx\n", [b"", b"Subject: inner\n\nx\n"]),
    ],
)
def test_a_content_length_applies_if_it_fits(
    length: int, body: bytes, expected: list[bytes]
) -> None:
    head = b"Content-Length: %d\n\n" % length
    box = DATED + head + body + b"\n" + DATED + b"Subject: next\n"
    first, *others = expected
    found = in_box(box)
    assert found[0] in (head + first, head.removesuffix(b"\n") + first)
    assert found[1:] == [*others, b"Subject: next\n"]


def test_wrong_lengths_cost_little() -> None:
    mail = DATED + b"Content-Length: 9000000\n\ntext\n\n"
    assert len(in_box(mail * 10_000)) == 10_000


def maildir(path: Path, names: dict[str, bytes]) -> None:
    for folder in ("cur", "new", "tmp"):
        (path / folder).mkdir(parents=True, exist_ok=True)
    for name, raw in names.items():
        (path / name).write_bytes(raw)


def test_a_maildir_is_read_by_time_whatever_its_flags(tmp_path: Path) -> None:
    maildir(tmp_path, {"cur/2.b:2,S": b"two", "new/1.a": b"one", "new/.x": b"no", "tmp/3.c": b"no"})
    found = list(read_mails(tmp_path, "maildir"))
    assert [(each.id, each.label, each.raw) for each in found] == [
        ("1.a", "", b"one"), ("2.b", "", b"two"),
    ]  # fmt: skip
    (tmp_path / "new/1.a").rename(tmp_path / "cur/1.a:2,RS")
    assert list(read_mails(tmp_path, "maildir")) == found
    made = mailbox.Maildir(tmp_path / "made")
    made.add(b"Subject: hi\n\nyou\n")
    assert [each.raw for each in read_mails(tmp_path / "made", "maildir")] == [
        b"Subject: hi\n\nyou\n"
    ]


def corpus(folder: Path) -> None:
    for name, raw in {
        "spam/0002.eml": b"win", "spam/deep/0004.eml": b"win 4", "ham/0001": b"To: see",
        "0003": b"To: ?",
        "ham/.hidden": b"no", "ham.mbox": mbox_of([b"one\n", b"two\n"]),
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    maildir(folder / "spam" / "box", {"cur/0000.x:2,": b"win 0"})
    os.mkfifo(folder / "ham" / "pipe")
    (folder / "ham" / "gone").symlink_to(folder / "nowhere")


def test_sub_folders_are_labels(tmp_path: Path) -> None:
    corpus(tmp_path)
    assert [(each.id, each.label, each.raw) for each in read_mails(tmp_path, "eml")] == [
        ("spam/box/0000.x", "spam", b"win 0"), ("ham/0001", "ham", b"To: see"),
        ("spam/0002.eml", "spam", b"win"), ("0003", "", b"To: ?"),
        ("spam/deep/0004.eml", "spam", b"win 4"),
        ("ham.mbox:1", "ham", b"one\n"), ("ham.mbox:2", "ham", b"two\n"),
    ]  # fmt: skip


def test_formats_are_detected(tmp_path: Path) -> None:
    maildir(tmp_path / "box", {})
    (tmp_path / "inbox").write_bytes(mbox_of(MAILS))
    (tmp_path / "one.eml").write_bytes(MAILS[0])
    names = ("box", ".", "inbox", "one.eml", "none")
    found = [mail_format(tmp_path / name) for name in names]
    assert found == ["maildir", "eml", "mbox", "mail", None]
    with pytest.raises(DataError, match="is not a folder"):
        list(read_mails(tmp_path / "inbox", "maildir"))
    with pytest.raises(InputError, match="unknown mail format"):
        list(read_mails(tmp_path, "mh"))


# --- as messages, and in the command --------------------------------------------------------------


def test_messages_are_the_texts_of_mails(tmp_path: Path) -> None:
    corpus(tmp_path)
    bad: list[BadLine] = []
    found = list(read_messages(tmp_path, report=bad.append))
    assert [(each.id, each.label) for each in found][1] == ("ham/0001", "ham")
    assert [each.reason for each in bad] == ["mail 0003: no label: the name of a sub-folder is one"]
    assert len(list(read_messages(tmp_path, label_required=False))) == 7
    raw = (
        b"Subject: =?utf-8?q?caf=C3=A9?=\nX-Spam-Status: Yes,\n score=9\n"
        b"Content-Type: text/plain; charset=iso-8859-2\nContent-Transfer-Encoding: base64\n\n"
        b"rsVn\n"
    )
    (mail,) = read_messages(io.BytesIO(raw), format="mail", default_label="ham")
    head = "Content-Type: text/plain; charset=iso-8859-2\nContent-Transfer-Encoding: base64"
    assert (mail.text, mail.label) == (f"Subject: café\n{head}\nŽĹg", "ham")
    (long,) = _bad(tmp_path / "spam" / "deep", max_line_bytes=4)
    assert "longer than 4 bytes" in long.reason
    (tmp_path / "spam" / "deep" / "0004.eml").write_bytes(b" \n")
    (empty,) = _bad(tmp_path / "spam" / "deep")
    assert "an empty mail" in empty.reason


def _bad(path: Path, **options: int) -> list[BadLine]:
    bad: list[BadLine] = []
    assert not list(read_messages(path, report=bad.append, **options))
    return bad


def test_the_command_learns_and_classifies_mail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus(tmp_path / "corpus")
    (tmp_path / "corpus" / "0003").unlink()
    model = str(tmp_path / "model")
    assert main(["learn", str(tmp_path / "corpus"), "-o", model]) == 0
    box = tmp_path / "more"
    box.write_bytes(mbox_of([b"win more\n", b"win most\n"]))
    assert main(["learn", str(box), "--label", "spam", "--from", model, "-o", model]) == 0
    assert "now 8 messages" in capsys.readouterr().out
    (tmp_path / "new.eml").write_bytes(b"Subject: win")
    assert main(["classify", model, str(tmp_path / "new.eml"), str(box)]) == 0
    assert capsys.readouterr().out.count('"label": "spam"') == 3
    assert main(["evaluate", str(tmp_path / "corpus"), "--json"]) == 0
    assert '"n_messages": 6' in capsys.readouterr().out
    assert main(["learn", str(tmp_path / "none"), "-o", model]) == 2
    assert main(["learn", str(tmp_path / "corpus"), "--format", "csv", "-o", model]) == 2
