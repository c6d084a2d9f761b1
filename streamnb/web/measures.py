"""Quality of a model along a stream, in bounded memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping
from typing import Any

from river import drift

from streamnb.evaluation.calibration import Calibration

__all__ = ["Measures"]

_WINDOW = 500  # messages of the rolling accuracy
_SCORED = 5_000  # messages over which thresholds are compared
_MOST_POINTS = 400  # points of a curve; above, every second point is dropped
_CUTS = [n / 100 for n in range(1, 100)]


class Measures:
    """Quality of one model along a stream.

    Parameters
    ----------
    every
        Messages between two points of its curve, at least 1.

    Examples
    --------
    >>> measures = Measures()
    >>> measures.add("spam", "spam", {"ham": 0.2, "spam": 0.8})
    >>> measures.add("ham", "spam", {"ham": 0.4, "spam": 0.6})
    >>> measures.summary(None)["accuracy"]
    0.5
    """

    def __init__(self, every: int = 20) -> None:
        self._every = every
        self._messages = 0
        self._right = 0
        self._last: deque[bool] = deque(maxlen=_WINDOW)
        self._confusion: Counter[tuple[Hashable, Hashable]] = Counter()
        self._calibration = Calibration(bins=10)
        self._scored: deque[tuple[Mapping[Hashable, float], Hashable]] = deque(maxlen=_SCORED)
        self._curve: list[tuple[int, float]] = []
        self._drift: Any = drift.ADWIN()  # type: ignore[no-untyped-call, unused-ignore]
        self._drifts: deque[int] = deque(maxlen=50)

    def add(self, label: Hashable, decision: Hashable, shares: Mapping[Hashable, float]) -> None:
        """Count a decision that preceded the label."""
        right = decision == label
        self._messages += 1
        self._right += right
        self._last.append(right)
        self._confusion[label, decision] += 1
        if shares:
            likeliest = max(shares, key=shares.__getitem__)
            self._calibration.add(shares[likeliest], likeliest == label)
            self._scored.append((shares, label))
        before = self._drift.estimation
        self._drift.update(float(not right))
        # ADWIN detects any change of the error; only a rise is drift.
        if self._drift.drift_detected and self._drift.estimation > before:
            self._drifts.append(self._messages)
        if self._messages % self._every == 0:
            self._curve.append((self._messages, sum(self._last) / len(self._last)))
            if len(self._curve) > _MOST_POINTS:
                self._every *= 2
                self._curve = self._curve[1::2]

    def summary(self, pos_label: Hashable) -> dict[str, Any]:
        """Return the figures, curve, reliability, confusion, drifts and costs of thresholds.

        Parameters
        ----------
        pos_label
            The label that the threshold decides for; None unless there are two labels.
        """
        return {
            "messages": self._messages,
            "accuracy": self._right / self._messages if self._messages else None,
            "recent": sum(self._last) / len(self._last) if self._last else None,
            "calibration_error": self._calibration.error(),
            "curve": self._curve,
            "drifts": list(self._drifts),
            "reliability": [tuple(one) for one in self._calibration.reliability()],
            "confusion": [
                {"label": str(label), "decision": str(decision), "messages": number}
                for (label, decision), number in self._confusion.most_common(200)
            ],
            "cuts": [] if pos_label is None else self._costs(pos_label),
        }

    def _costs(self, pos_label: Hashable) -> list[dict[str, float]]:
        """Return the false positives and false negatives of each threshold."""
        scored = sorted(
            (shares.get(pos_label, 0.0), label == pos_label) for shares, label in self._scored
        )
        missed, lost = 0, sum(not is_positive for _, is_positive in scored)
        costs, place = [], 0
        for cut in _CUTS:
            while place < len(scored) and scored[place][0] < cut:
                missed += scored[place][1]
                lost -= not scored[place][1]
                place += 1
            costs.append({"cut": cut, "lost": lost, "missed": missed})
        return costs
