"""Structure-extended one-versus-all-but-one."""

from __future__ import annotations

from streamnb.naive_bayes import NaiveBayes
from streamnb.parts import ONE_DEPENDENCE, ONE_VERSUS_ALL


class SEOVA(NaiveBayes):
    """Structure-extended one-versus-all-but-one (SEOVA).

        ln P(c) − ln P(c̄) + ln( Σ_t W_t ∏_i [P(w_i | w_t, c) / P(w_i | w_t, c̄)]^f_i / Σ_t W_t )

    with one-dependence estimators as in `SEMNB`. It is the mean over parents of the ratios of the
    two sides, not the ratio of the two means, which is farther from the published table.

    Parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import SEOVA
    >>> model = SEOVA()
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

    event = ONE_VERSUS_ALL
    dependence = ONE_DEPENDENCE
