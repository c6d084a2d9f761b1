"""The schedule of refreshes: by number of messages or by growth, never by the clock."""

from __future__ import annotations

import sys

from streamnb.errors import InputError, shown


class Schedule:
    """A deterministic schedule over the changes of a model.

    Parameters
    ----------
    every
        An int: after this number of messages, 1 or more. A float: after changes whose weight is
        this share of the messages that count, above 0.

    Attributes
    ----------
    left
        Messages, or weight of messages, until the next refresh: the whole state of the schedule.

    Examples
    --------
    >>> schedule = Schedule(every=0.5)
    >>> schedule.reset(10)
    >>> [schedule.tick(1.0) for _ in range(5)]
    [False, False, False, False, True]
    """

    def __init__(self, every: int | float) -> None:
        number = isinstance(every, (int, float)) and not isinstance(every, bool)
        if not (number and 0 < every <= sys.float_info.max):
            raise InputError(
                f"refresh_every must be an int from 1 on (messages between refreshes) or a float "
                f"above 0 (growth of the stream between refreshes), at most "
                f"{sys.float_info.max}, not {shown(every)}"
            )
        self.every = every
        self.left = 0.0
        self.reset(0.0)

    def reset(self, weight: float) -> None:
        """Begin again: the statistics include all messages that count, of this weight."""
        left = self.every if isinstance(self.every, int) else self.every * weight
        # An empty sum of the core is a negative zero; a product may be infinite.
        self.left = min(0.0 + left, sys.float_info.max)

    def tick(self, weight: float) -> bool:
        """Count one change by a message of this weight; return whether a refresh is due."""
        return self.advance(1, weight)[1]

    def advance(self, messages: int, weight: float) -> tuple[int, bool]:
        """Count changes by messages of this weight, at most until a refresh is due.

        Return their number, and whether a refresh is due after them. With an int as `every`, skip
        all refreshes except the last one that is due within these messages.
        """
        if isinstance(self.every, int):
            last = messages - int(messages - self.left) % self.every
            if messages < self.left:
                self.left -= messages
                return messages, False
            self.left = 0.0
            return last, True
        weight = float(weight)  # of a Decimal or a number of numpy too
        # One by one: the sum of equal weights may differ from their product.
        for done in range(1, messages + 1):
            self.left -= weight
            if self.left <= 0:
                return done, True
        return messages, False

    def is_due_within(self, messages: int, weight: float) -> bool:
        """Return whether a refresh is due within messages of this weight."""
        left = self.left
        try:
            return self.advance(messages, weight)[1]
        finally:
            self.left = left
