"""One-versus-all naive Bayes on words selected by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import ONE_VERSUS_ALL, SELECTION


class GRSOVA(NaiveBayes):
    """One-versus-all naive Bayes on words selected by gain ratio (GRSOVA).

    One-versus-all naive Bayes of the share of words by gain ratio that decides most of the indexed
    messages right, each without its own counts, with the score of `OVA`; else as `GRSMNB`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRSOVA
    >>> model = GRSOVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.2 (GRS), Equations 3 and 12.
    """

    event = ONE_VERSUS_ALL
    weights = SELECTION
