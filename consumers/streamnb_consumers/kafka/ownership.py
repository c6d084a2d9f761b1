"""Which partitions a worker has, and how far it is with each: restored, running, holding labels."""

from __future__ import annotations

import dataclasses
import time
from enum import Enum

from streamnb_consumers.records import Record

__all__ = ["Owned", "State"]


class State(Enum):
    """How far a worker is with a partition that it was given."""

    NEW = "new"
    RESTORING = "restoring"
    RUNNING = "running"


@dataclasses.dataclass(slots=True)
class Owned:
    """A partition number that this worker was given: its messages, its feedback, its window.

    Attributes
    ----------
    number
        The partition's number.
    state
        New: nothing is known. Restoring: the window is read from its log, and messages wait.
        Running: messages and feedback are read.
    window
        Where the log of its window ended when it was given: up to there it is restored.
    messages, feedback
        Offsets to go on from, as the group committed them; None: from the beginning. What is given
        is committed before the next poll, so they go forward with it.
    held
        Feedback that waits until the messages before it were given.
    barrier
        The offset up to which these messages reach.
    since
        When it was given, by the monotonic clock.
    told
        Whether the log says that it waits for too long.
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
        """Keep feedback until messages up to an offset were given.

        Whoever labels a message has read it, so it was in its log before the label was. Messages
        that were there when the label was read go first: then labels find their messages, and
        training events come in the order of the labels, whatever the speed at which both logs are
        read.
        """
        self.held += records
        self.barrier = max(barrier, self.barrier)

    def release(self, position: int) -> list[Record]:
        """Return the feedback whose messages were given: all of it, or none.

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
