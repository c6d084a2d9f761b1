"""How far a label is trusted, from the labels before it: the equations in plain Python.

R_k is the number of recent labels of class k, this label included, where each label decays the
earlier ones by 0.9, so n = 10 labels count; it starts at n s_k. s_k is the smoothed share of class
k among the documents, (n_k + 1 / K) / (N + 1). y is the class of the label.

    z = max_k (R_k - n s_k) / max(sqrt(n s_k (1 - s_k)), 1), from 0 to 9
    w = min(2, n (1 - s_y) / 4)
    base = min(1, min_k (n s_k + 1.5 sqrt(n s_k) + 1) / R_k, (sum R - R_y) / w)
    factor = base^(4 / D),   exponent = 0.1 + 0.2 z / sqrt(D)

with the dispersion D, which starts at 1; afterwards D += (min(z^2, 9) - D) / 2000, at least 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping


class BalanceReference:
    """The recent labels and their dispersion."""

    def __init__(self) -> None:
        self.recent: dict[Hashable, float] = {}
        self.dispersion = 1.0

    def learn(self, label: Hashable, documents: Mapping[Hashable, float]) -> tuple[float, float]:
        """Add a label; return its factor and exponent. The documents are those before it."""
        if not self.recent:
            self.recent = {each: 10 * self.share(each, documents) for each in documents}
        self.recent = {each: 0.9 * number for each, number in self.recent.items()}
        self.recent[label] = self.recent.get(label, 0.0) + 1
        z, base = 0.0, 1.0
        for each, number in self.recent.items():
            share = self.share(each, documents)
            deviation = max(math.sqrt(10 * share * (1 - share)), 1)
            z = max(z, min((number - 10 * share) / deviation, 9))
            base = min(base, (10 * share + 1.5 * math.sqrt(10 * share) + 1) / number)
        others = sum(self.recent.values()) - self.recent[label]
        base = min(base, others / min(2, 10 * (1 - self.share(label, documents)) / 4))
        factor = base ** (4 / self.dispersion)
        exponent = 0.1 + 0.2 * z / math.sqrt(self.dispersion)
        self.dispersion = max(self.dispersion + (min(z**2, 9) - self.dispersion) / 2000, 1)
        return factor, exponent

    def share(self, label: Hashable, documents: Mapping[Hashable, float]) -> float:
        """Return s_k."""
        smoothed = documents.get(label, 0.0) + 1 / len(documents)
        return smoothed / (sum(documents.values()) + 1)

    def forget(self, label: Hashable) -> None:
        """Remove a class."""
        self.recent.pop(label, None)

    def merge(self, other: BalanceReference) -> None:
        """Set it to the mean of both."""
        labels = [*self.recent, *(label for label in other.recent if label not in self.recent)]
        self.recent = {
            label: (self.recent.get(label, 0.0) + other.recent.get(label, 0.0)) / 2
            for label in labels
        }
        self.dispersion = (self.dispersion + other.dispersion) / 2
