"""Naive Bayes corrected online, and calibrated."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Composition, OneVersusAll, OnlineWeights
from streamnb.text.tokenizer import Tokenizer

__all__ = ["OnlineNB"]


@dataclasses.dataclass(eq=False, repr=False)
class OnlineNB(TextNaiveBayes):
    """Naive Bayes with online weights (OnlineNB).

    The log odds of naive Bayes, corrected by a step a message wherever they were wrong. A message
    is the set of its words, those included that no class has seen; the score of class k is

        s_k  = b_k + c Σ_i l_ik / Σ_i x_i + Σ_i w_ik u_i
        l_ik = ln P(w_i | k) / P(w_i | k̄),   u_i = x_i / ‖x‖,   x_i = (1 + f_i)**−d

    with P of presence, smoothed by `alpha`: the one-versus-all log odds, 0 of a word that no class
    has seen; and f_i the messages learned that have the word. x_i is a multiple of 2**-12. Once
    the label y is known, each class takes a step against the logistic loss of its score, as LNB's
    (Equation 14 of the paper), but with a weight added to the log odds of a word instead of
    multiplied, and with AdaGrad's rates. With g = [k = y] − 1 / (1 + exp −s_k):

        G_ik += (g u_i)²,   w_ik += r g u_i / √(1 + q G_ik)
        B_k  += g²,         b_k  += r_b g / √(1 + q B_k)

    where |g| > `margin`, and g is rounded to a multiple of 2**-20: no trace is left of the order in
    which words were added up. Then the message is counted. The two scores of two classes mirror
    each other. Before two classes are known, all scores are 0.

    Probabilities are calibrated along the stream (Platt scaling), from each score before its label
    was known: of two classes 1 / (1 + exp −(a + k s)), of more those of the soft maximum, whose
    highest is calibrated the same way. Labels and `threshold` follow the calibrated probabilities
    (`"auto"` is odds of `cost_ratio` to 1, and keeps no record); `joint_log_likelihood_one` returns
    the scores.

    To learn costs as to predict and to learn, but for the text that was predicted last, which is
    not read again. Counts are exact: unlearned, merged and subtracted as
    in any model. Corrections depend on the order of the stream: `unlearn_one` leaves them, but for
    words in no message any more; `merge` averages them by their evidence, G. A message of weight w
    counts w times, takes a step of its error times w, and calibrates once.

    Parameters
    ----------
    alpha
        Additive smoothing, above 0.
    term_weighting
        As in `streamnb.naive_bayes.TextNaiveBayes`. With values v_i other than 1, l_ik and x_i are
        multiplied by v_i.
    nb_weight
        c, 0 to 1e6: how much naive Bayes says.
    learning_rate
        r, 0 to 1e6. With 0 for it and `bias_rate`, scores are naive Bayes' (`OVA`), divided by Σ x
        and multiplied by c.
    bias_rate
        r_b, 0 to 1e6.
    rate_decay
        q, 0 to 1e6: how soon steps become shorter; with 0 they never do.
    damping
        d, 0 to 1: how much less the words that many messages have are corrected.
    margin
        0 to 1: no step is taken from a smaller error.
    warm_up
        0 on: how many messages of a class, and of others, come when both are known before it takes
        steps. Until then scores are naive Bayes', so that a model that learns all messages of one
        class and then all of another does not take the order for what tells them apart.
    calibrated
        Whether probabilities are calibrated; else they are 1 / (1 + exp −s), or the soft maximum
        of the scores.
    forgetting_factor
        Above 0, to 1: what the calibration remembers from one message to the next; 0.999 is about
        the last thousand messages.
    loss
        What a step makes smaller, by the margin m of a score, s_y or −s_k: `"logistic"`, ln(1 +
        exp −m), of LNB; `"deviance"`, ln(1 + exp −2m), of DNB; `"exponential"`, exp −m, of ENB,
        with a slope of 1024 at most; `"squared"`, exp(−2m) / (1 + exp −m)², of MSENB. g is minus
        its slope.
    correction
        What the correction of a word does: `"additive"`, as above; or `"multiplicative"`, as the
        paper's weights (Equations 3, 8 and 21), one of each word and class: the score is b_k + Σ_i
        w_ik z_ik, z_ik = c l_ik / Σ x, where w_ik starts at 1, takes the steps above with z_ik for
        u_i, and is 0 at least. Then a word that no class has seen learns nothing.
    tokenizer
        None is the default for texts in any script: words and pairs of words by Unicode's rules,
        symbols among them, one to three characters within words, the length, and the subject of a
        mail. For mail and long texts less is as good and costs less:
        `Tokenizer(words=(1, 2), boundaries="unicode", subject=True)`.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> model = OnlineNB()
    >>> for x, y in [
    ...     ("Free entry: WIN cash now!!!", "spam"),
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
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equation 14.
    [^2]: Duchi, J., Hazan, E. and Singer, Y., 2011. Adaptive subgradient methods for online
          learning and stochastic optimization. JMLR 12.
    [^3]: Platt, J., 1999. Probabilistic outputs for support vector machines and comparisons to
          regularized likelihood methods.
    """

    parts = Composition(OneVersusAll(), weights=OnlineWeights())
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer(
        words=(1, 2),
        characters_within_words=(1, 3),
        boundaries="unicode",
        strip_accents=False,
        length=True,
        subject=True,
    )

    alpha: float = 0.03
    term_weighting: str = "presence"
    nb_weight: float = OnlineWeights.nb_weight
    learning_rate: float = OnlineWeights.learning_rate
    bias_rate: float = OnlineWeights.bias_rate
    rate_decay: float = OnlineWeights.rate_decay
    damping: float = OnlineWeights.damping
    margin: float = OnlineWeights.margin
    warm_up: int = OnlineWeights.warm_up
    calibrated: bool = OnlineWeights.calibrated
    forgetting_factor: float = OnlineWeights.forgetting_factor
    loss: str = OnlineWeights.loss
    correction: str = OnlineWeights.correction
