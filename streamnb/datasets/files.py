"""Read labelled messages from JSONL, CSV, TSV, files like the SMS collection, and mail."""

from __future__ import annotations

import functools
import json
import logging
import os
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Literal

from streamnb.datasets.folder import data_file
from streamnb.datasets.lines import (
    MAX_LINE_BYTES,
    Line,
    Lines,
    Source,
    no_such_file,
    read_lines,
    source_name,
    with_advice,
)
from streamnb.datasets.mail import MAIL_FORMATS, mail_format, read_mails
from streamnb.datasets.records import EXAMPLE, BadLine, Fields, LineError, Message
from streamnb.datasets.tables import from_table
from streamnb.errors import DataError, InputError
from streamnb.mail.content import mail_text
from streamnb.mail.header_block import STATUS_HEADER, without_header
from streamnb.parameters import one_of

TABLES = ("jsonl", "csv", "tsv")
FORMATS = (*TABLES, "sms", *MAIL_FORMATS)
_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".sms": "sms",
    ".mbox": "mbox",
    ".eml": "mail",
}
# Control characters are harmless in a text.
_json = json.JSONDecoder(strict=False)
_BLANKS = re.compile(r"\s*")
_USUAL = Fields(None, None, None, True)
_log = logging.getLogger(__name__)


def read_messages(
    source: Source,
    format: str | None = None,  # noqa: A002 - as on the command line
    text_field: str | None = None,
    label_field: str | None = None,
    id_field: str | None = None,
    encoding: str = "utf-8",
    on_bad: Literal["report", "fail"] = "report",
    label_required: bool = True,
    report: Callable[[BadLine], None] | None = None,
    delimiter: str | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
    default_label: str | None = None,
    mails: bool = False,
    rows: bool = False,
    categories: Collection[str] = (),
    follow_links: bool = False,
    label_sets: bool = False,
) -> Iterator[Message]:
    r"""Read messages one at a time, in constant memory; no line is lost silently.

    An invalid line (undecodable bytes, invalid JSON, a missing field, a wrong type, a wrong number
    of fields, too long) is passed to `report` or stops the reading. Blank lines are skipped.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file. gzip, xz, bzip2 and Zstandard are
        decompressed.
    format
        `"jsonl"` (one JSON object per line; an array or indented objects are read as a whole),
        `"csv"` or `"tsv"` (with a header, or with two columns of which one is ham, spam, 0 or 1;
        only fields of CSV may be quoted, because an opening quote joins lines),
        `"sms"` (`label<TAB>text`), or a mail format of `streamnb.datasets.mail.read_mails`. By
        default the extension decides, else the first line; standard input is JSONL.
        Folders are mail. The text of a mail is
        `streamnb.mail.content.mail_text` without the header `X-Spam-Status`.
    text_field, label_field
        Names of the fields in JSONL, CSV and TSV. The default is `text` or the first of `message`,
        `sms`, `body`, `content`, `email`, `v2`, and `label` or the first of `class`, `category`,
        `spam`, `spam/ham`, `target`, `v1`. Case and blanks at the ends do not matter.
    id_field
        Name of the field of the id; by default `id` if it exists, as `time` is the time.
    encoding
        Encoding of the file. A byte order mark is removed; one of UTF-16 takes precedence.
    on_bad
        `"report"`: pass invalid lines to `report` and continue. `"fail"`: raise a `DataError` with
        the file and the number of the line.
    label_required
        Whether a message without a label is an invalid line; otherwise its label is empty. In the
        format `"sms"`, a line without a tab then is a message without a label.
    report
        Called with each `BadLine`. By default they are logged as warnings.
    delimiter
        Delimiter of CSV, TSV and SMS, one character. By default the header decides between comma,
        semicolon, tab and bar; the delimiter of SMS is the tab.
    max_line_bytes
        Maximum length of a line, a CSV record and a mail, in bytes.
    default_label
        Label of messages without one; None for an empty label.
    mails
        Whether texts in lines and tables are complete mails with headers.
    rows
        Whether messages are rows for models of tables: the fields of JSONL, CSV and TSV, except
        label and id, are attributes (`Message.row`). Numbers are numbers, also the texts of CSV.
    categories
        Attributes of rows whose numbers are names, such as postal codes.
    follow_links
        Whether links in a folder of mail to files outside of it are read.
    label_sets
        Whether a record of JSON has an array of labels, in `labels` or another usual name, or a
        single label (`Message.labels`).

    Raises
    ------
    InputError
        If an argument is invalid, or the extension does not imply a format.
    DataError
        If the file does not exist, cannot be read, or its header lacks a field; with
        `on_bad="fail"` also for an invalid line.

    Examples
    --------
    >>> import io
    >>> from streamnb import datasets
    >>> file = io.BytesIO(b"ham\tsee you at 8\nno tab here\nspam\tYou WON!! Text CLAIM now\n")
    >>> bad = []
    >>> for message in datasets.read_messages(file, format="sms", report=bad.append):
    ...     print(message.id, message.label, message.text)
    1 ham see you at 8
    3 spam You WON!! Text CLAIM now
    >>> bad
    [BadLine(number=2, reason='no tab between label and text', raw=b'no tab here', is_message=True)]
    """
    kind = format if format is not None else format_of(source)
    if kind not in FORMATS:
        raise InputError(f"unknown format {kind!r}; known are {', '.join(FORMATS)}")
    one_of("report", "fail")("on_bad", on_bad)
    if rows and (kind not in TABLES or mails):
        raise InputError(
            f"rows of attributes are read from {', '.join(TABLES)}, not from "
            f"{'mails' if mails else kind}"
        )
    fields = Fields(
        text_field,
        label_field,
        id_field,
        label_required and default_label is None,
        rows,
        frozenset(categories),
        label_sets=label_sets,
    )
    if label_sets and label_required and kind != "jsonl":
        raise InputError(
            f"several labels are read from records of JSON, as in {EXAMPLE}, not from {kind}"
        )
    if delimiter is not None and len(delimiter) != 1:
        raise InputError(f"delimiter is {delimiter!r}; it should be one character")
    if isinstance(source, (str, os.PathLike)) and source != "-" and not Path(source).exists():
        raise DataError(no_such_file(source))
    lines = read_lines(source, encoding, max_line_bytes)
    found: Iterator[Message | BadLine]
    if kind in MAIL_FORMATS:
        found = _from_mail(source, kind, fields, max_line_bytes, follow_links)
    elif kind == "jsonl":
        found = _from_json(Lines(lines), fields)
    elif kind == "sms":
        found = _one_a_line(lines, functools.partial(_sms_line, delimiter or "\t"), fields)
    else:
        is_csv = kind == "csv"
        delimiters = delimiter or (",;\t|" if is_csv else "\t,;|")
        found = from_table(lines, fields, delimiters, is_csv, source, max_line_bytes)
    name = source_name(source)

    def accepted(read: Message | BadLine) -> Message | None:
        if isinstance(read, Message):
            read = as_mail(read) if mails and kind not in MAIL_FORMATS else read
            if default_label is not None and not read.label and not read.labels:
                return read._replace(label=default_label)
            return read
        if on_bad == "fail" and read.is_message:
            raise DataError(f"{name}, line {read.number}: {with_advice(read.reason)}")
        if report is not None:
            report(read)
        else:
            place = f", line {read.number} skipped" if read.is_message else ""
            _log.warning("%s%s: %s", name, place, read.reason)
        return None

    return filter(None, map(accepted, found))


def read_text(name_or_path: str | os.PathLike[str]) -> Iterator[Message]:
    r"""Read a text collection, one JSON object per line, in stream order.

    Parameters
    ----------
    name_or_path
        A name in the folder `text/` of the data folder, such as `"sms_spam"`, or the path of a
        JSONL file, compressed or not. Messages may have empty labels.

    Raises
    ------
    DataError
        If the collection does not exist, or a line is invalid.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from streamnb import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.jsonl")
    ...     record = {"id": "a/1", "label": "ham", "text": "see you at 8", "time": None}
    ...     _ = path.write_text(json.dumps(record) + "\n")
    ...     list(datasets.read_text(path))
    [Message(id='a/1', label='ham', text='see you at 8', time=None, fields=None, row=None,
             labels=None)]
    """
    path = data_file("text", name_or_path)
    return read_messages(path, format="jsonl", on_bad="fail", label_required=False)


def format_of(source: Source) -> str:
    """Return the format of a source, by its extension or its content."""
    if not isinstance(source, (str, os.PathLike)):
        raise InputError("give the format of an open file: " + ", ".join(FORMATS))
    if source == "-":
        return "jsonl"
    path = Path(source)
    if path.is_dir():
        return str(mail_format(path))
    if path.suffix.lower() in (".gz", ".xz", ".bz2", ".zst"):
        path = path.with_suffix("")
    known = _EXTENSIONS.get(path.suffix.lower())
    if known is None and path.stem == "SMSSpamCollection":
        known = "sms"
    known = known or mail_format(source) or _format_of_content(source)
    if known is None:
        raise InputError(
            f"the format of {source_name(source)} is not clear; give it: {', '.join(FORMATS)}"
        )
    return known


def _format_of_content(source: str | os.PathLike[str]) -> str | None:
    """Return the format of a file whose first line is JSON or contains a tab."""
    first = Lines(read_lines(source)).peek() if Path(source).is_file() else None
    if first is None:
        return None
    if first.text.lstrip()[:1] in ("{", "["):
        return "jsonl"
    cells = first.text.split("\t")
    if len(cells) == 1:
        return None
    return "sms" if _USUAL.find("text", cells) is None else "tsv"


def _one_a_line(
    lines: Iterator[Line], parse: Callable[[Line, Fields], Message | None], fields: Fields
) -> Iterator[Message | BadLine]:
    for line in lines:
        if line.problem is None and (not line.text or line.text.isspace()):
            continue
        try:
            if line.problem is not None:
                raise LineError(line.problem)
            message = parse(line, fields)
        except LineError as bad:
            yield BadLine(line.number, str(bad), line.raw)
        else:
            if message is not None:
                yield message


def _from_mail(
    source: Source, kind: str, fields: Fields, max_bytes: int, follow_links: bool
) -> Iterator[Message | BadLine]:
    mails = read_mails(source, kind, max_bytes, follow_links)
    for number, mail in enumerate(mails, start=1):
        problem = mail.problem
        if not mail.is_mail:
            yield BadLine(0, f"{mail.id} is {problem}", b"", is_message=False)
            continue
        if problem is None and len(mail.raw) > max_bytes:
            problem = f"longer than {max_bytes:,} bytes"
        elif problem is None and not mail.raw.strip():
            problem = "an empty mail"
        elif problem is None and fields.label_required and not mail.label:
            problem = "no label: the name of a sub-folder is one"
        if problem is not None:
            yield BadLine(number, f"mail {mail.id}: {problem}", mail.raw[:1000])
            continue
        yield Message(mail.id, mail.label, _text_of(mail.raw))


def as_mail(message: Message) -> Message:
    """Replace a text that is a complete mail by the text of this mail."""
    return message._replace(text=_text_of(message.text.encode("utf-8", "replace")))


def _text_of(mail: bytes) -> str:
    return mail_text(without_header(mail, STATUS_HEADER))


def _sms_line(delimiter: str, line: Line, fields: Fields) -> Message | None:
    """Return the message of a line, None for a header."""
    label, found, text = line.text.partition(delimiter)
    if not found:
        if fields.label_required:
            mark = "tab" if delimiter == "\t" else repr(delimiter)
            raise LineError(f"no {mark} between label and text")
        label, text = "", line.text
    elif not label and fields.label_required:
        raise LineError("empty label")
    if line.number == 1 and _USUAL.find("label", [label]) and _USUAL.find("text", [text]):
        return None
    return Message(str(line.number), label, text)


def _from_json(lines: Lines, fields: Fields) -> Iterator[Message | BadLine]:
    """Read one object per line; a file of another layout is read as a whole."""
    first = lines.peek()
    if first is not None and first.problem is None and _is_whole(first.text, fields):
        taken = list(lines)
        try:
            records = _records("\n".join(line.text for line in taken), fields)
        except (ValueError, RecursionError) as error:
            if first.text.lstrip()[:1] == "[":
                raise DataError(f"not a JSON array: {error}") from error
            lines.put_back(taken)
        else:
            for number, record in enumerate(records, 1):
                yield fields.read(record, number, json.dumps(record)[:1000].encode())
            return
    yield from _one_a_line(lines, _json_line, fields)


def _is_whole(first: str, fields: Fields) -> bool:
    """Return whether a JSON file is an array, an object of columns, or objects of several lines."""
    if first.lstrip()[:1] not in ("{", "["):
        return False
    try:
        record = _json.decode(first)
    except (ValueError, RecursionError):
        return True
    return isinstance(record, list) or isinstance(_value(record, "text", fields), (dict, list))


def _value(record: dict[str, Any], field: str, fields: Fields) -> Any:
    return record.get(fields.find(field, record) or "")


def _records(text: str, fields: Fields) -> list[Any]:
    """Return the values of a JSON file: of an array, of columns, or one after the other."""
    values: list[Any] = []
    place = _BLANKS.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        value, place = _json.raw_decode(text, place)
        values.append(value)
        place = _BLANKS.match(text, place).end()  # type: ignore[union-attr]
    if len(values) == 1 and isinstance(values[0], list):
        return values[0]
    columns = values[0]
    if len(values) == 1 and all(isinstance(column, dict) for column in columns.values()):
        # As pandas writes a table.
        keys = _value(columns, "text", fields) or ()
        return [{name: column.get(key) for name, column in columns.items()} for key in keys]
    return values


def _json_line(line: Line, fields: Fields) -> Message:
    try:
        record = _json.decode(line.text)
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise LineError("JSON nested too deeply") from error
    except ValueError as error:  # a number with thousands of digits
        raise LineError(f"invalid JSON: {error}") from error
    return fields.message(record, line.number)
