"""The messages of a join window, and those that are kept for labels that were read ahead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from streamnb_consumers.jsons import compact, parse
from streamnb_consumers.records import ASSUMED, Features, TrainingEvent, is_finite

OVERHEAD = 400
"""Approximate bytes of an entry without its id and content."""
# Fields of a message after its features, as in the log.
_Fields = tuple[str | None, float | None, int | None, str | None, int, bool, bool]


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
    """

    features: bytes
    decided: str | None
    score: float | None
    timestamp: int | None = None
    label: str | None = None
    offset: int = 0
    asked: bool = False
    assumed: bool = False

    def encode(self) -> bytes:
        """Return the entry for the log: its features, a line feed, and all other fields."""
        fields = self.decided, self.score, self.timestamp, self.label, self.offset
        return self.features + b"\n" + compact((*fields, self.asked, self.assumed))

    @classmethod
    def decode(cls, value: bytes) -> WindowEntry:
        """Return the entry with an encoding; ValueError or TypeError if it is invalid."""
        features, _, fields = value.rpartition(b"\n")
        entry = cls(features, *msgspec.json.decode(fields, type=_Fields))
        if not isinstance(parse(features), (str, dict)) or not is_finite(entry.score or 0):
            raise TypeError("features must be a text or word counts, and the score finite")
        return entry

    def size(self, name: str) -> int:
        """Return the approximate memory of the entry of this id, in bytes."""
        return len(name) + len(self.features) + OVERHEAD

    def training_event(
        self, name: str, label: str | None, timestamp: int | None, features: Features | None = None
    ) -> TrainingEvent | None:
        """Return the training event; None if there is nothing to learn or to unlearn.

        `features` are those of the entry; None decodes them.
        """
        if label == self.label and not self.assumed:
            return None
        delay = None
        if self.timestamp is not None and timestamp is not None:
            delay = max(0.0, (timestamp - self.timestamp) / 1000)
        features = parse(self.features) if features is None else features
        weight = ASSUMED if self.assumed else 1.0
        before = self.label, self.score, self.decided
        return TrainingEvent(name, features, label, *before, delay, unlearn_weight=weight)


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
