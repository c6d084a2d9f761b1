"""The shares of wrong labels, estimated by the equations in plain Python.

A message is confident if the margin of its highest score is at least the mean margin of the earlier
messages with the same best class j, whose weights decay by 0.99. n_j counts confident messages, o_j
those with another label, i_k those of other classes with label k; each message decays them by
0.998. With K classes and S = 20,

    g = sum o / (sum n + S),   out_k = (o_k + S g) / (n_k + S)
    in_k = (i_k + S g / (K - 1)) / (sum n - n_k + S)
    share = (mean out - 0.02 - 8 (K - 2) / N) / 0.02, from 0 to 1, after N messages

and the rates are share out_k and share in_k, at most 0.4. With m = 1 - out - in,

    P(label k)  = in + m sigmoid s
    trust       = m sigmoid s / (in + m sigmoid s) of label k, m sigmoid -s / (out + m sigmoid -s)
    true count  = (own - in total) / m, from 0 to total
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import NamedTuple


class Flips(NamedTuple):
    """The rates of wrong labels of a class."""

    out: float = 0.0
    into: float = 0.0

    def labelled(self, score: float) -> float:
        """P(label of the class)."""
        return self.into + (1 - self.out - self.into) * sigmoid(score)

    def trust(self, score: float, is_label: bool) -> float:
        """The factor of the gradient."""
        right = (1 - self.out - self.into) * sigmoid(score if is_label else -score)
        flips = self.into if is_label else self.out
        return right / (right + flips) if flips else 1.0

    def true_count(self, own: float, total: float) -> float:
        """The expected count without wrong labels."""
        return min(max((own - self.into * total) / (1 - self.out - self.into), 0), total)


class LabelNoiseReference:
    """n, o and i of each class; the sum of the margins of its messages, and their number."""

    def __init__(self) -> None:
        self.classes: dict[Hashable, dict[str, float]] = {}
        self.excess_loss = 0.0
        self.messages = 0

    def of(self, label: Hashable) -> dict[str, float]:
        """The sums of a class."""
        return self.classes.setdefault(label, dict.fromkeys(("n", "o", "i", "margin", "all"), 0.0))

    def learn(self, best: Hashable, margin: float, label: Hashable) -> None:
        """Add a message."""
        self.messages += 1
        for sums in self.classes.values():
            sums.update({name: 0.998 * sums[name] for name in "noi"})
        sums = self.of(best)
        is_confident = margin * sums["all"] >= sums["margin"]
        sums["margin"] = 0.99 * sums["margin"] + margin
        sums["all"] = 0.99 * sums["all"] + 1
        if is_confident:
            sums["n"] += 1
            if label != best:
                sums["o"] += 1
                self.of(label)["i"] += 1

    def rates(self) -> dict[Hashable, Flips]:
        """The rates of each class."""
        if len(self.classes) < 2:
            return {}
        n = sum(sums["n"] for sums in self.classes.values())
        prior = 20 * sum(sums["o"] for sums in self.classes.values()) / (n + 20)
        out = {k: (sums["o"] + prior) / (sums["n"] + 20) for k, sums in self.classes.items()}
        ignored = 0.02 + 8 * (len(out) - 2) / self.messages
        share = min((sum(out.values()) / len(out) - ignored) / 0.02, 1)
        if share <= 0:
            return {}
        of_prior = prior / (len(out) - 1)
        into = {k: (s["i"] + of_prior) / (n - s["n"] + 20) for k, s in self.classes.items()}
        return {k: Flips(min(share * out[k], 0.4), min(share * into[k], 0.4)) for k in out}

    def forget(self, label: Hashable) -> None:
        """Remove a class."""
        self.classes.pop(label, None)
        self.excess_loss = 0.0
        if not self.classes:
            self.messages = 0

    def merge(self, other: LabelNoiseReference) -> None:
        """Add the sums of another reference."""
        for label, theirs in other.classes.items():
            sums = self.of(label)
            sums.update({name: sums[name] + value for name, value in theirs.items()})
        self.excess_loss += other.excess_loss
        self.messages += other.messages

    def learn_loss(self, by_scores: float, by_shares: float) -> None:
        """Add the log loss of a label, by two predictions."""
        excess = min(max(by_scores - by_shares, -14), 14)
        self.excess_loss = 0.995 * self.excess_loss + excess


def sigmoid(score: float) -> float:
    """1 / (1 + exp -s), without overflow."""
    if score >= 0:
        return 1 / (1 + math.exp(-score))
    return math.exp(score) / (1 + math.exp(score))
