"""JSON records to fields: what both kinds of messages share, strict with types and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.jsons import parse
from streamnb_consumers.records import Feedback, Message, Record

__all__ = [
    "DEFAULT_MODEL",
    "MessageReader",
    "SmsReader",
    "default_id",
    "read_id",
    "read_label",
    "read_object",
    "read_text",
]

MAX_NAME = 256  # characters of an id or a label


class MessageReader(Protocol):
    """What a message is.

    Attributes
    ----------
    name
        Of the kind, and of the form that it gives messages.
    max_bytes
        Longest record.
    gives_texts
        Whether models get texts; else they get counted words.
    """

    name: str
    labels: frozenset[str]
    max_bytes: int
    gives_texts: bool

    def read(self, record: Record) -> Message | Feedback:
        """Return what a record holds.

        Raises
        ------
        BadRecordError
            If it is neither a message nor feedback.
        """


def read_object(value: bytes) -> dict[str, Any]:
    """Return the JSON object that bytes hold.

    Raises
    ------
    BadRecordError
        If they hold anything else.

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
    """Return what to call a message that names itself nothing: its key, or its place."""
    try:
        if record.key and len(record.key) <= MAX_NAME:
            return record.key.decode()
    except UnicodeDecodeError:
        pass
    return f"{record.partition.number}-{record.offset}"


def read_id(fields: dict[str, Any], record: Record) -> str:
    """Return the id of a message."""
    found = fields.get("id")
    if found is None:
        return default_id(record)
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63:
        return str(found)
    return _name("id", found)


def read_label(fields: dict[str, Any], labels: frozenset[str]) -> str | None:
    """Return the label of a message, or None.

    Raises
    ------
    BadRecordError
        If it is none of `labels` (where these are given), or no name at all.
    """
    found = fields.get("label")
    if found is None:
        return None
    label = _name("label", found)
    if labels and label not in labels:
        raise BadRecordError(f"label {label[:50]!r} is none of {', '.join(sorted(labels))}")
    return label


def read_text(fields: dict[str, Any], name: str = "text") -> str | None:
    """Return a text, lone surrogates replaced, or None where there is none."""
    found = fields.get(name)
    if found is None:
        return None
    if not isinstance(found, str):
        raise BadRecordError(f"{name} must be a string, not {type(found).__name__}")
    return found.encode("utf-8", "replace").decode()


def _name(what: str, found: Any) -> str:
    if not isinstance(found, str):
        raise BadRecordError(f"{what} must be a string, not {type(found).__name__}")
    if not 1 <= len(found) <= MAX_NAME:
        raise BadRecordError(f"{what} must have 1 to {MAX_NAME} characters, not {len(found):,}")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise BadRecordError(f"{what} has a lone surrogate, which is no text") from None
    return found


DEFAULT_MODEL = "OnlineNB()"


class SmsReader:
    """Read SMS; an object with a label and no text is feedback on the message with that id.

    Parameters
    ----------
    labels
        Labels that are taken; none for any.
    max_bytes
        Longest record in bytes, 1 or more.
    max_text
        Characters of a text that are read, 1 or more: the rest is ignored. The longest SMS that
        phones send in parts is shorter; a stranger's may be as long as a record.

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
        self, labels: Iterable[str] = (), max_bytes: int = 65_536, max_text: int = 4_096
    ) -> None:
        self.labels = frozenset(labels)
        self.max_bytes = max_bytes
        self._max_text = max_text

    def read(self, record: Record) -> Message | Feedback:
        """Return the message or the feedback that a record holds.

        Raises
        ------
        BadRecordError
            If it holds neither.
        """
        if record.value is None:
            raise BadRecordError("no value")
        if len(record.value) > self.max_bytes:
            raise BadRecordError(f"longer than {self.max_bytes:,} bytes")
        fields = read_object(record.value)
        name, label = read_id(fields, record), read_label(fields, self.labels)
        text = read_text(fields)
        if text is not None:
            sender = fields.get("sender")
            who = (sender.strip().lower(),) if isinstance(sender, str) and sender.strip() else ()
            return Message(name, text[: self._max_text], label, who)
        if label is None or "id" not in fields:
            raise BadRecordError("a message needs text; feedback needs id and label")
        return Feedback(name, label)
