"""Naive Bayes with weights corrected online, slowly and literally: the equations in plain Python.

The documents are kept and counted from scratch for each score. Only the corrections are carried
along, because each step depends on all earlier steps. Losses are those of Kim and Lee, Exponential
Loss Minimization for Learning Weighted Naive Bayes Classifiers: LNB, Equation 14, where the weight
is added to the log odds of a word instead of multiplied.

A document is a set of words: counts above zero mean presence. n is the number of its words,
including words that are new; a new word has log odds 0.

    l_ik = ln (f_ik + alpha) / (N_k + alpha V) - ln (f_i - f_ik + alpha) / (N - N_k + alpha V)
    x_i  = (1 + f_i)^-damping to a multiple of 2**-12,   u_i = x_i / sqrt(sum_j x_j^2)
    s_k  = b_k + scale sum_i l_ik / sum_i x_i + sum_i w_ik u_i
    p_k  = 1 / (1 + exp -s_k),   g_k = [k = y] - p_k
    G_ik += (g_k u_i)^2,         w_ik += rate g_k u_i / sqrt(1 + decay G_ik)
    B_k  += g_k^2,               b_k  += bias_rate g_k / sqrt(1 + decay B_k)

With multiplicative corrections (LNB with a weight for each word and class, at least 0 as in
Equation 21),

    z_ik = scale l_ik / sum_j x_j,   s_k = b_k + sum_i w_ik z_ik,   w_ik = 1 at first, 0 at least

and z_ik replaces u_i in the steps; a word with z_ik = 0 takes no step.

Wrong labels are estimated as in `references.label_noise`, from the scores before each document, if
its label was known before: f_ik and N_k are replaced by the expected true counts, and g_k is
multiplied by the trust.

f_ik documents of class k contain word i, f_i documents of any class; N_k and N are their sums over
words, V is the number of words with f_i > 0. A class takes a step if it and another class were
known before the document, |g_k| > margin, and warm_up documents of it and of others arrived after
that. A document of weight w counts w times, and its steps use w g_k. With another loss, g_k is
minus its derivative by s_k. g_k is rounded to multiples of 2**-20. If a prior is requested, ln P(k)
- ln P(not k) is added to s_k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple, TypeVar

from references.documents import Documents
from references.label_noise import Flips, LabelNoiseReference, sigmoid
from references.term_weighting import STEP

Words = Mapping[str, float]
Key = TypeVar("Key", bound=Hashable)


class Parts(NamedTuple):
    """The components of a score; their sum is the score."""

    bias: float
    evidence: dict[str, float]
    corrections: dict[str, float]

    def total(self) -> float:
        """Return the score."""
        return self.bias + sum(self.evidence.values()) + sum(self.corrections.values())


class OnlineWeightsReference:
    """Scores of one model, and the documents that it has learned.

    Parameters
    ----------
    alpha, scale, rate, decay, bias_rate, damping, loss, margin, warm_up
        As in the equations above.
    correction
        "additive" or "multiplicative".
    estimate_noise
        Whether wrong labels are estimated.
    prior, oov, vocabulary_size
        As in `references.independent.Reference`; with `oov="smooth"` a word without documents is
        estimated from the smoothing alone.
    """

    def __init__(
        self,
        alpha: float = 0.03,
        scale: float = 5.0,
        rate: float = 8.0,
        decay: float = 64.0,
        bias_rate: float = 1.0,
        damping: float = 0.1,
        loss: str = "logistic",
        margin: float = 0.05,
        warm_up: int = 5,
        prior: str | None = None,
        oov: str | None = None,
        vocabulary_size: float | None = None,
        correction: str = "additive",
        estimate_noise: bool = True,
    ) -> None:
        self.noise, self.estimate_noise = LabelNoiseReference(), estimate_noise
        self.flips: dict[Hashable, Flips] = {}
        self.multiplies = correction == "multiplicative"
        self.prior, self.oov = prior or "uniform", oov or "skip"
        self.vocabulary_size = vocabulary_size or 1
        self.alpha, self.scale, self.damping = alpha, scale, damping
        self.slope = SLOPES[loss]
        self.rate, self.decay, self.bias_rate, self.margin = rate, decay, bias_rate, margin
        self.warm_up = warm_up
        self.documents: list[tuple[frozenset[str], Hashable, float]] = []
        self.w: dict[tuple[str, Hashable], float] = {}
        self.squares: dict[tuple[str, Hashable], float] = {}
        self.met: dict[Hashable, int] = {}
        self.b: dict[Hashable, float] = {}
        self.bias_squares: dict[Hashable, float] = {}

    def classes(self) -> list[Hashable]:
        """Return the classes of the documents, in the order of their first document."""
        return list(dict.fromkeys(label for _, label, _ in self.documents))

    def log_odds(self, word: str, label: Hashable) -> float:
        """l_ik; 0 for a word without documents."""
        documents = self.documents
        f = sum(w for words, _, w in documents if word in words)
        if not f and self.oov == "skip":
            return 0.0
        f_k = sum(w for words, other, w in documents if word in words and other == label)
        n = sum(w * len(words) for words, _, w in documents)
        n_k = sum(w * len(words) for words, other, w in documents if other == label)
        distinct = len({word for words, _, _ in documents for word in words})
        smooth = self.alpha * max(distinct, self.vocabulary_size)
        if self.flips:
            flips = self.flips[label] if label in self.flips else Flips()
            f_k = flips.true_count(f_k, f)
            n_k = flips.true_count(n_k, n)
        inside = (f_k + self.alpha) / (n_k + smooth)
        outside = (f - f_k + self.alpha) / (n - n_k + smooth)
        return math.log(inside) - math.log(outside)

    def log_prior_odds(self, label: Hashable) -> float:
        """ln P(k) - ln P(not k)."""
        if self.prior == "uniform":
            return 0.0
        inside = sum(w for _, other, w in self.documents if other == label)
        outside = sum(w for _, other, w in self.documents if other != label)
        more = 1 if self.prior == "laplace" else 0
        return math.log(inside + more) - math.log(outside + more)

    def parts(self, x: Words, label: Hashable) -> Parts:
        """Return the components of the score s_k of a known class."""
        words = present(x)
        evidence = self.evidence(words, label)
        if self.multiplies:
            corrections = {i: (self.w.get((i, label), 1.0) - 1) * z for i, z in evidence.items()}
        else:
            shares = self.shares(words)
            corrections = {i: self.w.get((i, label), 0.0) * u for i, u in shares.items()}
        return Parts(self.b.get(label, 0.0) + self.log_prior_odds(label), evidence, corrections)

    def evidence(self, words: frozenset[str], label: Hashable) -> dict[str, float]:
        """z_ik of each word."""
        n = sum(self.values(words).values())
        return {word: self.scale / n * self.log_odds(word, label) for word in words}

    def values(self, words: frozenset[str]) -> dict[str, float]:
        """x_i of each word."""
        counted = {i: sum(w for other, _, w in self.documents if i in other) for i in words}
        return damped(counted, self.damping)

    def shares(self, words: frozenset[str]) -> dict[str, float]:
        """u_i of each word."""
        return unit(self.values(words))

    def scores(self, x: Words) -> dict[Hashable, float]:
        """Return s_k of each class; 0 for the only class."""
        labels = self.classes()
        if len(labels) < 2:
            return dict.fromkeys(labels, 0.0)
        return {label: self.parts(x, label).total() for label in labels}

    def learn(self, x: Words, y: Hashable, w: float = 1.0) -> None:
        """Take a step for each class from its error on the document, then count the document."""
        words = present(x)
        scores = self.scores(x)
        if len(scores) >= 2:
            for label, score in scores.items():
                sign = 1 if label == y else -1
                flips, parts = self.flips.get(label, Flips()), self.parts(x, label)
                bias = self.b.get(label, 0.0)
                uncorrected = score - bias - sum(parts.corrections.values())
                t = score if self.multiplies else flips.trusted(score, uncorrected)
                trust = flips.trust(t, label == y)
                g = rounded(-sign * self.slope(sign * score) * trust, STEP)
                if abs(g) > self.margin and self.tells(label):
                    self._step(words, label, w * g)
            if y in scores:
                is_warm = any(self.tells(label) for label in scores)
                self.met[y] = self.met.get(y, 0) + 1
                if self.estimate_noise and is_warm:
                    best, margin = highest(scores)
                    self.noise.learn(best, rounded(margin, STEP), y, self.shares(words))
        self.documents.append((words, y, w))
        self.flips = self.noise.rates()

    def tells(self, label: Hashable) -> bool:
        """Whether enough documents of the class and of others have arrived for steps."""
        met = self.met.get(label, 0)
        return min(met, sum(self.met.values()) - met) >= self.warm_up

    def joint_log_likelihood(self, documents: Documents, x: Words) -> dict[Hashable, float]:
        """Return the score of each class after these documents.

        Later calls may add documents but not change earlier ones: each step is taken once.
        """
        learned = len(self.documents)
        assert [label for _, label, _ in self.documents] == documents.labels[:learned]
        for row, label, w in zip(
            documents.counts[learned:],
            documents.labels[learned:],
            documents.weights[learned:],
            strict=True,
        ):
            self.learn({word: row[column] for word, column in documents.words.items()}, label, w)
        return self.scores(x)

    def _step(self, words: frozenset[str], label: Hashable, g: float) -> None:
        self.bias_squares[label] = self.bias_squares.get(label, 0.0) + g**2
        step = self.bias_rate * g / math.sqrt(1 + self.decay * self.bias_squares[label])
        self.b[label] = self.b.get(label, 0.0) + step
        shares = self.evidence(words, label) if self.multiplies else self.shares(words)
        for word, share in shares.items():
            if share == 0:
                continue
            key = word, label
            self.squares[key] = self.squares.get(key, 0.0) + (g * share) ** 2
            step = self.rate * g * share / math.sqrt(1 + self.decay * self.squares[key])
            if self.multiplies:
                self.w[key] = max(self.w.get(key, 1.0) + step, 0.0)
            else:
                self.w[key] = self.w.get(key, 0.0) + step

    def unlearn(self, x: Words, y: Hashable, w: float = 1.0) -> None:
        """Forget the counts of a document; corrections stay, except those of words without
        documents.
        """
        self.documents.remove((present(x), y, w))
        left = {word for words, _, _ in self.documents for word in words}
        labels = set(self.classes())
        for key in [key for key in self.w if key[0] not in left or key[1] not in labels]:
            del self.w[key], self.squares[key]
        for label in [label for label in self.b if label not in labels]:
            del self.b[label], self.bias_squares[label]
        self.met = {label: met for label, met in self.met.items() if label in labels}
        self.noise.v = {word: v for word, v in self.noise.v.items() if word in left}
        for label in set(self.noise.classes) - labels:
            self.noise.forget(label)
        self.flips = self.noise.rates()

    def merge(self, other: OnlineWeightsReference) -> None:
        """Add the documents of another model; average corrections by their evidence, G and B."""
        self.documents += other.documents
        average(self.w, self.squares, other.w, other.squares)
        average(self.b, self.bias_squares, other.b, other.bias_squares)
        for label, met in other.met.items():
            self.met[label] = self.met.get(label, 0) + met
        self.noise.merge(other.noise)
        self.flips = self.noise.rates()


# d/dm of the losses: ln (1 + exp -m), ln (1 + exp -2m), exp -m and (1 - sigmoid m)^2.
SLOPES: dict[str, Callable[[float], float]] = {
    "logistic": lambda m: -sigmoid(-m),
    "deviance": lambda m: -2 * sigmoid(-2 * m),
    "exponential": lambda m: -min(math.exp(-m), 1024),
    "squared": lambda m: -2 * (1 - sigmoid(m)) * sigmoid(m) * (1 - sigmoid(m)),
}


class CalibrationReference:
    """P(y = 1 | s) = 1 / (1 + exp -(a + k s)), by one Newton step per message with slow forgetting.

    With p from the score before its label was known and v = max(p (1 - p), 1e-4),
    H <- f H + (1 - f) 10 I + v (1, s)(1, s)^T and (a, k) <- (a, k) + H^-1 (1, s) (y - p),
    from (a, k) = (0, 1), H = 10 I; k stays at 0.05 or above.

    Parameters
    ----------
    forget
        f, in (0, 1]: 0.999 remembers about the last thousand messages.
    """

    def __init__(self, forget: float = 0.999) -> None:
        self.forget = forget
        self.a, self.k = 0.0, 1.0
        self.h = (10.0, 0.0, 10.0)

    def probability(self, score: float) -> float:
        """Return P(y = 1 | s)."""
        return sigmoid(self.a + self.k * score)

    def learn(self, score: float, y: bool, flips: Flips = Flips()) -> None:  # noqa: B008
        """Take a Newton step from a score and its label, which is wrong at these rates."""
        p, slope = self.probability(score), 1 - flips.out - flips.into
        labelled = flips.into + slope * p
        slope *= p * (1 - p)
        g = slope * (float(y) - labelled) / (labelled * (1 - labelled))
        v = max(slope**2 / (labelled * (1 - labelled)), 1e-4)
        f = self.forget
        h00 = f * self.h[0] + (1 - f) * 10 + v
        h01 = f * self.h[1] + v * score
        h11 = f * self.h[2] + (1 - f) * 10 + v * score**2
        determinant = h00 * h11 - h01**2
        self.a += (h11 - h01 * score) * g / determinant
        self.k = max(self.k + (h00 * score - h01) * g / determinant, 0.05)
        self.h = (h00, h01, h11)


def present(x: Words) -> frozenset[str]:
    """Return the words with a count above zero."""
    return frozenset(word for word, count in x.items() if count > 0)


def rounded(value: float, step: float) -> float:
    """Return the nearest multiple of a step."""
    return round(value / step) * step


def damped(counted: Mapping[str, float], damping: float) -> dict[str, float]:
    """Return x_i of words in these numbers of documents."""
    return {i: rounded((1 + f) ** -damping, 2**-12) for i, f in counted.items()}


def unit(x: Mapping[str, float]) -> dict[str, float]:
    """Return u_i of words with these x_i."""
    length = math.sqrt(sum(value**2 for value in x.values()))
    return {i: value / length for i, value in x.items()}


def highest(scores: Mapping[Hashable, float]) -> tuple[Hashable, float]:
    """Return the class with the highest score, the first label of equals, and its margin.

    The margin is half the difference of two scores, or the log odds of the share of the softmax.
    """
    best = max(sorted(scores), key=lambda label: scores[label])
    others = [score for label, score in scores.items() if label != best]
    if len(others) == 1:
        return best, (scores[best] - others[0]) / 2
    top = max(others)
    return best, scores[best] - top - math.log(sum(math.exp(score - top) for score in others))


def average(
    values: dict[Key, float],
    evidence: dict[Key, float],
    other_values: dict[Key, float],
    other_evidence: dict[Key, float],
) -> None:
    """Set each value to the mean of both sides by evidence, and the evidence to its sum."""
    for key, weight in other_evidence.items():
        total = evidence.get(key, 0.0) + weight
        product = values.get(key, 0.0) * evidence.get(key, 0.0) + other_values[key] * weight
        values[key] = product / total if total else 0.0
        evidence[key] = total
