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

    Multinomial naive Bayes that looks longer at the messages it does not explain: each message j
    begins with weight 1, and each round adds 1 − P(c_j|d_j), its class's probability being that of
    the model with the weights of the round before. Weights multiply the message's counts and its
    part in the prior.

    A message is learned with weight 1, at once. What it counts for besides is computed anew as
    `refresh_every` says, over the last `max_documents` messages: that takes the time of scoring
    each of them `rounds` times. Those that the index has evicted keep weight 1.

    With `online=True` a message is weighed once, as it is learned: by 1 + 1 − P(c_j|d_j), by the
    model of all that came before it. One pass, nothing is refreshed, and what counts is never
    stale. A class without messages has P = 0, so its first message weighs 2. To learn costs as to
    predict and to learn. 1 − P is rounded to multiples of 1/1024, so that sums of it are exact. It
    is kept with the message in the index: `unlearn_one` takes away what the newest such message was
    weighed with, later ones keep what they have, and a message that the index evicts weighs 1
    again. `merge` weighs nothing anew, so there it is not as if one model had learned both streams.

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
