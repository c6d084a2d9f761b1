"""Decisions of a running filter on the page, and the labels that people give them."""

from __future__ import annotations

import dataclasses
import re
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from streamnb.errors import InputError
from streamnb.web.inspection import nearest, word_set
from streamnb.web.measures import Measures
from streamnb.web.session import clean

MOST_NAME = 100  # characters of a label or of an annotator's name
MOST_TEXT = 20_000  # characters of a text that are kept
_MOST_HEADER = 500
_MOST_LABELS = 200
_MOST_FOUND = 200
_MOST_SIMILAR = 50
_LEAST_LIKENESS = 0.8  # of messages that are labelled together
_MOST_WORDS = 20  # of a decision
_HISTORY = 10_000
_MOST_EARLY = 1_000  # records that arrive before the records that they belong to
_HEADER = re.compile(r"(?m)^([A-Za-z][A-Za-z0-9-]*): ?(.*)\n?")
_TAG = re.compile(r"<(?:br|p|div|table|html|a|img|span|b|font)\b", re.IGNORECASE)


class Feed(Protocol):
    """A running filter: its records, and a way to send it labels."""

    def follow(self, board: Board) -> None:
        """Write the records of the filter to the board until `stop` is called."""

    def send(self, labels: Sequence[tuple[Item, str | None]], annotator: str) -> None:
        """Send labels; None unlearns. Return when they are durable; StreamNBError if they are not.

        The board then gets the corrections from `follow`.
        """

    def stop(self) -> None:
        """End `follow`."""


@dataclasses.dataclass
class Item:
    """A message of the filter.

    Attributes
    ----------
    id
        Its id.
    number
        Order of arrival, from 1.
    time
        Milliseconds since 1970, or None.
    partition
        Its partition, where its labels belong.
    sender, subject, date, text
        The parts of a mail; an SMS has no subject and date.
    cut
        Whether the text is longer than the kept part.
    words
        Its words, to find similar messages.
    decision
        The decision of the filter; None before it.
    label
        The label that the filter has learned; None without one.
    sent
        The label that was sent and is not learned yet, as a tuple of one; None without one.
    skipped
        Whether a person skipped the question.
    counted
        Its number in the figures; 0 before it was learned.
    """

    id: str
    number: int
    time: int | None = None
    partition: int = 0
    sender: str = ""
    subject: str = ""
    date: str = ""
    text: str = ""
    cut: bool = False
    words: frozenset[str] = frozenset()
    decision: Mapping[str, Any] | None = None
    label: str | None = None
    sent: tuple[str | None] | None = None
    skipped: bool = False
    counted: int = 0

    @property
    def probability(self) -> float | None:
        """Probability of the decided label."""
        decision = self.decision or {}
        return (decision.get("probabilities") or {}).get(decision.get("label"))

    @property
    def waits(self) -> bool:
        """Whether its label is requested and nobody has answered."""
        asked = bool((self.decision or {}).get("ask"))
        return asked and self.label is None and self.sent is None and not self.skipped

    def shown(self, most: int = 300) -> dict[str, Any]:
        """Return the message as the page lists it, with a part of its text."""
        plain = {name: getattr(self, name) for name in _SHOWN}
        sent = None if self.sent is None else {"label": self.sent[0]}
        return plain | {"text": self.text[:most], "sent": sent, "waits": self.waits}


_DECISION = ("label", "probabilities", "score", "version", "listed", "ask")
_SHOWN = (
    *("id", "number", "time", "sender", "subject", "date", "cut", "decision", "probability"),
    *("label", "skipped"),
)


def read_mail(text: str) -> dict[str, str]:
    r"""Return sender, subject, date and text of a mail as `mail_text` writes it.

    Examples
    --------
    >>> read_mail("From: Ann <ann@x.example>\nSubject: Lunch\nAt <b>noon</b>?<br>")
    {'sender': 'Ann <ann@x.example>', 'subject': 'Lunch', 'date': '', 'text': 'At noon?'}
    """
    headers: dict[str, str] = {}
    place = 0
    while found := _HEADER.match(text, place):
        headers.setdefault(found[1].lower(), found[2][:_MOST_HEADER])
        place = found.end()
    body = text[place:]
    if _TAG.search(body):
        from streamnb.mail.html import read_html

        body = " ".join(read_html(body).text.split())
    names = {"sender": "from", "subject": "subject", "date": "date"}
    return {name: headers.get(key, "") for name, key in names.items()} | {"text": body}


def _shorten(table: dict[Any, Any]) -> None:
    if len(table) > _MOST_EARLY:
        del table[next(iter(table))]


class Board:
    """The last messages of a filter with decisions, labels and the history of corrections.

    All methods are thread-safe.

    Parameters
    ----------
    keep
        Number of latest messages to keep, at least 1.

    Attributes
    ----------
    trouble
        Why the filter cannot be read at present; empty if it can.

    Examples
    --------
    >>> board = Board()
    >>> board.message("1", {"text": "win cash"})
    >>> board.decide("1", {"label": "ham", "probabilities": {"ham": 0.6, "spam": 0.4}, "ask": True})
    >>> [item["id"] for item in board.queue()]
    ['1']
    >>> board.correct("1", "spam", (0, 0), annotator="ann")
    >>> board.learn("1", "spam", "ham", "training 0:0")
    >>> [(one["label"], one["status"]) for one in board.history()]
    [('spam', 'learned at training 0:0')]
    """

    def __init__(self, keep: int = 5000) -> None:
        self.keep = keep
        self.trouble = ""
        self._run = secrets.token_hex(8)
        self._items: dict[str, Item] = {}
        self._n_items = 0
        self._revision = 0
        self._labels: dict[str, None] = {}
        self._measures = Measures(every=5, keep=keep)
        self._counted = 0
        self._history: dict[Any, dict[str, Any]] = {}  # by position
        self._pending: dict[str, Any] = {}  # positions of labels that were sent, by id
        self._refused: dict[Any, str] = {}  # positions whose labels are read later
        self._early: dict[str, Item] = {}  # learned messages that are read later
        self._lock = threading.RLock()

    # --- records of the filter --------------------------------------------------------------------

    def message(
        self, name: str, parts: Mapping[str, str], time: int | None = None, partition: int = 0
    ) -> None:
        """Add a message.

        Parameters
        ----------
        name
            Its id.
        parts
            `text`, and optionally `sender`, `subject` and `date`.
        time
            Milliseconds since 1970, or None.
        partition
            Its partition.
        """
        with self._lock:
            item = self._item(name)
            for part, value in parts.items():
                setattr(item, part, clean(value)[:MOST_TEXT])
            item.cut = len(parts.get("text", "")) > MOST_TEXT
            item.words = word_set(f"{item.subject} {item.text}")
            item.time, item.partition = time, partition

    def decide(self, name: str, decision: Mapping[str, Any]) -> None:
        """Set the decision on a message."""
        with self._lock:
            kept = {key: decision.get(key) for key in _DECISION if key in decision}
            kept["words"] = (decision.get("words") or [])[:_MOST_WORDS]
            self._item(name).decision = kept
            self.know(decision.get("probabilities") or ())

    def correct(
        self,
        name: str,
        label: str | None,
        position: Any,
        *,
        source: str = "",
        annotator: str = "",
        time: int | None = None,
    ) -> None:
        """Add a label to the history, unless the position is known."""
        with self._lock:
            if position in self._history:
                return
            if (before := self._pending.pop(name, None)) in self._history:
                self._history[before]["status"] = "replaced"
            item = self._items.get(name) or self._early.get(name)
            entry = self._history[position] = {
                "id": name,
                "label": label,
                "source": source,
                "annotator": annotator,
                "time": time,
                "status": self._refused.pop(position, "sent"),
                "text": "" if item is None else (item.subject or item.text)[:100],
            }
            if item is not None and item.label == label and entry["status"] == "sent":
                entry["status"] = "learned"
            if entry["status"] == "sent":
                self._pending[name] = position
            if item is not None:
                item.sent = (label,) if entry["status"] == "sent" else None
            if len(self._history) > _HISTORY:
                del self._history[next(iter(self._history))]
            self.know([] if label is None else [label])
            self._revision += 1

    def learn(self, name: str, label: str | None, decided: str | None, position: str) -> None:
        """Note that the filter has learned a label, or unlearned it if it is None.

        Parameters
        ----------
        name, label
            Id and label of the message.
        decided
            The decision on the message, which the figures compare with the label.
        position
            Where the filter has recorded it.
        """
        with self._lock:
            self._revision += 1
            item = self._items.get(name) or Item(name, 0)
            if not item.number:  # its message is read later
                self._early[name] = item
                _shorten(self._early)
            item.label = label
            if not item.counted:
                self._counted += 1
                item.counted = self._counted
            shares: Any = (item.decision or {}).get("probabilities") or {}
            if decided is not None:
                self._measures.count(item.counted, label, decided, shares)
            self.know([] if label is None else [label])
            entry = self._history.get(self._pending.get(name))
            if entry is not None and entry["label"] == label:
                entry["status"] = f"learned at {position}"
                del self._pending[name]
                item.sent = None

    def refuse(self, position: Any, why: str) -> None:
        """Note that the filter has refused the label at a position."""
        with self._lock:
            status = f"refused: {why}"
            entry = self._history.get(position)
            if entry is None:
                self._refused[position] = status
                _shorten(self._refused)
            elif entry["status"] == "sent":
                entry["status"] = status
                self._pending.pop(entry["id"], None)
                if (item := self._items.get(entry["id"])) is not None:
                    item.sent = None
                self._revision += 1

    def _item(self, name: str) -> Item:
        self._revision += 1
        item = self._items.get(name)
        if item is None:
            self._n_items += 1
            item = self._early.pop(name) if name in self._early else Item(name, 0)
            self._items[name] = item
            item.number = self._n_items
            entry = self._history.get(self._pending.get(name))
            if entry is not None:
                item.sent = (entry["label"],)
            if len(self._items) > self.keep:
                del self._items[next(iter(self._items))]
        return item

    def know(self, labels: Iterable[str]) -> None:
        """Add labels that the page offers; they keep their order."""
        for label in labels:
            if len(self._labels) < _MOST_LABELS:
                self._labels.setdefault(label)

    # --- what people do ---------------------------------------------------------------------------

    def items(self, names: Iterable[str]) -> list[Item]:
        """Return the messages with these ids.

        Raises
        ------
        InputError
            If the board has dropped one.
        """
        with self._lock:
            found = []
            for name in names:
                if name not in self._items:
                    raise InputError(
                        f"message {name!r} is not kept; only the last {self.keep} messages are"
                    )
                found.append(self._items[name])
            return found

    def mark(self, name: str, skipped: bool) -> None:
        """Skip a question, or take that back."""
        with self._lock:
            self.items([name])[0].skipped = skipped
            self._revision += 1

    def sent(self, names: Iterable[str], label: str | None) -> None:
        """Note that a label was sent, before `correct` reads it from the filter."""
        with self._lock:
            for item in self.items(names):
                item.sent = None if item.label == label else (label,)
            self._revision += 1

    def queue(self) -> list[dict[str, Any]]:
        """Return the messages whose labels are requested, the oldest first."""
        with self._lock:
            found = [item for item in self._items.values() if item.waits]
            return [item.shown(MOST_TEXT) for item in found[:_MOST_FOUND]]

    def search(
        self, text: str = "", sender: str = "", label: str = "", low: float = 0, high: float = 1
    ) -> list[dict[str, Any]]:
        """Return the messages that fulfil all conditions, the newest first, at most 200.

        Parameters
        ----------
        text, sender
            Part of the subject, the text or the id; part of the sender; in any case.
        label
            The decision; empty for any.
        low, high
            Bounds of the probability of the decision, in [0, 1].
        """
        text, sender = text.casefold(), sender.casefold()
        found = []
        with self._lock:
            for item in reversed(self._items.values()):
                if label and (item.decision or {}).get("label") != label:
                    continue
                share = item.probability
                if (low > 0 or high < 1) and (share is None or not low <= share <= high):
                    continue
                where = f"{item.subject}\n{item.text}\n{item.id}".casefold()
                if text in where and sender in item.sender.casefold():
                    found.append(item.shown())
                    if len(found) == _MOST_FOUND:
                        break
        return found

    def open(self, name: str) -> dict[str, Any]:
        """Return a message with its whole text and the messages that are nearly the same."""
        with self._lock:
            (item,) = self.items([name])
            others = {one.id: one.words for one in self._items.values() if one is not item}
            like = [
                {**self._items[other].shown(), "likeness": likeness}
                for other, likeness in nearest(item.words, others, _MOST_SIMILAR)
                if likeness >= _LEAST_LIKENESS
            ]
            return {**item.shown(MOST_TEXT), "like": like}

    def history(self) -> list[dict[str, Any]]:
        """Return the labels that people gave, the newest first."""
        with self._lock:
            return [dict(entry) for entry in reversed(self._history.values())]

    def state(self) -> dict[str, Any]:
        """Return the number of messages and questions, the labels and the quality."""
        with self._lock:
            return {
                "run": self._run,
                "revision": self._revision,
                "messages": self._n_items,
                "waiting": sum(item.waits for item in self._items.values()),
                "unlearned": sum(item.sent is not None for item in self._items.values()),
                "labels": list(self._labels),
                "trouble": self.trouble,
                "models": {"filter": self._measures.summary(next(iter(self._labels), None))},
            }
