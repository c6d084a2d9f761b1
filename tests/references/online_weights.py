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
    p_k  = 1 / (1 + exp -s_k),   g_k = [k = y] - p_k,   a = 1 / sqrt(n)
    Z_ik += g_k a,   G_ik += (g_k a)^2,   w_ik = rate Z_ik / sqrt(1 + decay G_ik)
    Y_k  += g_k,     B_k  += g_k^2,       b_k  = bias_rate Y_k / sqrt(1 + decay B_k)

With multiplicative corrections (LNB with a weight for each word and class, at least 0 as in
Equation 21),

    z_ik = scale l_ik / sum_j x_j,   s_k = b_k + sum_i (1 + w_ik) z_ik,   w_ik at least -1

and z_ik replaces a in the steps; a word with z_ik = 0 takes no step.

Terms of Z and Y are multiples of 2**-32, and those of G and B of 2**-40. g_k is multiplied by
factor p^exponent of `references.balance`, where p = 1 / (1 + exp -s_k) of the label and 1 - p of
others.
Unlearning subtracts the terms of the last step of the same document, label and weight. z_ik of a
step is rounded to 32 bits.

Other heads have multiplicative corrections with rate 32 and see all words, or only words without a
tab, form feed or vertical tab. Their steps follow their own scores s_vk. The score is
s_k = sum_v a_v s_vk. With h = 1/2 for two classes and 1 for more, p = softmax h s, and the factor
of a step, f = factor p_y^exponent times the trust of y at s_y,

    d_v = w f h (s_vy - sum_k p_k s_vk), from -4 to 4, to a multiple of 2**-10
    a_v = max(start_v + 0.05 sum d_v / sqrt(1 + sum d_v^2), 0)

if y was known before and any class takes steps.

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

import numpy as np

from references.balance import BalanceReference
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


class HeadStep(NamedTuple):
    """The step of a head: g of each class, its terms of Z by word, and the step of the share."""

    gradients: dict[Hashable, float]
    terms: dict[Hashable, dict[str, float]]
    slope: float


class Step(NamedTuple):
    """The step of one document: those of its heads."""

    words: frozenset[str]
    label: Hashable
    weight: float
    heads: list[HeadStep]
    contradiction: tuple[Hashable, int] | None
    left: float = 1.0

    def has(self, label: Hashable) -> bool:
        """Whether a class has a part in it."""
        best = self.contradiction[0] if self.contradiction else None
        return label in (self.label, best) or any(label in head.gradients for head in self.heads)

    def faded(self, left: float) -> Step:
        """This step, of which this share is left."""
        heads = [
            HeadStep(
                {label: left * g for label, g in head.gradients.items()},
                {k: {i: left * z for i, z in terms.items()} for k, terms in head.terms.items()},
                left * head.slope,
            )
            for head in self.heads
        ]
        return self._replace(weight=left * self.weight, heads=heads, left=left * self.left)


class OnlineWeightsReference:
    """Scores of one model, and the documents that it has learned.

    Terms of Z and Y are multiples of `grain`, those of G and B of `square_grain`.

    Parameters
    ----------
    alpha, scale, rate, decay, bias_rate, damping, loss, margin, warm_up
        As in the equations above.
    correction
        "additive" or "multiplicative".
    estimate_noise
        Whether wrong labels are estimated.
    heads
        "one", "two" or "three".
    prior, oov, vocabulary_size
        As in `references.independent.Reference`; with `oov="smooth"` a word without documents is
        estimated from the smoothing alone.
    """

    grain, square_grain = 2.0**-32, 2.0**-40

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
        heads: str = "one",
    ) -> None:
        self.only_words, self.start = False, {"one": 1.0, "two": 0.75, "three": 0.5}[heads]
        self.share_sum, self.share_squares = 0.0, 0.0
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
        self.balance = BalanceReference()
        self.sums: dict[tuple[str, Hashable], float] = {}
        self.squares: dict[tuple[str, Hashable], float] = {}
        self.met: dict[Hashable, int] = {}
        self.bias_sums: dict[Hashable, float] = {}
        self.bias_squares: dict[Hashable, float] = {}
        self.steps: list[Step] = []
        self.others: list[OnlineWeightsReference] = []
        for only_words in {"one": [], "two": [True], "three": [True, False]}[heads]:
            other = OnlineWeightsReference(
                *(alpha, scale, 32.0, decay, bias_rate, damping, loss, margin, warm_up),
                *(prior, oov, vocabulary_size, "multiplicative", estimate_noise),
            )
            other.only_words, other.start = only_words, 0.25
            self.others.append(other)

    def heads(self) -> list[OnlineWeightsReference]:
        """This head and the others, which see the same documents."""
        for other in self.others:
            other.documents, other.flips, other.met = self.documents, self.flips, self.met
        return [self, *self.others]

    def share(self) -> float:
        """a_v."""
        step = 0.05 * self.share_sum / math.sqrt(1 + self.share_squares)
        return max(self.start + step, 0.0)

    def seen(self, words: frozenset[str]) -> frozenset[str]:
        """The words that this head sees."""
        return frozenset(w for w in words if not (self.only_words and set(w) & set("\t\v\f")))

    def w(self, word: str, label: Hashable) -> float:
        """w_ik."""
        key = word, label
        w = self.rate * self.sums.get(key, 0.0)
        w /= math.sqrt(1 + self.decay * self.squares.get(key, 0.0))
        return max(w, -1.0) if self.multiplies else w

    def b(self, label: Hashable) -> float:
        """b_k."""
        b = self.bias_rate * self.bias_sums.get(label, 0.0)
        return b / math.sqrt(1 + self.decay * self.bias_squares.get(label, 0.0))

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
        found = Parts(0.0, dict.fromkeys(present(x), 0.0), dict.fromkeys(present(x), 0.0))
        for head in self.heads():
            a, own = head.share(), head.own_parts(x, label)
            found = found._replace(bias=found.bias + a * own.bias)
            for total, parts in zip(found[1:], own[1:], strict=True):
                total.update({word: total[word] + a * part for word, part in parts.items()})
        return found

    def own_parts(self, x: Words, label: Hashable) -> Parts:
        """Return the components of the score s_vk of this head."""
        words = self.seen(present(x))
        evidence = self.evidence(words, label)
        if self.multiplies:
            corrections = {i: self.w(i, label) * z for i, z in evidence.items()}
        else:
            corrections = {i: self.w(i, label) * u for i, u in self.shares(words).items()}
        return Parts(self.b(label) + self.log_prior_odds(label), evidence, corrections)

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

    def own_scores(self, x: Words) -> dict[Hashable, float]:
        """Return s_vk of each class."""
        return {label: self.own_parts(x, label).total() for label in self.classes()}

    def learn(self, x: Words, y: Hashable, w: float = 1.0) -> None:
        """Take a step for each class from its error on the document, then count the document."""
        words = present(x)
        scores = self.scores(x)
        if len(scores) >= 2:
            documents = {
                label: sum(v for _, other, v in self.documents if other == label)
                for label in scores
            }
            factor, exponent = self.balance.learn(y, documents)
            contradiction = None
            steps = [head.own_step(x, y, w, factor, exponent) for head in self.heads()]
            if self.others and y in scores and any(self.tells(label) for label in scores):
                slopes = self.slopes(x, y, w, factor, exponent)
                steps = [step._replace(slope=d) for step, d in zip(steps, slopes, strict=True)]
            self.before_steps()
            for head, step in zip(self.heads(), steps, strict=True):
                head.take_step(step)
            if y in scores:
                is_warm = any(self.tells(label) for label in scores)
                self.met[y] = self.met.get(y, 0) + 1
                if self.estimate_noise and is_warm:
                    best, margin = highest(scores)
                    margin = rounded(margin, STEP)
                    if self.noise.learn(best, margin, y, self.shares(words)):
                        contradiction = best, self.noise.messages
            if contradiction or any(step.gradients or step.slope for step in steps):
                self.steps.append(Step(words, y, w, steps, contradiction))
        else:
            self.before_steps()
        self.documents.append((words, y, w))
        self.flips = self.noise.rates()

    def before_steps(self) -> None:
        """Without a half-life, nothing changes before the steps of a document."""

    def own_step(self, x: Words, y: Hashable, w: float, factor: float, exponent: float) -> HeadStep:
        """Return the step of this head against its errors."""
        gradients = {}
        for label, score in self.own_scores(x).items():
            sign = 1 if label == y else -1
            flips, parts = self.flips.get(label, Flips()), self.own_parts(x, label)
            uncorrected = score - self.b(label) - sum(parts.corrections.values())
            t = score if self.multiplies else flips.trusted(score, uncorrected)
            trust = flips.trust(t, label == y)
            g = rounded(-sign * self.slope(sign * score) * trust, STEP)
            if abs(g) > self.margin and self.tells(label):
                trusted = factor * sigmoid(sign * score) ** exponent
                gradients[label] = w * rounded(g * trusted, STEP)
        words = self.seen(present(x))
        terms = {label: self._terms(words, label, g) for label, g in gradients.items()}
        return HeadStep(gradients, terms, 0.0)

    def slopes(
        self, x: Words, y: Hashable, w: float, factor: float, exponent: float
    ) -> list[float]:
        """Return d_v of each head."""
        scores = self.scores(x)
        h = 0.5 if len(scores) == 2 else 1.0
        top = max(scores.values())
        p = {label: math.exp(h * (score - top)) for label, score in scores.items()}
        p = {label: value / sum(p.values()) for label, value in p.items()}
        f = factor * p[y] ** exponent * self.flips.get(y, Flips()).trust(scores[y], True)
        found = []
        for head in self.heads():
            own = head.own_scores(x)
            d = w * f * h * (own[y] - sum(p[label] * score for label, score in own.items()))
            found.append(rounded(min(max(d, -4.0), 4.0), 2**-10))
        return found

    def take_step(self, step: HeadStep) -> None:
        """Take a step of this head."""
        slope = rounded(step.slope, self.grain)
        self.share_sum += slope
        self.share_squares += slope**2
        for label, of_words in step.terms.items():
            self._add(step.gradients[label], label, of_words)

    def undo_step(self, step: HeadStep) -> None:
        """Take a step of this head back."""
        if self.share_squares >= step.slope**2:
            self.share_sum -= step.slope
            self.share_squares -= step.slope**2
        for label, g in step.gradients.items():
            term = rounded(g, self.grain)
            take(self.bias_sums, self.bias_squares, label, term, self.square_grain)
            for word, term in step.terms[label].items():
                take(self.sums, self.squares, (word, label), term, self.square_grain)

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

    def _terms(self, words: frozenset[str], label: Hashable, g: float) -> dict[str, float]:
        """Return the terms of Z of each word that takes a step."""
        plain = 1 / math.sqrt(len(words)) if words else 0.0
        shares = dict.fromkeys(words, plain)
        if self.multiplies:
            shares = {i: float(np.float32(z)) for i, z in self.evidence(words, label).items()}
        return {word: rounded(g * share, self.grain) for word, share in shares.items() if share}

    def _add(self, g: float, label: Hashable, terms: Mapping[str, float]) -> None:
        """Take a step."""
        term = rounded(g, self.grain)
        add(self.bias_sums, self.bias_squares, label, term, self.square_grain)
        for word, term in terms.items():
            add(self.sums, self.squares, (word, label), term, self.square_grain)

    def undo(self, x: Words, y: Hashable, w: float) -> None:
        """Take the last step of a document back."""
        found = [
            n
            for n, step in enumerate(self.steps)
            if step[:2] == (present(x), y) and math.isclose(step.weight, w)
        ]
        if not found:
            return
        step = self.steps.pop(found[-1])
        for head, of_head in zip(self.heads(), step.heads, strict=True):
            head.undo_step(of_head)
        if step.contradiction:
            self.noise.take(*step.contradiction, y, step.left)

    def unlearn(self, x: Words, y: Hashable, w: float = 1.0) -> None:
        """Take the step of a document back, and forget its counts."""
        self.undo(x, y, w)
        self.forget(x, y, w)

    def forget(self, x: Words, y: Hashable, w: float = 1.0) -> None:
        """Forget the counts of a document, and corrections of words without documents."""
        self.documents.remove((present(x), y, w))
        left = {word for words, _, _ in self.documents for word in words}
        labels = set(self.classes())
        for head in self.heads():
            for key in [key for key in head.sums if key[0] not in left or key[1] not in labels]:
                del head.sums[key], head.squares[key]
            for label in [label for label in head.bias_sums if label not in labels]:
                del head.bias_sums[label], head.bias_squares[label]
        for label in set(self.met) - labels:
            self.steps = [step for step in self.steps if not step.has(label)]
        for label in set(self.balance.recent) - labels:
            self.balance.forget(label)
        self.met = {label: met for label, met in self.met.items() if label in labels}
        self.noise.v = {word: v for word, v in self.noise.v.items() if word in left}
        for label in set(self.noise.classes) - labels:
            self.noise.forget(label)
        self.flips = self.noise.rates()

    def merge_corrections(self, other: OnlineWeightsReference) -> None:
        """Average the corrections, biases and shares of one head."""
        least = -1.0 if self.multiplies else -math.inf
        average(self.sums, self.squares, other.sums, other.squares, self.rate, self.decay, least)
        average(
            self.bias_sums,
            self.bias_squares,
            other.bias_sums,
            other.bias_squares,
            self.bias_rate,
            self.decay,
        )
        sums, squares = {0: self.share_sum}, {0: self.share_squares}
        theirs = {0: other.share_sum}, {0: other.share_squares}
        average(sums, squares, *theirs, 0.05, 1.0, -self.start)
        self.share_sum, self.share_squares = sums[0], squares[0]

    def merge(self, other: OnlineWeightsReference) -> None:
        """Add the documents of another model; average corrections by their evidence, G and B."""
        self.documents += other.documents
        for head, theirs in zip(self.heads(), other.heads(), strict=True):
            head.merge_corrections(theirs)
        for label, met in other.met.items():
            self.met[label] = self.met.get(label, 0) + met
        self.steps = []
        self.balance.merge(other.balance)
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
    from (a, k) = (0, 1), H = 10 I; k stays at 0.05 or above. A message of weight w has w v and
    w (y - p). A label with log odds u < -8 has its weight multiplied by exp((u + 8) / 5).

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

    def learn(
        self,
        score: float,
        y: bool,
        flips: Flips = Flips(),  # noqa: B008
        weight: float = 1.0,
    ) -> None:
        """Take a Newton step from a score and its label, which is wrong at these rates."""
        p, slope = self.probability(score), 1 - flips.out - flips.into
        odds = self.a + self.k * score
        weight *= math.exp(min((odds if y else -odds) + 8, 0) / 5)
        labelled = flips.into + slope * p
        slope *= p * (1 - p)
        g = weight * slope * (float(y) - labelled) / (labelled * (1 - labelled))
        v = weight * max(slope**2 / (labelled * (1 - labelled)), 1e-4)
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


def add(
    sums: dict[Key, float], squares: dict[Key, float], key: Key, term: float, grain: float
) -> None:
    """Add a term of Z to it, and its square, a multiple of this, to G."""
    sums[key] = sums.get(key, 0.0) + term
    squares[key] = squares.get(key, 0.0) + rounded(term**2, grain)


def take(
    sums: dict[Key, float], squares: dict[Key, float], key: Key, term: float, grain: float
) -> None:
    """Subtract a term, unless it was forgotten. Sums of terms that decayed are rounded."""
    square = rounded(term**2, grain)
    if key in squares and squares[key] >= square * (1 - 1e-9):
        sums[key] -= term
        squares[key] = max(squares[key] - square, 0.0)


def average(
    sums: dict[Key, float],
    squares: dict[Key, float],
    other_sums: dict[Key, float],
    other_squares: dict[Key, float],
    rate: float,
    decay: float,
    least: float = -math.inf,
) -> None:
    """Set each w to the mean of both sides by their G, and G to the sum."""

    def w(z: float, g: float) -> float:
        return max(rate * z / math.sqrt(1 + decay * g), least)

    for key, g in other_squares.items():
        ours, total = squares.get(key, 0.0), squares.get(key, 0.0) + g
        if not ours:
            sums[key], squares[key] = other_sums[key], g
        elif g:
            mean = (w(sums[key], ours) * ours + w(other_sums[key], g) * g) / total
            z = mean * math.sqrt(1 + decay * total) / rate
            sums[key], squares[key] = rounded(z, 2**-32), total
