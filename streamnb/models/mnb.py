"""Multinomial naive Bayes."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import MULTINOMIAL


class MNB(NaiveBayes):
    """Multinomial naive Bayes (MNB).

        ln P(c) + Σ_i f_i ln P(w_i | c)
        P(w_i | c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    with f_i the count of word i in the message, and m the number of different words. With its
    defaults it is river's and scikit-learn's multinomial naive Bayes; the paper's prior is
    `prior="laplace"` (Equation 4).

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 1, 4 and 6.
    """

    event = MULTINOMIAL
