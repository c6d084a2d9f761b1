"""Hidden complement naive Bayes."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import COMPLEMENT, HIDDEN


class HCNB(NaiveBayes):
    """Hidden complement naive Bayes (HCNB).

        −ln P(c̄) − Σ_i f_i ln P(w_i | w_hpi, c̄)

    with hidden parents as in `HMNB`, over the documents outside the class.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HCNB
    >>> model = HCNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 15, 17 and 18, Algorithms 3 and 4.
    """

    event = COMPLEMENT
    dependence = HIDDEN
