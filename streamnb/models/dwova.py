"""One-versus-all naive Bayes with discriminatively weighted documents."""

from __future__ import annotations

from streamnb.models.discriminative import DiscriminativeNB
from streamnb.parts import ONE_VERSUS_ALL


class DWOVA(DiscriminativeNB):
    """One-versus-all naive Bayes with discriminatively weighted documents (DWOVA).

    One-versus-all naive Bayes whose messages weigh the more, the less its own probabilities fit to
    their classes; else as `DWMNB`.

    Parameters
    ----------
    rounds
        How often the indexed messages are weighed at each refresh, 0 (never) or more. The paper
        has a number given beforehand, and does not say which; between 13 and 30 make no
        difference on its collections.
    online
        Whether each message is weighed once, as it is learned, and never again; `rounds` has no
        effect then.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import DWOVA
    >>> model = DWOVA()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW), Equations 3.
    """

    event = ONE_VERSUS_ALL
