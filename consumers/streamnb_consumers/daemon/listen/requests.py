"""Requests of clients, as records that wait for a filter, and their answers."""

from __future__ import annotations

import base64
import queue
import secrets
import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import Any, NamedTuple

from streamnb_consumers.errors import BusyError
from streamnb_consumers.records import (
    Decision,
    Headers,
    Label,
    Outputs,
    Partition,
    Record,
    Result,
    Role,
)

PLACE = Partition("requests", 0)
_PAUSE_OF_LABELS = 5.0  # seconds after a label that could not be stored
_MOST_KEPT, _MOST_BYTES = 1000, 2**24  # recent requests, and bytes of their records


class Answer(NamedTuple):
    """The result of one request.

    Attributes
    ----------
    id
        Id of the message.
    decision
        The decision; None for labels.
    learned, unlearned
        The label that the model learned or unlearned; None if there was nothing to do.
    error
        Reason why the request was refused; empty if it was not.
    accepted
        Whether the request is in the feedback topic, and the group learns it soon.
    result, kept
        The result of a label (`LabelResult`); None for decisions, and with topics.
    """

    id: str
    decision: Decision | None = None
    learned: Label | None = None
    unlearned: Label | None = None
    error: str = ""
    accepted: bool = False
    result: Result | None = None
    kept: Label | None = None


class Recent:
    """The last requests with their answers, for the web page. Thread-safe."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(8)
        self._kept: deque[tuple[int, Record, Answer, Label | None]] = deque()
        self._n_added = self._bytes = 0
        self._lock = threading.Lock()

    def add(self, record: Record, answer: Answer, decided: Label | None) -> None:
        """Keep a request; `decided` is the earlier decision on a message that was learned."""
        with self._lock:
            self._n_added += 1
            self._kept.append((self._n_added, record, answer, decided))
            self._bytes += len(record.value or b"")
            while len(self._kept) > _MOST_KEPT or self._bytes > _MOST_BYTES:
                self._bytes -= len(self._kept.popleft()[1].value or b"")

    def after(self, number: int) -> dict[str, Any]:
        """Return at most 100 requests after a number as plain values, and the next number."""
        with self._lock:
            found = [each for each in self._kept if each[0] > number][:100]
            following = found[-1][0] if found else self._n_added
        events = [
            {
                "number": place,
                "id": answer.id,
                "time": record.timestamp,
                "value": base64.b64encode(record.value or b"").decode(),
                "decision": answer.decision and answer.decision.to_json(),
                "learned": answer.learned,
                "unlearned": answer.unlearned,
                "decided": decided,
            }
            for place, record, answer, decided in found
            if not answer.error
        ]
        return {"run": self._run, "next": following, "events": events}


class _Request(NamedTuple):
    record: Record
    name: str
    answer: Future[Answer]


class Requests:
    """Requests that other threads submit, and the open batch of them.

    Parameters
    ----------
    most
        Maximum number of requests that wait, 1 or more.

    Attributes
    ----------
    batch
        Requests that were taken and not answered yet.
    recent
        The last requests with their answers.
    """

    def __init__(self, most: int = 1000) -> None:
        self._queue: queue.Queue[_Request] = queue.Queue(most)
        self._next: _Request | None = None  # taken from the queue, for the next batch
        self._closed = ""
        self._no_labels, self._no_labels_until = "", 0.0
        self.batch: list[_Request] = []
        self.recent = Recent()

    def submit(
        self, value: bytes, name: str, role: Role = "message", headers: Headers = ()
    ) -> Future[Answer]:
        """Add a request from any thread; the future gets its answer after the commit.

        Parameters
        ----------
        value
            A message or feedback, in a format of the filter's reader.
        name
            Id of the message.
        role
            `message` asks for a decision, `feedback` learns or unlearns.
        headers
            Record headers, such as `label`.

        Raises
        ------
        BusyError
            If too many requests wait, or the filter cannot answer at present.
        """
        record = Record(PLACE, 0, value, name.encode("utf-8", "replace"), headers, role=role)
        request = _Request(record, name, Future())
        if self._closed:
            raise BusyError(self._closed)
        if role == "feedback" and time.monotonic() < self._no_labels_until:
            raise BusyError(self._no_labels)
        try:
            self._queue.put_nowait(request)
        except queue.Full:
            raise BusyError("too many requests wait: try again later") from None
        return request.answer

    def take(self, most: int, timeout: float, first: int) -> list[Record]:
        """Return the next requests as records, with offsets from `first` on.

        Wait for the first one only. A batch has one request for each message, because only the id
        connects a training event with its request.
        """
        records: list[Record] = []
        names: set[str] = set()
        try:
            while len(records) < most:
                request, self._next = self._next, None
                if request is None:
                    request = self._queue.get(not records, timeout)
                if request.name in names:
                    self._next = request
                    break
                if not request.answer.set_running_or_notify_cancel():
                    continue  # its client has left
                names.add(request.name)
                offset, now = first + len(records), int(time.time() * 1000)
                request = request._replace(
                    record=request.record._replace(offset=offset, timestamp=now)
                )
                records.append(request.record)
                self.batch.append(request)
        except queue.Empty:
            pass
        return records

    def answer(self, outputs: Outputs, accepted: bool = False) -> None:
        """Answer the requests of the open batch with the outputs of the filter."""
        decisions = {each.offset: each for each in outputs.decisions}
        errors = {each.record.offset: each.error for each in outputs.dead_letters}
        events = {each.id: each for each in outputs.training if not each.is_own}
        results = {each.offset: each for each in outputs.results}
        for record, name, answer in self.batch:
            event, error = events.get(name), errors.get(record.offset, "")
            changed = results.get(record.offset)
            result = Answer(
                name,
                decisions.get(record.offset),
                event.learn if event else None,
                event.corrected if event else None,
                error,
                accepted and record.role == "feedback" and not error,
                changed and changed.result,
                changed and changed.kept,
            )
            self.recent.add(record, result, event.decided if event else None)
            answer.set_result(result)
        self.batch = []

    def refuse(self, why: str) -> None:
        """Answer the requests of the open batch with an error; none of them had an effect."""
        for request in self.batch:
            request.answer.set_exception(BusyError(why))
        self.batch = []

    def refuse_labels(self, why: str) -> None:
        """Refuse labels for some seconds, so that they do not stop decisions."""
        self._no_labels, self._no_labels_until = why, time.monotonic() + _PAUSE_OF_LABELS

    def close(self, why: str) -> None:
        """Refuse all requests, until `open` is called."""
        self._closed = why
        self.refuse(why)
        while self._next is not None or self.waiting:
            self.take(self.waiting + 1, 0.0, 0)
            self.refuse(why)

    def open(self) -> None:
        """Accept requests again."""
        self._closed = ""

    @property
    def waiting(self) -> int:
        """Number of requests that wait."""
        return self._queue.qsize()
