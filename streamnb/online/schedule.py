"""When statistics are refreshed: by count of messages or by growth, never by the clock."""

from __future__ import annotations

import math

from streamnb.errors import InputError, shown

_MOST = 2**53  # messages


class Schedule:
    """A deterministic schedule over the changes of a model.

    Parameters
    ----------
    every
        An int: after so many messages, 1 or more. A float: when the stream has grown by this
        share since the last refresh, above 0.
    messages
        Messages so far, of which the statistics are fresh.

    Examples
    --------
    >>> schedule = Schedule(every=0.5, messages=10)
    >>> [schedule.tick() for _ in range(6)]
    [False, False, False, False, True, False]
    >>> schedule.last_due(20)       # from message 16 on: due at 23, and at 35
    19
    """

    def __init__(self, every: int | float, messages: int = 0) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, float)):
            raise InputError(_allowed(every))
        if not 0 < every < math.inf:
            raise InputError(_allowed(every))
        self.every = every
        self.reset(messages)

    def reset(self, messages: int) -> None:
        """Note that the statistics are fresh at this many messages."""
        self.messages = messages
        self.due = messages + self._step(messages)

    def _step(self, messages: int) -> int:
        if isinstance(self.every, int):
            return self.every
        return max(1, math.ceil(min(self.every * messages, _MOST)))

    def tick(self) -> bool:
        """Count one change; tell whether statistics are due now."""
        self.messages += 1
        if self.messages < self.due:
            return False
        self.reset(self.messages)
        return True

    def last_due(self, changes: int) -> int | None:
        """Count a batch of changes; tell after how many the last refresh is due, if any.

        Refreshes before the last would be overwritten unseen: a batch needs one at most.
        """
        start, end = self.messages, self.messages + changes
        last = None
        while self.due <= end:
            last = self.due
            self.reset(self.due)
        self.messages = end
        return None if last is None else last - start


def _allowed(every: object) -> str:
    return (
        f"refresh_every must be an int from 1 on (messages between refreshes) or a float above 0 "
        f"(growth of the stream between refreshes), not {shown(every)}"
    )
