"""The schedule of refreshes: by number of messages or by growth, never by the clock."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

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
        if not (number and 0 < every < math.inf):
            raise InputError(
                f"refresh_every must be an int from 1 on (messages between refreshes) or a float "
                f"above 0 (growth of the stream between refreshes), not {shown(every)}"
            )
        self.every = every
        self.left: float = 0.0
        self.reset(0.0)

    def reset(self, weight: float) -> None:
        """Begin again: the statistics include all messages that count, of this weight."""
        left = self.every if isinstance(self.every, int) else self.every * weight
        # A product may be infinite, and an int may exceed each float. An empty sum of the core is a
        # negative zero.
        self.left = 0.0 + min(left, sys.float_info.max)

    def tick(self, weight: float) -> bool:
        """Count one change by a message of this weight; return whether a refresh is due."""
        return self.advance(1, weight)[1]

    def advance(
        self,
        messages: int,
        weight: float,
        weight_after: Callable[[int], float | None] = lambda learned: None,
        spare: int = 0,
    ) -> tuple[int, bool]:
        """Count changes by messages of this weight, until the last refresh that is due.

        Return their number, and whether a refresh is due after them. With `spare=1` it is the last
        refresh but one, if two are due.

        Parameters
        ----------
        messages
            Number of messages.
        weight
            The weight of each.
        weight_after
            Returns the weight that will count after some of the messages. None is an unknown
            weight, and stops at this refresh. An int as `every` does not need it.
        """
        if isinstance(self.every, int):
            last = messages - int(messages - self.left) % self.every
            if messages < self.left:
                self.left -= messages
                return messages, False
            if last - spare * self.every >= self.left:
                last -= spare * self.every
            self.left = 0.0
            return last, True
        weight = float(weight)  # of a Decimal or a number of numpy too
        due: list[int] = []
        # One by one: the sum of equal weights may differ from their product.
        for done in range(1, messages + 1):
            self.left -= weight
            if self.left <= 0:
                due.append(done)
                counts = weight_after(done)
                if counts is None:
                    break
                self.reset(counts)
        if not due:
            return messages, False
        self.left = 0.0
        return due[max(-1 - spare, -len(due))], True

    def reach(self, left: float, messages: int, weight: float) -> int:
        """Count changes until `left` or less is left, but more than 0; return their number.

        0 means that this takes more messages, or that the refresh is due by then: nothing changes.
        """
        before, weight = self.left, 1.0 if isinstance(self.every, int) else float(weight)
        done = 0
        while done < messages and self.left > left:
            self.left -= weight
            done += 1
        if not 0 < self.left <= left:
            self.left = before
            return 0
        return done

    def is_due_within(self, messages: int, weight: float) -> bool:
        """Return whether a refresh is due within messages of this weight."""
        left = self.left
        try:
            return self.advance(messages, weight)[1]
        finally:
            self.left = left
