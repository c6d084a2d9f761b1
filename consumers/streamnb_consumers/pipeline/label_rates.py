"""How many labels each source may give: one bucket of tokens for each, in a join window."""

from __future__ import annotations

import math
from collections.abc import Iterator

__all__ = ["LabelRates"]

_HOUR = 3_600_000  # milliseconds
# Parts of a millisecond that a token is a whole number of, rounded down: then sums of tokens and
# of times before 2109 are exact, and the last token of an hour is there.
_PARTS = 2048


class LabelRates:
    """Buckets of tokens that fill evenly over an hour, and are full at first.

    A bucket is the time at which it will be full: each label moves it on by what one token takes to
    come back, and a label for which there is no token changes nothing. One that is full is as good
    as none, so only sources of the last hour are kept.

    Parameters
    ----------
    per_hour
        Labels that a source may give in an hour, and at once; above 0, or None for no bound.
    most
        Sources that are kept; while as many gave labels within the hour, further ones may not.

    Examples
    --------
    >>> rates = LabelRates(per_hour=2)
    >>> [rates.refusal("ann", now) is None for now in (0, 0, 0, 1_800_000, 1_800_000)]
    [True, True, False, True, False]
    >>> rates.refusal("ben", 0)
    >>> rates.refusal("ann", 0)
    "'ann' gave more than 2 labels within an hour (label_rate)"
    """

    def __init__(self, per_hour: float | None = None, most: int = 10_000) -> None:
        self.per_hour, self.most = per_hour, most
        # What a token takes to come back, in milliseconds.
        token = 0.0 if per_hour is None else min(_HOUR / per_hour, 1e15)
        self._token = math.floor(token * _PARTS) / _PARTS
        self._full: dict[str, float] = {}  # by source; who gave a label last stands last

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(self._full.items())

    def refusal(self, source: str, now: int) -> str | None:
        """Take a token of a source; return why there is none.

        Parameters
        ----------
        source
            Who gives the label.
        now
            Milliseconds since 1970.
        """
        if self.per_hour is None:
            return None
        full = max(self._full.get(source, -math.inf), float(now)) + self._token
        if full - now > max(_HOUR, self._token):
            return f"{source!r} gave more than {self.per_hour:g} labels within an hour (label_rate)"
        if source not in self._full and len(self._full) >= self.most:
            return f"{self.most:,} other sources gave labels within the hour (label_rate)"
        self._full.pop(source, None)
        self._full[source] = full
        return None

    def expire(self, now: int) -> list[str]:
        """Forget the buckets that are full, oldest first; return whose they were."""
        expired = []
        while self._full:
            source, full = next(iter(self._full.items()))
            if full > now:
                break
            del self._full[source]
            expired.append(source)
        return expired

    def get(self, source: str) -> float | None:
        """Return when the bucket of a source is full; None: it is."""
        return self._full.get(source)

    def put(self, source: str, full: float | None) -> None:
        """Set when the bucket of a source is full, as `get` returned it.

        Raises
        ------
        TypeError
            If it is no finite number.
        """
        if full is not None and not (type(full) in (int, float) and math.isfinite(full)):
            raise TypeError("the time at which a bucket is full must be a number")
        self._full.pop(source, None)
        if full is not None:
            self._full[source] = float(full)
