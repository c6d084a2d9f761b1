"""SMS: a JSON object with `id`, `text`, and where known `sender`, `time` and `label`."""

from __future__ import annotations

from collections.abc import Iterable

from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.messages.reading import read_id, read_label, read_object, read_text
from streamnb_consumers.records import Feedback, Message, Record

__all__ = ["DEFAULT_MODEL", "Sms"]

DEFAULT_MODEL = "OnlineNB()"


class Sms:
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
    >>> Sms().read(Record(Partition("sms", 0), 0, value))
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
