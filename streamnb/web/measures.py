"""Quality of a model along a stream, in bounded memory."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter, deque
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from streamnb.evaluation.calibration import Calibration
from streamnb.model.drift import DriftAlarm

_WINDOW = 500  # messages of the rolling accuracy
_RECENT = 5_000  # messages over which thresholds and calibration are measured
_MOST_POINTS = 400  # points of a curve; above, every second point is dropped
_CUTS = [n / 100 for n in range(1, 100)]


class _Counted(NamedTuple):
    label: Hashable
    decision: Hashable
    shares: Mapping[Hashable, float]


class Measures:
    """Quality of one model along a stream.

    Parameters
    ----------
    every
        Messages between two points of its curve, at least 1.
    keep
        Number of last labelled messages that can be counted again, at least 1.

    Examples
    --------
    >>> measures = Measures()
    >>> measures.count(1, "spam", "spam", {"ham": 0.2, "spam": 0.8})
    >>> measures.count(2, "ham", "spam", {"ham": 0.4, "spam": 0.6})
    >>> measures.summary("spam")["accuracy"]
    0.5
    >>> measures.count(2, "spam", "spam", {"ham": 0.4, "spam": 0.6})  # corrected
    >>> measures.summary("spam")["accuracy"]
    1.0
    """

    def __init__(self, every: int = 5, keep: int = _RECENT) -> None:
        self._every = every
        self._most = max(keep, _RECENT)
        self._counted: dict[int, _Counted] = {}  # by the number of the message
        self._newest = 0
        self._arrived = 0
        self._confusion: Counter[tuple[Hashable, Hashable]] = Counter()
        self._curve: list[tuple[int, float]] = []
        self._alarm = DriftAlarm("adwin")
        self._drifts: deque[int] = deque(maxlen=50)

    def count(
        self,
        number: int,
        label: Hashable | None,
        decision: Hashable,
        shares: Mapping[Hashable, float],
    ) -> None:
        """Count a decision that preceded the label, or count it again with another label.

        Parameters
        ----------
        number
            Number of the message.
        label
            Its label; None removes the message from the figures.
        decision, shares
            The decision and the probability of each label.
        """
        before = self._counted.get(number)
        if before is not None:
            self._confusion[before.label, before.decision] -= 1
        if label is None:
            self._counted.pop(number, None)
            return
        self._counted[number] = _Counted(label, decision, shares)
        self._confusion[label, decision] += 1
        if len(self._counted) > self._most:
            del self._counted[next(iter(self._counted))]
        if number > self._newest:
            self._newest = number
            self._extend_curve(number, label == decision)

    def _extend_curve(self, number: int, right: bool) -> None:
        self._arrived += 1
        if self._alarm.update(not right):
            self._drifts.append(number)
        recent = self._recent_accuracy() if self._arrived % self._every == 0 else None
        if recent is not None:
            self._curve.append((number, recent))
            if len(self._curve) > _MOST_POINTS:
                self._every *= 2
                self._curve = self._curve[1::2]

    def _recent_accuracy(self) -> float | None:
        last = itertools.islice(reversed(self._counted.values()), _WINDOW)
        right = [each.label == each.decision for each in last]
        return sum(right) / len(right) if right else None

    def _present_curve(self) -> list[tuple[int, float]]:
        """Return the curve, whose last point follows corrections as the figures do."""
        recent = self._recent_accuracy()
        earlier = [point for point in self._curve if point[0] != self._newest]
        return [*earlier, (self._newest, recent)] if earlier and recent is not None else self._curve

    def summary(self, pos_label: Hashable) -> dict[str, Any]:
        """Return the figures, curve, reliability, confusion, drifts and costs of thresholds.

        Parameters
        ----------
        pos_label
            The label that the threshold decides for.
        """
        messages = self._confusion.total()
        right = sum(n for (label, decision), n in self._confusion.items() if label == decision)
        recent = list(itertools.islice(reversed(self._counted.values()), _RECENT))
        calibration = Calibration(bins=10)
        for each in recent:
            if each.shares:
                likeliest = max(each.shares, key=each.shares.__getitem__)
                calibration.add(each.shares[likeliest], likeliest == each.label)
        return {
            "messages": messages,
            "accuracy": right / messages if messages else None,
            "recent": self._recent_accuracy(),
            "calibration_error": calibration.error(),
            "curve": self._present_curve(),
            "drifts": list(self._drifts),
            "reliability": [tuple(one) for one in calibration.reliability()],
            "confusion": [
                {"label": str(label), "decision": str(decision), "messages": number}
                for (label, decision), number in self._confusion.most_common(200)
                if number
            ],
            "cuts": _costs(recent, pos_label),
        }


def _costs(recent: list[_Counted], pos_label: Hashable) -> list[dict[str, float]]:
    """Return the false positives and false negatives of each threshold."""
    scored = [(each.shares.get(pos_label, 0.0), each.label) for each in recent if each.shares]
    positives = sorted(share for share, label in scored if label == pos_label)
    negatives = sorted(share for share, label in scored if label != pos_label)

    def cost(cut: float) -> dict[str, float]:
        lost = len(negatives) - bisect.bisect_left(negatives, cut)
        return {"cut": cut, "lost": lost, "missed": bisect.bisect_left(positives, cut)}

    return list(map(cost, _CUTS))
