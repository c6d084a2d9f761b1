"""Hidden one-versus-all-but-one."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import HIDDEN, ONE_VERSUS_ALL


class HOVA(NaiveBayes):
    """Hidden one-versus-all-but-one (HOVA).

    The difference of hidden multinomial and hidden complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | w_hpi, c̄)]

    as the difference of logarithms, for the reason given at `OVA`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HOVA
    >>> model = HOVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equation 16, Algorithms 5 and 6.
    """

    event = ONE_VERSUS_ALL
    dependence = HIDDEN
