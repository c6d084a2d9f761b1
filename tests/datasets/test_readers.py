"""Labelled messages from the user's files: formats, encodings, compression and bad lines."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import json
import logging
import lzma
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb.datasets import BadLine, Message, read_messages
from streamnb.datasets.lines import _BINARY
from streamnb.errors import DataError, InputError


def read(content, kind="jsonl", **options):
    """Return the messages and the bad lines of some bytes."""
    bad: list[BadLine] = []
    found = list(read_messages(io.BytesIO(content), format=kind, report=bad.append, **options))
    return found, bad


def reasons(bad):
    return [(each.number, each.reason) for each in bad]


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


def test_jsonl_with_ids_times_and_without():
    content = line(id="a", label="ham", text="x", time="2002-01-01") + line(label=1, text="y")
    found, bad = read(content)
    assert found == [Message("a", "ham", "x", "2002-01-01"), Message("2", "1", "y", None)]
    assert bad == []


def test_jsonl_fields_of_other_names():
    content = line(body="x", kind=True, n=7, time=12.5)
    found, bad = read(content, text_field="body", label_field="kind", id_field="n")
    assert found == [Message("7", "true", "x", "12.5")]
    assert bad == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"text": "x", "label": }', "not JSON: Expecting value at character 24"),
        (b"[1]", "a JSON object was expected, not an array"),
        (b'{"label": "ham"}', "no field 'text'"),
        (b'{"text": 3, "label": "ham"}', "field 'text' should be a string, not a number"),
        (b'{"text": null, "label": "ham"}', "field 'text' should be a string, not null"),
        (b'{"text": "x"}', "no field 'label'"),
        (b'{"text": "x", "label": ""}', "empty field 'label'"),
        (b'{"text": "x", "label": null}', "empty field 'label'"),
        (
            b'{"text": "x", "label": ["a"]}',
            "field 'label' has several labels: use the model MultiLabelNB",
        ),
        (
            b'{"text": "x", "label": "a", "id": {}}',
            "field 'id' should be a string or a number, not an object",
        ),
        (b'{"text": "\xff", "label": "a"}', "not utf-8 at byte 11: invalid start byte"),
        (b"[" * 200_000, "JSON nested too deeply"),
    ],
)
def test_each_bad_json_line_is_reported_and_the_rest_is_read(content, reason):
    good = line(text="good", label="ham")
    found, bad = read(good + content + b"\n" + good)
    assert [message.id for message in found] == ["1", "3"]
    assert bad == [BadLine(2, reason, content)]


def test_a_number_of_thousands_of_digits_is_a_bad_line():
    found, bad = read(b'{"text": "x", "label": ' + b"9" * 10_000 + b"}\n")
    assert found == []
    assert bad[0].reason.startswith("invalid JSON")


def test_fail_gives_file_and_line(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_bytes(line(text="x", label="ham") + b"\n" + b"{\n")
    messages = read_messages(path, on_bad="fail")
    assert next(messages).text == "x"
    with pytest.raises(DataError, match=r"some\.jsonl, line 3: not JSON"):
        next(messages)


def test_bad_lines_are_logged_when_nobody_asks_for_them(caplog):
    with caplog.at_level(logging.WARNING):
        found = list(read_messages(io.BytesIO(b"ham x\n"), format="sms"))
    assert found == []
    assert "line 1 skipped: no tab between label and text" in caplog.text


def test_labels_may_be_absent():
    content = line(text="x") + line(text="y", label=None) + line(text="z", label="ham")
    found, bad = read(content, label_required=False)
    assert [message.label for message in found] == ["", "", "ham"]
    assert bad == []
    found, bad = read(b"just text\nham\ttext\n", "sms", label_required=False)
    assert [(message.label, message.text) for message in found] == [
        ("", "just text"),
        ("ham", "text"),
    ]
    found, bad = read(b"text\nx\n", "csv", label_required=False)
    assert found == [Message("2", "", "x")]


def test_bom_crlf_blank_lines_and_no_last_line_end():
    content = b"\xef\xbb\xbfham\tone\r\n\r\n  \nspam\ttwo \x85\r"
    found, bad = read(content, "sms", encoding="latin-1")
    assert found[0].label == "\xef\xbb\xbfham"  # a mark of UTF-8 is no mark in Latin-1
    found, bad = read(content.replace(b"\x85", b""), "sms")
    assert found == [Message("1", "ham", "one"), Message("4", "spam", "two \r")]
    assert bad == []


def test_only_line_feeds_end_lines():
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\rg\x00h"
    found, bad = read(f"ham\t{text}\nspam\tx\n".encode(), "sms")
    assert [message.text for message in found] == [text, "x"]
    found, bad = read(b'{"text": "nul \x00 tab \t", "label": "ham"}\n')
    assert found[0].text == "nul \x00 tab \t"
    found, bad = read(b"label,text\nham,nul \x00 here\n", "csv")
    assert found[0].text == "nul \x00 here"
    assert bad == []


def test_huge_lines_are_bad_lines_and_never_held():
    size = 30_000_000

    bad: list[BadLine] = []
    tracemalloc.start()
    huge = [b"x" * 1000] * (size // 1000)
    messages = read_messages(
        _Chunks(itertools.chain([b"ham\tfirst\n"], huge, [b"\nham\tlast"])),
        format="sms",
        report=bad.append,
        max_line_bytes=100_000,
    )
    found = list(messages)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [message.text for message in found] == ["first", "last"]
    assert bad == [BadLine(2, "longer than 100,000 bytes", b"x" * 1000)]
    assert peak < 3_000_000


class _Chunks:
    """A binary file of the given pieces, each at most as long as is asked for."""

    def __init__(self, chunks):
        self.chunks = iter(chunks)

    def read(self, size=-1):
        return next(self.chunks, b"")


def test_reading_is_lazy():
    endless = _Chunks(itertools.repeat(b"ham\tagain and again\n"))
    messages = read_messages(endless, format="sms")
    assert [message.id for message in itertools.islice(messages, 3)] == ["1", "2", "3"]


@pytest.mark.parametrize("limit", [5, 6])
def test_the_longest_line_is_counted_without_its_end(limit):
    for end in (b"\n", b"\r\n", b""):
        found, bad = read(b"ham\txy" + end, "sms", max_line_bytes=limit)
        assert (len(found), len(bad)) == ((1, 0) if limit == 6 else (0, 1))


def test_csv_quotes_line_breaks_and_other_columns():
    content = (
        b'id,extra,text,label\r\n1,,"he said ""hi"", then\r\nleft",ham\r\n\r\n2,z,plain,spam\r\n'
    )
    found, bad = read(content, "csv")
    assert found == [
        Message("1", "ham", 'he said "hi", then\nleft', fields={"extra": ""}),
        Message("2", "spam", "plain", fields={"extra": "z"}),
    ]
    assert bad == []


def test_bad_csv_records():
    content = (
        b"label,text\n"
        b"ham,a,b\n"
        b"ham\n"
        b",x\n"
        b'ham,"a"b\n'
        b"ham,\xff\n"
        b'ham,"two\n\xff lines"\n'
        b"spam,good\n"
        b'ham,"never closed\nspam,lost?\n'
    )
    found, bad = read(content, "csv")
    assert [message.text for message in found] == ['"a"b', "good", '"never closed', "lost?"]
    assert reasons(bad) == [
        (2, "3 fields, where the header has 2"),
        (3, "1 fields, where the header has 2"),
        (4, "empty field 'label'"),
        (6, "not utf-8 at byte 5: invalid start byte"),
        (7, "not utf-8 at byte 1: invalid start byte"),
    ]
    assert bad[4].raw == b'ham,"two\n\xff lines"'


def test_an_unclosed_quote_cannot_swallow_a_long_file():
    rows = b"ham,x\n" * 1000
    found, bad = read(b'label,text\nham,"open\n' + rows, "csv", max_line_bytes=300)
    assert [message.text for message in found] == ['"open', *1000 * ["x"]]
    assert bad == []
    # Three fields where two are expected: the record is lost, the following lines are not.
    found, bad = read(b'label,text\nham,a,"open\n' + rows, "csv", max_line_bytes=300)
    assert reasons(bad) == [(2, "a record of more than 300 bytes (an unclosed quote?)")]
    assert len(found) == 1000


def test_a_field_may_be_longer_than_the_default_of_the_csv_module():
    text = "x" * 500_000
    found, _ = read(f"label,text\nham,{text}\n".encode(), "csv")
    assert found[0].text == text
    assert csv.field_size_limit() >= 500_000


def test_tsv_has_no_quotes():
    content = b'label\ttext\nham\t"open quote\nspam\tb\n'
    found, _ = read(content, "tsv")
    assert [message.text for message in found] == ['"open quote', "b"]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "no column 'text' in the header 'a', 'b'"),
        (b"label,\xff\n", "header: not utf-8"),
    ],
)
def test_a_wrong_header_ends_the_reading(content, match):
    with pytest.raises(DataError, match=match):
        read(content, "csv")


def test_encodings():
    content = "label,text\nham,£5 \u2013 ok\n"
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-32"):
        found, bad = read(content.encode(encoding), "csv", encoding=encoding)
        assert (found, bad) == ([Message("2", "ham", "£5 \u2013 ok")], [])
    found, bad = read("ham\t\u20ac\nham\tb".encode("cp1252") + b"\x81", "sms", encoding="cp1252")
    assert found == [Message("1", "ham", "\u20ac")]
    assert bad[0].number == 2
    for encoding in ("utf-16", "utf-32"):  # by its byte order mark
        assert read(content.encode(encoding), "csv")[0] == [Message("2", "ham", "£5 \u2013 ok")]
    with pytest.raises(DataError, match="is not utf-16"):
        read(b"\x00\xd8x\x00", "sms", encoding="utf-16-le")


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("m.jsonl", bytes),
        ("m.ndjson.gz", gzip.compress),
        ("m.JSONL.xz", lzma.compress),
        ("m.jsonl.bz2", bz2.compress),
    ],
)
def test_compression_and_extension(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(line(text="x", label="ham")))
    assert [message.text for message in read_messages(path)] == ["x"]
    assert [message.text for message in read_messages(str(path))] == ["x"]
    with path.open("rb") as file:  # by its first bytes, and left open
        assert len(list(read_messages(file, format="jsonl"))) == 1
        assert not file.closed


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", b"label,text\nham,x\n"),
        ("m.tsv", b"label\ttext\nham\tx\n"),
        ("m.tab", b"label\ttext\nham\tx\n"),
        ("m.sms", b"ham\tx\n"),
        ("SMSSpamCollection", b"ham\tx\n"),
    ],
)
def test_format_by_extension(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert [(message.label, message.text) for message in read_messages(path)] == [("ham", "x")]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_truncated_compressed_file_is_an_error(tmp_path, pack):
    path = tmp_path / "cut.sms"
    packed = pack("".join(f"ham\t{number**3}\n" for number in range(10_000)).encode())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="cannot read"):
        list(read_messages(path))


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(line(text="x", label="ham")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert [message.text for message in read_messages("-")] == ["x"]
    assert not stdin.closed


def test_wrong_arguments(tmp_path):
    with pytest.raises(InputError, match="unknown format"):
        read_messages("x.csv", format="xml")
    with pytest.raises(InputError, match=r"format of .* is not clear"):
        read_messages("messages.txt")
    with pytest.raises(InputError, match="format of an open file"):
        read_messages(io.BytesIO())
    with pytest.raises(InputError, match="on_bad"):
        read_messages("x.csv", on_bad="ignore")
    with pytest.raises(DataError, match="no such file"):
        read_messages(tmp_path / "x.csv")
    with pytest.raises(DataError, match="cannot open"):
        list(read_messages(tmp_path, format="csv"))
    with pytest.raises(InputError, match="unknown encoding"):
        read(b"x", encoding="utf-77")
    with pytest.raises(InputError, match="max_line_bytes"):
        read(b"x", max_line_bytes=0)
    with pytest.raises(InputError, match="binary"):
        list(read_messages(io.StringIO("ham\tx"), format="sms"))


@given(
    st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw), max_size=8),
    st.sampled_from(["jsonl", "sms"]),
)
def test_every_line_is_a_message_or_a_bad_line(lines, kind):
    content = b"\n".join(lines)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    if content.startswith((b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd")):
        return  # compressed
    if content.startswith(tuple(_BINARY)):
        return  # a table that is no text
    if b"\n" not in content and b"\r" in content:  # CR ends lines
        return
    if kind == "jsonl" and content.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"[", b"{"):
        return  # perhaps a file of another layout
    found, bad = read(content, kind)
    seen = {int(message.id) for message in found if message.id.isdigit()}
    seen |= {each.number for each in bad}
    for number, raw in enumerate(lines, 1):
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff" if number == 1 else "")
        assert number in seen or not text.strip()


@given(st.lists(st.tuples(st.text(), st.text(min_size=1)), min_size=1, max_size=8))
def test_what_the_csv_module_writes_is_read_back(rows):
    rows = [
        tuple(field.encode("utf-8", "ignore").decode().replace("\r", "") or "x" for field in row)
        for row in rows
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "label"), *rows])
    found, bad = read(buffer.getvalue().encode(), "csv")
    assert [(message.text, message.label) for message in found] == rows
    assert bad == []
