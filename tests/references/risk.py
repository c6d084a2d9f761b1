"""The risk of a decision, from the equations in the docstring of `streamnb.risk.RiskModel`."""

from __future__ import annotations

import numpy as np


class SlowRisk:
    """All answers are kept, and the posterior is summed again for each question."""

    def __init__(self, tail: float) -> None:
        self.tail = tail
        self.answers: list[tuple[object, np.ndarray, float]] = []  # label, features, information
        self.weights = np.zeros(3)
        self.shifts: dict[object, float] = {}

    def features(self, x: float) -> np.ndarray:
        x = float(np.clip(x, -10.0, 0.0))
        return np.array([1.0, max(x, -3.0), min(x + 3.0, 0.0)])

    def score(self, label: object, x: float) -> float:
        prior = np.array([0.0, 1.0, self.tail])
        return float(self.features(x) @ (prior + self.weights)) + self.shifts.get(label, 0.0)

    def precision(self) -> np.ndarray:
        """Return 16 I, plus the information of each answer, decayed by 1 - 1/400 per answer."""
        total = 16.0 * np.eye(3)
        for age, (_, f, information) in enumerate(reversed(self.answers)):
            total += (1 - 1 / 400) ** age * information * np.outer(f, f)
        return total

    def class_precision(self, label: object) -> float:
        total = 10.0
        own = [information for each, _, information in self.answers if each == label]
        for age, information in enumerate(reversed(own)):
            total += (1 - 1 / 400) ** age * information
        return total

    def risk(self, label: object, x: float, caution: float) -> float:
        f = self.features(x)
        variance = f @ np.linalg.solve(self.precision(), f) + 1 / self.class_precision(label)
        return 1 / (1 + np.exp(-(self.score(label, x) + caution * variance)))

    def learn(self, label: object, x: float, wrong: bool) -> None:
        f, expected = self.features(x), 1 / (1 + np.exp(-self.score(label, x)))
        self.answers.append((label, f, max(expected * (1 - expected), 1e-4)))
        error, forgotten = wrong - expected, 1 / 400
        step = np.linalg.solve(self.precision(), error * f - forgotten * 16.0 * self.weights)
        self.weights = np.maximum(self.weights + step, [-np.inf, 0.2 - 1.0, 0.05 - self.tail])
        shift = self.shifts.get(label, 0.0)
        pull = forgotten * 10.0 * shift
        self.shifts[label] = shift + (error - pull) / self.class_precision(label)
