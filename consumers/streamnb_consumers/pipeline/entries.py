"""The messages of a join window, those that labels read ahead need, and past labels."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterable

import msgspec

from streamnb_consumers.jsons import compact, parse
from streamnb_consumers.records import ASSUMED, Features, Label, TrainingEvent, is_finite

OVERHEAD = 400
"""Approximate bytes of an entry without its id and content."""


class _Fields(msgspec.Struct, array_like=True):
    """The fields of a message after its features, as in the log; older logs end before the last."""

    decided: Label | None
    score: float | None
    timestamp: int | None
    label: Label | None
    offset: int
    asked: bool
    assumed: bool
    learned_text: str = ""


class WindowEntry(msgspec.Struct, gc=False):
    """A message of the join window.

    Attributes
    ----------
    features
        The features as canonical JSON.
    decided, score
        Label and score of the decision; None without a decision.
    timestamp
        Milliseconds since 1970, or None.
    label
        The label that the message was learned with; None if it was not learned.
    offset
        Offset of its record, which orders the entries of a window that is rebuilt from its log.
    asked
        Whether its label was requested.
    assumed
        Whether the label is its decision, which nobody has corrected.
    learned_text
        Digest of the features that were learned with the label, if they are not these; empty if
        they are. Such a label cannot be unlearned.
    """

    features: bytes
    decided: Label | None
    score: float | None
    timestamp: int | None = None
    label: Label | None = None
    offset: int = 0
    asked: bool = False
    assumed: bool = False
    learned_text: str = ""

    def encode(self) -> bytes:
        """Return the entry for the log: its features, a line feed, and all other fields."""
        fields = self.decided, self.score, self.timestamp, self.label, self.offset
        label = self.asked, self.assumed, self.learned_text
        return self.features + b"\n" + compact((*fields, *label))

    @classmethod
    def decode(cls, value: bytes) -> WindowEntry:
        """Return the entry with an encoding; ValueError or TypeError if it is invalid."""
        features, _, fields = value.rpartition(b"\n")
        entry = cls(features, *msgspec.structs.astuple(msgspec.json.decode(fields, type=_Fields)))
        if not isinstance(parse(features), (str, dict)) or not is_finite(entry.score or 0):
            raise TypeError("features must be a text or word counts, and the score finite")
        return entry

    def size(self, name: str) -> int:
        """Return the approximate memory of the entry of this id, in bytes."""
        return len(name) + len(self.features) + OVERHEAD

    def training_event(
        self,
        name: str,
        label: Label | None,
        timestamp: int | None,
        features: Features | None = None,
    ) -> TrainingEvent | None:
        """Return the training event; None if there is nothing to learn or to unlearn.

        `features` are those of the entry; None decodes them.
        """
        if label == self.label and not self.assumed:
            return None
        if self.learned_text and label is None:
            return None
        delay = None
        if self.timestamp is not None and timestamp is not None:
            delay = max(0.0, (timestamp - self.timestamp) / 1000)
        features = parse(self.features) if features is None else features
        unlearn, weight = self.label, ASSUMED if self.assumed else 1.0
        if self.learned_text:
            unlearn, weight = None, 1.0
        before = unlearn, self.score, self.decided
        return TrainingEvent(name, features, label, *before, delay, unlearn_weight=weight)


class PastLabel(msgspec.Struct, array_like=True, gc=False):
    """The label of a message whose features have left the join window.

    Attributes
    ----------
    label, assumed, timestamp
        As in `WindowEntry`.
    text
        Digest of the features that were learned.
    """

    label: Label
    assumed: bool
    timestamp: int | None
    text: str


class PastLabels:
    """Labels of messages whose features have left the join window, the oldest first.

    Parameters
    ----------
    age
        Maximum age of the messages, in milliseconds; 0 keeps nothing.
    count
        Maximum number of labels.

    Examples
    --------
    >>> past, entry = PastLabels(1000, 10), WindowEntry(b'"hello"', "ham", -1.0, 0, "ham")
    >>> past.keep("a", entry)
    >>> again = WindowEntry(b'"hello"', "ham", -1.0)
    >>> past.give_back("a", again, any_text=False)
    >>> again.label, again.learned_text, len(past)
    ('ham', '', 0)
    """

    def __init__(self, age: int, count: int) -> None:
        self._age, self._count = age, count
        self.labels: OrderedDict[str, PastLabel] = OrderedDict()

    def __len__(self) -> int:
        return len(self.labels)

    def keep(self, name: str, entry: WindowEntry) -> None:
        """Keep the label of a message that leaves the window."""
        self.labels.pop(name, None)
        if self._age and entry.label is not None:
            text = entry.learned_text or _digest(entry.features)
            self.labels[name] = PastLabel(entry.label, entry.assumed, entry.timestamp, text)

    def give_back(self, name: str, entry: WindowEntry, any_text: bool) -> None:
        """Give a message that enters again its label; with other features only if `any_text`."""
        found = self.labels.pop(name, None)
        if found is None:
            return
        is_same = found.text == _digest(entry.features)
        if is_same or any_text:
            entry.label, entry.assumed = found.label, found.assumed
            entry.learned_text = "" if is_same else found.text

    def expire(self, now: int | None) -> None:
        """Drop the labels that exceed a bound at this time."""
        while self.labels:
            name, oldest = next(iter(self.labels.items()))
            is_old = now is not None and (oldest.timestamp or 0) < now - self._age
            if not is_old and len(self.labels) <= self._count:
                return
            del self.labels[name]


def _digest(features: bytes) -> str:
    return hashlib.blake2b(features, digest_size=16).hexdigest()


class KeptEntries:
    """Messages that left a join window, but whose labels were read ahead and are not due yet.

    Timestamps decide when a label is due. If the clocks of users and of senders differ, a label
    may be due after its message has left the window.

    Parameters
    ----------
    size
        Maximum memory of the messages, in bytes.

    Examples
    --------
    >>> kept, entry = KeptEntries(1_000), WindowEntry(b'"hello"', "ham", -1.0)
    >>> kept.expect("a", offset=7)
    >>> kept.keep("a", entry), kept.keep("b", entry)
    (True, False)
    >>> kept.get("a").features, kept.settle(7), kept.get("a")
    (b'"hello"', 'a', None)
    """

    def __init__(self, size: int) -> None:
        self._limit = size
        self.size = 0
        self._entries: dict[str, WindowEntry] = {}
        self._expected: dict[int, str] = {}  # the ids of the labels, by offset
        self._counts: Counter[str] = Counter()  # labels by id

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_crowded(self) -> bool:
        """Whether labels should be used before they are due, so that no message is dropped."""
        return 2 * len(self._entries) > MOST_AHEAD or 2 * self.size > self._limit

    def items(self) -> Iterable[tuple[str, WindowEntry]]:
        """Return the ids and the messages."""
        return self._entries.items()

    def get(self, name: str) -> WindowEntry | None:
        """Return the message with this id; None if it is not kept."""
        return self._entries.get(name)

    def expect(self, name: str, offset: int) -> None:
        """Keep the message with this id until its label at this offset is settled."""
        if offset not in self._expected:
            self._expected[offset] = name
            self._counts[name] += 1

    def keep(self, name: str, entry: WindowEntry) -> bool:
        """Keep a message that leaves the window, if it has a label; return whether it is kept."""
        if name not in self._counts or self.size > self._limit:
            return False
        self._entries[name] = entry
        self.size += entry.size(name)
        return True

    def pop(self, name: str) -> WindowEntry | None:
        """Remove and return the message with this id; None if it is not kept."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self.size -= entry.size(name)
        return entry

    def settle(self, offset: int) -> str | None:
        """Forget a label after its use; return the id of the message that is dropped with it."""
        name = self._expected.pop(offset, None)
        if name is None:
            return None
        self._counts[name] -= 1
        if self._counts[name]:
            return None
        del self._counts[name]
        return None if self.pop(name) is None else name


MOST_AHEAD = 10_000
"""Maximum number of labels of a partition that are read before they are due."""
