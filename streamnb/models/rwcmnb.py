"""Multinomial naive Bayes with chi-square word weights."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import CHI_SQUARE, MULTINOMIAL


class RwcMNB(NaiveBayes):
    """Multinomial naive Bayes with chi-square word weights (RwcMNB).

    A word counts the more for a class, the more often than by chance it stands in its messages:

        ln P(c) + Σ_i f_i [ln P(w_i|c) + ln max(R_ic, 1)]
        R_ic = n df_ic / (n_c df_i)

    with df_ic the messages of class c that contain word i, and df_i those of all classes. R_ic is
    the ratio of what was observed to what is expected if word and class are independent, on which
    the χ² statistic rests. It follows from the counts with every message: nothing is refreshed.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import RwcMNB
    >>> model = RwcMNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c), Equations 1 and 6.
    """

    event = MULTINOMIAL
    weights = CHI_SQUARE
