"""Multi-variate Bernoulli naive Bayes."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import BERNOULLI


class BNB(NaiveBayes):
    """Multi-variate Bernoulli naive Bayes (BNB).

    A document is the set of words present in it, and the absence of all others counts as well:

        ln P(c) + Σ_{w in d} ln p_wc + Σ_{w not in d} ln(1 − p_wc)
        p_wc = (df_wc + α) / (n_c + 2α)

    with df_wc the documents of class c that contain w, and n_c the documents of c. Only words
    learned so far are attributes, so a word that no class has seen is left out
    (`unseen="skip"`), unless `unseen="smooth"` gives it p = α / (n_c + 2α).

    A prediction costs the words of the message plus the number of different document frequencies
    of each class, not the vocabulary.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import BNB
    >>> model = BNB()
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
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 1: BNB.
    [^2]: McCallum, A. and Nigam, K., 1998. A comparison of event models for naive Bayes text
          classification. AAAI-98 workshop on learning for text categorization.
    """

    event = BERNOULLI
