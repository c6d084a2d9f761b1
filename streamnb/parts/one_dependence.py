"""One-dependence estimators: each word of the message is in turn the parent of all its words."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from streamnb.parts.axes.composition import Composition
from streamnb.parts.hidden import Hidden
from streamnb.statistics.counts import Counts, Floats, frequent, gain_ratio


@dataclasses.dataclass(frozen=True)
class OneDependence(Hidden, name="one-dependence"):
    """Each word of the message is in turn the one parent of all its words; the mean decides.

    With a_t = ∏_i P(w_i|w_t,c)^f_i, the estimator whose parent is t, the score is
    ln P(c) + ln Σ_t W_t a_t / Σ_t W_t, where W_t is the gain ratio of t and every word of the
    message takes part, as a parent (no threshold) and as its own child. The complement mixes
    ∏_i P(w_i|w_t,c̄)^f_i, one-versus-all the quotients of the two. These readings reproduce the
    published tables. A message with no word of positive gain ratio has no parent: its words are
    taken as independent.

    Estimators are of word counts, P(w_i|w_t,c) of a word's tokens beside those of its parent. The
    Bernoulli model has presences and, for each estimator, the absence of every other word of the
    vocabulary: that is another model (weighted AODE), not this one with another event.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5 and Equation 12.
    """

    hidden: ClassVar[str | None] = "estimators"

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats:
        """Return the gain ratio of each word that counts: shape `(words,)`."""
        return np.where(frequent(counts, self.min_df), gain_ratio(counts), 0.0)

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for pairs of a word with itself: words are their own parents."""
        return {"own_pairs": True}
