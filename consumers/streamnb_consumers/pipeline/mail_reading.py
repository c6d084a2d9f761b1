"""Read records as mail: RFC 5322 as raw bytes, or as `text` or `base64` of a JSON object."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from streamnb import Tokenizer
from streamnb.errors import StreamNBError
from streamnb.mail.content import (
    MAIL_FIELDS,
    MAX_BODY_TEXT,
    MAX_TEXT,
    texts_and_senders,
    words_and_senders,
)
from streamnb.mail.header_block import STATUS_HEADER, without_header
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.pipeline.reading import (
    Content,
    MessageReader,
    add_fields,
    caught,
    default_id,
    name_of_text,
    read_feedback,
    read_id,
    read_label,
    read_object,
    read_text,
    read_value,
)
from streamnb_consumers.records import Features, Feedback, Message, Record

DEFAULT_MODEL = (
    "OnlineNB(tokenizer=Tokenizer(words=(1, 2), boundaries='unicode', subject=True, "
    f"texts={MAIL_FIELDS}))"
)


_TEXT = "\x1e\x1f"  # begins the text of a message with fields


class MailReader(MessageReader):
    r"""Read a mail as the set of its words, or as a text for the tokenizer of a model.

    Each word counts once. With word counts, (1-AUC)% of `MNB` on SpamAssassin is about twice as
    large. A JSON object has `text` or `base64`, and optionally `id` and `label`. The id of a raw
    mail is the key of its record, and its label the record header `label`.

    Parameters
    ----------
    labels
        Accepted labels; empty for any.
    max_bytes
        Maximum size of a record in bytes, 1 or more.
    record_format
        Whether records are raw mails, JSON, or either. A raw mail never begins with a brace.
    status_header
        Header that filters add to mails. It is removed before reading, because anyone could send
        it.
    texts
        Whether to read a mail as a text (`mail_text`) instead of words (`mail_words`).
    max_text
        Maximum number of characters that are read from the texts of a mail, 1 or more; None uses
        the limit of `mail_text` or `mail_words`.
    tokenizer
        The tokenizer of the model, whose fields are read from the object, else from the record's
        headers. The field `sender` is by default the first sender of the mail.
    threads
        Number of threads that read the texts of several mails.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> raw = Record(Partition("mail", 0), 5, b"Subject: Free\n\nsee www.x.example/a")
    >>> message = MailReader().read(raw)
    >>> message.id, message.features["subject:Free"], message.features["host:x.example"]
    ('0-5', 1, 1)
    """

    def __init__(
        self,
        labels: Iterable[str] = (),
        max_bytes: int = 2**24,
        record_format: Literal["either", "raw", "json"] = "either",
        status_header: str = STATUS_HEADER,
        texts: bool = False,
        max_text: int | None = None,
        tokenizer: Tokenizer | None = None,
        threads: int = 1,
    ) -> None:
        self.name = "spam-text" if texts else "spam"
        self.gives_texts = texts
        self.labels = frozenset(labels)
        self.max_bytes = max_bytes
        self._tokenizer, self._threads = tokenizer, threads
        self._record_format, self._status_header = record_format, status_header
        self.max_text = max_text or (MAX_BODY_TEXT if texts else MAX_TEXT)

    def read(self, record: Record) -> Message | Feedback:
        """Return the message or the feedback in a record."""
        (found,) = self.read_many([record])
        if isinstance(found, StreamNBError):
            raise found
        return found

    def read_many(self, records: Iterable[Record]) -> list[Content]:
        """Return the content of each record, or its error."""
        opened = [caught(self._open, record) for record in records]
        mails = [each.raw for each in opened if isinstance(each, _Mail)]
        raw = [without_header(each, self._status_header) for each in mails]
        contents: Iterator[tuple[Any, list[str]]]
        if self.gives_texts:
            contents = iter(texts_and_senders(raw, self.max_text, self._threads))
        else:
            words = (words_and_senders(each, self.max_text) for each in raw)
            contents = ((dict.fromkeys(each, 1), senders) for each, senders in words)
        return [
            caught(self._message, each, *next(contents)) if isinstance(each, _Mail) else each
            for each in opened
        ]

    def _open(self, record: Record) -> _Mail | Feedback:
        value, kind = read_value(record, self.max_bytes), self._record_format
        if kind == "raw" or (kind == "either" and value.lstrip()[:1] != b"{"):
            if not value.strip():
                raise BadRecordError("the mail is empty")
            return _Mail(default_id(record), value, _label(record, self.labels), record)
        fields = read_object(value)
        name, label = read_id(fields, record), read_label(fields, self.labels)
        raw = _raw(fields)
        if raw is not None:
            return _Mail(name, raw, label, record, fields)
        return read_feedback(fields, name, label)

    def _message(self, mail: _Mail, content: Any, senders: list[str]) -> Message:
        features: Features = content
        if self.gives_texts:
            own = {name: each for name, each in mail.fields.items() if name not in MAIL_FIELDS}
            fields = {"sender": next(iter(senders), None), **own}
            # The text of a mail has fields of its own, so it comes into the place of an empty text.
            empty = add_fields(self._tokenizer, "", mail.record, fields)
            has_values = empty not in ("", _TEXT)
            features = empty.replace(_TEXT, _TEXT + content, 1) if has_values else content
        return Message(mail.name, features, mail.label, tuple(senders))


class _Mail(NamedTuple):
    """A mail in a record, before it is read."""

    name: str
    raw: bytes
    label: str | None
    record: Record
    fields: Mapping[str, Any] = MappingProxyType({})


def _label(record: Record, labels: frozenset[str]) -> str | None:
    """Return the label in the headers of a record; the last header counts, as in Kafka."""
    found = [value for name, value in record.headers if name == "label"]
    if not found or found[-1] is None:
        return None
    return read_label({"label": found[-1].decode("utf-8", "replace")}, labels)


def _raw(fields: dict[str, object]) -> bytes | None:
    encoded = read_text(fields, "base64")
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadRecordError(f"invalid base64: {error}") from None
    text = read_text(fields, name_of_text(fields))
    return None if text is None else text.encode()
