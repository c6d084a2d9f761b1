"""The header that a filter writes never comes in from outside, however a mail's lines end."""

from __future__ import annotations

import re
from email import message_from_bytes, policy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb.mail.content import texts_and_senders
from streamnb.mail.header_block import (
    first_value,
    with_header,
    without_header,
)

NAME = "X-Spam-Status"
PIECES = [
    b"X-Spam-Status: No", b"x-spam-STATUS \t: Yes", b" more", b"\tmore", b"Subject: hi", b"rubbish",
    b"From ann", b"X-Spam-Status-2: kept", b"Y-X-Spam-Status: kept", b"\xff\x00: z", b"",
]  # fmt: skip
ENDS = [b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\r"]
lines = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS)), max_size=12)


def names(raw: bytes, ends: str) -> list[str]:
    """The headers' names as a reader sees them that ends lines so, up to a blank one."""
    found = []
    for line in re.split(ends, raw.decode("latin-1")):
        if not line:
            break
        if line[0] not in " \t" and ":" in line:
            found.append(line.partition(":")[0].strip(" \t\r").lower())
    return found


@given(lines, st.binary(max_size=20))
def test_no_reader_sees_one_that_came_in(parts: list[tuple[bytes, bytes]], body: bytes) -> None:
    raw = b"".join(piece + end for piece, end in parts) + b"\n" + body
    clean = without_header(raw, NAME)
    for ends in (r"\r\n|\n", r"\r\n|\r|\n"):
        assert NAME.lower() not in names(clean, ends), ends
    for rules in (policy.compat32, policy.default):
        assert NAME not in message_from_bytes(clean, policy=rules)
    marked = with_header(clean, NAME, "Yes, version=1")
    for rules in (policy.compat32, policy.default):
        assert message_from_bytes(marked, policy=rules).get_all(NAME) == ["Yes, version=1"]
    if not clean.startswith((b" ", b"\t", b"From ")):
        assert without_header(marked, NAME) == clean


@given(st.binary(max_size=300))
def test_what_has_none_stays_as_it_is(raw: bytes) -> None:
    assert without_header(raw, NAME) == raw


@pytest.mark.parametrize(
    "raw",
    [b"A: b\n", b"A: b\n X-Spam-Status: folded into A\n\ntext", b"A: b\n\nX-Spam-Status: text\n"],
)
def test_what_is_another_header_or_text_stays(raw: bytes) -> None:
    assert without_header(raw, NAME) == raw


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_that_continue_the_header_go_with_it(end: bytes) -> None:
    raw = end.join([b"A: b", b"X-Spam-Status: No,", b" score=1", b"\tlisted=allow", b"C: d", b""])
    assert without_header(raw, NAME) == end.join([b"A: b", b"C: d", b""])


def test_the_header_stands_behind_the_line_from() -> None:
    raw = b"From ann@x Sat Jan 3\nA: b\n\ntext"
    assert with_header(raw, NAME, "No") == b"From ann@x Sat Jan 3\nX-Spam-Status: No\nA: b\n\ntext"
    assert with_header(b"", NAME, "No") == b"X-Spam-Status: No\n"


def test_hostile_headers_take_no_time_and_raise_nothing() -> None:
    for piece in (b"<", b"(", b'"\\', b"a@b, ", b"\n ", b"From: ", b"X-Spam-Status:\n "):
        raw = b"From: " + piece * (200_000 // len(piece))
        assert len(texts_and_senders([raw])[0][1]) <= 100
        assert NAME.encode() not in without_header(raw, NAME) or b"From: " + piece in raw
    assert texts_and_senders([b"From: a@x.example\nFrom: B@y.example\n\n"])[0][1] == [
        "a@x.example",
        "b@y.example",
    ]
    assert first_value(b"A: \n\n", "a") is None
