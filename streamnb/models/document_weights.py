"""Messages weighted the more, the less the model explains them."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parameters import check_flag
from streamnb.parts import (
    Complement,
    Composition,
    Discriminative,
    DiscriminativeOnline,
    Multinomial,
    OneVersusAll,
)

__all__ = ["DWCNB", "DWMNB", "DWOVA"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    rounds: int = Discriminative.rounds
    online: bool = False


@dataclasses.dataclass(eq=False, repr=False)
class DiscriminativeNB(TextNaiveBayes, _Parameters):
    """Base of the models whose documents have discriminative weights.

    Parameters are those of `DWMNB`.
    """

    def _composition(self) -> Composition:
        if not check_flag("online", self.online):
            return super()._composition()
        return dataclasses.replace(self.parts, document_weights=DiscriminativeOnline())


class DWMNB(DiscriminativeNB):
    """Multinomial naive Bayes with discriminatively weighted documents (DWMNB).

    Multinomial naive Bayes that gives more weight to messages that it classifies badly. Each
    message j begins with weight 1, and each round adds 1 − P(c_j|d_j), where P is the probability
    that the model with the weights of the round before gives to the message's class. The weight
    multiplies the message's counts and its part in the prior.

    A new message is learned with weight 1. The additional weights are computed anew when
    `refresh_every` says so, over the last `index_size` messages, which takes the time of scoring
    each of them `rounds` times. A message that the index has evicted has weight 1 again.

    With `online=True` a message gets its weight once, when it is learned: 1 + 1 − P(c_j|d_j), where
    P is that of the model before it learns the message. Nothing is refreshed, and no weight is
    stale. A class without messages has P = 0, so its first message weighs 2. Learning a message
    takes the time of a prediction more. 1 − P is rounded to a multiple of 1/1024, so that sums of
    it are exact. It is kept with the message in the index: `unlearn_one` subtracts the weight of
    the newest message equal to the one given, later messages keep their weights, and a message that
    the index evicts weighs 1 again. `merge` keeps the weights of both models, which are not those
    that one model would have had after both streams.

    Parameters
    ----------
    rounds
        How often the indexed messages are weighed at each refresh, 0 (never) or more. The paper
        has a number given beforehand, and does not say which; between 13 and 30 make no
        difference on its collections.
    online
        Whether each message is weighed once, as it is learned, and never again; `rounds` has no
        effect then.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import DWMNB
    >>> model = DWMNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW), Equations 1, 4 and 6.
    """

    parts = Composition(Multinomial(), document_weights=Discriminative())


class DWCNB(DiscriminativeNB):
    """Complement naive Bayes with discriminatively weighted documents (DWCNB).

    Complement naive Bayes whose messages weigh the more, the less its own probabilities fit to
    their classes; else as `DWMNB`.

    Parameters are those of `DWMNB`.

    Examples
    --------
    >>> from streamnb import DWCNB
    >>> model = DWCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW), Equations 2, 5 and 7.
    """

    parts = Composition(Complement(), document_weights=Discriminative())


class DWOVA(DiscriminativeNB):
    """One-versus-all naive Bayes with discriminatively weighted documents (DWOVA).

    One-versus-all naive Bayes whose messages weigh the more, the less its own probabilities fit to
    their classes; else as `DWMNB`.

    Parameters are those of `DWMNB`.

    Examples
    --------
    >>> from streamnb import DWOVA
    >>> model = DWOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.3 (DW), Equations 3.
    """

    parts = Composition(OneVersusAll(), document_weights=Discriminative())
