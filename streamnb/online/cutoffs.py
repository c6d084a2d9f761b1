"""Two cuts on the probability of the positive class: positive, negative, or unsure between them."""

from __future__ import annotations

import dataclasses
from typing import Literal

from streamnb.errors import InputError

__all__ = ["UNSURE", "Answer", "Cutoffs"]

UNSURE = "unsure"
Answer = Literal["positive", "negative", "unsure"]


@dataclasses.dataclass(frozen=True, slots=True)
class Cutoffs:
    """Two cuts, as users of bogofilter and SpamBayes know them.

    Parameters
    ----------
    ham
        At or below this probability the answer is negative; 0: below `spam` it is, and nothing
        is unsure.
    spam
        At or above this probability the answer is positive; above `ham`, and at most 1.

    Raises
    ------
    InputError
        If the cuts are not in this order.

    Examples
    --------
    >>> cutoffs = Cutoffs(ham=0.2, spam=0.9)
    >>> [cutoffs.answer(probability) for probability in (0.1, 0.2, 0.5, 0.9)]
    ['negative', 'negative', 'unsure', 'positive']
    >>> Cutoffs(spam=0.9).answer(0.5)
    'negative'
    """

    ham: float = 0.0
    spam: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.ham < self.spam <= 1:
            raise InputError(
                f"ham_cutoff is {self.ham:g} and spam_cutoff {self.spam:g}: they must be "
                f"probabilities, ham_cutoff the lower one"
            )

    def answer(self, probability: float) -> Answer:
        """Return what a probability of the positive class means."""
        if probability >= self.spam:
            return "positive"
        return "unsure" if self.ham and probability > self.ham else "negative"
