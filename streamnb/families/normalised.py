"""Weight-normalised complements: TWCNB."""

from __future__ import annotations

from typing import ClassVar

from streamnb import _core
from streamnb.model.base import TextNaiveBayes
from streamnb.model.composition import BuildContext, Event

__all__ = ["TWCNB", "NormalisedComplement"]


class NormalisedComplement(Event, name="normalised-complement"):
    """The complement, with the weights ln P(w|c̄) of each class divided by their sum over all words.

    References
    ----------
    [^1]: Rennie, J. D. et al., 2003. Tackling the poor assumptions of naive Bayes text
          classifiers. ICML, section 3.2 and Table 4.
    """

    prior: ClassVar[str] = "uniform"

    def prepare(self, store: _core.CountStore, context: BuildContext) -> None:
        """Let the store keep the sums that weights are divided by."""
        store.normalise(context.make_scoring())


class TWCNB(
    TextNaiveBayes,
    event="normalised-complement",
    equations="section 3.2 and Table 4, steps 4 to 8",
):
    """Weight-normalised complement naive Bayes (TWCNB).

    Complement naive Bayes in which the weights of words add up to 1 in each class. Without this, a
    class can win because all its weights are large, an effect of words that depend on one another:

        Σ_i f_i ln P(w_i | c̄) / Σ_k ln P(w_k | c̄)

    with P(w | c̄) as in `CNB`, and k over all m words. No prior is used unless requested, for
    example by `prior="laplace"`; then it enters the score as in `CNB`. The model equals
    scikit-learn's `ComplementNB(norm=True)` after each message: the sums over all words follow each
    message that is learned or unlearned, exactly and at no extra cost, so nothing is refreshed.
    While m is 1, weights are 0/0 and words have no effect.

    Weights are shares of 1, so scores are as small as 1 / m. Use the labels: probabilities from
    such scores are nearly equal, and `threshold="auto"` cannot distinguish thresholds.

    The paper's transforms of a single message are `term_weighting="log"`, ln(1 + f), and
    `term_weighting="log-unit"`, the same with unit length. The inverse document frequency is not
    implemented.
    """

    paper = "Rennie et al. (2003), Tackling the poor assumptions of naive Bayes text classifiers"
