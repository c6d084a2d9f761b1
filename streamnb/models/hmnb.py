"""Hidden multinomial naive Bayes."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import HIDDEN, MULTINOMIAL


class HMNB(NaiveBayes):
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

    event = MULTINOMIAL
    dependence = HIDDEN
