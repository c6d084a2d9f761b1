"""Risk and threshold of a cascade, from the equations in `streamnb.risk` and `streamnb.cascade`."""

from __future__ import annotations

import math

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


class SlowReuse:
    """The risk of a reused answer: every check is kept, and all are summed again."""

    def __init__(self, teacher_error: float) -> None:
        self.noise = 2 * teacher_error * (1 - teacher_error)  # one of two answers is wrong
        self.checks: list[float] = []  # probability that the answers should differ

    def risk(self) -> float:
        decay = [(1 - 1 / 400) ** age for age in reversed(range(len(self.checks)))]
        return (0.5 + float(np.dot(decay, self.checks))) / (10.0 + sum(decay))

    def learn(self, contradicts: bool) -> None:
        real = self.risk()
        self.checks.append(real / (real + self.noise * (1 - real)) if contradicts else 0.0)


class SlowThreshold:
    """The threshold of a cascade with a goal of agreement, from the risks of all decisions."""

    def __init__(self, agreement: float, span: int) -> None:
        self.errors, self.span = 1 - agreement, span
        self.risks: list[float] = []
        self.uncertain: list[bool] = []

    def add(self, risk: float, threshold: float) -> None:
        self.risks.append(risk)
        self.uncertain.append(risk > threshold)

    def hard(self) -> bool:
        """Return whether more than a tenth of the recent messages is uncertain."""
        ages = np.arange(len(self.risks))[::-1]
        return float(np.dot((1 - 1 / self.span) ** ages / self.span, self.uncertain)) > 0.1

    def threshold(self, ratio: float) -> float:
        weights = (1 - 1 / self.span) ** np.arange(len(self.risks))[::-1]
        allowed = self.errors * (0.5 if self.hard() else 0.7) * max(weights.sum(), self.span)
        places = [min(max(math.floor(96 + 10 * math.log(risk)), 0), 95) for risk in self.risks]
        for edge in range(96):
            inside = np.array(places) <= edge
            if ratio * np.dot(weights[inside], np.array(self.risks)[inside]) > allowed:
                return min(0.5, math.exp((edge - 96) / 10))
        return 0.5
