"""Read messages from CSV and TSV."""

from __future__ import annotations

import contextlib
import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from streamnb.datasets.lines import Line, Lines, Source, source_name, with_advice
from streamnb.datasets.records import BadLine, Fields, Message
from streamnb.errors import DataError

_LABELS = {"ham", "spam", "0", "1"}  # in a first row that is not a header


class _Row(NamedTuple):
    number: int  # of its first line
    cells: list[str]
    raw: bytes
    problem: str | None


def from_table(
    lines: Iterator[Line],
    fields: Fields,
    delimiters: str,
    quotes: bool,
    source: Source,
    max_line_bytes: int,
) -> Iterator[Message | BadLine]:
    """Yield the messages, the invalid records, and remarks on the header.

    Parameters
    ----------
    lines
        Lines with a header. Without a header, the table has two columns, and one is ham, spam, 0 or
        1.
    fields
        Names of the columns.
    delimiters
        One delimiter, or several to choose from by the header.
    quotes
        Whether fields may be quoted. A line with a stray quote is read as if no field were quoted.
    source
        The file, for error messages.
    max_line_bytes
        Maximum size of a record in bytes.

    Raises
    ------
    DataError
        If there is no header, or a column is missing.
    """
    # The limit is global to the process, so never lower it.
    csv.field_size_limit(max(csv.field_size_limit(), max_line_bytes))
    feed, name = Lines(lines), source_name(source)
    first = feed.peek()
    if first is not None and first.text[:4].lower() == "sep=" and len(first.text.rstrip()) <= 5:
        delimiters = first.text[4:5]  # written for Excel
        next(feed)
        first = feed.peek()
    if first is None:
        raise DataError(f"{name} is empty; a header was expected")
    delimiter = _delimiter(first.text, delimiters, fields)
    rows, fields = _rows(feed, delimiter, quotes, max_line_bytes), fields._replace(typed=False)
    header = next(rows)
    if header.problem is not None:
        raise DataError(f"{name}, header: {with_advice(header.problem)}")
    names, remarks = _columns(header.cells, fields, name)
    for remark in remarks:
        yield BadLine(0, remark, b"", is_message=False)
    if not names:  # of a table without a header
        place = _label_place(header.cells)
        names = [fields.text or "text"] * 2
        names[place] = fields.label or "label"
        rows = itertools.chain([header], rows)
    for number, cells, raw, problem in rows:
        if problem is None and len(cells) != len(names):
            problem = f"{len(cells)} fields, where the header has {len(names)}"
        if problem is not None:
            yield BadLine(number, problem, raw)
        else:
            yield fields.read(dict(zip(names, cells, strict=True)), number, raw)


def _delimiter(header: str, delimiters: str, fields: Fields) -> str:
    """Return the first delimiter that gives a column of texts or a label, else the first one."""
    split = {mark: next(csv.reader([header], delimiter=mark)) for mark in delimiters}
    if fields.rows:
        return max(split, key=lambda mark: len(split[mark]))  # the first one of several
    for mark, cells in split.items():
        if fields.find("text", cells) is not None:
            return mark
    return next((mark for mark, cells in split.items() if _label_place(cells) >= 0), delimiters[0])


def _label_place(cells: Sequence[str]) -> int:
    """Return the column of the label in a row of two columns without a header, else -1."""
    are_labels = [cell.strip().casefold() in _LABELS for cell in cells]
    return are_labels.index(True) if len(cells) == 2 and sum(are_labels) == 1 else -1


def _columns(header: list[str], fields: Fields, source: str) -> tuple[list[str], list[str]]:
    """Return a name for each column, and remarks; no names without a header."""
    remarks = []
    needed = {"text": not fields.rows, "label": fields.label_required, "id": fields.id is not None}
    for field, is_needed in needed.items():
        wanted = getattr(fields, field) or field
        found = fields.find(field, header)
        if found is not None:
            if header.count(found) > 1:
                remarks.append(f"{header.count(found)} columns {found!r}; reading the first")
            elif found.strip().casefold() != wanted.casefold():
                remarks.append(f"no column {wanted!r}; reading {found!r}")
        elif field == "text" and not fields.rows and _label_place(header) >= 0:
            return [], ["no header; reading a label and a text in each line"]
        elif is_needed:
            known = ", ".join(repr(name) for name in header[:20])
            rows = ", or give a model of tables, such as ENB" if field == "text" else ""
            raise DataError(
                f"{source}: no column {wanted!r} in the header {known}; name the column "
                f"(--{field}-field, {field}_field=){rows}"
            )
    # Later columns of the same name are fields with their number.
    names = [
        name if header.index(name) == place else f"{name} {place + 1}"
        for place, name in enumerate(header)
    ]
    return names, remarks


def _rows(feed: Lines, delimiter: str, quotes: bool, limit: int) -> Iterator[_Row]:
    """Yield the rows that are not blank."""
    unquoted: dict[str, Any] = {"delimiter": delimiter, "quoting": csv.QUOTE_NONE}
    # Text after a closing quote is an error.
    quoted: dict[str, Any] = {"delimiter": delimiter, "strict": True}
    width = 0
    while feed.peek() is not None:
        record: list[Line] = []
        problem = None
        try:
            cells = next(csv.reader(_texts(feed, limit, record), **quoted if quotes else unquoted))
        except csv.Error as error:
            # Read the first line by itself: with escaped quotes, or with quotes as text.
            feed.put_back(record[1:])
            del record[1:]
            for options in ({**quoted, "escapechar": "\\"}, unquoted):
                with contextlib.suppress(csv.Error):
                    cells = next(csv.reader([record[0].text], **options))
                    if len(cells) == width:
                        break
            else:
                cells, problem = [], str(error)
        problem = next((line.problem for line in record if line.problem), problem)
        if problem is not None or any(map(str.strip, cells)):
            width = width or len(cells)
            yield _Row(record[0].number, cells, b"\n".join(line.raw for line in record), problem)


def _texts(feed: Lines, limit: int, record: list[Line]) -> Iterator[str]:
    """Yield the texts of lines, and add the lines to a record."""
    size = -1
    for line in feed:
        record.append(line)
        size += len(line.raw) + 1
        if size > limit:
            raise csv.Error(f"a record of more than {limit:,} bytes (an unclosed quote?)")
        yield line.text + "\n"
