"""State of the partitions that are assigned to a worker."""

from __future__ import annotations

import dataclasses
import time
from enum import Enum

from streamnb_consumers.records import Record

__all__ = ["Owned", "State"]


class State(Enum):
    """Progress of a worker with an assigned partition."""

    NEW = "new"
    RESTORING = "restoring"
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
        messages wait. Running: messages and feedback are read.
    window
        End of the join-state log at the assignment. The window is restored up to this offset.
    messages, feedback
        Next offsets, as committed by the group. None means the beginning. Each batch is committed
        before the next poll, so these offsets advance with it.
    held
        Feedback that waits for earlier messages.
    barrier
        Message offset at which the held feedback is released.
    since
        Time of the assignment, by the monotonic clock.
    told
        Whether the warning about a long wait was logged.
    """

    number: int
    state: State = State.NEW
    window: int = 0
    messages: int | None = None
    feedback: int | None = None
    held: list[Record] = dataclasses.field(default_factory=list)
    barrier: int = 0
    since: float = dataclasses.field(default_factory=time.monotonic)
    told: bool = False

    def hold(self, records: list[Record], barrier: int) -> None:
        """Hold feedback until the messages before an offset were delivered.

        A user labels a message after reading it, so the message was in its log before the label.
        Messages that existed when the label was read are therefore delivered first. Labels then
        always find their messages, and training events keep the order of the labels, even if one
        log is read faster.
        """
        self.held += records
        self.barrier = max(barrier, self.barrier)

    def release(self, position: int) -> list[Record]:
        """Return all held feedback if its messages were delivered, else an empty list.

        Examples
        --------
        >>> from streamnb_consumers.records import Partition
        >>> owned = Owned(0)
        >>> owned.hold([Record(Partition("labels", 0), 0, b"{}")], barrier=7)
        >>> len(owned.release(position=6)), len(owned.release(position=7)), owned.held
        (0, 1, [])
        """
        if position < self.barrier:
            return []
        released, self.held = self.held, []
        return released
