"""Structure-extended complement naive Bayes."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import COMPLEMENT, ONE_DEPENDENCE


class SECNB(NaiveBayes):
    """Structure-extended complement naive Bayes (SECNB).

        −ln P(c̄) − ln( Σ_t W_t ∏_i P(w_i | w_t, c̄)^f_i / Σ_t W_t )

    with one-dependence estimators as in `SEMNB`, over the documents outside the class.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import SECNB
    >>> model = SECNB()
    >>> for x, y in [
    ...     ("Free entry: WIN cash now", "spam"),
    ...     ("see you at noon", "ham"),
    ...     ("win a free phone now", "spam"),
    ...     ("are you free for lunch at noon?", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("free cash, call now")
    'spam'
    >>> model.predict_one("lunch at noon")
    'ham'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5; Equation 12 for W_t, 14 and 18
          for P(w_i|w_t,c) and P(w_i|w_t,c̄).
    """

    event = COMPLEMENT
    dependence = ONE_DEPENDENCE
