"""Weights of words that minimise a loss over the indexed messages: ENB, DNB, LNB, GDNB on texts.

The score of a message is that of its event model with the term of each word weighted,

    α [± ln P(c or c̄) ± Σ_i v_i f_i ln P(w_i | c or c̄)],   v_i ≥ 0

and the estimates as they are. A word has one weight for all classes, so one fit is of all classes:
the losses are of the margins over each other class.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from streamnb.errors import InputError, shown
from streamnb.parameters import check_flag, check_number, is_default
from streamnb.statistics.counts import Floats
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.losses import LEAST_RIDGE, LIKELIHOOD, Loss, Objective
from streamnb.statistics.newton import SparseSteps, least
from streamnb.statistics.word_margins import Margins

TEXT_RIDGE = 0.1
"""Of 0.03, 0.1, 0.3, 1 and 3 the best on oh0 and on re0, in ten-fold cross-validation.

There the multinomial and the one-versus-all model with `weights="generalised"` lose 0 to 0.6
points with 0.3, and 1.2 to 1.8 with 3. Leaving messages out gains 0.3 to 2.2 with any ridge.
"""

MOST_ROUNDS = 300
"""Of conjugate gradients in one fit, each of which goes twice over the words of the messages.

With `"generalised"` 100 to 150 reach the minimum on the collections. The other losses, whose
margins have no multiplier, need some 1,000 on long texts: there a fit ends before the minimum, but
where it ends depends on the messages alone."""

# Logarithms of the least and the greatest multiplier: most texts need one far below 1, and 2 is
# that of the deviance.
_MULTIPLIERS = (-9.0, math.log(2.0))


@dataclasses.dataclass(frozen=True)
class FittedWeights:
    """What words weigh in the score alone.

    Attributes
    ----------
    words
        By word id, 0 or more: shape `(words,)`.
    scale
        What all of them, and the prior, are multiplied by: α of Equation 18.
    """

    words: Floats
    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class WordFit:
    """How the weights of words are fitted.

    Attributes
    ----------
    loss
        What they minimise.
    ridge
        What being away from 1 costs, as in `streamnb.statistics.losses.Objective`.
    leave_one_out
        Whether each message is scored without its own counts.
    """

    loss: Loss
    ridge: float
    leave_one_out: bool

    @classmethod
    def of(
        cls,
        loss: Loss,
        multiclass: Any,
        ridge: Any,
        leave_one_out: Any,
        documents: str,
    ) -> WordFit:
        """Check what a model of texts was given.

        Parameters
        ----------
        loss, multiclass, ridge, leave_one_out
            As at `streamnb.ComposedNB`.
        documents
            The name of the weights of documents.

        Raises
        ------
        InputError
            If something is out of range, or documents have weights too.
        """
        if not (multiclass is None or is_default(multiclass, "direct")):
            raise InputError(
                f"a word of a text has one weight for all classes, and no class votes: multiclass "
                f"must be None or 'direct' there, not {shown(multiclass)}"
            )
        ridge = TEXT_RIDGE if ridge is None else check_number("ridge", ridge)
        if not 0 <= ridge < math.inf:
            raise InputError(f"ridge must be 0 or more, and finite, not {ridge!r}")
        check_flag("leave_one_out", leave_one_out)
        if documents != "uniform":
            raise InputError(
                f"weights that minimise a loss need document_weights 'uniform': they are fitted to "
                f"messages that count alike, not to {documents!r} ones"
            )
        return cls(loss, ridge, leave_one_out)

    def weights(self, indexed: Documents, parameters: ScoringParameters) -> FittedWeights:
        """Return the weights with the least loss over the indexed messages.

        They follow from the messages alone, in whatever order those were learned. A fit begins
        with the same weight for every word: the one with the least log loss.

        Parameters
        ----------
        indexed, parameters
            As in `Margins.of`.
        """
        found = np.ones(indexed.counts.tokens.shape[0])
        margins = Margins.of(indexed.sorted(), parameters, self.leave_one_out)
        if margins is None:
            return FittedWeights(found)
        loss, scale, start = self.loss, 1.0, multiplier(margins)
        if loss.weighs_prior:
            scale, start = start, 1.0
            loss = dataclasses.replace(LIKELIHOOD, multiplier=scale)
        ridge = max(self.ridge, LEAST_RIDGE)
        objective = Objective(loss, margins.offsets, margins.slopes, margins.weights, ridge)
        begin = np.full(len(margins.words), start)
        found[margins.words] = least(objective, begin, SparseSteps(MOST_ROUNDS))
        return FittedWeights(found, scale)


def multiplier(margins: Margins) -> float:
    """Return α of Equation 18 with the least loss where all weights are 1.

    The loss is convex in α. So its slope says on which side of α the least loss lies: α is found by
    halving the range of ln α until floats have nothing between its ends.
    """
    plain = margins.offsets + margins.slopes.margins(np.ones(len(margins.words)))

    def slope(log: float) -> float:
        _, by_margin = LIKELIHOOD.value(math.exp(log) * plain, margins.weights)
        return float((by_margin * plain).sum())

    low, high = _MULTIPLIERS
    while low < (middle := 0.5 * (low + high)) < high:
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    return math.exp(high)
