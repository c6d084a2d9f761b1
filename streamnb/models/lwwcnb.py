"""Locally weighted complement naive Bayes."""

from __future__ import annotations

from streamnb.models.nearest import NearestNB
from streamnb.parts import COMPLEMENT


class LWWCNB(NearestNB):
    """Locally weighted complement naive Bayes (LWWCNB).

        −ln P_k(c̄) − Σ_i f_i ln P_k(w_i | c̄)

    with the counts of the k indexed messages that are nearest to the message, each counting as much
    as it is near, as in `LWWMNB`, which has the parameters and the cost.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import LWWCNB
    >>> model = LWWCNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equations 2, 5 and 7.
    """

    event = COMPLEMENT
