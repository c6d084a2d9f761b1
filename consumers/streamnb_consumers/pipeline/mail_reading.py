"""Mail: RFC 5322 as raw bytes, or in a JSON object as `text` or `base64`, with `id` and `label`.

A raw mail is called by its record's key, and labelled by its record's header `label`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Literal

from streamnb.mail.header_block import STATUS_HEADER, senders, without_header
from streamnb.mail.text import MAX_BODY_TEXT, mail_text
from streamnb.mail.words import MAX_TEXT, mail_words
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.pipeline.reading import (
    default_id,
    read_id,
    read_label,
    read_object,
    read_text,
)
from streamnb_consumers.records import Feedback, Message, Record

__all__ = ["DEFAULT_MODEL", "MailReader"]

DEFAULT_MODEL = "OnlineNB(tokenizer=Tokenizer(words=(1, 2), boundaries='unicode', subject=True))"


class MailReader:
    r"""Read mail to the words it has, each counted once, or to a text for a model's tokenizer.

    A word that a mail repeats says little more than a word that it has: prequentially on the
    SpamAssassin corpus (1-AUC)% of `MNB` is about half of what it is with counts.

    Parameters
    ----------
    labels
        Labels that are taken; none for any.
    max_bytes
        Longest record in bytes, 1 or more.
    form
        Whether records are raw mails, JSON, or either: no header's name begins with a brace.
    texts
        Whether a mail is read to a text, with `mail_text`, and not to words, with `mail_words`.
    status_header
        A header that filters write: a mail is read without it, for anybody may have sent it.
    max_text
        Characters of the texts in a mail that are read, 1 or more; None: those that `mail_text` or
        `mail_words` reads.

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
        form: Literal["either", "raw", "json"] = "either",
        status_header: str = STATUS_HEADER,
        texts: bool = False,
        max_text: int | None = None,
    ) -> None:
        self.name = "spam-text" if texts else "spam"
        self.gives_texts = texts
        self.labels = frozenset(labels)
        self.max_bytes = max_bytes
        self._form, self._status_header = form, status_header
        self._max_text = max_text or (MAX_BODY_TEXT if texts else MAX_TEXT)

    def read(self, record: Record) -> Message | Feedback:
        """Return the message or the feedback that a record holds.

        Raises
        ------
        BadRecordError
            If it holds neither.
        """
        value = record.value
        if value is None:
            raise BadRecordError("no value")
        if len(value) > self.max_bytes:
            raise BadRecordError(f"longer than {self.max_bytes:,} bytes")
        if self._form == "raw" or (self._form == "either" and value.lstrip()[:1] != b"{"):
            if not value.strip():
                raise BadRecordError("an empty mail")
            return self._message(default_id(record), value, _label(record, self.labels))
        fields = read_object(value)
        name, label = read_id(fields, record), read_label(fields, self.labels)
        raw = _raw(fields)
        if raw is not None:
            return self._message(name, raw, label)
        if label is None or "id" not in fields:
            raise BadRecordError("a message needs text or base64; feedback needs id and label")
        return Feedback(name, label)

    def _message(self, name: str, raw: bytes, label: str | None) -> Message:
        raw = without_header(raw, self._status_header)
        room = self._max_text
        features = mail_text(raw, room) if self.gives_texts else _words(raw, room)
        return Message(name, features, label, senders(raw))


def _words(raw: bytes, room: int) -> dict[str, float]:
    return dict.fromkeys(mail_words(raw, room), 1)


def _label(record: Record, labels: frozenset[str]) -> str | None:
    """Return the label that a record's headers give; the last of several, as in Kafka's clients."""
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
            raise BadRecordError(f"base64 can't be decoded: {error}") from None
    text = read_text(fields)
    return None if text is None else text.encode()
