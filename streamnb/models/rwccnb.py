"""Complement naive Bayes with chi-square word weights."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import CHI_SQUARE, COMPLEMENT


class RwcCNB(NaiveBayes):
    """Complement naive Bayes with chi-square word weights (RwcCNB).

    −ln P(c̄) − Σ_i f_i [ln P(w_i|c̄) + ln max(R_ic̄, 1)], with R as in `RwcMNB`, of the messages
    outside the class: R_ic̄ = n df_ic̄ / (n_c̄ df_i).

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import RwcCNB
    >>> model = RwcCNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c), Equations 2 and 7.
    """

    event = COMPLEMENT
    weights = CHI_SQUARE
