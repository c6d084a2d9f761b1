"""Naive Bayes with several labels for each document, slowly and literally, in plain Python.

The documents are kept and counted from scratch for each score. A label k is one class against all
documents without the label, whatever other labels they have. A document is a set of words: counts
above zero mean presence. With the weights of documents as counts,

    n, n_k      documents, and those with label k;   n_i, n_ik those of them with word i
    N, N_k      their sums over words;   V words with n_i > 0
    l_ik = ln (n_ik + alpha) / (N_k + alpha V) - ln (n_i - n_ik + alpha) / (N - N_k + alpha V)
    x_i  = (1 + n_i)^-damping to a multiple of 2**-12;  1 for a new word, whose l_ik is 0
    s_k  = b_k + ln (n_k + 1) / (n - n_k + 1) + scale sum_i l_ik / sum_i x_i
           + sum_i w_ik x_i / sqrt(sum_j x_j^2)

The sums leave out words with n_i above max_df n and above 20.

The steps are those of `references.online_weights` without heads, noise and balance: with
g_k = [k in y] - 1 / (1 + exp -s_k), if |g_k| > margin and n_k and n - n_k are at least warm_up
before the document, and with m words in the document,

    Z_ik += w g_k / sqrt m,   G_ik += (w g_k / sqrt m)^2,   w_ik = rate Z_ik / sqrt(1 + decay G_ik)
    Y_k  += w g_k,            B_k  += (w g_k)^2,
    b_k  = bias_rate Y_k / sqrt(1 + decay B_k)

With a half-life, each document first decays Z and Y of the earlier ones as it does counts, G and B
by the square of that. Afterwards H decays to 10 I in the same way.

The calibration of a label learns the score of each document, once the label is known, by one step
of Newton on the log loss: with P = 1 / (1 + exp -(a + m s)) and v = max(P (1 - P), 1e-4),

    H <- f H + (1 - f) 10 I + w v (1, s)(1, s)^T,   (a, m) <- (a, m) + w ([k in y] - P) H^-1 (1, s)

from a = 0, m = 1, H = 10 I; m is at least 0.05. An outcome with log odds u < -8 has its weight w
multiplied by exp((u + 8) / 5).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable


def _exact(value: float, steps: float) -> float:
    return round(value * steps) / steps


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


class MultiLabelReference:
    """Scores of one model, and the documents that it has learned."""

    def __init__(
        self,
        alpha: float = 0.03,
        scale: float = 5.0,
        rate: float = 8.0,
        decay: float = 64.0,
        bias_rate: float = 1.0,
        damping: float = 0.1,
        margin: float = 0.05,
        warm_up: int = 5,
        forgetting_factor: float = 0.999,
        half_life: float = math.inf,
        max_df: float = 1.0,
    ) -> None:
        self.alpha, self.scale, self.damping = alpha, scale, damping
        self.rate, self.decay, self.bias_rate = rate, decay, bias_rate
        self.margin, self.warm_up, self.max_df = margin, warm_up, max_df
        self.f, self.half_life = forgetting_factor, half_life
        self.documents: list[tuple[frozenset[str], frozenset[Hashable], float]] = []
        self.age = 0.0
        # Z and G by label and word; the word None is the bias.
        self.sums: dict[tuple[Hashable, str | None], list[float]] = {}
        self.calibrations: dict[Hashable, tuple[float, float, list[float]]] = {}

    def labels(self) -> list[Hashable]:
        """Return the labels that have documents."""
        return sorted({label for _, labels, _ in self.documents for label in labels})

    def _weights(self) -> list[float]:
        """The remaining weight of each document."""
        newest = len(self.documents)
        return [
            weight * 2 ** (-(newest - place) / self.half_life)
            for place, (_, _, weight) in enumerate(self.documents, 1)
        ]

    def scores(self, message: Collection[str]) -> dict[Hashable, float]:
        """Return the score of each label."""
        return {label: sum(self.parts(message, label).values()) for label in self.labels()}

    def parts(self, message: Collection[str], label: Hashable) -> dict[str | None, float]:
        """Return the part of each word in the score of a label; of None the start."""
        words, weights = frozenset(message), self._weights()
        most = max(self.max_df * sum(weights), 20)
        found = [(*each, weight) for each, weight in zip(self.documents, weights, strict=True)]

        def total(has_word: str | None, has_label: bool) -> float:
            return sum(
                weight
                for theirs, labels, _, weight in found
                if (has_word is None or has_word in theirs) and (not has_label or label in labels)
            )

        def tokens(has_label: bool) -> float:
            return sum(
                weight * len(theirs)
                for theirs, labels, _, weight in found
                if not has_label or label in labels
            )

        vocabulary = {word for theirs, _, _, _ in found for word in theirs}
        n, own = total(None, False), total(None, True)
        words = frozenset(word for word in words if total(word, False) <= most)
        smoothing = self.alpha * max(len(vocabulary), 1)
        all_tokens, own_tokens = tokens(False), tokens(True)
        x = dict.fromkeys(words, 1.0)
        for word in words & vocabulary:
            factor = (1 + total(word, False)) ** -self.damping
            x[word] = max(round(factor * 4096), 1) / 4096
        size, norm = sum(x.values()), math.sqrt(sum(value**2 for value in x.values()))
        parts: dict[str | None, float] = {None: math.log((own + 1) / (n - own + 1))}
        parts[None] += self._weight(label, None, self.bias_rate)
        for word in words:
            parts[word] = self._weight(label, word, self.rate) * x[word] / norm
            if word in vocabulary:
                with_word, of_label = total(word, False), total(word, True)
                odds = math.log((of_label + self.alpha) / (own_tokens + smoothing))
                odds -= math.log(
                    (with_word - of_label + self.alpha) / (all_tokens - own_tokens + smoothing)
                )
                parts[word] += self.scale * odds / size
        return parts

    def log_odds(self, message: Collection[str]) -> dict[Hashable, float]:
        """Return the calibrated log odds of each label."""
        found = {}
        for label, score in self.scores(message).items():
            a, m, _ = self.calibrations.get(label, (0.0, 1.0, []))
            found[label] = a + m * score
        return found

    def learn(
        self, message: Collection[str], labels: Collection[Hashable], weight: float = 1.0
    ) -> None:
        """Learn one document: a step of each known label, then the counts."""
        words, given = frozenset(message), frozenset(labels)
        weights = self._weights()
        n = sum(weights)
        steps: list[tuple[Hashable, str | None, float]] = []
        for label, score in self.scores(words).items():
            outcome = label in given
            score = _exact(score, 2**20)
            self._calibrate(label, score, outcome, weight)
            gradient = _exact(outcome - _sigmoid(score), 2**20)
            own = sum(
                each
                for each, (_, theirs, _) in zip(weights, self.documents, strict=True)
                if label in theirs
            )
            if abs(gradient) > self.margin and min(own, n - own) >= self.warm_up:
                steps.append((label, None, weight * gradient))
                share = weight * gradient / math.sqrt(len(words) or 1)
                steps += [(label, word, share) for word in words]
        left = 2 ** (-1 / self.half_life)
        for sums in self.sums.values():
            sums[:] = left * sums[0], left**2 * sums[1]
        for label, (a, m, (h00, h01, h11)) in self.calibrations.items():
            h00, h11 = 10 + left * (h00 - 10), 10 + left * (h11 - 10)
            self.calibrations[label] = a, m, [h00, left * h01, h11]
        for step in steps:
            self._step(*step)
        self.documents.append((words, given, weight))

    def _step(self, label: Hashable, word: str | None, gradient: float) -> None:
        unit = 2 ** ((len(self.documents) + 1) / self.half_life)
        gradient = _exact(gradient, 2**32 * unit)
        sums = self.sums.setdefault((label, word), [0.0, 0.0])
        sums[0] += gradient
        sums[1] += _exact(gradient**2, 2**40 * unit**2)

    def _weight(self, label: Hashable, word: str | None, rate: float) -> float:
        z, g = self.sums.get((label, word), (0.0, 0.0))
        return rate * z / math.sqrt(1 + self.decay * g)

    def _calibrate(self, label: Hashable, s: float, outcome: bool, weight: float) -> None:
        a, m, (h00, h01, h11) = self.calibrations.get(label, (0.0, 1.0, [10.0, 0.0, 10.0]))
        p = _sigmoid(a + m * s)
        odds = a + m * s if outcome else -(a + m * s)
        weight *= math.exp(min(odds + 8, 0) / 5)
        v, f = weight * max(p * (1 - p), 1e-4), self.f
        h00, h01, h11 = (
            f * h00 + (1 - f) * 10 + v,
            f * h01 + v * s,
            f * h11 + (1 - f) * 10 + v * s * s,
        )
        determinant, error = h00 * h11 - h01 * h01, weight * (outcome - p)
        a += (h11 - h01 * s) * error / determinant
        m = max(m + (h00 * s - h01) * error / determinant, 0.05)
        self.calibrations[label] = a, m, [h00, h01, h11]
