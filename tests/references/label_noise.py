"""The shares of wrong labels, estimated by the equations in plain Python.

A message is confident if the margin of its highest score is at least 1.2 times the mean margin of
the earlier messages with the same best class j, whose weights decay by 0.99. n_j counts
confident messages, o_j those with another label, i_k those of other classes with label k; each
message decays them by 0.998. With K classes and S = 20,

    g = sum o / (sum n + S),   out_k = (o_k + S g) / (n_k + S)
    in_k = (i_k + S g / (K - 1)) / (sum n - n_k + S)
    share = (mean out - 0.02 - (8 (K - 2) + 10) / N) / 0.02, from 0 to 1, after N messages

and the rates are share out_k and share in_k, at most 0.4. While share > 0, words predict whether
the label of a confident message contradicts its best class, z = 1, from shares u_i of the words:

    p = (o'_j + out_j) / (n'_j + 1), from 0.001 to 0.999,   q = sigmoid(logit p + sum v_i u_i)
    gain <- max(0.99 gain + ln q(z) - ln p(z), -6),         v_i += 4 (z - q) u_i

where n'_j and o'_j decay by 0.85. The rates are 0 while the gain exceeds 2. With m = 1 - out - in,

    P(label k)  = in + m sigmoid s
    t           = m s + (1 - m) 10 s', where s' is the score without additive corrections
    trust       = m sigmoid t / (in + m sigmoid t) of label k, m sigmoid -t / (out + m sigmoid -t)
    true count  = (own - in total) / m, from 0 to total
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import NamedTuple


class Flips(NamedTuple):
    """The rates of wrong labels of a class."""

    out: float = 0.0
    into: float = 0.0

    def labelled(self, score: float) -> float:
        """P(label of the class)."""
        return self.into + (1 - self.out - self.into) * sigmoid(score)

    def trusted(self, score: float, uncorrected: float) -> float:
        """The score that labels are compared with."""
        m = 1 - self.out - self.into
        return m * score + (1 - m) * 10 * uncorrected

    def trust(self, score: float, is_label: bool) -> float:
        """The factor of the gradient."""
        right = (1 - self.out - self.into) * sigmoid(score if is_label else -score)
        flips = self.into if is_label else self.out
        return right / (right + flips) if flips else 1.0

    def true_count(self, own: float, total: float) -> float:
        """The expected count without wrong labels."""
        return min(max((own - self.into * total) / (1 - self.out - self.into), 0), total)


NAMES = ("n", "o", "i", "margin", "all", "recent", "recent_o")


class LabelNoiseReference:
    """The sums of each class: n, o, i, n', o', the margins of its messages, and their number."""

    def __init__(self) -> None:
        self.classes: dict[Hashable, dict[str, float]] = {}
        self.excess_loss = 0.0
        self.messages = 0
        self.gain = 0.0
        self.v: dict[str, float] = {}
        self.is_above = False

    def of(self, label: Hashable) -> dict[str, float]:
        """The sums of a class."""
        return self.classes.setdefault(label, dict.fromkeys(NAMES, 0.0))

    def learn(
        self, best: Hashable, margin: float, label: Hashable, shares: Mapping[str, float]
    ) -> bool:
        """Add a message; return whether its label contradicts a confident score."""
        self.messages += 1
        sums = self.of(best)
        is_confident = margin * sums["all"] >= 1.2 * sums["margin"]
        sums["margin"] = 0.99 * sums["margin"] + margin
        sums["all"] = 0.99 * sums["all"] + 1
        if is_confident:
            recent = (sums["recent_o"] + self.out()[best]) / (sums["recent"] + 1)
            sums["recent"] = 0.85 * sums["recent"] + 1
            sums["recent_o"] = 0.85 * sums["recent_o"] + (label != best)
            if self.is_above:
                self.learn_words(label != best, recent, shares)
        for each in self.classes.values():
            each.update({name: 0.998 * each[name] for name in "noi"})
        if is_confident:
            sums["n"] += 1
            if label != best:
                sums["o"] += 1
                self.of(label)["i"] += 1
        self.end_change()
        return is_confident and label != best

    def take(self, best: Hashable, at: int, label: Hashable, rest: float = 1.0) -> None:
        """Subtract the rest of contradiction `at`, of which a half-life left this rest."""
        left = rest * 0.998 ** (self.messages - at)
        for each, names in ((best, "no"), (label, "i")):
            if each in self.classes:
                sums = self.classes[each]
                sums.update({name: max(sums[name] - left, 0.0) for name in names})
        self.end_change()

    def learn_words(self, z: bool, recent: float, shares: Mapping[str, float]) -> None:
        """Predict a contradiction by the words, and take a step."""
        p = min(max(recent, 0.001), 0.999)
        score = sum(self.v.get(word, 0.0) * u for word, u in shares.items())
        q = sigmoid(math.log(p / (1 - p)) + round(score * 2**20) / 2**20)
        gain = math.log(q / p) if z else math.log((1 - q) / (1 - p))
        self.gain = max(0.99 * self.gain + gain, -6)
        step = 4 * round((z - q) * 2**20) / 2**20
        self.v.update({word: self.v.get(word, 0.0) + step * u for word, u in shares.items()})

    def out(self) -> dict[Hashable, float]:
        """out_k."""
        n = sum(sums["n"] for sums in self.classes.values())
        prior = 20 * sum(sums["o"] for sums in self.classes.values()) / (n + 20)
        return {k: (sums["o"] + prior) / (sums["n"] + 20) for k, sums in self.classes.items()}

    def share(self) -> float:
        """The share of the estimates that is used."""
        if len(self.classes) < 2:
            return 0.0
        out = self.out()
        ignored = 0.02 + (8 * (len(out) - 2) + 10) / self.messages
        return min((sum(out.values()) / len(out) - ignored) / 0.02, 1)

    def end_change(self) -> None:
        """Forget the predictions by words when the estimates are not used."""
        self.is_above = self.share() > 0
        if not self.is_above:
            self.gain, self.v = 0.0, {}

    def rates(self) -> dict[Hashable, Flips]:
        """The rates of each class."""
        share, out = self.share(), self.out()
        if share <= 0 or self.gain > 2:
            return {}
        n = sum(sums["n"] for sums in self.classes.values())
        of_prior = 20 * sum(sums["o"] for sums in self.classes.values()) / (n + 20) / (len(out) - 1)
        into = {k: (s["i"] + of_prior) / (n - s["n"] + 20) for k, s in self.classes.items()}
        return {k: Flips(min(share * out[k], 0.4), min(share * into[k], 0.4)) for k in out}

    def forget(self, label: Hashable) -> None:
        """Remove a class."""
        self.classes.pop(label, None)
        self.excess_loss, self.gain, self.v = 0.0, 0.0, {}
        if not self.classes:
            self.messages = 0
        self.end_change()

    def merge(self, other: LabelNoiseReference) -> None:
        """Add the sums of another reference."""
        for label, theirs in other.classes.items():
            sums = self.of(label)
            sums.update({name: sums[name] + value for name, value in theirs.items()})
        self.excess_loss += other.excess_loss
        self.messages += other.messages
        self.gain += other.gain
        self.v.update({word: self.v.get(word, 0.0) + v for word, v in other.v.items()})
        self.end_change()

    def learn_loss(self, by_scores: float, by_shares: float, weight: float = 1.0) -> None:
        """Add the log loss of a label, by two predictions; `weight` is for losses of the scores."""
        excess = min(max(by_scores - by_shares, -3), 3)
        self.excess_loss = 0.995 * self.excess_loss + (weight * excess if excess > 0 else excess)


def sigmoid(score: float) -> float:
    """1 / (1 + exp -s), without overflow."""
    if score >= 0:
        return 1 / (1 + math.exp(-score))
    return math.exp(score) / (1 + math.exp(score))
