"""The risk that a model's decision differs from its teacher's, learned along the stream.

`RiskModel` estimates the risk of each decision from the model's probabilities. `RiskHistogram`
finds the highest risk that may remain without a question. `Novelty` detects messages of another
kind, for which these estimates do not hold. `weighted_interval` bounds the number of
errors that audits found with known probabilities.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

from streamnb import _core
from streamnb.text.labels import from_json, to_json

Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float]  # symmetric: 00, 01, 02, 11, 12, 22

# Chosen on all shared streams: docs/internals/cascade-figures.md has the figures.
# The easier a stream, the steeper its tail: slope per -ln of the mean risk, and its bounds.
_TAIL, _FLAT, _STEEP = 0.22, 0.2, 1.0
_PRECISION = 16.0
_KNOT = -3.0  # log odds at which the tail begins
_LOWEST, _HIGHEST = -10.0, 0.0  # log odds that are told apart
_LEAST_SLOPE, _LEAST_TAIL = 0.2, 0.05
_MEMORY = 1 - 1 / 400  # decay with each answer
_CLASS_PRECISION = 10.0
_CAUTION = 0.25  # variances of the log odds that are added to them
_LEAST_INFORMATION = 1e-4
_FIRST, _FIRST_RISK = 50.0, 0.03  # decisions that count before the first, and their risk


class RiskModel:
    """Estimate the probability that a teacher contradicts the model's best label.

    A Bayesian logistic regression on the log odds x of the two most likely labels:

        ln P(error) / P(agreement) = w_0 + (1 + w_1) max(x, -3) + (s + w_2) min(x + 3, 0) + c_label

    where x = ln P(second) / P(first). Each answer takes a Newton step from weights of 0, and
    earlier answers decay. Without answers, the probabilities of the model count. In the tail, below
    -3, they count less: s = -0.22 ln r, where r is the mean risk of the stream. Labels differ by
    c_label. The posterior variance raises the risk. Whether a message is sent depends only on x and
    the label, so the selection of messages has no influence.

    Attributes
    ----------
    tail
        s.
    """

    tail: Any

    def __init__(self) -> None:
        self.tail = _FLAT
        self._weights: Vector = (0.0, 0.0, 0.0)
        self._precision: Matrix = (_PRECISION, 0.0, 0.0, _PRECISION, 0.0, _PRECISION)
        self._covariance = _inverse(self._precision)
        self._labels: dict[Any, tuple[float, float]] = {}

    def risk(self, label: Any, log_odds: float, doubt: float = 0.0) -> float:
        """Return the probability that a teacher contradicts the label.

        Parameters
        ----------
        label
            The most likely label.
        log_odds
            ln P(second) / P(first) of the two most likely labels.
        doubt
            Log odds that are added.
        """
        u, v = _features(log_odds)
        w0, w1, w2 = self._weights
        c00, c01, c02, c11, c12, c22 = self._covariance
        shift, precision = self._labels.get(label, (0.0, _CLASS_PRECISION))
        variance = c00 + u * (2 * c01 + c11 * u) + v * (2 * (c02 + c12 * u) + c22 * v)
        score = (
            w0
            + (1 + w1) * u
            + (self.tail + w2) * v
            + shift
            + doubt
            + _CAUTION * (variance + 1 / precision)
        )
        return _logistic(score)

    def learn(self, label: Any, log_odds: float, wrong: float) -> None:
        """Learn whether a label was wrong: 1 or 0, or the probability if it is uncertain."""
        u, v = _features(log_odds)
        w0, w1, w2 = self._weights
        shift, precision = self._labels.get(label, (0.0, _CLASS_PRECISION))
        expected = _logistic(w0 + (1 + w1) * u + (self.tail + w2) * v + shift)
        information = max(expected * (1 - expected), _LEAST_INFORMATION)
        error = wrong - expected
        forgotten = 1 - _MEMORY
        p00, p01, p02, p11, p12, p22 = (_MEMORY * each for each in self._precision)
        fresh = forgotten * _PRECISION
        self._precision = (
            p00 + fresh + information,
            p01 + information * u,
            p02 + information * v,
            p11 + fresh + information * u * u,
            p12 + information * u * v,
            p22 + fresh + information * v * v,
        )
        self._covariance = c00, c01, c02, c11, c12, c22 = _inverse(self._precision)
        g0, g1, g2 = error - fresh * w0, error * u - fresh * w1, error * v - fresh * w2
        self._weights = (
            w0 + c00 * g0 + c01 * g1 + c02 * g2,
            max(_LEAST_SLOPE - 1.0, w1 + c01 * g0 + c11 * g1 + c12 * g2),
            max(_LEAST_TAIL - self.tail, w2 + c02 * g0 + c12 * g1 + c22 * g2),
        )
        fresh = forgotten * _CLASS_PRECISION
        precision = _MEMORY * precision + fresh + information
        self._labels[label] = (shift + (error - fresh * shift) / precision, precision)

    def expect(self, mean_risk: float) -> None:
        """Follow the mean risk of the stream, above 0."""
        self.tail = min(max(-_TAIL * math.log(mean_risk), _FLAT), _STEEP)

    def doubt(self) -> None:
        """Forget the precision of the estimate, because the answers contradict it."""
        self._precision = (_PRECISION, 0.0, 0.0, _PRECISION, 0.0, _PRECISION)
        self._covariance = _inverse(self._precision)
        self._labels = {each: (c, _CLASS_PRECISION) for each, (c, _) in self._labels.items()}

    def to_json(self) -> list[Any]:
        """Return the state as plain values."""
        labels = [[to_json(each), *pair] for each, pair in self._labels.items()]
        return [self.tail, list(self._weights), list(self._precision), labels]

    def restore(self, state: Any) -> None:
        """Restore the state that `to_json` returned; any error means that it is invalid."""
        tail, weights, precision, labels = state
        (self.tail,) = _finite([tail], 1)
        self._weights = _finite(weights, 3)
        self._precision = _finite(precision, 6)
        self._covariance = _inverse(self._precision)
        self._labels = {from_json(each): _finite(pair, 2) for each, *pair in labels}


class RiskHistogram:
    """The risks of recent decisions, by their logarithm.

    Parameters
    ----------
    span
        Number of decisions: the weight of a decision decays by 1/e in so many.
    """

    _BINS, _WIDTH = 96, 0.1  # a risk below exp -9.6 counts as this

    def __init__(self, span: int) -> None:
        self.span = span
        self._growth = 1 / (1 - 1 / span)
        self._unit = 1.0
        self._spared = float(span)  # decisions that the first ones share their errors with
        self._numbers = [0.0] * self._BINS
        self._risks = [0.0] * self._BINS

    def clear(self) -> None:
        """Forget all decisions, because their risks were not right."""
        self._unit, self._spared = 1.0, 0.0
        self._numbers = [0.0] * self._BINS
        self._risks = [0.0] * self._BINS

    def add(self, risk: float) -> None:
        """Add the risk of a decision."""
        at = int(self._BINS + math.log(risk) / self._WIDTH) if risk > 0.0 else 0
        at = min(max(at, 0), self._BINS - 1)
        self._unit *= self._growth  # instead of a decay of all others
        self._numbers[at] += self._unit
        self._risks[at] += self._unit * risk
        if self._unit > 1e9:
            self._numbers = [each / self._unit for each in self._numbers]
            self._risks = [each / self._unit for each in self._risks]
            self._unit = 1.0

    def mean(self) -> float:
        """Return the mean risk; 50 decisions with a risk of 0.03 count before the first."""
        first = _FIRST * self._unit
        return (sum(self._risks) + _FIRST_RISK * first) / (sum(self._numbers) + first)

    def threshold_of_errors(self, share: float, factor: float) -> float:
        """Return the highest threshold that leaves this share of errors below it.

        Parameters
        ----------
        share
            Errors per decision. Before `span` decisions they may occur earlier.
        factor
            Errors per expected error.
        """
        allowed = share * max(sum(self._numbers), self._spared * self._unit)
        errors = 0.0
        for at, risk in enumerate(self._risks):
            errors += factor * risk
            if errors > allowed:
                return self._edge(at)
        return 1.0

    def threshold_of_calls(self, share: float) -> float:
        """Return the lowest threshold that this share of the decisions exceeds at most."""
        allowed = share * sum(self._numbers)
        calls = 0.0
        for at in reversed(range(self._BINS)):
            calls += self._numbers[at]
            if calls > allowed:  # within this bin, risks count as spread evenly
                return self._edge(at + (calls - allowed) / self._numbers[at])
        return 0.0

    def _edge(self, at: float) -> float:
        return math.exp((at - self._BINS) * self._WIDTH)

    def to_json(self) -> list[Any]:
        """Return the state as plain values."""
        return [self._unit, self._spared, list(self._numbers), list(self._risks)]

    def restore(self, state: Any) -> None:
        """Restore the state that `to_json` returned; any error means that it is invalid."""
        unit, spared, numbers, risks = state
        self._unit, self._spared = _finite([unit, spared], 2)
        self._numbers = list(_finite(numbers, self._BINS))
        self._risks = list(_finite(risks, self._BINS))
        if self._unit <= 0.0:
            raise ValueError("the unit of a histogram must be above 0")


class Novelty:
    """Detect that the messages change, by the share of their words that no recent message had.

    Labels are not needed, so a change is detected before the teacher contradicts the model. The
    detector is a CUSUM on the standardised share of new words (Page 1954). The words of a message
    are a sample of 16, and the recent words are two bit maps: when one is a quarter full, it
    replaces the older one.

    Parameters
    ----------
    span
        Number of messages: the mean and the variance of the share decay by 1/e in so many.

    References
    ----------
    E. S. Page (1954). Continuous inspection schemes. Biometrika 41.
    """

    _BITS = 1 << 17
    _SAMPLE, _READ = 16, 4096  # words, characters
    _FIRST = 200  # messages before the first alarm, and between two alarms
    _SLACK, _LARGEST, _ALARM = 0.5, 3.0, 10.0  # standard deviations
    _LEAST_VARIANCE = 0.1 * 0.9 / 16  # of a sample, if a tenth of the words is new

    def __init__(self, span: int) -> None:
        self.span = span
        self._older, self._newer = bytearray(self._BITS // 8), bytearray(self._BITS // 8)
        self._full = self._since = 0
        self._mean = self._variance = self._sum = 0.0

    def add(self, x: Any) -> bool:
        """Add a message, and return whether the messages have changed."""
        sample = _core.word_sample(_parts(x), self._READ, self._SAMPLE)
        older, newer, new = self._older, self._newer, 0
        for word in sample:
            place = word % self._BITS
            at, bit = place >> 3, 1 << (place & 7)
            if not newer[at] & bit:
                new += not older[at] & bit
                newer[at] |= bit
                self._full += 1
        if self._full > self._BITS // 4:
            self._older, self._newer = self._newer, bytearray(self._BITS // 8)
            self._full = 0
        return bool(sample) and self._follow(new / len(sample))

    def _follow(self, share: float) -> bool:
        """Follow the share of new words, and return whether it has risen."""
        self._since += 1
        distance = share - self._mean
        if self._since > self._FIRST:
            deviation = distance / math.sqrt(self._variance + self._LEAST_VARIANCE)
            self._sum = max(0.0, self._sum + min(deviation, self._LARGEST) - self._SLACK)
        changed = self._sum > self._ALARM
        if changed:
            self._since, self._sum = 1, 0.0
        gain = max(1 / self.span, 1 / self._since)
        self._mean += gain * distance
        self._variance += gain * (distance * (share - self._mean) - self._variance)
        return changed

    def to_json(self) -> list[Any]:
        """Return the state as plain values."""
        maps = (base64.b64encode(zlib.compress(each)) for each in (self._older, self._newer))
        numbers = self._full, self._since, self._mean, self._variance, self._sum
        return [*(each.decode() for each in maps), *numbers]

    def restore(self, state: Any) -> None:
        """Restore the state that `to_json` returned; any error means that it is invalid."""
        older, newer, full, since, *numbers = state
        self._older, self._newer = (
            bytearray(zlib.decompressobj().decompress(base64.b64decode(each), self._BITS // 8))
            for each in (older, newer)
        )
        if {len(self._older), len(self._newer)} != {self._BITS // 8}:
            raise ValueError("the words of a novelty detector are incomplete")
        self._full, self._since = int(full), int(since)
        self._mean, self._variance, self._sum = _finite(numbers, 3)


def weighted_interval(
    total: float, squares: float, largest: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval for the expected value of a weighted sum of rare events.

    The gamma interval of Fay and Feuer. It is conservative: it contains the expected value at least
    with this probability, also if no event was seen.

    Parameters
    ----------
    total, squares
        Sum of the weights of the events, and of their squares.
    largest
        The largest weight that an event could have had.
    confidence
        Between 0 and 1.

    Examples
    --------
    >>> low, high = weighted_interval(0.0, 0.0, 1.0)
    >>> low, round(high, 2)
    (0.0, 3.69)
    >>> low, high = weighted_interval(10.0, 10.0, 1.0)  # ten events of weight 1: exact Poisson
    >>> round(low, 2), round(high, 2)
    (4.8, 18.39)

    References
    ----------
    M. P. Fay, E. J. Feuer (1997). Confidence intervals for directly standardized rates: a method
    based on the gamma distribution. Statistics in Medicine 16.
    """
    from scipy.special import gammaincinv

    tail = (1 - confidence) / 2
    low = 0.0
    if total > 0.0:
        low = float(gammaincinv(total**2 / squares, tail)) * squares / total
    if largest <= 0.0:
        return low, total
    mean, variance = total + largest, squares + largest**2
    high = float(gammaincinv(mean**2 / variance, 1 - tail)) * variance / mean
    return low, high


def uniform(seed: int, number: int) -> float:
    """Return a random number from 0 to 1 that depends on a seed and a number only (SplitMix64).

    Examples
    --------
    >>> uniform(1, 1) == uniform(1, 1), round(sum(uniform(1, n) for n in range(10_000)) / 10_000, 2)
    (True, 0.5)
    """
    mask = 0xFFFFFFFFFFFFFFFF
    state = (seed * 0xD1342543DE82EF95 + number * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ state >> 27) * 0x94D049BB133111EB) & mask
    return (state ^ state >> 31) * 2.0**-64


def two_best(probabilities: Mapping[Any, float]) -> tuple[Any, Any, float, float]:
    """Return the two most likely labels, the first one's probability, and ln P(second) / P(first).

    Examples
    --------
    >>> two_best({"ham": 0.2, "spam": 0.8})
    ('spam', 'ham', 0.8, -1.386...)
    """
    first: Any = None
    runner_up: Any = None
    best = second = -1.0
    for label, probability in probabilities.items():
        if probability > best:
            first, runner_up, best, second = label, first, probability, best
        elif probability > second:
            runner_up, second = label, probability
    return first, runner_up, best, math.log(second / best) if second > 0.0 < best else -math.inf


def _parts(x: Any) -> list[tuple[str, bool]]:
    """Return the texts of a message, and the names of its fields that are not texts."""
    if isinstance(x, str) or not isinstance(x, Mapping):  # the check of a type is fast
        return [(str(x), False)]
    return [
        (value, False) if isinstance(value, str) else (str(key), True) for key, value in x.items()
    ]


def _features(log_odds: float) -> tuple[float, float]:
    x = min(max(log_odds, _LOWEST), _HIGHEST)
    return (x, 0.0) if x > _KNOT else (_KNOT, x - _KNOT)


def _logistic(score: float) -> float:
    return 1 / (1 + math.exp(-score)) if score > -700.0 else 0.0


def _inverse(m: Matrix) -> Matrix:
    """Return the inverse of a symmetric matrix."""
    a, b, c, d, e, f = m
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1 / (a * aa + b * bb + c * cc)
    return (
        aa * scale,
        bb * scale,
        cc * scale,
        (a * f - c * c) * scale,
        (b * c - a * e) * scale,
        (a * d - b * b) * scale,
    )


def _finite(values: Any, length: int) -> tuple[Any, ...]:
    numbers = tuple(float(each) for each in values)
    if len(numbers) != length or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{length} finite numbers are needed")
    return numbers
