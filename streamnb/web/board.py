"""The messages of the page with their decisions, labels and corrections, and their source."""

from __future__ import annotations

import dataclasses
import itertools
import re
import secrets
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamnb.errors import InputError
from streamnb.model.threshold import UNSURE
from streamnb.parameters import check_bound
from streamnb.processes import fork_safe_lock
from streamnb.text.labels import MessageLabel, label_names
from streamnb.web.agreement import PAGE, Opinions, agreement, contested, opinions
from streamnb.web.inspection import nearest, word_set
from streamnb.web.measures import Measures, Volume

MOST_NAME = 100  # characters of a label or of an annotator's name
MOST_TEXT = 20_000  # characters of a text that are kept
FILTER = "filter"  # name of the one model of a filter
_MOST_SHOWN = 300  # characters of a text in the list
_MOST_HEADER = 500
_MOST_LABELS = 200
_MOST_FOUND = 200
_MOST_NEAR = 50
_LEAST_LIKENESS = 0.8  # of messages that are labelled together
_SIMILAR = 5  # messages that are shown with any likeness
_MOST_TOKENS = 20  # of a decision
_TOP_OVER = 200  # messages whose tokens are shown for each class
_TOP_TOKENS = 15
_HISTORY = 10_000
_MOST_EARLY = 1_000  # records that arrive before the records that they belong to
_HEADER = re.compile(r"(?m)^([A-Za-z][A-Za-z0-9-]*): ?(.*)\n?")


class Feed(ABC):
    """The source of a board's messages, and the models that learn the labels of people.

    Attributes
    ----------
    board
        Receives the messages, the decisions and the labels.
    takes_new_labels
        Whether a message may get a label that no message has had.
    """

    board: Board
    takes_new_labels = True

    def check(self) -> None:
        """Raise StreamNBError if the source does not answer."""
        return

    @abstractmethod
    def follow(self) -> None:
        """Write to the board until `stop` is called."""

    @abstractmethod
    def send(
        self,
        labels: Sequence[tuple[Item, MessageLabel | None]],
        annotator: str,
        source: str = PAGE,
    ) -> None:
        """Give labels to the models; None unlearns. Return when the labels are durable.

        Parameters
        ----------
        labels
            Messages with their labels.
        annotator
            The person who gives them.
        source
            `page`, or `undo` for labels that a person restores.

        Raises
        ------
        StreamNBError
            If they are not.
        """

    @abstractmethod
    def stop(self) -> None:
        """End `follow`."""

    def state(self) -> dict[str, Any]:
        """Return what the page shows about the feed itself."""
        return {}

    def text(self, item: Item) -> str:
        """Return the whole text of a message, as far as it is kept."""
        return item.text

    def fields(self, item: Item) -> Mapping[str, Any]:
        """Return the other fields of the record of a message."""
        return {}

    def inspect(self, item: Item) -> dict[str, Any]:
        """Return the reasons of the present decisions on a message, if the models are here."""
        return {}


@dataclasses.dataclass
class Item:
    """A message.

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
        The parts of a mail; other messages have a text, and perhaps a sender.
    cut
        Whether the text is longer than the kept part.
    words
        Its words, to find similar messages.
    answers
        Name of a model → its decision, which preceded the label.
    given
        The label or labels with which it arrived; None without them.
    label
        The label or labels that the models have learned; None without them.
    sent
        The label or labels that were sent and are not learned yet, in a tuple of one; None without.
    skipped
        Whether a person skipped the question.
    counted
        Its number in the figures; 0 before it was learned.
    revision
        Number of its last change, from 1.
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
    answers: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    given: MessageLabel | None = None
    label: MessageLabel | None = None
    sent: tuple[MessageLabel | None] | None = None
    skipped: bool = False
    counted: int = 0
    revision: int = 0

    @property
    def present(self) -> MessageLabel | None:
        """The label that was sent last, or else the one that the models have learned."""
        return self.label if self.sent is None else self.sent[0]

    def record(self) -> dict[str, Any]:
        """Return the parts of the message that `streamnb learn` reads."""
        parts = {name: getattr(self, name) for name in ("sender", "subject", "date")}
        return {name: part for name, part in parts.items() if part} | {"text": self.text}

    @property
    def waits(self) -> bool:
        """Whether its label is requested and nobody has answered."""
        asked = any(each.get("ask") for each in self.answers.values())
        return asked and self.label is None and self.sent is None and not self.skipped

    def decisions(self) -> dict[str, dict[str, Any]]:
        """Return the decision of each model, and the probabilities of its labels.

        Without a label, as if the decision is `unsure`, or a threshold prevented it, the most
        likely one is named.
        """
        return {
            name: {
                "label": each["label"],
                "shares": _shares(each["label"], each["probabilities"]),
            }
            for name, each in self.answers.items()
        }

    def is_a(self, kind: str) -> bool:
        """Return whether it is one of `questions`, `wrong`, `disputed` or `unlabelled` messages."""
        decided = {each["label"] for each in self.answers.values()}
        if kind == "questions":
            return self.waits
        if kind == "wrong":
            return self.label is not None and bool(decided - {None, UNSURE, self.label})
        return len(decided) > 1 if kind == "disputed" else self.label is None

    def shown(self, most: int = _MOST_SHOWN) -> dict[str, Any]:
        """Return the message as the page lists it, with a part of its text."""
        plain = {name: getattr(self, name) for name in _SHOWN}
        sent = None if self.sent is None else {"label": self.sent[0]}
        more = {"text": self.text[:most], "sent": sent, "waits": self.waits}
        return plain | more | {"answers": self.decisions()}


_SHOWN = (
    *("id", "number", "time", "sender", "subject", "date", "cut", "given", "label", "skipped"),
    "revision",
)


def _shares(
    decision: MessageLabel | None, probabilities: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Return the labels of a decision, or else the most likely label, with probabilities."""
    decided = [label for label in label_names(decision) if label in probabilities]
    if not decided and probabilities:
        decided = [max(probabilities, key=probabilities.__getitem__)]
    return [(label, probabilities[label]) for label in decided]


def _fits(decision: Mapping[str, Any], label: str, low: float, high: float) -> bool:
    """Return whether a decision has a label, and its probability is within bounds."""
    found = decision["label"]
    if label and label not in label_names(found):
        return False
    shares = decision["shares"]
    if label and isinstance(found, tuple):
        shares = [pair for pair in shares if pair[0] == label]
    return any(low <= share <= high for _, share in shares or [("", 0.0)])


def clean(text: str) -> str:
    r"""Return a text with its lone surrogates replaced, which models refuse.

    Examples
    --------
    >>> clean("win \ud800 cash")
    'win ? cash'
    """
    return text.encode("utf-8", "replace").decode()


def read_mail(text: str) -> dict[str, str]:
    r"""Return sender, subject, date and text of a mail as `mail_text` writes it.

    Examples
    --------
    >>> read_mail("From: Ann <ann@x.example>\nSubject: Lunch\nAt noon?\x1ehidden\x1fx")
    {'sender': 'Ann <ann@x.example>', 'subject': 'Lunch', 'date': '', 'text': 'At noon?'}
    """
    headers: dict[str, str] = {}
    place = 0
    while found := _HEADER.match(text, place):
        headers.setdefault(found[1].lower(), found[2][:_MOST_HEADER])
        place = found.end()
    body = text[place:].partition("\x1e")[0]  # without the fields of the tokenizer
    names = {"sender": "from", "subject": "subject", "date": "date"}
    return {name: headers.get(key, "") for name, key in names.items()} | {"text": body}


def _shorten(table: dict[Any, Any], most: int) -> None:
    """Remove the oldest entry if there are too many."""
    if len(table) > most:
        del table[next(iter(table))]


class Board:
    """The last messages of a feed with decisions, labels and the history of corrections.

    All methods are thread-safe.

    Parameters
    ----------
    keep
        Number of latest messages to keep, at least 1.
    models
        Names of the models that decide.

    Attributes
    ----------
    several
        Whether messages have any number of labels.
    trouble
        Why the feed cannot be read at present; empty if it can.
    readiness
        Messages in the model by label, `labels`, and why it is not ready, `reason`; None if the
        feed does not have them.
    lock
        Makes several calls one change.

    Examples
    --------
    >>> board = Board()
    >>> board.message("1", {"text": "win cash"})
    >>> board.decide("1", {"label": "ham", "probabilities": {"ham": 0.6, "spam": 0.4}, "ask": True})
    >>> [item["id"] for item in board.search("questions")]
    ['1']
    >>> board.correct("1", "spam", (0, 0), annotator="ann")
    >>> board.learn("1", "spam", "training 0:0")
    >>> [(one["label"], one["status"]) for one in board.history()]
    [('spam', 'learned at training 0:0')]
    """

    def __init__(self, keep: int = 1000, models: Iterable[str] = (FILTER,)) -> None:
        self.keep: int = check_bound("keep", keep, 1)
        self.several = False
        self.trouble = ""
        self.readiness: Mapping[str, Any] | None = None
        self._run = secrets.token_hex(8)
        self._items: dict[str, Item] = {}
        self._n_items = 0
        self._revision = 0
        self._labels: dict[str, None] = {}
        self._measures = {name: Measures(keep=keep) for name in models}
        self._volume = Volume()
        self._counted = 0
        self._history: dict[Any, dict[str, Any]] = {}  # by position
        self._opinions: Opinions | None = None  # None after a change of the history
        self._pending: dict[str, Any] = {}  # positions of labels that were sent, by id
        self._refused: dict[Any, str] = {}  # positions whose labels are read later
        self._early: dict[str, Item] = {}  # learned messages that are read later
        self.lock: Any = fork_safe_lock()

    # --- records of the feed ----------------------------------------------------------------------

    def message(
        self,
        name: str,
        parts: Mapping[str, str],
        time: int | None = None,
        partition: int = 0,
        given: MessageLabel | None = None,
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
        given
            The label with which it arrived, if any.
        """
        with self.lock:
            item = self._item(name)
            if time is not None and item.time is None:
                self._volume.add(time)
            for part, value in parts.items():
                setattr(item, part, clean(value)[:MOST_TEXT])
            item.cut = len(parts.get("text", "")) > MOST_TEXT
            item.words = word_set(f"{item.subject} {item.text}")
            item.time, item.partition, item.given = time, partition, given

    def decide(self, name: str, decision: Mapping[str, Any], model: str = FILTER) -> None:
        """Set the decision of a model on a message.

        Parameters
        ----------
        name
            Id of the message.
        decision
            `label`, `probabilities`, and optionally `tokens` with their contributions, the class
            `against` which they count, or `reasons`, the tokens of each of several labels, `listed`
            and `ask`.
        model
            Name of the model.
        """
        with self.lock:
            tokens = (decision.get("tokens") or [])[:_MOST_TOKENS]
            self._item(name).answers[model] = {**decision, "tokens": tokens}
            self.know(decision["probabilities"])

    def correct(
        self,
        name: str,
        label: MessageLabel | None,
        position: Any,
        *,
        source: str = "",
        annotator: str = "",
        time: int | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a label to the history, unless the position is known.

        Parameters
        ----------
        name, label
            Id of the message and its label; None unlearns.
        position
            Identifies the label.
        source, annotator
            Where the label comes from, and the person who gave it.
        time
            Milliseconds since 1970, or None.
        record
            The record of the message for the export; None for the parts on the board.
        """
        with self.lock:
            if position in self._history:
                return
            self._opinions = None
            if (before := self._pending.pop(name, None)) in self._history:
                self._history[before]["status"] = "replaced"
            item = self._items.get(name) or self._early.get(name)
            if record is None:
                record = {} if item is None else item.record()
            entry = self._history[position] = {
                "id": name,
                "label": label,
                "old": None if item is None else item.label,
                "record": record,
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
            _shorten(self._history, _HISTORY)
            self.know(label_names(label))
            self._touch(item)

    def learn(
        self,
        name: str,
        label: MessageLabel | None,
        position: str = "",
        decided: Mapping[str, MessageLabel | None] | None = None,
    ) -> None:
        """Note that the models have learned a label, or unlearned it if it is None.

        Parameters
        ----------
        name, label
            Id and label of the message.
        position
            Where this is recorded.
        decided
            The decisions that the figures compare with the label; None for those on the board.
        """
        with self.lock:
            item = self._items.get(name) or Item(name, 0)
            if not item.number:  # its message is read later
                self._early[name] = item
                _shorten(self._early, _MOST_EARLY)
            item.label = label
            if not item.counted:
                self._counted += 1
                item.counted = self._counted
            if decided is None:
                decided = {model: each["label"] for model, each in item.answers.items()}
            for model, decision in decided.items():
                shares: Any = item.answers.get(model, {}).get("probabilities", {})
                if decision not in (None, UNSURE):
                    self._measures[model].count(item.counted, label, decision, shares, item.time)
            self.know(label_names(label))
            entry = self._history.get(self._pending.get(name))
            if entry is not None and entry["label"] == label:
                entry["status"] = f"learned at {position}" if position else "learned"
                del self._pending[name]
                item.sent = None
            self._touch(item)

    def refuse(self, position: Any, why: str) -> None:
        """Note that the filter has refused the label at a position."""
        with self.lock:
            status = f"refused: {why}"
            entry = self._history.get(position)
            if entry is None:
                self._refused[position] = status
                _shorten(self._refused, _MOST_EARLY)
            elif entry["status"] == "sent":
                entry["status"], self._opinions = status, None
                self._pending.pop(entry["id"], None)
                if (item := self._items.get(entry["id"])) is not None:
                    item.sent = None
                self._touch(item)

    def _touch(self, item: Item | None) -> None:
        self._revision += 1
        if item is not None:
            item.revision = self._revision

    def _item(self, name: str) -> Item:
        item = self._items.get(name)
        if item is None:
            self._n_items += 1
            item = self._early.pop(name) if name in self._early else Item(name, 0)
            self._items[name] = item
            item.number = self._n_items
            entry = self._history.get(self._pending.get(name))
            if entry is not None:
                item.sent = (entry["label"],)
            _shorten(self._items, self.keep)
        self._touch(item)
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
        with self.lock:
            try:
                return [self._items[name] for name in names]
            except KeyError as missing:
                raise InputError(
                    f"message {missing} is not kept; only the last {self.keep} messages are"
                ) from None

    def mark(self, name: str, skipped: bool) -> None:
        """Skip a question, or take that back."""
        with self.lock:
            (item,) = self.items([name])
            item.skipped = skipped
            self._touch(item)

    def sent(self, names: Iterable[str], label: MessageLabel | None) -> None:
        """Record that a label was sent, before `correct` reads it from the feed."""
        with self.lock:
            for item in self.items(names):
                item.sent = None if item.label == label else (label,)
                self._touch(item)

    def search(
        self,
        kind: str = "",
        text: str = "",
        sender: str = "",
        label: str = "",
        low: float = 0,
        high: float = 1,
    ) -> list[dict[str, Any]]:
        """Return the messages that fulfil all conditions, at most 200.

        Questions come in their order, with their whole texts; others begin with the newest.
        The parameters are those of `find`.
        """
        is_queue = kind == "questions"
        with self.lock:
            found = self.find(kind, text, sender, label, low, high)
            most = MOST_TEXT if is_queue else _MOST_SHOWN
            return [item.shown(most) for item in found[:_MOST_FOUND]]

    def find(
        self,
        kind: str = "",
        text: str = "",
        sender: str = "",
        label: str = "",
        low: float = 0,
        high: float = 1,
    ) -> list[Item]:
        """Return all messages that fulfil all conditions.

        Parameters
        ----------
        kind
            `questions`, `wrong`, `disputed` or `unlabelled`; `contested`: annotators gave different
            labels; empty for all messages.
        text, sender
            Part of the subject, the text or the id; part of the sender; in any case.
        label
            The decision of a model; empty for any.
        low, high
            Bounds of the probability of that decision, in [0, 1].
        """
        text, sender = text.casefold(), sender.casefold()
        any_share = low <= 0 and high >= 1

        def matches(item: Item) -> bool:
            return (
                (item.id in disagreed if kind == "contested" else not kind or item.is_a(kind))
                and sender in item.sender.casefold()
                and (not text or text in f"{item.subject}\n{item.text}\n{item.id}".casefold())
                and (
                    (any_share and not label)
                    or any(_fits(each, label, low, high) for each in item.decisions().values())
                )
            )

        is_queue = kind == "questions"
        with self.lock:
            disagreed = contested(self._present_opinions()) if kind == "contested" else ()
            items = self._items.values()
            return list(filter(matches, items if is_queue else reversed(items)))

    def revision(self, name: str) -> int | None:
        """Return the number of the last change of a message; None if it is not kept."""
        with self.lock:
            return self._items[name].revision if name in self._items else None

    def open(self, name: str) -> dict[str, Any]:
        """Return a message with its whole text, its decisions and similar messages.

        A message that is nearly the same has `near`.
        """
        with self.lock:
            (item,) = self.items([name])
            others = {one.id: one.words for one in self._items.values() if one is not item}
            like: list[dict[str, Any]] = []
            for other, likeness in nearest(item.words, others, _MOST_NEAR):
                near = likeness >= _LEAST_LIKENESS
                if near or len(like) < _SIMILAR:
                    more = {"likeness": likeness, "near": near}
                    like.append(self._items[other].shown() | more)
            return {**item.shown(MOST_TEXT), "arrival": item.answers, "like": like}

    def history(self) -> list[dict[str, Any]]:
        """Return the labels that people gave, the newest first."""
        with self.lock:
            return [
                {name: value for name, value in entry.items() if name != "record"}
                for entry in reversed(self._history.values())
            ]

    def _present_opinions(self) -> Opinions:
        if self._opinions is None:
            self._opinions = opinions(self._history.values())
        return self._opinions

    def corrections(self) -> list[dict[str, Any]]:
        """Return the records of the messages whose label people changed, to learn them again.

        A record has the whole text, the present and the previous label (`labels` and `old_labels`
        if messages have several), and the annotator. Labels
        that were refused, taken back or replaced are left out. The order is that of the labels.

        Examples
        --------
        >>> board = Board()
        >>> board.message("1", {"text": "win cash"})
        >>> board.correct("1", "spam", 1, annotator="ann")
        >>> board.corrections()  # doctest: +ELLIPSIS
        [{'text': 'win cash', 'id': '1', 'label': 'spam', 'old_label': None, ...}]
        """
        found: dict[str, dict[str, Any]] = {}
        now, old = ("labels", "old_labels") if self.several else ("label", "old_label")
        with self.lock:
            for entry in self._history.values():
                if entry["status"].startswith("refused"):
                    continue
                name = entry["id"]
                before = found.pop(name, None)
                first = entry["old"] if before is None else before[old]
                more = {key: entry[key] for key in ("annotator", "source", "time")}
                ours = {"id": name, now: entry["label"], old: first}
                found[name] = {**entry["record"], **ours, **more}
        return [one for one in found.values() if one[now] not in (None, one[old])]

    def top_tokens(self) -> dict[str, dict[str, list[tuple[str, float]]]]:
        """Return the most informative tokens of recent messages for each model and class.

        The contributions are those at the arrival of the messages.
        """
        # Counters of numbers that are not whole, for which they have no type.
        found: dict[str, Any] = {name: defaultdict(Counter) for name in self._measures}
        with self.lock:
            for item in itertools.islice(reversed(self._items.values()), _TOP_OVER):
                for name, answer in item.answers.items():
                    for token, adds in answer["tokens"]:
                        label = answer["label"] if adds > 0 else answer.get("against")
                        # A filter names neither the other class nor the tokens of each label.
                        if isinstance(label, str):
                            tokens = found[name][label]
                            tokens[token] = max(abs(adds), tokens[token])
                    for label, reasons in answer.get("reasons", {}).items():
                        for token, adds in reasons:
                            if adds > 0:
                                tokens = found[name][label]
                                tokens[token] = max(adds, tokens[token])
        return {
            name: {label: classes[label].most_common(_TOP_TOKENS) for label in sorted(classes)}
            for name, classes in found.items()
        }

    def state(self, pos_label: str | None = None) -> dict[str, Any]:
        """Return the number of messages and questions, the labels and the quality.

        Parameters
        ----------
        pos_label
            The label that the threshold decides for; None for the last one in sorted order.
        """
        with self.lock:
            if pos_label not in self._labels:
                pos_label = max(self._labels, default=None)
            return {
                "run": self._run,
                "revision": self._revision,
                "messages": self._n_items,
                "waiting": sum(item.waits for item in self._items.values()),
                "disputed": sum(item.is_a("disputed") for item in self._items.values()),
                "unlearned": sum(item.sent is not None for item in self._items.values()),
                "labels": list(self._labels),
                "several": self.several,
                "labelled": Counter(
                    label for item in self._items.values() for label in label_names(item.label)
                ),
                "pos_label": pos_label,
                "trouble": self.trouble,
                "readiness": {} if self.readiness is None else {FILTER: self.readiness},
                "volume": self._volume.summary(),
                "agreement": agreement(self._present_opinions()),
                "contested": len(contested(self._present_opinions())),
                "unsure": self._unsure_share(),
                "models": {name: one.summary(pos_label) for name, one in self._measures.items()},
            }

    def _unsure_share(self) -> float | None:
        """Return the share of unsure decisions; None without decisions."""
        decided = [each["label"] for item in self._items.values() for each in item.answers.values()]
        return decided.count(UNSURE) / len(decided) if decided else None
