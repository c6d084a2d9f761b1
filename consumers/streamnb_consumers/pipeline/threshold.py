"""The scores of labelled messages: a bound on the ham that is lost, and the area under the ROC."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from streamnb.evaluation import log_odds

__all__ = ["FalsePositiveBound", "FalsePositiveForecast", "is_calibrated", "odds_of"]

# Scores are kept in bins that are even on an asinh scale: a step of 2 % of the score, and of
# 0.0003 nats a word near 0.
_BINS_PER_UNIT = 50
_NEAR_ZERO = 0.015


def _bin(score: float) -> int:
    scaled = math.asinh(min(max(score, -1e9), 1e9) / _NEAR_ZERO) * _BINS_PER_UNIT
    return math.ceil(scaled)


_LAST_BIN = _bin(math.inf)

# Lost messages beyond the target that change nothing, and what each one more adds to the cut, in
# nats. Some of the first messages of a class are always lost; with five, these two hardly change
# anything in 49 streams of SMS and mail with 5 to 90 % spam (SpamAssassin 98.45 % right, without
# them 98.48): they are there for probabilities that are wrong.
_SLACK = 5.0
_STEP = 0.5


def is_calibrated(model: Any) -> bool:
    """Tell whether a model calibrates its probabilities."""
    return bool(getattr(model, "calibrated_", False))


def odds_of(probabilities: Mapping[Any, float], pos_label: str) -> float | None:
    """Return the log odds of a label; None while it or all others are not known.

    Examples
    --------
    >>> round(odds_of({"ham": 0.25, "spam": 0.75}, "spam"), 6) == round(math.log(3), 6)
    True
    >>> odds_of({"ham": 1.0}, "spam") is None
    True
    """
    if pos_label not in probabilities or len(probabilities) < 2:
        return None
    logs = {label: math.log(p) if p > 0 else -math.inf for label, p in probabilities.items()}
    return log_odds(logs, pos_label)


class FalsePositiveBound:
    """A cut that few enough negative messages lie above.

    Scores are those that messages had when they were decided on, so each message is judged by
    what was known before it. The record of scores is a sum over messages: their order does not
    matter. The cut is the score that few enough of the record are above.

    Where probabilities are calibrated the cut is in their log odds. It is the one above which they
    forecast that few enough recent messages are negative (`FalsePositiveForecast`), and it rises
    with each negative message that was lost beyond the target all the same: so whatever messages
    come, and
    however wrong the probabilities are, in the long run no larger share is lost. That is the error
    integration of Angelopoulos, Candès and Tibshirani (2023), with the forecast as scorecaster.

    Parameters
    ----------
    target
        The share of negative messages (ham) that may be lost, in (0, 1); None only keeps the
        record.
    calibrated
        Whether the model's probabilities are calibrated.

    Examples
    --------
    >>> bound = FalsePositiveBound(target=0.2)
    >>> bound.cut                       # nothing is known of ham yet
    0.0
    >>> for score in (-3.0, -2.0, 0.5, -1.0, 2.0):
    ...     bound.record(score, positive=False)
    >>> 0.5 <= bound.cut < 0.52         # one of five may be lost, and it is the one at 2.0
    True
    >>> bound = FalsePositiveBound(target=0.01, calibrated=True)
    >>> for _ in range(9):
    ...     bound.judge(log_odds=9.0, positive=False)  # almost surely spam, and ham
    >>> bound.cut > 1
    True

    References
    ----------
    A. Angelopoulos, E. Candès and R. Tibshirani (2023). Conformal PID control for time series
    prediction. NeurIPS.
    """

    def __init__(self, target: float | None = None, calibrated: bool = False) -> None:
        self.target = target
        self._forecast = (
            FalsePositiveForecast(target) if calibrated and target is not None else None
        )
        self._excess = 0.0  # lost beyond the target
        self._bins: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._cut: float | None = 0.0

    def record(self, score: float, positive: bool, times: int = 1) -> None:
        """Note the score that a message had before its label was known; -1 times takes it back."""
        counts, place = self._bins[positive], _bin(score)
        counts[place] = counts.get(place, 0) + times
        if not counts[place]:
            del counts[place]
        self._cut = None

    @property
    def judges(self) -> bool:
        """Whether messages are to be judged: whether the cut follows calibrated log odds."""
        return self._forecast is not None

    def judge(self, log_odds: float, positive: bool) -> None:
        """Move the cut by a message whose label came, and what its probability says before that."""
        if self._forecast is None or self.target is None:
            return
        if not positive:
            self._exceed((log_odds > self.cut) - self.target)
        self._forecast.add(log_odds)

    def count(self, lost: int) -> None:
        """Count a negative message that was lost, for a label that is corrected; -1 for not."""
        self._exceed(lost)

    def _exceed(self, lost: float) -> None:
        self._excess = max(0.0, self._excess + lost)

    @property
    def cut(self) -> float:
        """Above it a message may be positive: a score, or calibrated log odds; never below 0."""
        if self._forecast is not None:
            return self._forecast.cut + _STEP * max(0.0, self._excess - _SLACK)
        if self._cut is None:
            self._cut = self._find()
        return self._cut

    def _find(self) -> float:
        if self.target is None:
            return 0.0
        negatives = self._bins[False]
        room = math.floor(self.target * sum(negatives.values()))
        for place in sorted(negatives, reverse=True):
            room -= negatives[place]
            if room < 0:
                # The upper edge of this bin: nothing in it is above.
                return max(0.0, _NEAR_ZERO * math.sinh(place / _BINS_PER_UNIT))
        return 0.0

    def area(self) -> float | None:
        """Return the area under the ROC curve, ties and equal bins counted one half."""
        negatives, positives = self._bins
        pairs = sum(negatives.values()) * sum(positives.values())
        below, won = 0, 0.0
        for place in sorted(negatives.keys() | positives.keys()):
            here = negatives.get(place, 0)
            won += positives.get(place, 0) * (below + here / 2)
            below += here
        return won / pairs if pairs else None

    def to_json(self) -> list[Any]:
        """Return the record, and what the cut follows from where it follows the stream."""
        record: list[Any] = [sorted(map(list, counts.items())) for counts in self._bins]
        if self._forecast is None:
            return record
        return [*record, [self._excess, self._forecast.to_json()]]

    def restore(self, state: list[Any]) -> None:
        """Take a record that `to_json` returned.

        Raises
        ------
        ValueError, TypeError
            If it is something else.
        """
        negatives, positives, *followed = state
        excess, forecast = _followed(followed)
        for place, count in (*negatives, *positives):
            if not isinstance(place, int) or not isinstance(count, int) or abs(place) > _LAST_BIN:
                raise TypeError("bins of scores must be whole numbers, within the scale")
        if self._forecast is not None:
            if forecast is not None:
                self._forecast.restore(forecast)
            self._excess = excess
        self._bins = (dict(map(tuple, negatives)), dict(map(tuple, positives)))
        self._cut = None


def _followed(state: list[Any]) -> tuple[float, list[Any] | None]:
    """Return what was lost beyond the target, and the forecast, if there is one."""
    if not state:
        return 0.0, None
    ((excess, forecast),) = state
    if not isinstance(excess, float) or not isinstance(forecast, list):
        raise TypeError("what was lost beyond the target must be a number, a forecast a list")
    if not 0 <= excess < math.inf:
        raise ValueError("what was lost beyond the target must be a number from 0 on")
    return excess, forecast


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


class FalsePositiveForecast:
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
    >>> forecast = FalsePositiveForecast(target=0.01)
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
