"""Words weighted by gain ratio."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Complement, Composition, GainRatio, Multinomial, OneVersusAll

__all__ = ["GRWCNB", "GRWMNB", "GRWOVA"]


class GRWMNB(TextNaiveBayes):
    """Multinomial naive Bayes with words weighted by gain ratio (GRWMNB).

    A word of weight W_i counts W_i times as often, in the message and in the estimate:

        ln P(c) + Σ_i W_i f_i ln P(w_i|c)
        P(w_i|c) = (W_i N_ci + α) / (Σ_j W_j N_cj + α m)

    with N_ci the tokens of word i in class c, and W_i its gain ratio divided by the mean gain ratio
    of all m words. Gain ratios are refreshed when `refresh_every` says so, all else is never stale.
    A word that no class has seen weighs 0; one that first appears after a refresh weighs 1 until
    the next one. `weights_` has the weights by word.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRWMNB
    >>> model = GRWMNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW), Equations 1 and 6 and 12.
    """

    parts = Composition(Multinomial(), weights=GainRatio())


class GRWCNB(TextNaiveBayes):
    """Complement naive Bayes with words weighted by gain ratio (GRWCNB).

    −ln P(c̄) − Σ_i W_i f_i ln P(w_i|c̄), with the weights of `GRWMNB`, which also multiply the counts
    in the estimate P(w_i|c̄) of Equation 7.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRWCNB
    >>> model = GRWCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW), Equations 2 and 7 and 12.
    """

    parts = Composition(Complement(), weights=GainRatio())


class GRWOVA(TextNaiveBayes):
    """One-versus-all naive Bayes with words weighted by gain ratio (GRWOVA).

    The score of `GRWMNB` and that of `GRWCNB`, added up: the log-ratio of the two sides.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import GRWOVA
    >>> model = GRWOVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (GRW), Equations 3 and 12.
    """

    parts = Composition(OneVersusAll(), weights=GainRatio())
