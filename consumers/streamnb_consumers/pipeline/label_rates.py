"""Limit the number of labels per source and hour, with one token bucket for each source."""

from __future__ import annotations

import math

_HOUR = 3_600_000  # milliseconds
# The time of a token is a whole number of these parts of a millisecond, rounded down. Sums of
# tokens and times before 2109 are then exact, and the last token of an hour is not lost.
_PARTS = 2048


class LabelRates:
    """Token buckets that start full and refill evenly within an hour.

    A bucket is stored as the time at which it will be full. Each accepted label moves this time
    forward by the refill time of one token. A full bucket equals a missing one, so only sources of
    the last hour are kept.

    Parameters
    ----------
    per_hour
        Maximum number of labels per source and hour, above 0; None for no bound.
    most
        Maximum number of sources. Further sources are refused until another one expires.

    Attributes
    ----------
    full
        Time at which the bucket of each source is full; sources with a full bucket are missing.

    Examples
    --------
    >>> rates = LabelRates(per_hour=2)
    >>> [rates.refusal("ann", now) is None for now in (0, 0, 0, 1_800_000, 1_800_000)]
    [True, True, False, True, False]
    >>> rates.refusal("ben", 0)
    >>> rates.refusal("ann", 0)
    "source 'ann' gave more than 2 labels within an hour (labels_per_hour)"
    """

    def __init__(self, per_hour: float | None = None, most: int = 10_000) -> None:
        self.per_hour, self.most = per_hour, most
        # Refill time of one token, in milliseconds.
        token = 0.0 if per_hour is None else min(_HOUR / per_hour, 1e15)
        self._token = math.floor(token * _PARTS) / _PARTS
        self.full: dict[str, float] = {}  # by source, most recent last

    def refusal(self, source: str, now: int) -> str | None:
        """Take a token of a source; return a reason if the bucket is empty.

        Parameters
        ----------
        source
            Name of the source of the label.
        now
            Milliseconds since 1970.
        """
        if self.per_hour is None:
            return None
        full = max(self.full.get(source, -math.inf), float(now)) + self._token
        if full - now > max(_HOUR, self._token):
            return (
                f"source {source!r} gave more than {self.per_hour:g} labels within an hour "
                f"(labels_per_hour)"
            )
        if source not in self.full and len(self.full) >= self.most:
            return (
                f"source {source!r} is refused: {self.most:,} other sources gave labels within "
                f"the hour (labels_per_hour)"
            )
        self.full.pop(source, None)
        self.full[source] = full
        return None

    def expire(self, now: int) -> list[str]:
        """Remove the full buckets, oldest first; return the names of their sources."""
        expired = []
        while self.full:
            source, full = next(iter(self.full.items()))
            if full > now:
                break
            del self.full[source]
            expired.append(source)
        return expired

    def put(self, source: str, full: float | None) -> None:
        """Set the time at which the bucket of a source is full; None forgets the source."""
        self.full.pop(source, None)
        if full is not None:
            self.full[source] = full
