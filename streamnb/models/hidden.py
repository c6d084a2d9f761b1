"""Hidden parents: each word has one, mixed from the qualified other words of its message."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import NaiveBayes, TextNaiveBayes
from streamnb.parts import Complement, Composition, Hidden, Multinomial, OneVersusAll

__all__ = ["HCNB", "HMNB", "HOVA"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parents(NaiveBayes):
    max_parents: int | None = Hidden.max_parents
    min_df: int = Hidden.min_df


@dataclasses.dataclass(eq=False, repr=False)
class HiddenNB(TextNaiveBayes, _Parents):
    """Base of the models whose words have parents.

    Parameters are those of `HMNB`.
    """


class HMNB(HiddenNB):
    """Hidden multinomial naive Bayes (HMNB).

    Each word of the message has one hidden parent, mixed from the other words of the message:

        ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)
        P(w_i | w_hpi, c) = Σ_t W_t P(w_i | w_t, c) / Σ_t W_t
        P(w_i | w_t, c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    where t runs over the words t ≠ i of the message whose gain ratio W_t is at least the average
    of all words, and j over the past documents that contain w_t. A word with no such parent in
    the message falls back to P(w_i | c): the paper leaves the case open, and this reading
    reproduces its table. Past documents are those of the index (`index_size`).

    Gain ratios are refreshed as `refresh_every` says.

    Parameters
    ----------
    max_parents
        How many words of a message may be parents, 1 or more: those of the greatest gain ratio, of
        equal ones the first in the order of their bytes. It bounds what a long message costs. None
        is any number, as in the paper.
    min_df
        How many learned messages must have a word for it to count as a parent, and in the *m* of
        the words given a parent: 1 or more, a message of weight w being w messages. 1 is the
        paper's, most of whose collections have no words that fewer than three documents have; 2 or
        3 fits texts whose words were not cut. A word comes in as soon as enough messages have it,
        and leaves as they are unlearned; as a child, and without a parent, each counts from the
        first on.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HMNB
    >>> model = HMNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 10 to 14, Algorithms 1 and 2.
    """

    parts = Composition(Multinomial(), dependence=Hidden())


class HCNB(HiddenNB):
    """Hidden complement naive Bayes (HCNB).

        −ln P(c̄) − Σ_i f_i ln P(w_i | w_hpi, c̄)

    with hidden parents as in `HMNB`, over the documents outside the class.

    Parameters, methods and errors are those of `HMNB`.

    Examples
    --------
    >>> from streamnb import HCNB
    >>> model = HCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 15, 17 and 18, Algorithms 3 and 4.
    """

    parts = Composition(Complement(), dependence=Hidden())


class HOVA(HiddenNB):
    """Hidden one-versus-all-but-one (HOVA).

    The difference of hidden multinomial and hidden complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | w_hpi, c̄)]

    as the difference of logarithms, for the reason given at `OVA`.

    Parameters, methods and errors are those of `HMNB`.

    Examples
    --------
    >>> from streamnb import HOVA
    >>> model = HOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equation 16, Algorithms 5 and 6.
    """

    parts = Composition(OneVersusAll(), dependence=Hidden())
