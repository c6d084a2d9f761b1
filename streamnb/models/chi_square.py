"""Chi-square word weights: a word counts more where it stands more often than by chance."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import ChiSquare, Complement, Composition, Multinomial, OneVersusAll

__all__ = ["RwcCNB", "RwcMNB", "RwcOVA"]


class RwcMNB(TextNaiveBayes):
    """Multinomial naive Bayes with chi-square word weights (RwcMNB).

    A word counts more for a class in whose messages it occurs more often than by chance:

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
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c), Equations 1 and 6.
    """

    parts = Composition(Multinomial(), weights=ChiSquare())


class RwcCNB(TextNaiveBayes):
    """Complement naive Bayes with chi-square word weights (RwcCNB).

    −ln P(c̄) − Σ_i f_i [ln P(w_i|c̄) + ln max(R_ic̄, 1)], with R as in `RwcMNB`, of the messages
    outside the class: R_ic̄ = n df_ic̄ / (n_c̄ df_i).

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import RwcCNB
    >>> model = RwcCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c), Equations 2 and 7.
    """

    parts = Composition(Complement(), weights=ChiSquare())


class RwcOVA(TextNaiveBayes):
    """One-versus-all naive Bayes with chi-square word weights (RwcOVA).

    The score of `RwcMNB` and that of `RwcCNB`, added up: the log-ratio of the two sides, each with
    ratios R of its own.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import RwcOVA
    >>> model = RwcOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c), Equations 3.
    """

    parts = Composition(OneVersusAll(), weights=ChiSquare())
