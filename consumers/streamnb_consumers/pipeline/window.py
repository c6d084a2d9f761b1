"""The join window of a partition: its recent messages, and labels that came before their message.

Another worker rebuilds a window from the log of its changes, or from a snapshot and later changes.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.jsons import parse
from streamnb_consumers.pipeline.cascade import Consulting, PartitionCascade, Waiting
from streamnb_consumers.pipeline.entries import (
    OVERHEAD,
    KeptEntries,
    PastLabel,
    PastLabels,
    WindowEntry,
)
from streamnb_consumers.pipeline.label_rates import LabelRates
from streamnb_consumers.pipeline.questions import Questions
from streamnb_consumers.pipeline.window_log import WindowLog, encode
from streamnb_consumers.records import DeadLetter, Decision, Features, Label, Message, Record

# Prefixes of log keys: a message, the labels that wait for a message, the rate of a label source,
# the budget of questions, a past label, the estimates of the cascade, and a message that waits for
# its teacher.
_MESSAGE, _LABEL, _SOURCE, _BUDGET, _PAST = b"m:", b"l:", b"s:", b"q:", b"p:"
_CASCADE, _WAITING = b"c:", b"w:"
_PAST_PER_MESSAGE = 10  # past labels are small
_Labels = tuple[Record, ...]  # that wait for one message, oldest first
_MOST_LABELS = 10  # that wait for one message
# State without the messages: clock, waiting labels, rates of label sources, questions, and the
# changes that give the cascade.
_Rest = tuple[
    int | None, list[tuple[str, _Labels]], dict[str, float], Any, list[tuple[bytes, bytes]]
]
_LOG = logging.getLogger(__name__)
CONTENT_ID = "content:"
"""Prefix of ids that follow from the content: equal ids are one message, with any headers."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a join window.

    Attributes
    ----------
    count
        Maximum number of messages, and of messages for which labels wait.
    age
        Maximum age, in milliseconds; None for no bound.
    size
        Maximum memory, in bytes.
    future
        How far a timestamp may lie in the future, in milliseconds. Later timestamps are replaced
        by this limit. None for no bound.
    labels
        Maximum number of labels per named source and hour; None for no bound.
    questions
        Number of questions per day, over all partitions; 0 for none.
    past
        How long the labels of messages are kept whose features have left the window, in
        milliseconds; 0 for not at all. Only for windows without a log.
    consulting
        How to consult a teacher; None without one.
    """

    count: int = 100_000
    age: int | None = None
    size: int = 2**26
    future: int | None = 60_000
    labels: float | None = None
    questions: float = 0.0
    past: int = 0
    consulting: Consulting | None = None


class JoinWindow:
    """Recent messages of one partition, and labels that arrived before their messages.

    The clock of the window is the latest record timestamp, so replaying the records gives the same
    window. A timestamp far in the future would expire all waiting labels. Such a timestamp is
    therefore replaced by the present plus `Bounds.future`, and the log contains the replaced value.

    Parameters
    ----------
    bounds
        When a bound is exceeded, the oldest messages leave.
    logged
        Whether changes are recorded for a log, from which another worker rebuilds the window.
    clock
        Returns seconds since 1970.
    partitions
        Number of partitions that share the budget of questions.

    Examples
    --------
    >>> window = JoinWindow(Bounds(count=1))
    >>> hello, you = WindowEntry(b'"hello"', "ham", -1.0), WindowEntry(b'"you"', "ham", -1.0)
    >>> window.add("a", hello), window.add("b", you)
    ([], [])
    >>> window.get("a"), window.get("b").features
    (None, b'"you"')
    """

    def __init__(
        self,
        bounds: Bounds | None = None,
        logged: bool = False,
        clock: Callable[[], float] = time.time,
        partitions: int = 1,
    ) -> None:
        self.bounds = bounds or Bounds()
        self.questions = Questions(self.bounds.questions / partitions)
        consulting = self.bounds.consulting
        self.cascade: PartitionCascade | None = None
        if consulting is not None:
            self.cascade = PartitionCascade(consulting, partitions, logged)
        self._estimates: dict[str, bytes] = {}  # of the log, not restored yet
        self.size = 0  # approximate memory, in bytes
        self._clock = clock
        self._now: int | None = None
        # Oldest first. A `dict` would need longer and longer to find its first entry.
        self._entries: OrderedDict[str, WindowEntry] = OrderedDict()
        self._labels: OrderedDict[str, _Labels] = OrderedDict()
        self._labels_size = 0
        self.kept = KeptEntries(self.bounds.size)
        self._past = PastLabels(self.bounds.past, _PAST_PER_MESSAGE * self.bounds.count)
        self._rates = LabelRates(self.bounds.labels)
        self._log = WindowLog(logged)
        self._disordered = False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def waiting(self) -> int:
        """Number of messages for which labels wait."""
        return len(self._labels)

    @property
    def room(self) -> int:
        """Number of further labels that may wait for their messages; none of them expires."""
        if self._labels_size > self._most_labels_size:
            return 0
        return max(0, self.bounds.count - len(self._labels))

    @property
    def _most_labels_size(self) -> int:
        return self.bounds.size // 2

    @property
    def now(self) -> int | None:
        """The latest timestamp, in milliseconds since 1970; None without any."""
        return self._now

    def names(self) -> list[str]:
        """Return the ids of the messages, oldest first."""
        self._order()
        return list(self._entries)

    @property
    def newest(self) -> str | None:
        """The id of the message that came last; None for an empty window."""
        return next(reversed(self._entries), None)

    def get(self, name: str) -> WindowEntry | None:
        """Return the message with this id; None if it is neither in the window nor kept."""
        found = self._entries.get(name)
        return self.kept.get(name) if found is None else found

    def past_label(self, name: str) -> PastLabel | None:
        """Return the label of a message whose features have left the window, or None."""
        return self._past.labels.get(name)

    def add(self, name: str, entry: WindowEntry) -> list[DeadLetter]:
        """Add the newest message; return the waiting labels that expire.

        A duplicate message keeps the label that it was learned with.
        """
        entry.timestamp = self._advance(entry.timestamp)
        before = self.get(name)
        if before is None:
            self._past.give_back(name, entry, name.startswith(CONTENT_ID))
        elif before.features == entry.features:
            entry.label, entry.asked, entry.assumed = before.label, before.asked, before.assumed
            entry.learned_text = before.learned_text
        self.kept.pop(name)
        self._put(self._entries, name, entry)
        self._log.note(_MESSAGE, name, entry, before is None)
        return self._evict()

    def learned(
        self, name: str, entry: WindowEntry, label: Label | None, assumed: bool = False
    ) -> None:
        """Record the label that a message was learned with; None if it was unlearned.

        The decision of an unlearned message never becomes a label: somebody has taken one back.
        """
        entry.label, entry.assumed, entry.learned_text = label, assumed, ""
        if label is None:
            entry.decided = None
        if self._entries.get(name) is entry:
            self._track(name, entry)
        if self.get(name) is entry:
            self._log.note(_MESSAGE, name, entry)
        else:  # it exceeds the bounds
            self._past.keep(name, entry)

    def settle(self, offset: int) -> None:
        """Forget a label that was read ahead, after its use; its message may leave."""
        name = self.kept.settle(offset)
        if name is not None:
            self._log.note(_MESSAGE, name, None)

    def refusal(self, source: str, record: Record) -> str | None:
        """Count a label of a source; return why it exceeds the rate, or None.

        Records without a timestamp are not limited. Old timestamps count as the current time of
        the window: otherwise a sender could choose a new hour for each label.
        """
        bounded = self.bounded(record.timestamp)
        if bounded is None or self.bounds.labels is None:
            return None
        now = bounded if self._now is None else max(self._now, bounded)
        for expired in self._rates.expire(now):
            self._log.note(_SOURCE, expired, None)
        is_new = self._rates.full.get(source) is None
        why = self._rates.refusal(source, now)
        if why is None:
            self._log.note(_SOURCE, source, self._rates.full.get(source), is_new)
        return why

    def ask(
        self, message: Message, probabilities: Mapping[str, float], timestamp: int | None
    ) -> bool:
        """Return whether to request the label of a new message, which arrived at this time."""
        self._order()
        bounded = self.bounded(timestamp)
        # Without timestamps the budget follows the clock.
        now = round(self._clock() * 1000) if bounded is None else bounded
        asked = self.questions.ask(message.id, message.features, probabilities, now)
        self._log.note(_BUDGET, "", self.questions.to_json())
        return asked

    def consult(self, decision: Decision, features: Features, timestamp: int | None) -> Decision:
        """Return the decision on a new message with its source (`PartitionCascade.propose`)."""
        assert self.cascade is not None
        self._order()
        bounded = self.bounded(timestamp)
        return self.cascade.propose(decision, features, None if bounded is None else bounded / 1000)

    def answer(self, name: str, label: str | None) -> Decision | None:
        """Give the teacher's label of a message; return its decision, if it has waited."""
        if self.cascade is None or not self.cascade.waits(name):
            return None
        self._order()
        entry = self.get(name)
        features = None if entry is None else parse(entry.features)
        return self.cascade.answer(name, features, label)

    def is_due(self) -> bool:
        """Return whether decisions have waited long enough for the teacher."""
        return self.cascade is not None and self.cascade.is_due(round(self._clock() * 1000))

    def hold(self, decision: Decision) -> bool:
        """Keep a decision that waits for the teacher; return False if it may not wait."""
        if self.cascade is None or not self.cascade.wait:
            return False
        self.cascade.hold(decision, round(self._clock() * 1000) + self.cascade.wait)
        return True

    def expire_waits(self) -> list[Decision]:
        """Return the decisions that have waited long enough for the teacher."""
        if self.cascade is None or not self.is_due():
            return []
        self._order()
        return list(self.cascade.expire(round(self._clock() * 1000)))

    def bounded(self, timestamp: int | None) -> int | None:
        """Return a timestamp, limited to `Bounds.future` after the present."""
        if timestamp is not None and self.bounds.future is not None:
            return min(timestamp, round(self._clock() * 1000) + self.bounds.future)
        return timestamp

    def wait(self, name: str, record: Record) -> list[DeadLetter]:
        """Keep a label until its message arrives; return the labels that expire.

        The labels of a message are learned in the order of their arrival. A message that has ten
        of them keeps the first nine and the latest one.
        """
        record = record._replace(timestamp=self._advance(record.timestamp))
        waiting = self._labels.get(name, ())
        labels = (*waiting[: _MOST_LABELS - 1], record)
        self._put(self._labels, name, labels)
        self._log.note(_LABEL, name, labels, new=not waiting)
        return self._evict()

    def newest_labels(self, most: int) -> list[str]:
        """Return the ids of messages for which labels wait, the newest label first."""
        return list(itertools.islice(reversed(self._labels), most))

    def awaits(self, name: str) -> bool:
        """Return whether labels wait for a message."""
        return name in self._labels

    def claim(self, name: str) -> _Labels:
        """Remove and return the labels that wait for a message, oldest first."""
        labels = self._labels.get(name, ())
        if labels:
            self._put(self._labels, name, None)
            self._log.note(_LABEL, name, None)
        return labels

    def past_entry(self, name: str, features: bytes) -> WindowEntry | None:
        """Remove and return a past message, if these are the features that were learned."""
        entry = WindowEntry(features, None, None)
        self._past.give_back(name, entry, any_text=False)
        return None if entry.label is None else entry

    def remove(self, name: str) -> None:
        """Remove a message with its labels."""
        self._put(self._entries, name, None)
        self.kept.pop(name)
        self._log.note(_MESSAGE, name, None)
        self.claim(name)
        self._past.labels.pop(name, None)

    def finish(self) -> list[DeadLetter]:
        """Expire all waiting labels, because no more messages will arrive."""
        return [letter for name in list(self._labels) for letter in self._expire(name)]

    def _put(self, table: OrderedDict[str, Any], name: str, value: Any) -> None:
        """Replace or delete a message or its waiting labels, and update the size."""
        before = table.pop(name, None)
        grown = 0 if before is None else -_size(name, before)
        if value is not None:
            table[name] = value
            grown += _size(name, value)
        self.size += grown
        if table is self._entries:
            self._track(name, value)
        else:
            self._labels_size += grown

    def _track(self, name: str, entry: WindowEntry | None) -> None:
        if entry is None and self.cascade is not None:
            self.cascade.forget(name)
        if not (self.bounds.questions or self.questions.open or (entry and entry.asked)):
            return
        if entry is None:
            self.questions.track(name, False, False, None)
        else:
            is_labelled = entry.label is not None and not entry.assumed
            self.questions.track(name, entry.asked, is_labelled, entry.timestamp)

    def _evict(self) -> list[DeadLetter]:
        self._order()
        expired = []
        while self._labels and (name := self._over(self._labels)) is not None:
            expired += self._expire(name)
        while self._entries and (name := self._over(self._entries)) is not None:
            entry = self._entries[name]
            self._put(self._entries, name, None)
            if not self.kept.keep(name, entry):
                self._log.note(_MESSAGE, name, None)
                self._past.keep(name, entry)
        self._past.expire(self._now)
        return expired

    def _advance(self, timestamp: int | None) -> int | None:
        """Advance the clock to a timestamp; return the timestamp after `bounded`."""
        if timestamp is not None and (self._now is None or timestamp > self._now):
            timestamp = self._now = self.bounded(timestamp)
        return timestamp

    def _over(self, table: OrderedDict[str, Any]) -> str | None:
        """Return the name of the oldest message or label if a bound is exceeded, else None."""
        bounds = self.bounds
        # The messages fill the window, so labels have their own share of its memory.
        if table is self._entries:
            is_over = self.size > bounds.size
        else:
            is_over = self._labels_size > self._most_labels_size
        if len(table) > bounds.count or is_over:
            return next(iter(table))
        if bounds.age is not None and self._now is not None:
            name, found = next(iter(table.items()))
            oldest = _latest(found)
            if oldest.timestamp is not None and oldest.timestamp < self._now - bounds.age:
                return name
        return None

    def _expire(self, name: str) -> list[DeadLetter]:
        why = "no message with this id in the join window"
        return [DeadLetter(record, why) for record in self.claim(name)]

    # --- log ------------------------------------------------------------------------------------

    def take_changes(self) -> list[tuple[bytes, bytes | None]]:
        """Return the changes since the last call: each key with its value, or None if deleted."""
        if self.cascade is not None and self._log.enabled:
            waiting, parts = self.cascade.changes()
            for name, value in waiting.items():
                self._log.note(_WAITING, name, value)
            for name, part in parts.items():
                self._log.note(_CASCADE, name, part)
        return self._log.take()

    def apply(self, key: bytes, value: bytes | None) -> None:
        """Apply one change from the log.

        Raises
        ------
        SnapshotError
            If key or value is invalid.
        """
        try:
            kind, name = key[:2], key[2:].decode()
            if kind == _MESSAGE:
                self._restore(name, None if value is None else WindowEntry.decode(value))
            elif kind == _LABEL:
                labels = None if value is None else msgspec.json.decode(value, type=_Labels)
                self._restore_labels(name, labels)
            elif kind == _SOURCE:
                full = None if value is None else msgspec.json.decode(value, type=float)
                self._rates.put(name, full)
            elif kind == _PAST and value is not None:
                self._past.labels[name] = msgspec.json.decode(value, type=PastLabel)
            elif kind == _BUDGET:
                self.questions.restore(msgspec.json.decode(value or b""))
            elif kind in (_CASCADE, _WAITING):
                self._restore_cascade(kind, name, value)
            else:
                raise ValueError(f"unknown key {key[:40]!r}")
        except (ValueError, TypeError, KeyError) as error:
            raise SnapshotError(f"invalid change of a join window: {error}") from error
        self._disordered = True

    def _restore_cascade(self, kind: bytes, name: str, value: bytes | None) -> None:
        if self.cascade is None:
            if kind == _CASCADE:
                return
            # Decisions that wait are written although the settings have no teacher any more.
            self.cascade = PartitionCascade(Consulting({"agreement": 0.5}))
        if kind == _WAITING:
            waiting = None if value is None else msgspec.json.decode(value, type=Waiting)
            self.cascade.put(name, waiting)
        elif value is not None:
            self._estimates[name] = value  # the log has many, of which the last one counts

    def _restore(self, name: str, entry: WindowEntry | None) -> None:
        if entry is not None:
            entry.timestamp = self._advance(entry.timestamp)
        self._put(self._entries, name, entry)

    def _restore_labels(self, name: str, labels: _Labels | None) -> None:
        if labels is not None:
            if not labels or not all(record.is_input for record in labels):
                raise ValueError(f"{labels} can't wait for a message")
            labels = tuple(
                record._replace(timestamp=self._advance(record.timestamp)) for record in labels
            )
        self._put(self._labels, name, labels)

    def _order(self) -> None:
        """Sort by offset: a compacted log contains each key at the place of its last change."""
        if self._disordered:
            self._entries = OrderedDict(sorted(self._entries.items(), key=_offset))
            self._labels = OrderedDict(sorted(self._labels.items(), key=_offset))
            for name, entry in self._entries.items():
                if entry.asked:
                    self.questions.remember(name, parse(entry.features))
                    self._track(name, entry)
                    if self.cascade is not None and entry.label is not None and not entry.assumed:
                        self.cascade.cascade.remember(parse(entry.features), entry.label)
            self._restore_estimates()
            self._disordered = False

    def _restore_estimates(self) -> None:
        parts, self._estimates = self._estimates, {}
        for name, part in parts.items():
            try:
                assert self.cascade is not None, "its first change makes it"
                self.cascade.restore(name, msgspec.json.decode(part))
            except (ValueError, TypeError, KeyError) as error:
                _LOG.error("the estimates of a cascade are invalid and begin again: %s", error)

    # --- state ----------------------------------------------------------------------------------

    def pieces(self, count: int) -> Iterator[bytes]:
        """Yield the state in pieces of at most so many messages.

        Changes between two pieces may be part of the state. If they are applied to it again, it is
        the state after them.
        """
        entries = [*self.kept.items(), *self._entries.items()]
        labels, questions = list(self._labels.items()), self.questions.to_json()
        cascade = [
            (kind + name.encode(), encode(value))
            for kind, table in self._cascade_tables().items()
            for name, value in table.items()
        ]
        yield msgspec.msgpack.encode((self._now, labels, self._rates.full, questions, cascade))
        for at in range(0, len(entries), count):
            yield msgspec.msgpack.encode(entries[at : at + count])

    def fill(self, pieces: list[bytes]) -> None:
        """Set the state of a new window from its pieces."""
        decode = msgspec.msgpack.decode
        self._now, labels, full, questions, cascade = decode(pieces[0], type=_Rest)
        for name, waiting in labels:
            self._put(self._labels, name, waiting)
        for source, value in full.items():
            self._rates.put(source, value)
        self.questions.restore(questions)
        for key, value in cascade:
            self.apply(key, value)
        for piece in pieces[1:]:
            entries = decode(piece, type=list[tuple[str, WindowEntry]])
            self._entries.update(entries)
            for name, entry in entries:
                self.size += entry.size(name)
                if entry.asked:
                    self._track(name, entry)
        self._disordered = True

    def to_json(self) -> dict[str, Any]:
        """Return the time, and the changes of an empty window that give the state, in order."""
        self._order()
        tables: dict[bytes, Mapping[str, Any]] = {
            _MESSAGE: self._entries,
            _LABEL: self._labels,
            _SOURCE: self._rates.full,
            _BUDGET: {"": self.questions.to_json()},
            _PAST: self._past.labels,
            **self._cascade_tables(),
        }
        changes = [
            (kind.decode() + name, encode(value).decode())
            for kind, table in tables.items()
            for name, value in table.items()
        ]
        return {"now": self._now, "changes": changes}

    def _cascade_tables(self) -> dict[bytes, Mapping[str, Any]]:
        if self.cascade is None:
            return {}
        self._restore_estimates()
        return {_CASCADE: self.cascade.parts(), _WAITING: self.cascade.waiting}

    @classmethod
    def from_json(cls, state: dict[str, Any], bounds: Bounds | None = None) -> JoinWindow:
        """Return the window with a state from `to_json`, under the given bounds.

        An invalid state raises ValueError, TypeError or KeyError.
        """
        window = cls(bounds)
        window._advance(msgspec.convert(state["now"], int | None))
        for key, value in msgspec.convert(state["changes"], list[tuple[str, str]]):
            window.apply(key.encode(), value.encode())
        return window


def _latest(value: WindowEntry | _Labels) -> WindowEntry | Record:
    """Return a message, or the latest of its waiting labels."""
    return value[-1] if isinstance(value, tuple) else value


def _offset(item: tuple[str, WindowEntry | _Labels]) -> int:
    return _latest(item[1]).offset


def _size(name: str, value: WindowEntry | _Labels) -> int:
    """Return the approximate memory of a message or of its waiting labels, in bytes."""
    if isinstance(value, WindowEntry):
        return value.size(name)
    return sum(
        len(name) + len(each.value or b"") + len(each.key or b"") + OVERHEAD for each in value
    )
