"""Multinomial naive Bayes with discriminatively weighted documents."""

from __future__ import annotations

from streamnb.models.discriminative import DiscriminativeNB
from streamnb.parts import MULTINOMIAL


class DWMNB(DiscriminativeNB):
    """Multinomial naive Bayes with discriminatively weighted documents (DWMNB).

    Multinomial naive Bayes that looks longer at the messages it does not explain: each message j
    begins with weight 1, and each round adds 1 − P(c_j|d_j), its class's probability being that of
    the model with the weights of the round before. Weights multiply the message's counts and its
    part in the prior.

    A message is learned with weight 1, at once. What it counts for besides is computed anew as
    `refresh_every` says, over the last `max_documents` messages: that takes the time of scoring
    each of them `rounds` times. Those that the index has evicted keep weight 1.

    Parameters
    ----------
    rounds
        How often the indexed messages are weighed at each refresh, 0 (never) or more. The paper
        has a number given beforehand, and does not say which; between 13 and 30 make no
        difference on its collections.

    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import DWMNB
    >>> model = DWMNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW), Equations 1, 4 and 6.
    """

    event = MULTINOMIAL
