"""Structure extension: each word of a message is in turn the parent of all its words."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import NaiveBayes, TextNaiveBayes
from streamnb.parts import Complement, Composition, Multinomial, OneDependence, OneVersusAll

__all__ = ["SECNB", "SEMNB", "SEOVA"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parents(NaiveBayes):
    max_parents: int | None = OneDependence.max_parents
    min_df: int = OneDependence.min_df


@dataclasses.dataclass(eq=False, repr=False)
class OneDependenceNB(TextNaiveBayes, _Parents):
    """Base of the models whose words have parents.

    Parameters are those of `SEMNB`.
    """


class SEMNB(OneDependenceNB):
    """Structure-extended multinomial naive Bayes (SEMNB).

    A gain-ratio-weighted average of one-dependence estimators: each word t of the message is in
    turn the parent of all its words.

        ln P(c) + ln( Σ_t W_t ∏_i P(w_i | w_t, c)^f_i / Σ_t W_t )
        P(w_i | w_t, c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    where t and i run over the words of the message, i = t included, W_t is the gain ratio of t, and
    j runs over the past documents that contain w_t: those of the index (`index_size`). Unlike in
    `HMNB` no parent needs a gain ratio above the average. A message without any word of positive
    gain ratio is scored as `MNB` does. The paper describes the model in words; this reading comes
    within half a point of its table.

    A prediction looks at each pair of words of the message, so that its cost grows with their
    square, unless `max_parents` bounds it. Gain ratios are refreshed as `refresh_every` says.

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
    >>> from streamnb import SEMNB
    >>> model = SEMNB()
    >>> for x, y in [
    ...     ("Free entry: WIN cash now", "spam"),
    ...     ("see you at noon", "ham"),
    ...     ("win a free phone now", "spam"),
    ...     ("are you free for lunch at noon?", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("free cash, call now")
    'spam'
    >>> model.predict_one("lunch at noon")
    'ham'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5; Equation 12 for W_t, 14 and 18
          for P(w_i|w_t,c) and P(w_i|w_t,c̄).
    """

    parts = Composition(Multinomial(), dependence=OneDependence())


class SECNB(OneDependenceNB):
    """Structure-extended complement naive Bayes (SECNB).

        −ln P(c̄) − ln( Σ_t W_t ∏_i P(w_i | w_t, c̄)^f_i / Σ_t W_t )

    with one-dependence estimators as in `SEMNB`, over the documents outside the class.

    Parameters, methods and errors are those of `SEMNB`.

    Examples
    --------
    >>> from streamnb import SECNB
    >>> model = SECNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5; Equation 12 for W_t, 14 and 18
          for P(w_i|w_t,c) and P(w_i|w_t,c̄).
    """

    parts = Composition(Complement(), dependence=OneDependence())


class SEOVA(OneDependenceNB):
    """Structure-extended one-versus-all-but-one (SEOVA).

        ln P(c) − ln P(c̄) + ln( Σ_t W_t ∏_i [P(w_i | w_t, c) / P(w_i | w_t, c̄)]^f_i / Σ_t W_t )

    with one-dependence estimators as in `SEMNB`. It is the mean over parents of the ratios of the
    two sides, not the ratio of the two means, which is farther from the published table.

    Parameters, methods and errors are those of `SEMNB`.

    Examples
    --------
    >>> from streamnb import SEOVA
    >>> model = SEOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5; Equation 12 for W_t, 14 and 18
          for P(w_i|w_t,c) and P(w_i|w_t,c̄).
    """

    parts = Composition(OneVersusAll(), dependence=OneDependence())
