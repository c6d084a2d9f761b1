"""Merge the messages and the labels of a partition by their timestamps.

Messages and labels have separate logs. A worker that catches up reads one of them faster, so the
order of reading means nothing. The merge restores the order in which the records were written.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

from streamnb_consumers.pipeline.entries import MOST_AHEAD
from streamnb_consumers.records import Record

_MOST_BYTES = 2**24  # of labels that are read ahead, per partition


class Merge:
    """Records of one partition that were read and not delivered.

    A label is due if the next message is younger, or if all messages were delivered that existed
    when the label was read. Users label messages that they have read, so the message of a label is
    one of them. A message is due if all labels were read that existed when the message was read.
    Otherwise it might push the message of an older label out of the join window.

    The order depends only on the two logs, not on the time at which they are read. Two exceptions
    concern clocks that differ. A label is due at the least timestamp of all labels that follow it,
    because a label in the future would otherwise block them. A message without a timestamp is
    younger than all labels.

    Attributes
    ----------
    messages, labels
        Records that are not delivered, in the order of their offsets.
    is_full
        Whether enough labels were read ahead, so that reading pauses.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> sms, labels = Partition("sms", 0), Partition("labels", 0)
    >>> merge = Merge()
    >>> merge.add_messages([Record(sms, at, b"", timestamp=10 * at) for at in range(3)])
    >>> merge.add_labels([Record(labels, 7, b"", timestamp=10)])
    >>> merge.wants_labels, merge.wants_messages
    (True, False)
    >>> merge.labels_end(8)
    >>> [each.offset for each in merge.take(9, labels_at=8, messages_at=3, room=9)]
    [0, 1, 7, 2]
    """

    def __init__(self) -> None:
        self.messages: deque[Record] = deque()
        self.labels: deque[Record] = deque()
        self.is_full = False
        # Labels that `take_new` has not returned, and the first one that follows a message.
        self._new: list[Record] = []
        self._first = 0
        self._size = 0  # bytes of the labels
        # Offsets and times of those labels that all later labels have at least the times of.
        self._due: deque[tuple[int, float]] = deque()
        # All messages that existed at the read of the labels before offset `checked` precede
        # `end`, and the other way around.
        self._labels_checked = self._messages_end = 0
        self._messages_checked = self._labels_end = 0

    def add_messages(self, records: Iterable[Record]) -> None:
        """Add the next messages."""
        self.messages += records

    def add_labels(self, records: Iterable[Record]) -> None:
        """Add the next labels."""
        for record in records:
            at = -math.inf if record.timestamp is None else record.timestamp
            while self._due and self._due[-1][1] > at:
                self._due.pop()
            self._due.append((record.offset, at))
            self.labels.append(record)
            self._new.append(record)
            self._size += len(record.value or b"")
        if len(self.labels) >= MOST_AHEAD or self._size >= _MOST_BYTES:
            self.is_full = True

    def take_new(self) -> list[Record]:
        """Return the labels that were added since the last call and follow other messages.

        They may have been taken, if messages were taken before them.
        """
        new, self._new = [each for each in self._new if each.offset >= self._first], []
        return new

    @property
    def wants_messages(self) -> bool:
        """Whether the end of the messages must be requested, because labels wait for it."""
        waits = self.labels and not self.messages
        return bool(waits) and self.labels[0].offset >= self._labels_checked

    @property
    def wants_labels(self) -> bool:
        """Whether the end of the labels must be requested, because messages wait for it."""
        waits = self.messages and not self.is_full
        return bool(waits) and self.messages[0].offset >= self._messages_checked

    def messages_end(self, end: int) -> None:
        """Set the end of the messages, requested after all labels were added."""
        self._messages_end, self._labels_checked = end, self.labels[-1].offset + 1

    def labels_end(self, end: int) -> None:
        """Set the end of the labels, requested after all messages were added."""
        self._labels_end, self._messages_checked = end, self.messages[-1].offset + 1

    def take(
        self, most: int, labels_at: float, messages_at: int, room: int, hurry: bool = False
    ) -> list[Record]:
        """Remove and return the records that are due.

        Parameters
        ----------
        most
            Maximum number of records.
        labels_at, messages_at
            Offsets up to which labels and messages were read.
        room
            Number of labels that the join window accepts before their messages. Without room,
            messages precede all labels.
        hurry
            Whether labels are due before their time, because messages wait for them.
        """
        taken: list[Record] = []
        is_first = True
        blocked = room <= 0
        while len(taken) < most:
            if self._label_precedes(messages_at, hurry) and not (blocked and self.messages):
                if self.messages:
                    if room <= 0:
                        break  # the window may have room again after these records
                    room -= 1
                taken.append(self._pop_label())
                if is_first:
                    self._first = taken[-1].offset + 1
            elif self._message_may_go(labels_at):
                is_first = False
                taken.append(self.messages.popleft())
            else:
                break
        return taken

    def _label_precedes(self, messages_at: int, hurry: bool) -> bool:
        """Return whether the next record is a label."""
        if not self.labels:
            return False
        if not self.messages:
            is_checked = self.labels[0].offset < self._labels_checked
            return is_checked and messages_at >= self._messages_end
        time = self.messages[0].timestamp
        return hurry or time is None or self._due[0][1] < time

    def _message_may_go(self, labels_at: float) -> bool:
        if not self.messages:
            return False
        is_checked = self.messages[0].offset < self._messages_checked
        return self.is_full or (is_checked and labels_at >= self._labels_end)

    def _pop_label(self) -> Record:
        record = self.labels.popleft()
        if self._due[0][0] == record.offset:
            self._due.popleft()
        self._size -= len(record.value or b"")
        if 2 * len(self.labels) < MOST_AHEAD and 2 * self._size < _MOST_BYTES:
            self.is_full = False
        return record
