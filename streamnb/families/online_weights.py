"""Naive Bayes corrected online and calibrated: OnlineNB."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.families.independent import OneVersusAll
from streamnb.model.choices import Correction, Heads, OnlineLoss, TermWeighting
from streamnb.model.composition import BuildContext, Composition, Weights, parameter
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import check_flag, check_share, one_of, whole, within
from streamnb.text.labels import L
from streamnb.text.tokenizer import Tokenizer

_LOSSES = ("logistic", "deviance", "exponential", "squared")
_check_rate = within("a number from 0 to 1e6", lambda number: 0 <= number <= 1e6)
_check_factor = within("a number above 0, at most 1", lambda number: 0 < number <= 1)


@dataclasses.dataclass(frozen=True)
class OnlineWeights(Weights, name="online"):
    """Corrections of words that follow the errors of the scores, message by message.

    `streamnb.OnlineNB` documents the parameters.
    """

    decays: ClassVar[bool] = True
    # The bias replaces a prior, and unknown words are ignored.
    prior: ClassVar[str | None] = "uniform"
    oov: ClassVar[str | None] = "skip"
    store: ClassVar[Mapping[str, Any]] = {"online_weights": True}

    # The core checks the upper bounds of numbers.
    nb_weight: float = parameter(5.0, _check_rate)
    learning_rate: float = parameter(8.0, _check_rate)
    bias_rate: float = parameter(1.0, _check_rate)
    rate_decay: float = parameter(64.0, _check_rate)
    damping: float = parameter(0.1, check_share)
    margin: float = parameter(0.05, check_share)
    warm_up: int = parameter(5, whole(0))
    calibrated: bool = parameter(True, check_flag)
    estimate_noise: bool = parameter(True, check_flag)
    forgetting_factor: float = parameter(0.999, _check_factor)
    undo_size: int = parameter(10_000, whole(0))
    loss: OnlineLoss = parameter("logistic", one_of(*_LOSSES))
    correction: Correction = parameter("additive", one_of("additive", "multiplicative"))
    heads: Heads = parameter("one", one_of("one", "two", "three"))

    @property
    def calibrates(self) -> bool:
        """Whether probabilities are calibrated."""
        return self.calibrated

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return that scores are corrected."""
        return {"weights": "online", **dataclasses.asdict(self)}

    def prepare(self, store: _core.CountStore, context: BuildContext) -> None:
        """Set the scoring that learned messages correct."""
        store.correct_online(context.make_scoring())


@dataclasses.dataclass(eq=False, repr=False)
class OnlineNB(TextNaiveBayes[L]):
    """Naive Bayes with online weights (OnlineNB).

    The default model of this package: it classifies the texts of a stream, such as mails, short
    messages, questions and posts, into two or more classes. It learns each labelled message in one
    step and never needs an old message again. Labels may come late, in bursts, for a few messages
    only, and some of them may be wrong. Probabilities are calibrated, so a threshold has a meaning.
    A message can be unlearned, two models can be merged, and `explain_one` names the words of a
    decision.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    term_weighting
        As in `streamnb.model.texts.TextNaiveBayes`. Values v_i other than 1 multiply l_ik and
        x_i.
    nb_weight
        c of the formulas in the notes, 0 to 1e6: the weight of naive Bayes.
    learning_rate
        r, 0 to 1e6. If it and `bias_rate` are 0, scores are `OVA` scores, divided by Σ x and
        multiplied by c.
    bias_rate
        r_b, 0 to 1e6.
    rate_decay
        q, 0 to 1e6: how soon steps become shorter; 0 means never.
    damping
        d, 0 to 1: how much less frequent words are corrected.
    margin
        0 to 1: smaller errors take no step.
    warm_up
        0 or more: messages of a class, and of others, after both are known, before the class takes
        steps. Until then scores are plain naive Bayes, so that a stream sorted by class does not
        mislead the model.
    calibrated
        Whether probabilities are calibrated; otherwise they are 1 / (1 + exp −s), or the softmax
        of the scores.
    estimate_noise
        Whether the shares of wrong labels are estimated and corrected. Contradictions that the
        words of the messages predict, as after a change of the labels, are not taken for wrong.
    forgetting_factor
        Above 0, at most 1: decay of the calibration with each message; 0.999 averages about the
        last thousand messages.
    undo_size
        0 or more: number of steps that `unlearn_one` can take back. A step of two classes takes
        about 200 bytes.
    loss
        The loss that a step reduces, of the margin m of a score, s_y or −s_k: `"logistic"`, ln(1 +
        exp −m), of LNB; `"deviance"`, ln(1 + exp −2m), of DNB; `"exponential"`, exp −m, of ENB,
        with a slope of at most 1024; `"squared"`, exp(−2m) / (1 + exp −m)², of MSENB. g is minus
        its slope.
    correction
        `"additive"`, as above; or `"multiplicative"`, as the paper's weights (Equations 3, 8 and
        21) with one weight for each word and class. Then the score is b_k + Σ_i w_ik z_ik, z_ik = c
        l_ik / Σ x, where w_ik ≥ 0 starts at 1 and takes the steps above with z_ik for u_i. A word
        that no class has seen then learns nothing.
    heads
        `"one"`, the fast one, as above; `"two"` adds a head for words and runs of words with
        multiplicative corrections and r = 32; `"three"` adds to these a head for all tokens with
        the same corrections. Heads share the counts. Each takes its own steps, from its own scores
        s_vk. The score is Σ_v a_v s_vk, so P(k) is proportional to Π_v p_v(k)**a_v. Shares a_v
        start at .75 and .25, or .5, .25 and .25, and follow the log loss of the labels: with
        d_v = ln p_v(y) − Σ_k P(k) ln p_v(k), a_v = start + .05 Σ d_v / √(1 + Σ d_v²), at least 0.
        Questions, topics and intents gain; short spam does not.
    tokenizer
        A `Tokenizer`, or any function from a str to its tokens. None is the default for texts in
        any script: words and word pairs by Unicode's rules including symbols, one to three
        characters within words, the length, and the subject of a mail. For mail and long texts, a
        smaller set is as good and faster: `Tokenizer(words=(1, 2), boundaries="unicode",
        subject=True)`. For short texts in many classes, other tokens and parameters are better (see
        the how-to page).

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> model = OnlineNB()
    >>> model.learn_one("Free entry: WIN cash now!!!", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("free cash, call now")
    'spam'

    Notes
    -----
    The log odds of naive Bayes, corrected by one gradient step for each message. A message is the
    set of its words, unknown words included; the score of class k is

        s_k  = b_k + c Σ_i l_ik / Σ_i x_i + Σ_i w_ik u_i
        l_ik = ln P(w_i | k) / P(w_i | k̄),   u_i = x_i / ‖x‖,   x_i = (1 + f_i)**−d

    with P of presence, smoothed by `alpha`: the one-versus-all log odds, 0 for a word that no class
    has seen; and f_i the learned messages that contain the word. x_i is a multiple of 2**-12. Once
    the label y is known, each class takes a step that reduces the logistic loss of its score, as in
    LNB (Equation 14 of the paper). Unlike there, weights are added to the log odds of a word, and
    the learning rates are AdaGrad's, in its form of dual averaging. With
    g = [k = y] − 1 / (1 + exp −s_k) and a_i = v_i / ‖v‖:

        Z_ik += g a_i,   G_ik += (g a_i)²,   w_ik = r Z_ik / √(1 + q G_ik)
        Y_k  += g,       B_k  += g²,         b_k  = r_b Y_k / √(1 + q B_k)

    where |g| > `margin`. g is rounded to a multiple of 2**-20, so that the order of summation has
    no effect. Then the message is counted. The scores of two classes mirror each other. Before two
    classes are known, all scores are 0.

    People label in bursts. If recent labels are one-sided, compared with the shares of the classes
    so far, g is multiplied by factor · P(label)**exponent, and calibration by factor (the formulas
    are in `core/src/online/balance.rs`). Labels that are independent of each other change nothing.

    Probabilities are calibrated along the stream by Platt scaling, on each score before its label
    was known. For two classes they are 1 / (1 + exp −(a + k s)); for more, the softmax, whose
    highest probability is calibrated the same way. Labels and `threshold` use the calibrated
    probabilities (`"auto"` means odds of `cost_ratio` to 1, without a record).
    `joint_log_likelihood_one` returns the scores.

    Labels may be wrong. A score is confident if its margin is at least 1.2 times the mean margin of
    recent messages with the same best class. The labels of confident scores estimate the shares of
    wrong labels, o_k = P(label ≠ k | k) and i_k = P(label k | not k). If their mean is at most .02,
    nothing changes; from .04 on they are corrected in full. With m = 1 − o_k − i_k and
    p = 1 / (1 + exp −t_k), g is multiplied by m p / (i_k + m p) if k is the label, otherwise by
    m (1 − p) / (o_k + m (1 − p)). t_k = m s_k + 10 (1 − m) s'_k, where s'_k is the score without
    additive corrections, which follow wrong labels sooner than counts do. The calibration predicts
    the label with i_k + m P(k), and l_ik uses the counts (n_ik − i_k n_i) / m. If the scores of two
    classes predict recent labels worse than the shares of the classes, probabilities are these
    shares.

    Learning includes a prediction, but the text that was predicted last is not tokenised again.
    Counts are exact: they are unlearned, merged and subtracted as in any model. The sums Z, Y, G
    and B depend on the order of the stream. `unlearn_one` takes the step of a message back exactly,
    if it is among the last `undo_size` steps and has the same label and weight. Later steps stay as
    they were, and older messages only leave the counts. `merge` averages corrections by their
    evidence G and ends the log of steps. A message of weight w counts w times, takes a step of w
    times its error, and calibrates once.

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equation 14.
    [^2]: Duchi, J., Hazan, E. and Singer, Y., 2011. Adaptive subgradient methods for online
          learning and stochastic optimization. JMLR 12.
    [^3]: Platt, J., 1999. Probabilistic outputs for support vector machines and comparisons to
          regularized likelihood methods.
    [^4]: Natarajan, N., Dhillon, I., Ravikumar, P. and Tewari, A., 2013. Learning with noisy
          labels. NIPS 26.
    """

    composition: ClassVar[Composition] = Composition(OneVersusAll(), weights=OnlineWeights())
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer(
        words=(1, 2),
        characters_within_words=(1, 3),
        boundaries="unicode",
        strip_accents=False,
        length=True,
        subject=True,
    )

    alpha: float = 0.03
    term_weighting: TermWeighting = "presence"
    nb_weight: float = OnlineWeights.nb_weight
    learning_rate: float = OnlineWeights.learning_rate
    bias_rate: float = OnlineWeights.bias_rate
    rate_decay: float = OnlineWeights.rate_decay
    damping: float = OnlineWeights.damping
    margin: float = OnlineWeights.margin
    warm_up: int = OnlineWeights.warm_up
    calibrated: bool = OnlineWeights.calibrated
    estimate_noise: bool = OnlineWeights.estimate_noise
    forgetting_factor: float = OnlineWeights.forgetting_factor
    undo_size: int = OnlineWeights.undo_size
    loss: OnlineLoss = OnlineWeights.loss
    correction: Correction = OnlineWeights.correction
    heads: Heads = OnlineWeights.heads
