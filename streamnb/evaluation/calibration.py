"""Quality of probabilities: expected calibration error and log loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from streamnb.errors import InputError
from streamnb.parameters import check_bound

BINS = 15
"""Bins of equal width that probabilities are counted in."""

SKIP = 500
"""Messages of a stream that an evaluation leaves out of the calibration error: a model that has
learned next to nothing must not be asked how sure it is."""

_LEAST = 1e-15


class ReliabilityBin(NamedTuple):
    """Messages whose probability is in one bin.

    Attributes
    ----------
    probability
        Their mean probability, in [0, 1].
    share
        Share of them with a positive outcome, in [0, 1].
    messages
        Number of messages, at least 1.
    """

    probability: float
    share: float
    messages: int


class Calibration:
    """Probabilities and outcomes in bins of equal width, in constant memory.

    The expected calibration error is the mean over the bins of |share of outcomes − mean
    probability|, each bin weighted by its messages. For two classes, add the probability of the
    positive class. For more classes, add the highest probability, with whether that class is
    correct as outcome.

    Parameters
    ----------
    bins
        Number of bins, at least 1. The last bin includes probability 1.

    Raises
    ------
    InputError
        If the number of bins is invalid.

    Examples
    --------
    >>> calibration = Calibration(bins=2)
    >>> for probability, outcome in [(0.1, False), (0.3, True), (0.9, True), (0.7, True)]:
    ...     calibration.add(probability, outcome)
    >>> round(calibration.error(), 6)  # half of them |0.5 - 0.2| off, and half |1 - 0.8|
    0.25
    >>> calibration.reliability()[0]
    ReliabilityBin(probability=0.2, share=0.5, messages=2)

    References
    ----------
    M. Pakdaman Naeini, G. Cooper and M. Hauskrecht (2015). Obtaining well calibrated probabilities
    using Bayesian binning. AAAI. C. Guo et al. (2017). On calibration of modern neural networks.
    ICML (several classes, 15 bins).
    """

    def __init__(self, bins: int = BINS) -> None:
        bins = check_bound("bins", bins, 1)
        self._messages = [0] * bins
        self._expected = [0.0] * bins
        self._happened = [0] * bins

    def add(self, probability: float, outcome: bool) -> None:
        """Count one probability and its outcome.

        Raises
        ------
        InputError
            If the value is not in [0, 1].
        """
        if not -1e-9 <= probability <= 1 + 1e-9:  # a sum of rounded shares may exceed 1
            raise InputError(f"{probability!r} is not a probability in [0, 1]")
        probability = min(max(float(probability), 0.0), 1.0)
        bins = len(self._messages)
        place = min(int(probability * bins), bins - 1)
        self._messages[place] += 1
        self._expected[place] += probability
        self._happened[place] += bool(outcome)

    def error(self) -> float | None:
        """Return the expected calibration error, in [0, 1]; None before the first message."""
        total = sum(self._messages)
        if not total:
            return None
        pairs = zip(self._expected, self._happened, strict=True)
        return math.fsum(abs(expected - happened) for expected, happened in pairs) / total

    def reliability(self) -> list[ReliabilityBin]:
        """Return the nonempty bins by probability, for a reliability diagram."""
        rows = zip(self._messages, self._expected, self._happened, strict=True)
        return [ReliabilityBin(sure / n, times / n, n) for n, sure, times in rows if n]


def loss_of(probability: float) -> float:
    """Return the log loss in nats of a message whose label has this probability.

    A probability of 0 counts as 1e-15, as in scikit-learn: 34.5 nats.

    Examples
    --------
    >>> loss_of(0.5) == math.log(2), round(loss_of(0.0), 1)
    (True, 34.5)
    """
    return -math.log(min(max(probability, _LEAST), 1.0))
