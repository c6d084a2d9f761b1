"""Complement naive Bayes with words weighted by correlation-based selection."""

from __future__ import annotations

from streamnb.models.correlation_based import CorrelationBasedNB
from streamnb.parts import COMPLEMENT


class DFWCNB(CorrelationBasedNB):
    """Complement naive Bayes with words weighted by correlation-based selection (DFWCNB).

    Complement naive Bayes with weight 2 for the words that tell the classes apart and do not
    repeat one another, in the message and in the estimate; else as `DFWMNB`.

    Parameters
    ----------
    max_candidates
        Words that the search looks at, 1 or more: those with the highest symmetric uncertainty of
        the class. It bounds the cost of a search.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import DFWCNB
    >>> model = DFWCNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DFW), Equations 2, 5 and 7.
    [^2]: Hall (2000), Correlation-based feature selection for discrete and numeric class machine
       learning.
    """

    event = COMPLEMENT
