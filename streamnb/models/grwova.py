"""One-versus-all naive Bayes weighted by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import GAIN_RATIO, ONE_VERSUS_ALL


class GRWOVA(NaiveBayes):
    """One-versus-all naive Bayes with words weighted by gain ratio (GRWOVA).

    The score of `GRWMNB` and that of `GRWCNB`, added up: the log-ratio of the two sides.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRWOVA
    >>> model = GRWOVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW), Equations 3 and 12.
    """

    event = ONE_VERSUS_ALL
    weights = GAIN_RATIO
