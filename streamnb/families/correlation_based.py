"""Words weighted by correlation-based feature selection: DFWMNB, DFWCNB and DFWOVA."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from streamnb.families.independent import Multinomial
from streamnb.model.composition import Composition, Weights, parameter
from streamnb.model.texts import TextNaiveBayes
from streamnb.model.weighting import WordWeights
from streamnb.parameters import whole
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.relevance import select_words
from streamnb.text.labels import L


@dataclasses.dataclass(frozen=True)
class CorrelationBased(Weights, name="correlation-based"):
    """Weight 2 for the words that correlation-based selection chooses, 1 for the others (DFW).

    `CorrelationBasedNB` documents the parameter.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW).
    """

    periodic: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    max_candidates: int = parameter(1_000, whole(1), compare=False)

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> WordWeights:
        """Return the weights 2 and 1."""
        weights = np.ones(indexed.words.shape[1])
        weights[select_words(indexed, self.max_candidates)] = 2
        return WordWeights(weights, 1.0)


@dataclasses.dataclass(eq=False, repr=False)
class CorrelationBasedNB(TextNaiveBayes[L]):
    """Naive Bayes with words weighted by correlation-based selection.

    Deep weighting as in `GRWMNB`: a word of weight W_i counts W_i times as often, in the message
    and in the estimate. W_i is 2 for the words that correlation-based feature selection (CFS)
    chooses, which separate the classes and are not redundant, and 1 for all others:

        merit of a set S:  Σ_i SU(w_i, class) / √(|S| + Σ_{i ≠ j} SU(w_i, w_j)),  w_i and w_j in S

    with SU(X, Y) = 2 I(X; Y) / (H(X) + H(Y)) the symmetric uncertainty of two words' presences, or
    of a word's presence and the class. The search goes forward: it adds the word with the highest
    merit until no word raises it. Where the paper is silent, this is Hall's selection with the
    weights of the paper on deep feature weighting that it cites.

    The search runs as `refresh_every` says, over the last `index_size` messages. It takes at most
    `max_candidates` steps, usually some dozens. Each step visits the words of the messages that
    contain the added word. `weights_` contains the weights by word.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    max_candidates
        Words that the search considers, 1 or more: those with the highest symmetric uncertainty
        with the class. It bounds the cost of a search.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW).
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
       learning.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), weights=CorrelationBased())
    paper = "Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW)"

    max_candidates: int = CorrelationBased.max_candidates


class DFWMNB(CorrelationBasedNB[L], event="multinomial", equations="Equations 1, 4 and 6"):
    """Multinomial naive Bayes with words weighted by correlation-based selection (DFWMNB).

    Words that separate the classes and are not redundant have weight 2, in the message and in the
    estimate; all others have weight 1.
    """


class DFWCNB(CorrelationBasedNB[L], event="complement", equations="Equations 2, 5 and 7"):
    """Complement naive Bayes with words weighted by correlation-based selection (DFWCNB).

    The weights equal `DFWMNB`'s; they also multiply the counts of the complement.
    """


class DFWOVA(CorrelationBasedNB[L], event="one-versus-all", equations="Equation 3"):
    """One-versus-all naive Bayes with words weighted by correlation-based selection (DFWOVA).

    The sum of the scores of `DFWMNB` and `DFWCNB`.
    """
