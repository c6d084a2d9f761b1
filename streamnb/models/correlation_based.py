"""Words weighted by correlation-based selection."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, CorrelationBased, Multinomial, OneVersusAll

__all__ = ["DFWCNB", "DFWMNB", "DFWOVA"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    max_candidates: int = CorrelationBased.max_candidates


@dataclasses.dataclass(eq=False, repr=False)
class CorrelationBasedNB(TextNaiveBayes, _Parameters):
    """Base of the models whose words have correlation-based weights.

    Parameters are those of `DFWMNB`.
    """


class DFWMNB(CorrelationBasedNB):
    """Multinomial naive Bayes with words weighted by correlation-based selection (DFWMNB).

    Deep weighting as in `GRWMNB`: a word of weight W_i counts W_i times as often, in the message
    and in the estimate. W_i is 2 for the words that correlation-based selection (CFS) takes, which
    tell the classes apart and do not repeat one another, and 1 for all others:

        merit of a set S:  Σ_i SU(w_i, class) / √(|S| + Σ_{i ≠ j} SU(w_i, w_j)),  w_i and w_j in S

    with SU(X, Y) = 2 I(X; Y) / (H(X) + H(Y)) the symmetric uncertainty of two words' presences, or
    of a word's presence and the class. The search goes forward: it takes the word that makes the
    merit highest, until none raises it. Where the paper does not say, this is Hall's selection with
    the weights of the paper on deep feature weighting that it cites.

    The search runs as `refresh_every` says, over the last `index_size` messages. It takes at
    most `max_candidates` steps, each of the words of messages that contain the one word taken, and
    mostly a few dozen. `weights_` has the weights by word.

    Parameters
    ----------
    max_candidates
        Words that the search looks at, 1 or more: those with the highest symmetric uncertainty of
        the class. It bounds the cost of a search.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import DFWMNB
    >>> model = DFWMNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW), Equations 1, 4 and 6.
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
       learning.
    """

    parts = Composition(Multinomial(), weights=CorrelationBased())


class DFWCNB(CorrelationBasedNB):
    """Complement naive Bayes with words weighted by correlation-based selection (DFWCNB).

    Complement naive Bayes with weight 2 for the words that tell the classes apart and do not
    repeat one another, in the message and in the estimate; else as `DFWMNB`.

    Parameters are those of `DFWMNB`.

    Examples
    --------
    >>> from streamnb import DFWCNB
    >>> model = DFWCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW), Equations 2, 5 and 7.
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
       learning.
    """

    parts = Composition(Complement(), weights=CorrelationBased())


class DFWOVA(CorrelationBasedNB):
    """One-versus-all naive Bayes with words weighted by correlation-based selection (DFWOVA).

    One-versus-all naive Bayes with weight 2 for the words that tell the classes apart and do not
    repeat one another, in the message and in the estimate; else as `DFWMNB`.

    Parameters are those of `DFWMNB`.

    Examples
    --------
    >>> from streamnb import DFWOVA
    >>> model = DFWOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW), Equation 3.
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
       learning.
    """

    parts = Composition(OneVersusAll(), weights=CorrelationBased())
