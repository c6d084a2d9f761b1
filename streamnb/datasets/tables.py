"""Read messages from CSV and TSV with a header line."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from streamnb.datasets.lines import BadLine, Fields, Line, LineError, Message, Source, source_name
from streamnb.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["from_table"]


class _TooLongError(Exception):
    """A CSV record is longer than the maximum line."""


class _Feed:
    """Passes lines to `csv.reader`, and keeps the bytes of the current record."""

    def __init__(self, lines: Iterator[Line], limit: int) -> None:
        self._lines, self._limit = lines, limit
        self.start()

    def start(self) -> None:
        self.number = 0
        self.problem: str | None = None
        self._raw: list[bytes] = []
        self._size = 0

    @property
    def raw(self) -> bytes:
        return b"\n".join(self._raw)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number = self.number or line.number
        self.problem = self.problem or line.problem
        self._raw.append(line.raw)
        self._size += len(line.raw) + 1
        if self._size > self._limit + 1:
            raise _TooLongError(f"a record of more than {self._limit:,} bytes (an unclosed quote?)")
        return line.text + "\n"


def from_table(
    lines: Iterator[Line],
    fields: Fields,
    separator: str,
    quotes: bool,
    source: Source,
    max_line_bytes: int,
) -> Iterator[Message | BadLine]:
    """Yield the messages and the invalid records of lines with a header."""
    # The limit is global to the process, so never lower it.
    csv.field_size_limit(max(csv.field_size_limit(), max_line_bytes))
    feed = _Feed(lines, max_line_bytes)
    reader = csv.reader(
        feed,
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        # Text after a closing quote is an error.
        strict=quotes,
    )
    columns: dict[str, int | None] = {}
    width = 0
    while True:
        feed.start()
        try:
            row = next(reader)
            if feed.problem is not None:
                raise LineError(feed.problem)
            if not row or (len(row) == 1 and not row[0].strip() and width > 1):
                continue
            if not columns:
                columns, width = _columns(row, fields, source), len(row)
                continue
            if len(row) != width:
                raise LineError(f"{len(row)} fields, where the header has {width}")
            message = _from_row(row, columns, fields, feed.number)
        except StopIteration:
            if not columns:
                raise DataError(f"{source_name(source)} is empty; a header was expected") from None
            return
        except (LineError, _TooLongError, csv.Error) as error:
            reason = str(error)
            if not columns:
                raise DataError(f"{source_name(source)}, header: {reason}") from error
            yield BadLine(feed.number, feed.problem or reason, feed.raw)
        else:
            yield message


def _columns(header: list[str], fields: Fields, source: Source) -> dict[str, int | None]:
    def place(name: str, needed: bool) -> int | None:
        if header.count(name) > 1:
            raise DataError(f"{source_name(source)}: {header.count(name)} columns {name!r}")
        if name in header:
            return header.index(name)
        if needed:
            names = ", ".join(repr(name) for name in header[:20])
            raise DataError(f"{source_name(source)}: no column {name!r} in the header {names}")
        return None

    return {
        "text": place(fields.text, True),
        "label": place(fields.label, fields.label_required),
        "id": place(fields.id or "id", fields.id is not None),
        "time": place(fields.time or "time", fields.time is not None),
    }


def _from_row(
    row: list[str], columns: dict[str, int | None], fields: Fields, number: int
) -> Message:
    def value(field: str) -> str:
        place = columns[field]
        return "" if place is None else row[place]

    label = value("label")
    if not label and fields.label_required:
        raise LineError(f"empty field {fields.label!r}")
    return Message(value("id") or str(number), label, value("text"), value("time") or None)
