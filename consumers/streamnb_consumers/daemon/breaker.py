"""The circuit breaker: stop when most of the input is bad."""

from __future__ import annotations

from collections import deque

from streamnb_consumers.errors import BadInputError

__all__ = ["Breaker"]


class Breaker:
    """Watch the share of bad records among the last ones.

    Parameters
    ----------
    share
        The share of bad records from which it opens, in (0, 1].
    records
        How many records it looks back; it never opens before it has seen as many.

    Examples
    --------
    >>> breaker = Breaker(share=0.5, records=4)
    >>> for bad in (True, True, True, False):
    ...     breaker.note(bad)
    >>> breaker.check("it is no JSON")
    Traceback (most recent call last):
    streamnb_consumers.errors.BadInputError: 3 of the last 4 records are bad (the last: ...): ...
    """

    def __init__(self, share: float = 0.8, records: int = 1000) -> None:
        self.share, self.records = share, records
        self._last: deque[bool] = deque(maxlen=records)
        self._bad = 0

    def note(self, bad: bool) -> None:
        """Count one record."""
        if len(self._last) == self.records:
            self._bad -= self._last[0]
        self._last.append(bad)
        self._bad += bad

    def check(self, reason: str = "") -> None:
        """Open, if it is time.

        Raises
        ------
        BadInputError
            If most of the input is bad.
        """
        if len(self._last) == self.records and self._bad >= self.share * self.records:
            raise BadInputError(
                f"{self._bad:,} of the last {self.records:,} records are bad"
                f"{f' (the last: {reason})' if reason else ''}: look at what writes them; "
                f"all of them are among the dead letters"
            )
