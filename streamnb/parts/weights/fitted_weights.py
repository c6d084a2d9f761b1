"""Weights that minimise a loss: of attributes of columns, or of words in the score alone."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb.columns.fits import Fit
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Setup, Weights
from streamnb.parts.weights.attribute_weights import WeightedAttributes
from streamnb.statistics.losses import DEVIANCE, EXPONENTIAL, GENERALISED, LIKELIHOOD, SQUARED, Loss
from streamnb.statistics.weights_in_use import FittedWords
from streamnb.statistics.word_fits import WordFit

LOSSES: dict[str, Loss] = {
    "exponential": EXPONENTIAL,
    "deviance": DEVIANCE,
    "likelihood": LIKELIHOOD,
    "generalised": GENERALISED,
    "squared": SQUARED,
}
"""The losses, by their names."""


@dataclasses.dataclass(frozen=True)
class Fitted(Weights, names={name: {"loss": name} for name in LOSSES}):
    """Words, or attributes of columns, weigh what minimises a loss over the recent messages.

    Attributes
    ----------
    loss
        One of `LOSSES`.
    multiclass
        For attributes, `"pairs"` or `"direct"`, as in `streamnb.ENB`; None is `"pairs"`. A word
        has one weight for all classes: there None is `"direct"`, one fit of all.
    ridge
        What it costs a weight to be away from 1, 0 or more; None is 0.01 for attributes and 0.1
        for words.
    leave_one_out
        Whether weights of words are fitted to messages each scored without its own counts.

    References
    ----------
    [^1]: Loss-minimised weights (ENB, DNB, LNB, GDNB, MSENB), Equations 8 to 24.
    """

    weighs: ClassVar[bool] = True
    indexed: ClassVar[int] = 10_000

    loss: str
    multiclass: str | None = dataclasses.field(default=None, compare=False)
    ridge: float | None = dataclasses.field(default=None, compare=False)
    leave_one_out: bool = dataclasses.field(default=True, compare=False)

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for weights of words in the score alone, where there are words."""
        return {} if parts.event.numbers else {"weights": "fitted"}

    def in_use(self, setup: Setup) -> InUse:
        """Keep the weights of words or attributes.

        Raises
        ------
        InputError
            If a parameter is out of range, or documents have weights too.
        """
        loss = LOSSES[self.loss]
        if setup.parts.event.numbers:
            return InUse(WeightedAttributes(Fit.of(loss, self.multiclass, self.ridge)))
        documents = setup.parts.document_weights.name
        fit = WordFit.of(loss, self.multiclass, self.ridge, self.leave_one_out, documents)
        return InUse(FittedWords(fit, setup.parameters))
