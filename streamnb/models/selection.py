"""Words selected by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, Multinomial, OneVersusAll, Selection

__all__ = ["GRSCNB", "GRSMNB", "GRSOVA"]


class GRSMNB(TextNaiveBayes):
    """Multinomial naive Bayes on words selected by gain ratio (GRSMNB).

    Multinomial naive Bayes on a part of the words: the top 10 %, 20 %, … or 100 % by gain ratio
    (Equation 12). Of these ten shares it takes the smallest with which most of the indexed messages
    are classified correctly, each without its own counts. Class totals are sums over the words
    kept, while *m* counts all words and the gain ratios are those of all messages. Words that tie
    with the last word kept are kept too.

    The share is chosen anew when `refresh_every` says so, over the last `index_size` messages,
    which takes the time of scoring each of them. `weights_` is 1 for the words kept and 0 for the
    others; a word that first appears after a refresh is kept until the next one.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRSMNB
    >>> model = GRSMNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS), Equations 1 and 6 and 12.
    """

    parts = Composition(Multinomial(), weights=Selection())


class GRSCNB(TextNaiveBayes):
    """Complement naive Bayes on words selected by gain ratio (GRSCNB).

    Complement naive Bayes on the share of words with which the score of `CNB` classifies most of
    the indexed messages correctly, each without its own counts. All else is as in `GRSMNB`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRSCNB
    >>> model = GRSCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS), Equations 2 and 7 and 12.
    """

    parts = Composition(Complement(), weights=Selection())


class GRSOVA(TextNaiveBayes):
    """One-versus-all naive Bayes on words selected by gain ratio (GRSOVA).

    One-versus-all naive Bayes on the share of words with which the score of `OVA` classifies most
    of the indexed messages correctly, each without its own counts. All else is as in `GRSMNB`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRSOVA
    >>> model = GRSOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS), Equations 3 and 12.
    """

    parts = Composition(OneVersusAll(), weights=Selection())
