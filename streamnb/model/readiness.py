"""Readiness of a model, and the evidence in a message."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from streamnb.parameters import check_above_zero

READY_AFTER = 10
"""Messages of each of two labels from which a model is ready."""


@dataclasses.dataclass(frozen=True)
class Readiness:
    """Whether a model has learned enough labels for its decisions.

    Attributes
    ----------
    labels
        Remaining weight of the learned messages, by label.
    ready
        Whether two labels have enough messages.
    reason
        Why the model is not ready; empty if it is.

    Examples
    --------
    >>> Readiness.of({"spam": 25.0}, 10).reason
    'only one label was learned: spam'
    >>> Readiness.of({"ham": 3.0, "spam": 25.0}, 10).reason
    'ham has 3 of 10 messages'
    >>> Readiness.of({"ham": 12.0, "spam": 25.0}, 10).ready
    True
    """

    labels: Mapping[Any, float]
    ready: bool
    reason: str = ""

    @classmethod
    def of(cls, labels: Mapping[Any, float], least: float) -> Readiness:
        """Return the readiness of a model that needs `least` messages of each of two labels."""
        least = check_above_zero("least", least)
        learned = sorted(labels, key=lambda label: -labels[label])
        if len(learned) < 2:
            named = f"only one label was learned: {learned[0]}" if learned else "no label"
            return cls(labels, False, named if learned else "nothing was learned")
        second = learned[1]
        if labels[second] < least:
            reason = f"{second} has {labels[second]:g} of {least:g} messages"
            return cls(labels, False, reason)
        return cls(labels, True)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """How much a model knows about the words of a message.

    Attributes
    ----------
    words
        Number of distinct words of the message.
    known
        Number of distinct words that the model has learned.
    strength
        How clearly the words agree on the label with the highest score, 0 or more. With c_i for the
        contribution of word i to the lead of this label over the next one, the strength is

            strength = Σ c_i / √(0.2² + Σ c_i²)

        A lead of much less than 0.2 has no strength, even if all words agree on it.
        If the signs of the c_i were random, as in a message that has nothing to do with the labels,
        a strength of z would have a probability of at most exp(−z² / 2) (Hoeffding's inequality).
        For `OnlineNB` it is the larger of two values: the strength of the log odds of the counts,
        and the strength with corrections divided by √2, because words that occur together were
        corrected together.
    """

    words: int
    known: int
    strength: float


def strength_of(share: float) -> float:
    """Return the strength that at most this share of unrelated messages reaches.

    Examples
    --------
    >>> round(strength_of(0.02), 2)
    2.8
    """
    return math.sqrt(-2 * math.log(share))
