"""How much ham would be lost above a cut, by what calibrated probabilities say beforehand."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Forecast"]

# Bins of log odds above 0: 1/20 of a nat, up to 20 nats, above which 2e-9 of the messages are ham.
_BINS_PER_NAT = 20
_BINS = 20 * _BINS_PER_NAT
# Shares of messages are whole numbers of this part of one: sums are exact, whatever their order.
_ONE = 2**32
# Every so many messages what is older counts 15/16: about the last thousand messages count, as in
# the calibration of the probabilities (its forgetting factor is 0.999).
_AGES = 64
_KEPT = 15
# Messages that may be lost beyond the share: what is allowed is rounded to whole messages. With 0
# all spam is doubted as long as there is little ham: of 1,896 in SpamAssassin's own order 264 are
# missed, with one half 75.
_ROUNDING = _ONE // 2


class Forecast:
    """The lowest cut above which few enough of the recent messages are negative (ham).

    A message with calibrated probability p of the positive class counts 1 - p negative ones, be its
    label what it may: so messages of either class tell where the cut must be, and the more positive
    ones there are the higher it is.

    Parameters
    ----------
    target
        The share of negative messages that may lie above the cut, in (0, 1).

    Examples
    --------
    >>> forecast = Forecast(target=0.01)
    >>> for _ in range(900):
    ...     forecast.add(log_odds=-5.0)
    >>> forecast.cut
    0.0
    >>> for _ in range(40):
    ...     forecast.add(log_odds=1.0)  # more than one in four of these is ham
    >>> forecast.cut
    1.0
    """

    def __init__(self, target: float) -> None:
        self._target = round(target * _ONE)
        self._bins = [0] * (_BINS + 1)
        self._negatives = 0
        self._age = 0
        # The cut is the upper edge of this bin, and this is what the bins above it hold.
        self._place = 0
        self._above = 0

    @property
    def cut(self) -> float:
        """The cut, in log odds; 0 or above."""
        return self._place / _BINS_PER_NAT

    def add(self, log_odds: float) -> None:
        """Note what was said of a message."""
        log_odds = min(max(log_odds, -100.0), 100.0)  # they may be infinite
        negative = round(_ONE / (1 + math.exp(log_odds)))
        self._negatives += negative
        if log_odds > 0:
            place = min(math.ceil(log_odds * _BINS_PER_NAT), _BINS)
            self._bins[place] += negative
            if place > self._place:
                self._above += negative
        self._age += 1
        if self._age == _AGES:
            self._age = 0
            self._negatives = self._negatives * _KEPT // 16
            self._bins = [count * _KEPT // 16 for count in self._bins]
            self._above = sum(self._bins[self._place + 1 :])
        self._follow()

    def _follow(self) -> None:
        """Move the cut to the lowest bin above which there are few enough."""
        allowed = self._target * self._negatives // _ONE + _ROUNDING
        while self._above > allowed:
            self._place += 1
            self._above -= self._bins[self._place]
        while self._place and self._above + self._bins[self._place] <= allowed:
            self._above += self._bins[self._place]
            self._place -= 1

    def to_json(self) -> list[Any]:
        """Return what recent messages say."""
        counts = [[place, count] for place, count in enumerate(self._bins) if count]
        return [self._age, self._negatives, counts]

    def restore(self, state: list[Any]) -> None:
        """Take what `to_json` returned.

        Raises
        ------
        ValueError, TypeError
            If it is something else.
        """
        age, negatives, counts = state
        bins = [0] * (_BINS + 1)
        for place, count in counts:
            if not (isinstance(place, int) and isinstance(count, int)):
                raise TypeError("bins of a forecast must be whole numbers")
            if not (1 <= place <= _BINS and count > 0):
                raise ValueError("bins of a forecast must be within the scale, and not empty")
            bins[place] = count
        if not (isinstance(age, int) and isinstance(negatives, int)):
            raise TypeError("a forecast's age and messages must be whole numbers")
        if not (0 <= age < _AGES and sum(bins) <= negatives < 2**63):
            raise ValueError("a forecast's age or messages are out of range")
        self._age, self._negatives, self._bins = age, negatives, bins
        self._place, self._above = 0, sum(bins)
        self._follow()
