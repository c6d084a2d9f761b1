"""Complement naive Bayes."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import COMPLEMENT


class CNB(NaiveBayes):
    """Complement naive Bayes (CNB).

    A class is chosen because the message fits badly to everything outside it:

        −ln P(c̄) − Σ_i f_i ln P(w_i | c̄)
        P(w_i | c̄) = (Σ_j f_ji δ(c_j, c̄) + α) / (Σ_i Σ_j f_ji δ(c_j, c̄) + α m)

    Complement counts are never stored: they are totals minus the class. river's and WEKA's
    complement naive Bayes have no prior: that is `prior="uniform"`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import CNB
    >>> model = CNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 2, 5 and 7.
    [^2]: Rennie, J. D. et al., 2003. Tackling the poor assumptions of naive Bayes text
          classifiers. ICML.
    """

    event = COMPLEMENT
