"""Hidden parents: HMNB, HCNB and HOVA. Each word has a parent mixed from the words around it."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamnb import _core
from streamnb.families.independent import Multinomial
from streamnb.model.composition import WALKED, BuildContext, Composition, Dependence, parameter
from streamnb.model.hooks import ComponentStatistic
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import optional, whole
from streamnb.statistics.counts import Counts, Floats, gain_ratio
from streamnb.text.labels import L


def frequent(counts: Counts, min_df: int) -> NDArray[np.bool_]:
    """Return which words occur in at least `min_df` documents: shape `(words,)`."""
    if min_df == 1:
        # A row without a cell belongs to a removed word whose id is free.
        return np.diff(counts.documents.indptr) > 0
    documents = np.asarray(counts.documents.sum(axis=1)).ravel()
    # Ten documents of weight 0.1 count as one, despite rounding.
    return documents >= min_df * (1 - 1e-12)


class ParentWeights(ComponentStatistic):
    """The weights of words as parents: W_t of Equations 12 and 13."""

    @property
    def reads_index(self) -> bool:  # type: ignore[override]
        """Gain ratios need the counts alone."""
        return False

    def compute(self, sample: _core.Sample) -> Floats:
        """Compute the weights."""
        m = self.context.parameters.vocabulary_size
        weights: Floats = self.component.parents(Counts.of(sample), m)
        return weights

    def swap(self, store: _core.CountStore, sample: _core.Sample, found: Floats) -> bool:
        """Use the weights."""
        return store.set_parents(sample, found)


@dataclasses.dataclass(frozen=True)
class Hidden(Dependence, name="hidden"):
    """Each word has one hidden parent, mixed from the qualified other words of the message.

    `HiddenNB` documents the parameters.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 10–18.
    """

    indexed: ClassVar[int] = WALKED
    statistic: ClassVar[type[ComponentStatistic] | None] = ParentWeights

    max_parents: int | None = parameter(None, optional(whole(1)), compare=False)
    min_df: int = parameter(1, whole(1), compare=False)

    def prepare(self, store: _core.CountStore, context: BuildContext) -> None:
        """Set the minimum document frequency of parents."""
        store.set_min_df(self.min_df)

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats:
        """Return W_t of each word: its gain ratio if that is at least the average, else 0.

        Equations 12 and 13 of the HMNB paper, Algorithm 1. `vocabulary_size` is m, the number of
        words that the average runs over, if it is known; the number of words in at least `min_df`
        documents is its lower bound.
        """
        kept = frequent(counts, self.min_df)
        ratios = np.where(kept, gain_ratio(counts), 0.0)
        average = ratios.sum() / max(vocabulary_size, kept.sum(), 1.0)
        # The mean of equal numbers may be one unit in the last place too large.
        return np.where(ratios >= average * (1 - 1e-12), ratios, 0.0)


@dataclasses.dataclass(frozen=True)
class HiddenRatios(Hidden, name="hidden-ratios"):
    """Each word has one hidden parent for the ratio of the two sides of one-versus-all.

    It reproduces the published table of HOVA to its last digit. `HOVA` follows the printed formula
    instead, which does not reproduce the table but classifies better. Equation 16 has a quotient of
    two hidden means; here it is the mean of the quotients, and the score is

        ln P(c) − ln P(c̄) − Σ_i f_i ln( Σ_t W_t P(w_i|w_t,c̄) / P(w_i|w_t,c) / Σ_t W_t ), t ≠ i,

    where a word without a qualified parent in the message has P(w_i|c̄) alone in the logarithm, not
    a ratio. The published figures omit the priors: `prior="uniform"`.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Table 4; Equation 16 is the formula printed.
    """


@dataclasses.dataclass(eq=False, repr=False)
class HiddenNB(TextNaiveBayes[L]):
    """Naive Bayes in which each word has one hidden parent, mixed from the words around it.

        ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)
        P(w_i | w_hpi, c) = Σ_t W_t P(w_i | w_t, c) / Σ_t W_t
        P(w_i | w_t, c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    where t runs over the words t ≠ i of the message whose gain ratio W_t is at least the average
    of all words, and j over the indexed documents that contain w_t (`index_size`). A word without
    such a parent in the message uses P(w_i | c). The paper does not define this case; this reading
    reproduces its table. Gain ratios are refreshed as `refresh_every` says.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    max_parents
        Maximum number of parents in a message: 1 or more. The words with the highest gain ratios
        are taken, ties in byte order. It bounds the cost of a long message. None sets no limit, as
        in the paper.
    min_df
        Number of learned messages that must contain a word before it counts as a parent and in
        the *m* of words with a parent: 1 or more; a message of weight w counts w times. The paper
        uses 1, but most of its collections omit words of fewer than three documents. Values of 2
        or 3 suit texts with all their words. As a child, and without a parent, every word counts.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), dependence=Hidden())

    max_parents: int | None = Hidden.max_parents
    min_df: int = Hidden.min_df


class HMNB(HiddenNB[L], event="multinomial", equations="Equations 10 to 14, Algorithms 1 and 2"):
    """Hidden multinomial naive Bayes (HMNB).

        ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)
        P(w_i | w_hpi, c) = Σ_t W_t P(w_i | w_t, c) / Σ_t W_t

    where the hidden parent of word i is the mean of the other words t of the message whose gain
    ratio W_t is at least the average of all words.
    """


class HCNB(
    HiddenNB[L], event="complement", equations="Equations 15, 17 and 18, Algorithms 3 and 4"
):
    """Hidden complement naive Bayes (HCNB).

        −ln P(c̄) − Σ_i f_i ln P(w_i | w_hpi, c̄)

    with hidden parents as in `HMNB`, over the documents outside the class.
    """


class HOVA(HiddenNB[L], event="one-versus-all", equations="Equation 16, Algorithms 5 and 6"):
    """Hidden one-versus-all-but-one (HOVA).

    The difference of hidden multinomial and hidden complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | w_hpi, c̄)]

    It is the difference of logarithms, for the reason given at `OVA`.
    """
