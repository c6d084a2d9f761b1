"""Locally weighted one-versus-all naive Bayes."""

from __future__ import annotations

from streamnb.models.nearest import NearestNB
from streamnb.parts import ONE_VERSUS_ALL


class LWWOVA(NearestNB):
    """Locally weighted one-versus-all naive Bayes (LWWOVA).

        ln P_k(c) + Σ_i f_i ln P_k(w_i | c) − ln P_k(c̄) − Σ_i f_i ln P_k(w_i | c̄)

    with the counts of the k indexed messages that are nearest to the message, each counting as much
    as it is near, as in `LWWMNB`, which has the parameters and the cost.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import LWWOVA
    >>> model = LWWOVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equation 3.
    """

    event = ONE_VERSUS_ALL
