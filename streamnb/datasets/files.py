"""Read labelled messages from JSONL, CSV, TSV, files like the SMS collection, and mail."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from streamnb.datasets.lines import (
    MAX_LINE_BYTES,
    BadLine,
    Fields,
    Line,
    LineError,
    Message,
    Source,
    read_lines,
    source_name,
)
from streamnb.datasets.mail import MAIL_FORMATS, mail_format, read_mails
from streamnb.datasets.tables import from_table
from streamnb.datasets.topic import is_topic, read_topic
from streamnb.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FORMATS", "read_as_mails", "read_messages"]

FORMATS = ("jsonl", "csv", "tsv", "sms", *MAIL_FORMATS)
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
_log = logging.getLogger(__name__)


def read_messages(
    source: Source,
    format: str | None = None,  # noqa: A002 - as on the command line
    text_field: str = "text",
    label_field: str = "label",
    id_field: str | None = None,
    time_field: str | None = None,
    encoding: str = "utf-8",
    on_bad: Literal["report", "fail"] = "report",
    label_required: bool = True,
    report: Callable[[BadLine], None] | None = None,
    quotes: bool | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
    default_label: str | None = None,
    mails: bool = False,
) -> Iterator[Message]:
    r"""Read messages one at a time, in constant memory; no line is lost silently.

    An invalid line (undecodable bytes, invalid JSON, a missing field, a wrong type, a wrong number
    of fields, too long) is passed to `report` or stops the reading. Blank lines are skipped.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file. gzip, xz and bzip2 are decompressed. A
        Kafka topic `kafka://HOST:PORT/TOPIC` has one line per record; `?follow` waits for new ones
        (`streamnb.datasets.topic`).
    format
        `"jsonl"` (one JSON object per line), `"csv"` or `"tsv"` (with a header line), `"sms"`
        (`label<TAB>text` without a header), or a mail format of
        `streamnb.datasets.mail.read_mails`. By default the extension before `.gz`, `.xz` or `.bz2`
        decides; standard input is JSONL.
        Folders and files that begin with `From ` are mail. The text of a mail is
        `streamnb.mail.content.mail_text` without the header `X-Spam-Status`.
    text_field, label_field
        Names of the fields in JSONL, CSV and TSV.
    id_field, time_field
        Names of two more fields; by default `id` and `time` if they exist.
    encoding
        Encoding of the file; a byte order mark is removed.
    on_bad
        `"report"`: pass invalid lines to `report` and continue. `"fail"`: raise a `DataError` with
        the file and the number of the line.
    label_required
        Whether a message without a label is an invalid line; otherwise its label is empty. In the
        format `"sms"`, a line without a tab then is a message without a label.
    report
        Called with each `BadLine`. By default they are logged as warnings.
    quotes
        Whether fields may be quoted. The default is True for CSV and False for TSV, because an
        opening quote in a message would join it with the next lines.
    max_line_bytes
        Maximum length of a line, a CSV record and a mail, in bytes.
    default_label
        Label of messages without one; None for an empty label.
    mails
        Whether texts in lines and tables are complete mails with headers.

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
    [BadLine(number=2, reason='no tab between label and text', raw=b'no tab here')]
    """
    kind = format if format is not None else _format_of(source)
    if kind not in FORMATS:
        raise InputError(f"unknown format {kind!r}; known are {', '.join(FORMATS)}")
    if on_bad not in ("report", "fail"):
        raise InputError(f"on_bad is {on_bad!r}; it should be 'report' or 'fail'")
    fields = Fields(
        text_field, label_field, id_field, time_field, label_required and default_label is None
    )
    lines = _lines(source, encoding, max_line_bytes)
    found: Iterator[Message | BadLine]
    if kind in MAIL_FORMATS:
        found = _from_mail(source, kind, fields, max_line_bytes)
    elif kind == "jsonl":
        found = _one_a_line(lines, _from_json, fields)
    elif kind == "sms":
        found = _one_a_line(lines, _from_sms, fields)
    else:
        quoted = kind == "csv" if quotes is None else quotes
        separator = "," if kind == "csv" else "\t"
        found = from_table(lines, fields, separator, quoted, source, max_line_bytes)
    delivered = _deliver(found, source, on_bad, report)
    if mails and kind not in MAIL_FORMATS:
        delivered = read_as_mails(delivered)
    if default_label is None:
        return delivered
    return (each if each.label else each._replace(label=default_label) for each in delivered)


def _lines(source: Source, encoding: str, max_line_bytes: int) -> Iterator[Line]:
    if isinstance(source, str) and is_topic(source):
        return read_topic(source, encoding)
    if isinstance(source, (str, os.PathLike)) and source != "-" and not Path(source).exists():
        raise DataError(f"no such file: {source_name(source)}")
    return read_lines(source, encoding, max_line_bytes)


def _format_of(source: Source) -> str:
    if not isinstance(source, (str, os.PathLike)):
        raise InputError("give the format of an open file: " + ", ".join(FORMATS))
    if source == "-" or is_topic(source):
        return "jsonl"
    path = Path(source)
    if path.is_dir():
        return str(mail_format(path))
    if path.suffix.lower() in (".gz", ".xz", ".bz2"):
        path = path.with_suffix("")
    if path.stem == "SMSSpamCollection":
        return "sms"
    known = _EXTENSIONS.get(path.suffix.lower()) or mail_format(source)
    if known is None:
        raise InputError(
            f"the format of {source_name(source)} is not clear; give it: {', '.join(FORMATS)}"
        )
    return known


def _deliver(
    found: Iterator[Message | BadLine],
    source: Source,
    on_bad: str,
    report: Callable[[BadLine], None] | None,
) -> Iterator[Message]:
    name = source_name(source)
    for read in found:
        if isinstance(read, Message):
            yield read
        elif on_bad == "fail":
            raise DataError(f"{name}, line {read.number}: {read.reason}")
        elif report is not None:
            report(read)
        else:
            _log.warning("%s, line %d skipped: %s", name, read.number, read.reason)


def _one_a_line(
    lines: Iterator[Line], parse: Callable[[Line, Fields], Message], fields: Fields
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
            yield message


def _from_mail(
    source: Source, kind: str, fields: Fields, max_bytes: int
) -> Iterator[Message | BadLine]:
    for number, mail in enumerate(read_mails(source, kind, max_bytes), start=1):
        problem = mail.problem
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


def read_as_mails(messages: Iterator[Message]) -> Iterator[Message]:
    """Replace texts that are complete mails by the texts of these mails."""
    for message in messages:
        yield message._replace(text=_text_of(message.text.encode("utf-8", "replace")))


def _text_of(mail: bytes) -> str:
    # Imported here, because mail is rarely read.
    from streamnb.mail.content import mail_text
    from streamnb.mail.header_block import STATUS_HEADER, without_header

    return mail_text(without_header(mail, STATUS_HEADER))


def _from_sms(line: Line, fields: Fields) -> Message:
    label, tab, text = line.text.partition("\t")
    if not tab:
        if fields.label_required:
            raise LineError("no tab between label and text")
        label, text = "", line.text
    elif not label and fields.label_required:
        raise LineError("empty label")
    return Message(str(line.number), label, text)


def _from_json(line: Line, fields: Fields) -> Message:
    try:
        record = _json.decode(line.text)
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise LineError("JSON nested too deeply") from error
    except ValueError as error:  # a number with thousands of digits
        raise LineError(f"invalid JSON: {error}") from error
    if not isinstance(record, dict):
        raise LineError(f"a JSON object was expected, not {_json_type(record)}")
    text = record.get(fields.text)
    if not isinstance(text, str):
        if fields.text not in record:
            raise LineError(f"no field {fields.text!r}")
        raise LineError(f"field {fields.text!r} should be a string, not {_json_type(text)}")
    label = _scalar(record, fields.label)
    if not label and fields.label_required:
        raise LineError(f"{'no' if fields.label not in record else 'empty'} field {fields.label!r}")
    if fields.id is not None and fields.id not in record:
        raise LineError(f"no field {fields.id!r}")
    name = _scalar(record, fields.id or "id")
    time = _scalar(record, fields.time or "time")
    return Message(name or str(line.number), label or "", text, time)


def _scalar(record: dict[str, Any], field: str) -> str | None:
    """Return a string, number or bool as a string; None if it is null or missing."""
    value = record.get(field)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        try:
            return json.dumps(value)
        except ValueError as error:
            raise LineError(f"field {field!r}: {error}") from error
    raise LineError(f"field {field!r} should be a string or a number, not {_json_type(value)}")


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {str: "a string", int: "a number", float: "a number", list: "an array"}
    return names.get(type(value), "an object")
