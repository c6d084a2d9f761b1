"""Multinomial naive Bayes on words selected by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import MULTINOMIAL, SELECTION


class GRSMNB(NaiveBayes):
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

    event = MULTINOMIAL
    weights = SELECTION
