"""Requests to a resident filter, independent of the protocol: classify, learn, unlearn."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
from collections.abc import Mapping

from streamnb.mail.header_block import first_value
from streamnb.model.threshold import UNSURE
from streamnb_consumers.daemon.assembly import has_label_sets
from streamnb_consumers.daemon.listen.requests import Answer, Requests
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.jsons import compact
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.window import CONTENT_ID
from streamnb_consumers.records import Decision, Headers

REQUIRED = 5.0
"""Points from which a mail is spam, as in SpamAssassin."""


def content_id(raw: bytes, headers: Headers = ()) -> str:
    r"""Return the id of a mail: a hash of its `Message-ID`, its body, and record headers.

    Servers add other headers on the way, so a mail that is decided on arrival and corrected in the
    mailbox keeps its id. Without a `Message-ID` and a body, the sender, the subject and the date
    identify it.

    Examples
    --------
    >>> mail = b"Message-ID: <1@x.example>\n\nhello\n"
    >>> content_id(mail) == content_id(b"Received: by y\r\n" + mail.replace(b"\n", b"\r\n"))
    True
    """
    raw = raw.replace(b"\r\n", b"\n").lstrip(b"\n")
    _, _, body = raw.partition(b"\n\n")
    found = first_value(raw, "message-id") or b""
    if not found and not body.strip():
        found = b"\n".join(
            first_value(raw, name) or b"" for name in ("from", "subject", "date", "to")
        )
    if headers:
        found += b"\n" + compact(headers)
    content = hashlib.blake2b(found + b"\n" + body.rstrip(), digest_size=16)
    return CONTENT_ID + content.hexdigest()


def points(decision: Decision, pos_label: str) -> float:
    """Return the score of a decision in points: 5 or more mean spam, as in SpamAssassin.

    The points are 5 plus the log odds of the positive label, in nats. A decision that does not
    follow from the probability alone stays on its side of 5. An unsure decision has 0 points.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> made = Decision("1", "spam", {"spam": 0.9, "ham": 0.1}, 1.0, 2, Partition("x", 0), 0)
    >>> round(points(made, "spam"), 1)
    7.2
    """
    share = decision.probabilities.get(pos_label)
    if share is None or decision.label == UNSURE:
        return 0.0
    odds = math.log(max(share, 1e-12)) - math.log(max(1.0 - share, 1e-12))
    found = round(REQUIRED + odds, 1)
    return max(found, REQUIRED) if decision.label == pos_label else min(found, REQUIRED - 0.1)


class Service:
    """Send requests to the filter, and wait for its answers.

    Parameters
    ----------
    kind
        `"sms"` or `"spam"`.
    settings
        Settings of the filter.
    requests
        Requests that the filter reads.
    worker
        The filter: the maximum size of its messages, and the readiness of its model.
    """

    def __init__(self, kind: str, settings: Settings, requests: Requests, worker: Filter) -> None:
        self.kind, self.settings, self.max_bytes = kind, settings, worker.reader.max_bytes
        self._learner = worker.learner
        self.label_sets = has_label_sets(worker.learner.model)
        self._requests = requests
        self.recent = requests.recent

    async def classify(
        self, raw: bytes, fields: Mapping[str, str], label: str | None = None, words: int = 0
    ) -> Answer:
        """Decide a message and name `words` words, or learn it with its label.

        A label that was learned before is corrected. `fields` may contain fields of the message.
        """
        headers = self._headers(fields)
        name = content_id(raw, headers)
        value = self._message(raw, name, {} if label is None else {"label": label})
        if value is raw and label is not None:
            headers += (("label", label.encode()),)
        return await self.send(value, name, label is not None, words, headers)

    def readiness(self) -> dict[str, object]:
        """Return the messages in the model by label, and why it is not ready; empty if it is."""
        found = self._learner.find_readiness()
        labels = {str(label): messages for label, messages in found.labels.items()}
        return {"labels": labels, "ready": found.ready, "reason": found.reason}

    async def unlearn(self, raw: bytes, fields: Mapping[str, str]) -> Answer:
        """Unlearn a message, if it is in the join window."""
        return await self.unlearn_id(content_id(raw, self._headers(fields)))

    async def unlearn_id(self, name: str, fields: Mapping[str, object] | None = None) -> Answer:
        """Unlearn the message with an id; `fields` are recorded with it."""
        value = {"id": name, "unlearn": True, **(fields or {})}
        return await self.send(json.dumps(value).encode(), name, True)

    def _headers(self, fields: Mapping[str, str]) -> Headers:
        """Return the record headers of the fields that the model reads."""
        return tuple(
            (name, fields[name].encode()) for name in self.settings.fields if name in fields
        )

    def _message(self, raw: bytes, name: str, label: Mapping[str, str]) -> bytes:
        """Return a message in a format of the reader; a plain mail stays as it is."""
        if self.kind == "sms":
            content = {"text": raw.decode("utf-8", "replace")}
        elif raw.lstrip()[:1] == b"{":  # the reader would take it for JSON
            content = {"base64": base64.b64encode(raw).decode()}
        else:
            return raw
        return json.dumps({"id": name, **content, **label}).encode()

    async def send(
        self, value: bytes, name: str, feedback: bool = False, words: int = 0, headers: Headers = ()
    ) -> Answer:
        """Send a record in a format of the filter's reader; wait for its answer.

        Parameters
        ----------
        value
            The message or feedback.
        name
            Id of the message.
        feedback
            Whether to learn or unlearn; otherwise the answer has a decision.
        words
            Number of words to name.
        headers
            Record headers.
        """
        if words:
            headers += (("explain", str(words).encode()),)
        answer = self._requests.submit(value, name, "feedback" if feedback else "message", headers)
        return await asyncio.wrap_future(answer)
