"""Hidden parents: each word has one, mixed from the qualified other words of its message."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, Hidden, Multinomial, OneVersusAll

__all__ = ["HCNB", "HMNB", "HOVA"]


class HMNB(TextNaiveBayes):
    """Hidden multinomial naive Bayes (HMNB).

    Each word of the message has one hidden parent, mixed from the other words of the message:

        ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)
        P(w_i | w_hpi, c) = Σ_t W_t P(w_i | w_t, c) / Σ_t W_t
        P(w_i | w_t, c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    where t runs over the words t ≠ i of the message whose gain ratio W_t is at least the average
    of all words, and j over the past documents that contain w_t. A word with no such parent in
    the message falls back to P(w_i | c): the paper leaves the case open, and this reading
    reproduces its table. Past documents are those of the index (`max_documents`).

    Gain ratios are refreshed as `refresh_every` says.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HMNB
    >>> model = HMNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 10 to 14, Algorithms 1 and 2.
    """

    parts = Composition(Multinomial(), dependence=Hidden())


class HCNB(TextNaiveBayes):
    """Hidden complement naive Bayes (HCNB).

        −ln P(c̄) − Σ_i f_i ln P(w_i | w_hpi, c̄)

    with hidden parents as in `HMNB`, over the documents outside the class.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

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


class HOVA(TextNaiveBayes):
    """Hidden one-versus-all-but-one (HOVA).

    The difference of hidden multinomial and hidden complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | w_hpi, c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | w_hpi, c̄)]

    as the difference of logarithms, for the reason given at `OVA`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

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
