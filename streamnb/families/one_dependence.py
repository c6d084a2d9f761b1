"""One-dependence estimators: SEMNB, SECNB and SEOVA. Each word is in turn the only parent."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from streamnb.families.hidden import Hidden, HiddenNB, frequent
from streamnb.families.independent import Multinomial
from streamnb.model.composition import Composition
from streamnb.statistics.counts import Counts, Floats, gain_ratio
from streamnb.text.labels import L


@dataclasses.dataclass(frozen=True)
class OneDependence(Hidden, name="one-dependence"):
    """Each word of the message is in turn the only parent of all words; their mean decides.

    With a_t = ∏_i P(w_i|w_t,c)^f_i, the estimator with parent t, the score is
    ln P(c) + ln Σ_t W_t a_t / Σ_t W_t, where W_t is the gain ratio of t. Every word of the message
    is a parent, without a threshold, and its own child. The complement mixes ∏_i P(w_i|w_t,c̄)^f_i,
    one-versus-all the quotients of the two. These readings reproduce the published tables. If no
    word of a message has a positive gain ratio, its words are independent.

    The estimators use word counts. The Bernoulli model would need the absence of every other word
    of the vocabulary for each estimator, which is a different model (weighted AODE).

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5 and Equation 12.
    """

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats:
        """Return the gain ratio of each word that counts: shape `(words,)`."""
        return np.where(frequent(counts, self.min_df), gain_ratio(counts), 0.0)


_EQUATIONS = "section 2.5; Equation 12 for W_t, 14 and 18\n      for P(w_i|w_t,c) and P(w_i|w_t,c̄)"


@dataclasses.dataclass(eq=False, repr=False)
class OneDependenceNB(HiddenNB[L]):
    """A mean of one-dependence estimators, weighted by gain ratio.

    A prediction visits each pair of words of the message, so its cost grows with their square
    unless `max_parents` bounds it. Gain ratios are refreshed as `refresh_every` says.

    `streamnb.families.hidden.HiddenNB` documents the parameters.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), dependence=OneDependence())


class SEMNB(OneDependenceNB[L], event="multinomial", equations=_EQUATIONS):
    """Structure-extended multinomial naive Bayes (SEMNB).

    A gain-ratio-weighted average of one-dependence estimators: each word t of the message is in
    turn the parent of all its words.

        ln P(c) + ln( Σ_t W_t ∏_i P(w_i | w_t, c)^f_i / Σ_t W_t )
        P(w_i | w_t, c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    where t and i run over the words of the message, i = t included, W_t is the gain ratio of t, and
    j runs over the indexed documents that contain w_t (`index_size`). Unlike in `HMNB`, a parent
    needs no minimum gain ratio. A message without any word of positive gain ratio is scored as by
    `MNB`. The paper describes the model in words; this reading comes within half a point of its
    table.
    """


class SECNB(OneDependenceNB[L], event="complement", equations=_EQUATIONS):
    """Structure-extended complement naive Bayes (SECNB).

        −ln P(c̄) − ln( Σ_t W_t ∏_i P(w_i | w_t, c̄)^f_i / Σ_t W_t )

    with one-dependence estimators as in `SEMNB`, over the documents outside the class.
    """


class SEOVA(OneDependenceNB[L], event="one-versus-all", equations=_EQUATIONS):
    """Structure-extended one-versus-all-but-one (SEOVA).

        ln P(c) − ln P(c̄) + ln( Σ_t W_t ∏_i [P(w_i | w_t, c) / P(w_i | w_t, c̄)]^f_i / Σ_t W_t )

    with one-dependence estimators as in `SEMNB`. It is the mean over parents of the ratios of the
    two sides. The ratio of the two means is farther from the published table.
    """
