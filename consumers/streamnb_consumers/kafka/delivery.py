"""Delivery of the messages and the feedback of the partitions that run, in the order of merges."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from streamnb_consumers.io.protocols import JoinWindows
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.encoding import Progress
from streamnb_consumers.kafka.merge import Merge
from streamnb_consumers.kafka.protocols import Member, Reader
from streamnb_consumers.records import Partition, Record


class State(Enum):
    """Progress of a worker with an assigned partition."""

    NEW = "new"
    RESTORING = "restoring"
    BLOCKED = "blocked"
    RUNNING = "running"


@dataclasses.dataclass(slots=True)
class Owned:
    """An assigned partition number, with the state of its messages, feedback and join window.

    Attributes
    ----------
    number
        Partition number.
    state
        New: the offsets are unknown. Restoring: the join window is read from its log while the
        messages wait. Blocked: records are missing. Running: messages and feedback are read.
    window
        End of the join-state log at the assignment. The window is restored up to this offset.
    messages, feedback
        Next offsets, as committed by the group. None means the beginning. Each batch is committed
        before the next poll, so these offsets advance with it.
    merge
        Messages and feedback that were read and not delivered.
    parked
        Whether reading messages pauses, because many wait for feedback.
    since
        Time of the assignment, by the monotonic clock.
    looked
        Time of the last requests about the waiting partition.
    noted
        Last offsets of the group in the join state, by topic.
    absent
        The other topics that do not have this partition.
    """

    number: int
    state: State = State.NEW
    window: int = 0
    messages: int | None = None
    feedback: int | None = None
    merge: Merge = dataclasses.field(default_factory=Merge)
    parked: bool = False
    since: float = dataclasses.field(default_factory=time.monotonic)
    looked: float = -math.inf
    noted: dict[str, Progress] = dataclasses.field(default_factory=dict)
    absent: str = ""


class Delivery:
    """Reads messages and feedback, and delivers them in the order of their merges.

    Parameters
    ----------
    topics
        Topics of the filter.
    side, group
        Readers of feedback and messages.
    owned
        The partitions by number, as they are now.
    is_stopped
        Whether a partition is not read at the moment.

    Attributes
    ----------
    join
        The join windows that feedback goes to.
    starved
        Whether all messages that were read wait for feedback.
    """

    def __init__(
        self,
        topics: Topics,
        side: Reader,
        group: Member,
        owned: Mapping[int, Owned],
        is_stopped: Callable[[Partition], bool],
    ) -> None:
        self._topics, self._side, self._group = topics, side, group
        self._owned, self._is_stopped = owned, is_stopped
        self._turn = 0  # the partition that delivers first
        self.join: JoinWindows | None = None
        self.starved = False

    def _messages(self, number: int) -> Partition:
        return Partition(self._topics.messages, number)

    def _feedback(self, number: int) -> Partition:
        return Partition(self._topics.feedback, number)

    def _running(self) -> list[Owned]:
        return [owned for owned in self._owned.values() if owned.state is State.RUNNING]

    @property
    def waiting_messages(self) -> int:
        """Number of messages that were read and wait, without those of parked partitions."""
        return sum(len(each.merge.messages) for each in self._owned.values() if not each.parked)

    def receive(self, records: Iterable[Record]) -> None:
        """Hold messages and feedback that were just read, until `release` delivers them."""
        found: dict[int, tuple[list[Record], list[Record]]] = {}
        for record in records:
            pair = found.setdefault(record.partition.number, ([], []))
            pair[record.role == "feedback"].append(record)
        for number, (messages, feedback) in found.items():
            merge = self._owned[number].merge
            was_full = merge.is_full
            merge.add_messages(messages)
            merge.add_labels(feedback)
            if merge.is_full and not was_full:
                self._side.pause(self._feedback(number))

    def release(self, most: int) -> list[Record]:
        """Return the messages and the feedback that are due. The next poll follows their commit."""
        self._ask_ends()
        running, released = self._running(), list[Record]()
        first = self._turn % max(1, len(running))
        self._turn += 1
        for owned in running[first:] + running[:first]:
            released += self._take(owned, most - len(released))
            self._park(owned, most)
        self.starved = not released and any(each.merge.messages for each in running)
        return released

    def _ask_ends(self) -> None:
        """Request the ends of logs that records wait for."""
        asked: dict[Partition, Callable[[int], None]] = {}
        for owned in self._running():
            merge = owned.merge
            if merge.wants_messages:
                asked[self._messages(owned.number)] = merge.messages_end
            if merge.wants_labels and self._topics.feedback:
                asked[self._feedback(owned.number)] = merge.labels_end
            elif merge.wants_labels:
                merge.labels_end(0)
        if asked:
            for place, end in self._group.stable_ends(list(asked)).items():
                asked[place](end)

    def _take(self, owned: Owned, most: int) -> list[Record]:
        """Return the records of a partition that are due."""
        merge, feedback = owned.merge, self._feedback(owned.number)
        if not (merge.messages or merge.labels):
            return []
        window = None if self.join is None else self.join.window(owned.number)
        was_full = merge.is_full
        taken = merge.take(
            most,
            labels_at=self._labels_at(feedback),
            messages_at=0 if merge.messages else self._group.position(self._messages(owned.number)),
            room=most if window is None else window.room,
            hurry=window is not None and window.kept.is_crowded,
        )
        for record in taken:
            if record.role == "feedback":
                owned.feedback = record.offset + 1
            else:
                owned.messages = record.offset + 1
        if was_full and not merge.is_full:
            self._side.resume(feedback)
        return taken

    def _labels_at(self, feedback: Partition) -> float:
        """Return the offset up to which feedback was read; infinite if it can't be read."""
        if not feedback.source or self._is_stopped(feedback):
            return math.inf
        return self._side.position(feedback)

    def _park(self, owned: Owned, most: int) -> None:
        """Pause the messages of a partition if many wait for its feedback."""
        messages, waiting = self._messages(owned.number), owned.merge.messages
        if self._is_stopped(messages):
            return
        if not owned.parked and len(waiting) >= most:
            owned.parked = True
            self._group.pause(messages)
            self._group.seek(messages, waiting[-1].offset + 1)
        elif owned.parked and not waiting:
            owned.parked = False
            self._group.resume(messages)
