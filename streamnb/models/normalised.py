"""Complements with normalised weights: no class wins by the size of its weights."""

from __future__ import annotations

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Composition, NormalisedComplement

__all__ = ["TWCNB"]


class TWCNB(TextNaiveBayes):
    """Weight-normalised complement naive Bayes (TWCNB).

    Complement naive Bayes in which the weights of words add up to 1 in each class. Otherwise a
    class may win because all its weights are large, which words that depend on one another cause:

        Σ_i f_i ln P(w_i | c̄) / Σ_k ln P(w_k | c̄)

    with P(w | c̄) as in `CNB`, and k over all m words. It has no prior: one that is asked for,
    `prior="laplace"` say, takes part as in `CNB`. It is scikit-learn's `ComplementNB(norm=True)`,
    message by message: the sums over all words follow each message that is learned or unlearned,
    exactly and in the time that learning takes anyway. So nothing is refreshed. While m is 1,
    weights are 0/0, and no word says anything.

    The weights are shares of 1, so scores are as small as 1 / m. Use the labels: probabilities from
    such scores are nearly equal, and `threshold="auto"` can't tell cuts apart.

    The paper's transforms of a single message are `term_weighting="log"`, ln(1 + f), and
    `term_weighting="log-unit"`, the same with unit length. The inverse document frequency is not
    implemented.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import TWCNB
    >>> model = TWCNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Rennie, J. D. et al., 2003. Tackling the poor assumptions of naive Bayes text
          classifiers. ICML, section 3.2 and Table 4, steps 4 to 8.
    """

    parts = Composition(NormalisedComplement())
