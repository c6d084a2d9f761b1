"""Words taken as independent: the event models by themselves."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import (
    Bernoulli,
    Complement,
    Composition,
    Multinomial,
    OneVersusAll,
)

__all__ = ["BNB", "CNB", "MNB", "OVA"]


class BNB(TextNaiveBayes):
    """Multi-variate Bernoulli naive Bayes (BNB).

    A document is the set of words present in it, and the absence of all others counts as well:

        ln P(c) + Σ_{w in d} ln p_wc + Σ_{w not in d} ln(1 − p_wc)
        p_wc = (df_wc + α) / (n_c + 2α)

    with df_wc the documents of class c that contain w, and n_c the documents of c. Only words
    learned so far are attributes, so a word that no class has seen is left out
    (`oov="skip"`), unless `oov="smooth"` gives it p = α / (n_c + 2α).

    A prediction costs the words of the message plus the number of different document frequencies
    of each class, not the vocabulary.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import BNB
    >>> model = BNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 1: BNB.
    [^2]: McCallum, A. and Nigam, K., 1998. A comparison of event models for naive Bayes text
          classification. AAAI-98 workshop on learning for text categorization.
    """

    parts = Composition(Bernoulli())


class MNB(TextNaiveBayes):
    """Multinomial naive Bayes (MNB).

        ln P(c) + Σ_i f_i ln P(w_i | c)
        P(w_i | c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    with f_i the count of word i in the message, and m the number of different words. With its
    defaults it is river's and scikit-learn's multinomial naive Bayes; the paper's prior is
    `prior="laplace"` (Equation 4).

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 1, 4 and 6.
    """

    parts = Composition(Multinomial())


class CNB(TextNaiveBayes):
    """Complement naive Bayes (CNB).

    A class is chosen because the message fits badly to everything outside it:

        −ln P(c̄) − Σ_i f_i ln P(w_i | c̄)
        P(w_i | c̄) = (Σ_j f_ji δ(c_j, c̄) + α) / (Σ_i Σ_j f_ji δ(c_j, c̄) + α m)

    Complement counts are never stored: they are totals minus the class. river's and WEKA's
    complement naive Bayes have no prior: that is `prior="uniform"`.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import CNB
    >>> model = CNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 2, 5 and 7.
    [^2]: Rennie, J. D. et al., 2003. Tackling the poor assumptions of naive Bayes text
          classifiers. ICML.
    """

    parts = Composition(Complement())


class OVA(TextNaiveBayes):
    """One-versus-all-but-one (OVA).

    The difference of multinomial and complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | c̄)]

    The paper writes the difference of the two products. The difference of their logarithms is
    what reproduces its table, to the printed digits over ten runs on seven collections.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import OVA
    >>> model = OVA()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 3 to 7.
    """

    parts = Composition(OneVersusAll())
