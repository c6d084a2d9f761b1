"""One-versus-all naive Bayes with chi-square word weights."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import CHI_SQUARE, ONE_VERSUS_ALL


class RwcOVA(NaiveBayes):
    """One-versus-all naive Bayes with chi-square word weights (RwcOVA).

    The score of `RwcMNB` and that of `RwcCNB`, added up: the log-ratio of the two sides, each with
    ratios R of its own.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import RwcOVA
    >>> model = RwcOVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (R_w,c), Equations 3.
    """

    event = ONE_VERSUS_ALL
    weights = CHI_SQUARE
