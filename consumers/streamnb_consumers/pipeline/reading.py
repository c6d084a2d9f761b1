"""Read records as messages: checks of types and sizes, and the reader of SMS.

The functions raise BadRecordError if a field has a wrong type, a wrong size or a forbidden value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, ParamSpec, Protocol, TypeVar

import msgspec

from streamnb import Tokenizer
from streamnb.columns.reading import attributes_of
from streamnb.errors import InputError, StreamNBError
from streamnb.text.records import text_name
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.jsons import parse
from streamnb_consumers.records import Feedback, Label, Message, Record

Content = Message | Feedback | StreamNBError
"""The content of a record, or its error."""
DEFAULT_MODEL = "OnlineNB()"  # for SMS
MAX_NAME = 256  # characters of an id or a label


class MessageReader(Protocol):
    """Reads records as messages.

    Attributes
    ----------
    name
        Kind of messages, which snapshots contain.
    labels
        Accepted labels; empty for any.
    max_bytes, max_text
        Maximum size of a record in bytes, and of its text in characters.
    gives_texts
        Whether models get texts; otherwise they get word counts.
    """

    name: str
    labels: frozenset[str]
    max_bytes: int
    max_text: int
    gives_texts: bool

    def read(self, record: Record) -> Message | Feedback:
        """Return the content of a record.

        Raises
        ------
        BadRecordError
            If it is neither a message nor feedback.
        """

    def read_many(self, records: Iterable[Record]) -> list[Content]:
        """Return the content of each record, or its error."""
        return [caught(self.read, record) for record in records]


P = ParamSpec("P")
Found = TypeVar("Found")
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]


def caught(call: Callable[P, Found], *args: P.args, **kwargs: P.kwargs) -> Found | StreamNBError:
    """Return the result of a call, or its StreamNBError."""
    try:
        return call(*args, **kwargs)
    except StreamNBError as error:
        return error


class _Usual(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An SMS with fields of the usual types, which are checked while they are parsed."""

    id: _Name
    text: str
    label: _Name | None = None
    sender: str | None = None
    time: Any = None


_USUAL = msgspec.json.Decoder(_Usual)


class SmsReader(MessageReader):
    """Read SMS: a JSON object with `id`, `text`, and optionally `sender`, `time` and `label`.

    The text may also have another usual name, such as `body` or `message`.

    An object with a label and without a text is feedback on the message with its id. With
    `"unlearn": true` instead of a label, the message is unlearned.

    Parameters
    ----------
    labels
        Accepted labels; empty for any.
    max_bytes
        Maximum size of a record in bytes, 1 or more.
    max_text
        Maximum length of a text in characters, 1 or more; the rest is ignored. Phones send
        shorter texts than the default.
    tokenizer
        The tokenizer of the model, whose fields are read from the object, else from the record's
        headers.
    label_sets
        Whether a message has `labels`, an array of any number of them, instead of `label`.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> value = b'{"id": "7", "text": "WIN cash", "label": "spam"}'
    >>> SmsReader().read(Record(Partition("sms", 0), 0, value))
    Message(id='7', features='WIN cash', label='spam', senders=())
    """

    name = "sms"
    gives_texts = True

    def __init__(
        self,
        labels: Iterable[str] = (),
        max_bytes: int = 65_536,
        max_text: int = 4_096,
        tokenizer: Tokenizer | None = None,
        label_sets: bool = False,
    ) -> None:
        self.labels = frozenset(labels)
        self.max_bytes = max_bytes
        self.max_text = max_text
        self.label_sets = label_sets
        self._tokenizer = tokenizer
        self._may_be_usual = tokenizer is None or not tokenizer.has_fields

    def read(self, record: Record) -> Message | Feedback:
        """Return the message or the feedback in a record."""
        value = read_value(record, self.max_bytes)
        if self._may_be_usual:
            try:
                usual = _USUAL.decode(value)
            except (ValueError, RecursionError):
                pass  # feedback, or other types, or invalid: see below
            else:
                if usual.label is None or (usual.label in self.labels and not self.label_sets):
                    text = usual.text[: self.max_text]
                    return Message(usual.id, text, usual.label, _senders(usual.sender))
        fields = read_object(value)
        name = read_id(fields, record)
        label = (read_labels if self.label_sets else read_label)(fields, self.labels)
        tokenizer = self._tokenizer
        read = () if tokenizer is None else (*tokenizer.fields, *tokenizer.texts)
        given = read_text(fields, name_of_text(fields, read))
        if given is not None:
            text = add_fields(self._tokenizer, given[: self.max_text], record, fields)
            return Message(name, text, label, _senders(fields.get("sender")))
        return read_feedback(fields, name, label)


class RowReader(MessageReader):
    """Read rows for models of tables: a JSON object with attributes and optionally `id`, `label`.

    All keys except these two are attributes; `attributes_of` describes their values. An object
    without attributes is feedback, as in `SmsReader`.

    Parameters
    ----------
    labels
        Accepted labels; empty for any.
    max_bytes
        Maximum size of a record in bytes, 1 or more.
    categories
        Attributes whose numbers are names, such as postal codes.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> value = b'{"id": "7", "size": 3, "colour": "red", "label": "apple"}'
    >>> RowReader().read(Record(Partition("sms", 0), 0, value))
    Message(id='7', features={'size': 3.0, 'colour': 'red'}, label='apple', senders=())
    """

    gives_texts = False
    max_text = 0  # no texts

    def __init__(
        self,
        labels: Iterable[str] = (),
        max_bytes: int = 65_536,
        categories: Iterable[str] = (),
    ) -> None:
        self.labels = frozenset(labels)
        self.max_bytes = max_bytes
        self.categories = frozenset(categories)
        # Workers that read attributes differently would train different models.
        self.name = ", ".join(["rows", *sorted(self.categories)])

    def read(self, record: Record) -> Message | Feedback:
        """Return the row or the feedback in a record."""
        fields = read_object(read_value(record, self.max_bytes))
        name, label = read_id(fields, record), read_label(fields, self.labels)
        given = {key: value for key, value in fields.items() if key not in ("id", "label")}
        if not given.keys() - {"unlearn"}:
            return read_feedback(fields, name, label)
        try:
            row = attributes_of(given, self.categories)
        except InputError as error:
            raise BadRecordError(str(error)) from None
        return Message(name, row, label)


def _senders(found: object) -> tuple[str, ...]:
    sender = found.strip().lower() if isinstance(found, str) else ""
    return (sender,) if sender else ()


def read_value(record: Record, max_bytes: int) -> bytes:
    """Return the value of a record, which has at most `max_bytes`."""
    if record.value is None:
        raise BadRecordError("the record has no value")
    if len(record.value) > max_bytes:
        raise BadRecordError(
            f"the record has {len(record.value):,} bytes, more than max_bytes ({max_bytes:,})"
        )
    return record.value


def read_object(value: bytes) -> dict[str, Any]:
    """Parse a JSON object.

    Examples
    --------
    >>> read_object(b'{"id": 7}')
    {'id': 7}
    """
    try:
        found = parse(value)
    except UnicodeDecodeError as error:
        raise BadRecordError(f"not UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise BadRecordError("JSON nested too deeply") from None
    except ValueError as error:
        raise BadRecordError(f"not JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict):
        raise BadRecordError(f"not a JSON object but {type(found).__name__}")
    return found


def default_id(record: Record) -> str:
    """Return the id of a message without one: the key of its record, or partition and offset."""
    try:
        if record.key and len(record.key) <= MAX_NAME:
            return record.key.decode()
    except UnicodeDecodeError:
        pass
    return f"{record.partition.number}-{record.offset}"


def read_id(fields: dict[str, Any], record: Record) -> str:
    """Return the id of a message: a string of 1 to 256 characters, or an integer."""
    found = fields.get("id")
    if found is None:
        return default_id(record)
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63:
        return str(found)
    return _name("id", found)


def read_label(fields: dict[str, Any], labels: frozenset[str]) -> str | None:
    """Return the label of a message, which is one of `labels` unless these are empty; or None."""
    found = fields.get("label")
    if found is None:
        return None
    if isinstance(found, (int, float)):  # as `streamnb learn` reads numbers and booleans
        found = json.dumps(found)
    label = _name("label", found)
    if labels and label not in labels:
        raise BadRecordError(f"label {label[:50]!r} is not one of {', '.join(sorted(labels))}")
    return label


def read_labels(fields: dict[str, Any], labels: frozenset[str]) -> tuple[str, ...] | None:
    """Return the sorted labels of a message with any number of them; None if they are unknown.

    Examples
    --------
    >>> read_labels({"labels": ["wheat", "corn", "wheat"]}, frozenset())
    ('corn', 'wheat')
    """
    found = fields.get("labels")
    if found is None:
        if fields.get("label") is not None:
            raise BadRecordError(
                "the filter learns several labels for each message: give labels, an array such as "
                '["corn", "wheat"], instead of label'
            )
        return None
    if not isinstance(found, list):
        raise BadRecordError(f"labels must be an array of strings, not {type(found).__name__}")
    if None in found:
        raise BadRecordError("labels must be an array of strings, and one of them is null")
    return tuple(sorted({read_label({"label": each}, labels) or "" for each in found}))


def read_feedback(fields: dict[str, Any], name: str, label: Label | None) -> Feedback:
    """Return the feedback in an object with an id, and either its label or labels, or `unlearn`.

    Examples
    --------
    >>> read_feedback({"id": "7", "unlearn": True}, "7", None)
    Feedback(id='7', label=None)
    """
    unlearn = fields.get("unlearn", False)
    if not isinstance(unlearn, bool):
        raise BadRecordError(f"unlearn must be true or false, not {str(unlearn)[:50]!r}")
    if "id" not in fields or unlearn == (label is not None):
        raise BadRecordError("a message needs text; feedback needs id, and label or unlearn")
    return Feedback(name, label)


def name_of_text(fields: Mapping[str, Any], read: Collection[str] = ()) -> str:
    """Return "text", or without it the usual name of the text in a record of another program.

    Parameters
    ----------
    fields
        The record.
    read
        The names that the tokenizer reads as fields.

    Examples
    --------
    >>> name_of_text({"id": "7", "body": "WIN cash"})
    'body'
    """
    return "text" if "text" in fields else text_name(fields, read) or "text"


def read_text(fields: dict[str, Any], name: str = "text") -> str | None:
    """Return a text with lone surrogates replaced, or None if it is missing."""
    found = fields.get(name)
    if found is None:
        return None
    if not isinstance(found, str):
        raise BadRecordError(f"{name} must be a string, not {type(found).__name__}")
    return found.encode("utf-8", "replace").decode()


def add_fields(
    tokenizer: Tokenizer | None, text: str, record: Record, fields: Mapping[str, Any]
) -> str:
    """Return a text joined with the fields that the tokenizer reads.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> record = Record(Partition("sms", 0), 0, None, headers=(("user", b"bob"),))
    >>> tokenizer = Tokenizer(fields=("user", "sender"))
    >>> tokenizer(add_fields(tokenizer, "WIN cash", record, {"sender": "ann"}))
    ['user=bob', 'sender=ann', 'win', 'cash']
    """
    if tokenizer is None or not tokenizer.has_fields:
        return text
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers if value}
    try:
        joined: str = tokenizer.join({**headers, **fields, "text": text})
    except InputError as error:
        raise BadRecordError(str(error)) from None
    return joined.encode("utf-8", "replace").decode()


def _name(what: str, found: Any) -> str:
    if not isinstance(found, str):
        raise BadRecordError(f"{what} must be a string, not {type(found).__name__}")
    if not 1 <= len(found) <= MAX_NAME:
        raise BadRecordError(f"{what} must have 1 to {MAX_NAME} characters, not {len(found):,}")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise BadRecordError(f"{what} contains a lone surrogate") from None
    return found
