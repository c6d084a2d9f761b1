"""The schedule of refreshes: by number of messages or by growth, never by the clock."""

from __future__ import annotations

import math

from streamnb.errors import InputError, shown
from streamnb.headers import read_whole

_MOST = 2**53  # messages


class Schedule:
    """A deterministic schedule over the changes of a model.

    Parameters
    ----------
    every
        An int: after this number of messages, 1 or more. A float: after the stream has grown by
        this share since the last refresh, above 0.

    Examples
    --------
    >>> schedule = Schedule(every=0.5)
    >>> schedule.reset(10)
    >>> [schedule.tick() for _ in range(6)]
    [False, False, False, False, True, False]
    >>> schedule.last_due(20)       # from message 16 on: due at 23, and at 35
    19
    """

    def __init__(self, every: int | float) -> None:
        number = isinstance(every, (int, float)) and not isinstance(every, bool)
        if not (number and 0 < every < math.inf):
            raise InputError(
                f"refresh_every must be an int from 1 on (messages between refreshes) or a float "
                f"above 0 (growth of the stream between refreshes), not {shown(every)}"
            )
        self.every = every
        self.reset(0)

    def reset(self, messages: int) -> None:
        """Record that the statistics include this number of messages."""
        self.messages = messages
        self.due = messages + self._step(messages)

    def restore(self, messages: int, due: int) -> None:
        """Continue at a number of messages; the next refresh is due at `due`."""
        # A step may exceed the numbers of a file by far.
        self.messages = read_whole("the number of messages", messages)
        self.due = read_whole("the next refresh", due, least=self.messages + 1, most=2**70)

    def _step(self, messages: int) -> int:
        if isinstance(self.every, int):
            return self.every
        return max(1, math.ceil(min(self.every * messages, _MOST)))

    def tick(self) -> bool:
        """Count one change; return whether a refresh is due."""
        self.messages += 1
        if self.messages < self.due:
            return False
        self.reset(self.messages)
        return True

    def last_due(self, changes: int) -> int | None:
        """Count a batch of changes; return after which change the last refresh is due, or None.

        Earlier refreshes would be overwritten unused, so a batch needs at most one.
        """
        start, end = self.messages, self.messages + changes
        last = None
        while self.due <= end:
            last = self.due
            self.reset(self.due)
        self.messages = end
        return None if last is None else last - start
