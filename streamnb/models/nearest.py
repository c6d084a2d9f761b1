"""Naive Bayes on the nearest messages, each weighted by how near it is."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, Multinomial, Nearest, OneVersusAll

__all__ = ["LWWCNB", "LWWMNB", "LWWOVA"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    n_neighbors: int = Nearest.n_neighbors


@dataclasses.dataclass(eq=False, repr=False)
class NearestNB(TextNaiveBayes, _Parameters):
    """Base of the models of the nearest messages.

    Parameters are those of `LWWMNB`.
    """


class LWWMNB(NearestNB):
    """Locally weighted multinomial naive Bayes (LWWMNB).

    Multinomial naive Bayes on the k indexed messages that are nearest to the message, where a
    nearer one has a higher weight:

        ln P_k(c) + Σ_i f_i ln P_k(w_i | c)

        P_k(c) = (Σ_j∈c v_j + 1) / (Σ_j v_j + s)
        P_k(w | c) = (Σ_j∈c v_j f_jw + α) / (Σ_w Σ_j∈c v_j f_jw + α m)
        v_j = k (1 − d_j/d) / Σ_j (1 − d_j/d),  d_j = 1 − cos(f, f_j),

    where sums are over the k messages, but all s classes and m words are known. The weight v_j
    falls linearly with the distance, to 0 at the distance d of the first message that is not near.
    If the nearest messages are at the distance d themselves, all messages at d have weight 1.
    Messages that share no word with this one never count.

    Nothing is computed periodically, and a message counts as soon as it is learned. A prediction
    walks the postings of the message's words, so it costs the number of indexed messages that have
    each of them: that grows with the index, of which `index_size` is the bound.

    Parameters
    ----------
    n_neighbors
        k, how many messages are near: 1 or more. The paper has no formula; weights that fall
        linearly and 50 neighbours are what is usual for locally weighted naive Bayes.
    index_size
        Recent messages among which the nearest are looked for, 0 or more. None is 65,536.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`. With
    `prior="empirical"`, a class without a message among the k counts for one.

    Examples
    --------
    >>> from streamnb import LWWMNB
    >>> model = LWWMNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equations 1, 4 and 6.
    """

    parts = Composition(Multinomial(), neighbourhood=Nearest())


class LWWCNB(NearestNB):
    """Locally weighted complement naive Bayes (LWWCNB).

        −ln P_k(c̄) − Σ_i f_i ln P_k(w_i | c̄)

    with the counts of the k indexed messages that are nearest to the message, each counting as much
    as it is near, as in `LWWMNB`, which has the parameters and the cost.

    Parameters are those of `LWWMNB`.

    Examples
    --------
    >>> from streamnb import LWWCNB
    >>> model = LWWCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equations 2, 5 and 7.
    """

    parts = Composition(Complement(), neighbourhood=Nearest())


class LWWOVA(NearestNB):
    """Locally weighted one-versus-all naive Bayes (LWWOVA).

        ln P_k(c) + Σ_i f_i ln P_k(w_i | c) − ln P_k(c̄) − Σ_i f_i ln P_k(w_i | c̄)

    with the counts of the k indexed messages that are nearest to the message, each counting as much
    as it is near, as in `LWWMNB`, which has the parameters and the cost.

    Parameters are those of `LWWMNB`.

    Examples
    --------
    >>> from streamnb import LWWOVA
    >>> model = LWWOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4; Equation 3.
    """

    parts = Composition(OneVersusAll(), neighbourhood=Nearest())
