"""Words selected by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, Multinomial, OneVersusAll, Selection

__all__ = ["GRSCNB", "GRSMNB", "GRSOVA"]


class GRSMNB(TextNaiveBayes):
    """Multinomial naive Bayes on words selected by gain ratio (GRSMNB).

    Multinomial naive Bayes of a part of the words: of the top 10 %, 20 %, …, 100 % by gain ratio
    (Equation 12) the first share that decides most of the indexed messages right, each without its
    own counts. Class totals run over the words kept; *m* is that of all words, and the gain ratios
    are those of all messages. Words that tie with the last one kept are kept.

    Chosen anew as `refresh_every` says, over the last `max_documents` messages: that takes the
    time of scoring each of them. `weights_` is 1 for the words kept and 0 for the others; a word
    that came since is kept until the next refresh.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRSMNB
    >>> model = GRSMNB()
    >>> for x, y in [
    ...     ("Free entry: WIN cash now", "spam"),
    ...     ("see you at noon", "ham"),
    ...     ("win a free phone now", "spam"),
    ...     ("are you free for lunch at noon?", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("free cash, call now")
    'spam'
    >>> model.predict_one("lunch with you")
    'ham'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS), Equations 1 and 6 and 12.
    """

    parts = Composition(Multinomial(), weights=Selection())


class GRSCNB(TextNaiveBayes):
    """Complement naive Bayes on words selected by gain ratio (GRSCNB).

    Complement naive Bayes of the share of words by gain ratio that decides most of the indexed
    messages right, each without its own counts, with the score of `CNB`; else as `GRSMNB`.

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

    One-versus-all naive Bayes of the share of words by gain ratio that decides most of the indexed
    messages right, each without its own counts, with the score of `OVA`; else as `GRSMNB`.

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
