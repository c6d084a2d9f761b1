"""Words weighted by gain ratio: GRWMNB, GRWCNB and GRWOVA."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from streamnb.families.independent import Multinomial
from streamnb.model.composition import Composition, Weights
from streamnb.model.texts import TextNaiveBayes
from streamnb.model.weighting import WordWeights
from streamnb.statistics.counts import gain_ratio
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.text.labels import L


class GainRatio(Weights, name="gain-ratio"):
    """The weight of a word is its gain ratio relative to the mean (GRW).

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW) and Equation 12.
    """

    periodic: ClassVar[bool] = True

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> WordWeights:
        """Return the gain ratio of each word divided by the mean of all m words; 1 if all are 0.

        A word that no class has seen has gain ratio 0, and so weight 0.

        Examples
        --------
        >>> from streamnb import GRWMNB
        >>> model = GRWMNB()
        >>> for x, y in [("win cash now", "spam"), ("see you now", "ham")]:
        ...     model.learn_one(x, y)
        >>> model.refresh()
        >>> model.weights_
        {'cash': 1.25, 'now': 0.0, 'see': 1.25, 'win': 1.25, 'you': 1.25}
        """
        ratios = gain_ratio(indexed.counts)
        # Sorted, so that equal counts have equal means for any assignment of ids.
        mean = np.sort(ratios).sum() / parameters.vocabulary_size
        if mean == 0:
            return WordWeights(np.ones_like(ratios), 1.0)
        return WordWeights(ratios / mean, 0.0)


class GainRatioNB(TextNaiveBayes[L]):
    """Naive Bayes with words weighted by gain ratio.

    `streamnb.model.base.NaiveBayes` documents the parameters, methods and errors.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), weights=GainRatio())
    paper = "Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW)"


class GRWMNB(GainRatioNB[L], event="multinomial", equations="Equations 1, 6 and 12"):
    """Multinomial naive Bayes with words weighted by gain ratio (GRWMNB).

    A word of weight W_i counts W_i times as often, in the message and in the estimate:

        ln P(c) + Σ_i W_i f_i ln P(w_i|c)
        P(w_i|c) = (W_i N_ci + α) / (Σ_j W_j N_cj + α m)

    with N_ci the tokens of word i in class c, and W_i its gain ratio divided by the mean gain ratio
    of all m words. Counts are always current; gain ratios lag by at most `refresh_every`. A word
    that no class has seen has weight 0. A word that first appears after a refresh has weight 1
    until the next one. `weights_` contains the weights by word.
    """


class GRWCNB(GainRatioNB[L], event="complement", equations="Equations 2, 7 and 12"):
    """Complement naive Bayes with words weighted by gain ratio (GRWCNB).

        −ln P(c̄) − Σ_i W_i f_i ln P(w_i|c̄)

    with the weights of `GRWMNB`, which also multiply the counts in the estimate P(w_i|c̄) of
    Equation 7.
    """


class GRWOVA(GainRatioNB[L], event="one-versus-all", equations="Equations 3 and 12"):
    """One-versus-all naive Bayes with words weighted by gain ratio (GRWOVA).

    The sum of the scores of `GRWMNB` and `GRWCNB`: the log-ratio of the two sides.
    """
