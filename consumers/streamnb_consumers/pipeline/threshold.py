"""The decision threshold, which bounds the false-positive rate, and the scores it follows from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from streamnb.evaluation import log_odds
from streamnb_consumers.pipeline.options import Options

# Scores are counted in bins of equal width on an asinh scale: 2 % of the score, and 0.0003 nats per
# word near 0.
_BINS_PER_UNIT = 50
_NEAR_ZERO = 0.015


def _bin(score: float) -> int:
    scaled = math.asinh(min(max(score, -1e9), 1e9) / _NEAR_ZERO) * _BINS_PER_UNIT
    return math.ceil(scaled)


_LAST_BIN = _bin(math.inf)
_Bin = Annotated[int, Meta(ge=-_LAST_BIN, le=_LAST_BIN)]
_Excess = Annotated[float, Meta(ge=0, le=2**53)]
# A correction may remove a score that another bound has counted.
_Count = Annotated[int, Meta(ge=-(2**53), le=2**53)]

# Number of excess false positives without effect, and the increase of the threshold for each
# further one, in nats. Some of the first messages of a class are always false positives. With a
# slack of 5 the correction hardly matters in 49 streams of SMS and mail with 5 to 90 % spam
# (accuracy on SpamAssassin 98.45 %, without the correction 98.48 %). It exists for models whose
# probabilities are wrong. A filter that waits until its model is ready needs no slack.
_SLACK = 5.0
_STEP = 1.0


def bound_of(options: Options, model: Any) -> FalsePositiveBound:
    """Return the decision threshold of a filter that has learned nothing."""
    slack = 0.0 if options.ready_after else _SLACK
    return FalsePositiveBound(options.max_fpr, is_calibrated(model), slack)


def is_calibrated(model: Any) -> bool:
    """Return whether a model calibrates its probabilities."""
    return bool(getattr(model, "calibrated_", False))


def odds_of(probabilities: Mapping[Any, float], pos_label: str) -> float | None:
    """Return the log odds of a label; None before it and another label are known.

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
    """A decision threshold that bounds the false-positive rate.

    Every score is the one at decision time, so no message influences its own threshold. Scores
    are counted per class and bin, so their order does not matter. Without calibrated probabilities
    the threshold is the lowest score that at most the target share of negative messages exceeds.

    With calibrated probabilities the threshold is in log odds. It is the value above which the
    probabilities forecast few enough negative messages (`FalsePositiveForecast`). It also rises
    with each false positive in excess of the target. So the target holds in the long run for any
    stream and any error of the probabilities. This is the error integration of Angelopoulos, Candès
    and Tibshirani (2023), with the forecast as scorecaster.

    Parameters
    ----------
    target
        Maximum false-positive rate, in (0, 1); None only counts scores.
    calibrated
        Whether the model calibrates its probabilities.
    slack
        Number of excess false positives without effect, 0 or more.

    Examples
    --------
    >>> bound = FalsePositiveBound(target=0.2)
    >>> bound.threshold                 # no negative message yet
    0.0
    >>> for score in (-3.0, -2.0, 0.5, -1.0, 2.0):
    ...     bound.record(score, positive=False)
    >>> 0.5 <= bound.threshold < 0.52   # one in five may be positive: the message with score 2.0
    True
    >>> bound = FalsePositiveBound(target=0.01, calibrated=True)
    >>> for _ in range(9):
    ...     bound.observe(log_odds=9.0, positive=False)  # confident and wrong
    >>> bound.threshold > 1
    True

    References
    ----------
    A. Angelopoulos, E. Candès and R. Tibshirani (2023). Conformal PID control for time series
    prediction. NeurIPS.
    """

    def __init__(
        self, target: float | None = None, calibrated: bool = False, slack: float = _SLACK
    ) -> None:
        self.target, self._slack = target, slack
        self._forecast = (
            FalsePositiveForecast(target) if calibrated and target is not None else None
        )
        self._excess = 0.0  # false positives in excess of the target
        self._bins: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._threshold: float | None = 0.0  # None: must be computed

    def record(self, score: float, positive: bool, times: int = 1) -> None:
        """Count the score of a labelled message; `times=-1` removes it."""
        counts, place = self._bins[positive], _bin(score)
        counts[place] = counts.get(place, 0) + times
        if not counts[place]:
            del counts[place]
        self._threshold = None

    @property
    def observes(self) -> bool:
        """Whether the threshold follows calibrated log odds, so that it needs `observe`."""
        return self._forecast is not None

    def observe(self, log_odds: float, positive: bool, unsure: bool = False) -> None:
        """Update the threshold with the log odds of a labelled message before it is learned.

        `unsure` means that the model was not ready or the message lacked evidence, so that its
        decision could not be positive.
        """
        if self._forecast is None or self.target is None:
            return
        if not positive:
            self.add_excess((log_odds > self.threshold and not unsure) - self.target)
        self._forecast.add(log_odds, unsure)

    def add_excess(self, false_positives: float) -> None:
        """Change the number of excess false positives, for example after a corrected label."""
        self._excess = max(0.0, self._excess + false_positives)

    @property
    def threshold(self) -> float:
        """The value that a positive message must exceed, 0 or more: a score or log odds."""
        if self._forecast is not None:
            return self._forecast.threshold + _STEP * max(0.0, self._excess - self._slack)
        if self._threshold is None:
            self._threshold = self._find()
        return self._threshold

    def _find(self) -> float:
        if self.target is None:
            return 0.0
        negatives = self._bins[False]
        allowed = math.floor(self.target * sum(negatives.values()))
        for place in sorted(negatives, reverse=True):
            allowed -= negatives[place]
            if allowed < 0:
                # The upper edge of this bin: nothing in it is above.
                return max(0.0, _NEAR_ZERO * math.sinh(place / _BINS_PER_UNIT))
        return 0.0

    def roc_auc(self) -> float | None:
        """Return the area under the ROC curve; ties within a bin count one half."""
        negatives, positives = self._bins
        pairs = sum(negatives.values()) * sum(positives.values())
        below, won = 0, 0.0
        for place in sorted(negatives.keys() | positives.keys()):
            here = negatives.get(place, 0)
            won += positives.get(place, 0) * (below + here / 2)
            below += here
        return won / pairs if pairs else None

    def to_json(self) -> list[Any]:
        """Return the state as plain values."""
        record: list[Any] = [sorted(map(list, counts.items())) for counts in self._bins]
        if self._forecast is None:
            return record
        return [*record, [self.target, self._excess, self._forecast.to_json()]]

    def restore(self, state: list[Any]) -> None:
        """Restore a state from `to_json`; ValueError or TypeError without effect if invalid."""
        negatives, positives, *followed = state
        bins = msgspec.convert([negatives, positives], list[list[tuple[_Bin, _Count]]])
        if followed:
            ((target, excess, forecast),) = followed
            excess = msgspec.convert(excess, _Excess)
            if self._forecast is not None:
                self._forecast.restore(forecast)
        # The excess depends on the target, the forecast does not.
        self._excess = excess if followed and target == self.target else 0.0
        self._bins = (dict(bins[0]), dict(bins[1]))
        self._threshold = None


# Bins of log odds above 0: 1/20 nat, up to 20 nats. Above that, 2e-9 of the messages are negative.
_BINS_PER_NAT = 20
_BINS = 20 * _BINS_PER_NAT
# Fractions of messages are multiples of 1/_ONE, so sums are exact in any order.
_ONE = 2**32
# Every 64 messages, older messages are multiplied by 15/16. The forecast thus covers about the last
# thousand messages, like the calibration of the probabilities (forgetting factor 0.999).
_AGES = 64
_KEPT = 15
_ForecastState = tuple[
    Annotated[int, Meta(ge=0, lt=_AGES)],
    Annotated[int, Meta(le=2**63 - 1)],
    list[tuple[Annotated[int, Meta(ge=1, le=_BINS)], Annotated[int, Meta(gt=0)]]],
]
# False positives allowed beyond the target, because the allowance is a whole number of messages.
# Without this half message, 264 of the 1,896 spam mails of SpamAssassin (original order) are
# missed, because there is little ham at first; with it, 75.
_ROUNDING = _ONE // 2


class FalsePositiveForecast:
    """The lowest threshold above which few enough of the recent messages are negative.

    A message with calibrated probability p of the positive class counts as 1 - p negative messages,
    whatever its label. So both classes inform the threshold, and it rises with the share of
    positive messages.

    Parameters
    ----------
    target
        Maximum share of negative messages above the threshold, in (0, 1).

    Examples
    --------
    >>> forecast = FalsePositiveForecast(target=0.01)
    >>> for _ in range(900):
    ...     forecast.add(log_odds=-5.0)
    >>> forecast.threshold
    0.0
    >>> for _ in range(40):
    ...     forecast.add(log_odds=1.0)  # more than one in four of these is negative
    >>> forecast.threshold
    1.0
    """

    def __init__(self, target: float) -> None:
        self._target = round(target * _ONE)
        self._bins = [0] * (_BINS + 1)
        self._negatives = 0
        self._age = 0
        # The threshold is the upper edge of bin `_place`; `_above` is the sum of the bins above it.
        self._place = 0
        self._above = 0

    @property
    def threshold(self) -> float:
        """The threshold, in log odds, 0 or more."""
        return self._place / _BINS_PER_NAT

    def add(self, log_odds: float, unsure: bool = False) -> None:
        """Add the log odds of a message; an unsure one is never above the threshold."""
        log_odds = min(max(log_odds, -100.0), 100.0)  # they may be infinite
        negative = round(_ONE / (1 + math.exp(log_odds)))
        self._negatives += negative
        if log_odds > 0 and not unsure:
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
        """Move the threshold to the lowest bin above which there are few enough."""
        allowed = self._target * self._negatives // _ONE + _ROUNDING
        while self._above > allowed:
            self._place += 1
            self._above -= self._bins[self._place]
        while self._place and self._above + self._bins[self._place] <= allowed:
            self._above += self._bins[self._place]
            self._place -= 1

    def to_json(self) -> list[Any]:
        """Return the state as plain values."""
        counts = [[place, count] for place, count in enumerate(self._bins) if count]
        return [self._age, self._negatives, counts]

    def restore(self, state: list[Any]) -> None:
        """Restore a state from `to_json`; ValueError or TypeError if it is invalid."""
        age, negatives, counts = msgspec.convert(state, _ForecastState)
        bins = [0] * (_BINS + 1)
        for place, count in counts:
            bins[place] = count
        if sum(bins) > negatives:
            raise ValueError("a forecast has more messages in its bins than in total")
        self._age, self._negatives, self._bins = age, negatives, bins
        self._place, self._above = 0, sum(bins)
        self._follow()
