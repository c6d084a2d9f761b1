"""One-versus-all-but-one."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import ONE_VERSUS_ALL


class OVA(NaiveBayes):
    """One-versus-all-but-one (OVA).

    The difference of multinomial and complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | c̄)]

    The paper writes the difference of the two products. The difference of their logarithms is
    what reproduces its table, to the printed digits over ten runs on seven collections.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import OVA
    >>> model = OVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 3 to 7.
    """

    event = ONE_VERSUS_ALL
