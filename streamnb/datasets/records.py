"""Messages of a stream, and the records of files that become messages."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from streamnb.columns.reading import attributes_of
from streamnb.errors import InputError
from streamnb.text.records import TEXT_NAMES, find_name

# Usual names of the label; the first one takes precedence.
LABEL_FIELDS = ("label", "class", "category", "spam", "spam/ham", "target", "v1")


LABEL_SET_FIELDS = ("labels", "tags", "topics", "categories")
"""Usual names of the field with several labels."""
EXAMPLE = '{"text": "wheat and corn prices", "labels": ["wheat", "corn"]}'
"""A record with several labels."""


class Message(NamedTuple):
    """One message of a stream.

    Attributes
    ----------
    id
        Its name in the source, or the number of its line.
    label
        Its class; empty without one.
    text
        The message itself.
    time
        Its time in the format of the source (ISO 8601 in the data folder), or None.
    fields
        The other fields of its record by name; None if it has none.
    row
        Attributes of the record, if messages are rows of a table; then the text is empty.
    labels
        All its labels, if messages have sets of labels; then `label` is empty. None without them.
    """

    id: str
    label: str
    text: str
    time: str | None = None
    fields: Mapping[str, Any] | None = None
    row: Mapping[str, Any] | None = None
    labels: tuple[str, ...] | None = None

    @property
    def x(self) -> str | Mapping[str, Any]:
        """The text or the row: the message as models take it."""
        return self.text if self.row is None else self.row


class LineError(Exception):
    """An invalid line; it becomes a `BadLine` or a `DataError`."""


class BadLine(NamedTuple):
    """A line that could not be read as a message, or a remark on the file.

    Attributes
    ----------
    number
        Number of the line in the file, from 1 (of the first line, where a record spans several); 0
        for a remark on the whole file.
    reason
        The reason.
    raw
        Its bytes without the line end; only the first 1,000 if the line is too long.
    is_message
        Whether a message is lost; False for a remark, or for a file that is not a mail.
    """

    number: int
    reason: str
    raw: bytes
    is_message: bool = True


class Fields(NamedTuple):
    """Names of the fields to read; None for the usual names.

    A name also matches a field that differs in case or in blanks at its ends. With `rows`, the
    fields except label and id are the attributes of a row, and there is no text. `categories` and
    `typed` are those of `attributes_of`. With `label_sets`, a message has any number of labels.
    """

    text: str | None
    label: str | None
    id: str | None
    label_required: bool
    rows: bool = False
    categories: frozenset[str] = frozenset()
    typed: bool = True
    label_sets: bool = False

    def find(self, field: str, given: Collection[str]) -> str | None:
        """Return the name of a field (`"text"` ...) among the given names, or None."""
        wanted = getattr(self, field, None)
        if field == "label" and wanted is None and self.label_sets:
            return find_name(tuple(given), (*LABEL_SET_FIELDS, *LABEL_FIELDS))
        if (wanted or field) in given:
            return str(wanted or field)
        usual = {"text": TEXT_NAMES, "label": LABEL_FIELDS}.get(field, (field,))
        return find_name(tuple(given), usual if wanted is None else (wanted.strip().casefold(),))

    def message(self, record: Any, number: int) -> Message:
        """Return the message of a record, given its fields by name.

        Raises
        ------
        LineError
            If a field is missing or has a wrong type.
        """
        if not isinstance(record, dict):
            raise LineError(f"a JSON object was expected, not {_json_type(record)}")
        known = _names(self, tuple(record))
        text_name, label_name, id_name, time_name = known
        text = "" if self.rows else record.get(text_name)
        if not isinstance(text, str):
            if text_name not in record:
                raise LineError(f"no field {text_name!r}")
            raise LineError(f"field {text_name!r} should be a string, not {_json_type(text)}")
        labels = _label_set(record, label_name) if self.label_sets else None
        label = None if self.label_sets else self._label(record, label_name)
        if self.label_required and not label and labels is None:
            state = "no" if label_name not in record else "empty"
            raise LineError(f"{state} field {label_name!r}{self._advice(record)}")
        if self.id is not None and id_name not in record:
            raise LineError(f"no field {id_name!r}")
        if self.rows:
            attributes = {
                name: value for name, value in record.items() if name not in (label_name, id_name)
            }
            try:
                row = attributes_of(attributes, self.categories, self.typed)
            except InputError as error:
                raise LineError(str(error)) from None
            return Message(_scalar(record, id_name) or str(number), label or "", "", row=row)
        return Message(
            _scalar(record, id_name) or str(number),
            label or "",
            text,
            _scalar(record, time_name) or None,
            {name: value for name, value in record.items() if name not in known} or None,
            labels=labels,
        )

    def _label(self, record: dict[str, Any], name: str) -> str | None:
        """Return the label of a record; None without one."""
        if isinstance(record.get(name), list):
            raise LineError(f"field {name!r} has several labels: use the model MultiLabelNB")
        return _scalar(record, name)

    def _advice(self, record: dict[str, Any]) -> str:
        """Return what a record without a label has instead."""
        if self.label_sets:
            return f" with an array of labels, as in {EXAMPLE}"
        several = find_name(tuple(record), LABEL_SET_FIELDS[:1])
        return f", but {several!r}: use the model MultiLabelNB" if several else ""

    def read(self, record: Any, number: int, raw: bytes) -> Message | BadLine:
        """Return the message of a record; `raw` identifies an invalid one."""
        try:
            return self.message(record, number)
        except LineError as bad:
            return BadLine(number, str(bad), raw)


@functools.lru_cache(maxsize=256)
def _names(fields: Fields, given: tuple[str, ...]) -> list[str]:
    """Return the names of text, label, id and time, also of fields that are not given."""
    return [
        fields.find(field, given) or getattr(fields, field, None) or default
        for field, default in (
            ("text", "text"),
            ("label", "labels" if fields.label_sets else "label"),
            ("id", "id"),
            ("time", "time"),
        )
    ]


def _label_set(record: dict[str, Any], field: str) -> tuple[str, ...] | None:
    """Return the labels of an array, each once, or a single label; None without one."""
    value = record.get(field)
    if not isinstance(value, list):
        label = _scalar(record, field)
        return (label,) if label else None
    labels = [_scalar({field: each}, field) for each in value]
    if not all(labels):
        raise LineError(f"field {field!r} has an empty label")
    return tuple(dict.fromkeys(label for label in labels if label))


def _scalar(record: dict[str, Any], field: str) -> str | None:
    """Return a string, number or bool as a string; None if it is null or missing."""
    value = record.get(field)
    if value is None or isinstance(value, str):
        return value
    if value != value:  # NaN, with which pandas marks missing values
        return None
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
