"""Event models with independent words: BNB, MNB, CNB, OVA and TWCNB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.model.composition import BuildContext, Event
from streamnb.model.texts import TextNaiveBayes
from streamnb.text.labels import L

# River and scikit-learn also use the empirical prior and, for Bernoulli, skip unknown words.
# A complement is empty while only one class is known, so it needs a smoothed prior.


class Bernoulli(Event, name="bernoulli"):
    """A word is present or absent, and both count.

    References
    ----------
    [^1]: McCallum, A. and Nigam, K., 1998. A comparison of event models for naive Bayes text
          classification. AAAI-98 workshop on learning for text categorization.
    """

    decays: ClassVar[bool] = True
    oov: ClassVar[str] = "skip"
    counts: ClassVar[bool] = False
    store: ClassVar[Mapping[str, Any]] = {"frequencies": True}


class Multinomial(Event, name="multinomial"):
    """A word is drawn as often as it occurs: Equations 1, 4 and 6 of the HMNB paper."""

    decays: ClassVar[bool] = True


class Complement(Event, name="complement"):
    """The class whose complement fits worst: Equations 2, 5 and 7 of the HMNB paper."""

    decays: ClassVar[bool] = True
    prior: ClassVar[str] = "laplace"


class OneVersusAll(Event, name="one-versus-all"):
    """The difference of multinomial and complement: Equation 3 of the HMNB paper."""

    decays: ClassVar[bool] = True
    prior: ClassVar[str] = "laplace"


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


class BNB(TextNaiveBayes[L], event="bernoulli", equations="section 1 (BNB)"):
    """Multi-variate Bernoulli naive Bayes (BNB).

    A document is the set of words present in it, and the absence of all others counts as well:

        ln P(c) + Σ_{w in d} ln p_wc + Σ_{w not in d} ln(1 − p_wc)
        p_wc = (df_wc + α) / (n_c + 2α)

    with df_wc the documents of class c that contain w, and n_c the documents of c. Only learned
    words are attributes. Unknown words are skipped (`oov="skip"`); with `oov="smooth"` they have
    p = α / (n_c + 2α).

    The cost of a prediction depends on the words of the message and on the number of different
    document frequencies of each class, not on the vocabulary.
    """


class MNB(TextNaiveBayes[L], event="multinomial", equations="Equations 1, 4 and 6"):
    """Multinomial naive Bayes (MNB).

        ln P(c) + Σ_i f_i ln P(w_i | c)
        P(w_i | c) = (Σ_j f_ji δ(c_j, c) + α) / (Σ_i Σ_j f_ji δ(c_j, c) + α m)

    with f_i the count of word i in the message, and m the number of different words. The defaults
    equal the multinomial naive Bayes of river and scikit-learn; the paper uses `prior="laplace"`
    (Equation 4).
    """


class CNB(TextNaiveBayes[L], event="complement", equations="Equations 2, 5 and 7"):
    """Complement naive Bayes (CNB).

    It chooses the class whose complement fits the message worst:

        −ln P(c̄) − Σ_i f_i ln P(w_i | c̄)
        P(w_i | c̄) = (Σ_j f_ji δ(c_j, c̄) + α) / (Σ_i Σ_j f_ji δ(c_j, c̄) + α m)

    Complement counts are never stored: they are the totals minus the counts of the class. The
    complement naive Bayes of river and WEKA has no prior (`prior="uniform"`). See also Rennie et
    al., Tackling the poor assumptions of naive Bayes text classifiers, ICML 2003.
    """


class OVA(TextNaiveBayes[L], event="one-versus-all", equations="Equations 3 to 7"):
    """One-versus-all-but-one (OVA).

    The difference of multinomial and complement naive Bayes:

        [ln P(c) + Σ_i f_i ln P(w_i | c)] − [ln P(c̄) + Σ_i f_i ln P(w_i | c̄)]

    The paper writes the difference of the two products. The difference of their logarithms
    reproduces its table, to the printed digits over ten runs on seven collections.
    """


class TWCNB(
    TextNaiveBayes[L],
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
