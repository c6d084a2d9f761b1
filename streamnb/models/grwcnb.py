"""Complement naive Bayes weighted by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import COMPLEMENT, GAIN_RATIO


class GRWCNB(NaiveBayes):
    """Complement naive Bayes with words weighted by gain ratio (GRWCNB).

    −ln P(c̄) − Σ_i W_i f_i ln P(w_i|c̄), with weights as in `GRWMNB` in the estimate of Equation 7,
    too.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRWCNB
    >>> model = GRWCNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW), Equations 2 and 7 and 12.
    """

    event = COMPLEMENT
    weights = GAIN_RATIO
