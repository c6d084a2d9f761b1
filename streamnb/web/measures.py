"""Quality of a model along a stream, in bounded memory."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from streamnb.evaluation.calibration import Calibration
from streamnb.model.drift import DriftAlarm
from streamnb.text.labels import MessageLabel, label_names

_WINDOW = 500  # messages of the rolling accuracy
_RECENT = 5_000  # messages over which thresholds and calibration are measured
_MOST_POINTS = 400  # points of a curve; above, every second point is dropped
_MOST_STEPS = 200  # of time in which messages arrived
_MOST_PAIRS = 600  # of labels and decisions that are shown
_CUTS = [n / 100 for n in range(1, 100)]


class _Counted(NamedTuple):
    label: MessageLabel
    decision: MessageLabel
    shares: Mapping[str, float]

    def pairs(self) -> list[tuple[str | None, str | None]]:
        """Return the label and the decision; of several labels, each one, or None where it lacks.

        Examples
        --------
        >>> sorted(_Counted(("corn", "wheat"), ("corn",), {}).pairs())
        [('corn', 'corn'), ('wheat', None)]
        """
        if isinstance(self.label, str) and isinstance(self.decision, str):
            return [(self.label, self.decision)]
        given, decided = label_names(self.label), label_names(self.decision)
        return [
            (each if each in given else None, each if each in decided else None)
            for each in dict.fromkeys((*given, *decided))
        ]


class Volume:
    """Number of messages along time, in at most 200 steps: more steps become twice as long.

    Examples
    --------
    >>> volume = Volume()
    >>> for time in (500, 700, 2_000):
    ...     volume.add(time)
    >>> volume.summary()
    {'step': 1000, 'steps': [(0, 2), (2000, 1)]}
    """

    def __init__(self) -> None:
        self._step = 1_000  # milliseconds
        self._counts: Counter[int] = Counter()

    def add(self, time: int) -> None:
        """Count a message at a time in milliseconds since 1970."""
        self._counts[time // self._step] += 1
        while len(self._counts) > _MOST_STEPS:
            self._step *= 2
            halved: Counter[int] = Counter()
            for place, count in self._counts.items():
                halved[place // 2] += count
            self._counts = halved

    def summary(self) -> dict[str, Any]:
        """Return the length of a step, and begin and count of each step with messages."""
        steps = [(place * self._step, count) for place, count in sorted(self._counts.items())]
        return {"step": self._step, "steps": steps}


class Measures:
    """Quality of one model along a stream.

    A decision on several labels is right if it has all labels of the message, and no other.

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
        self._newest_time: int | None = None
        self._arrived = 0
        self._n_messages = self._n_right = 0
        self._confusion: Counter[tuple[str | None, str | None]] = Counter()
        self._curve: list[tuple[int, float, int | None]] = []
        self._alarm = DriftAlarm("adwin")
        self._drifts: deque[tuple[int, int | None]] = deque(maxlen=50)

    def count(
        self,
        number: int,
        label: MessageLabel | None,
        decision: MessageLabel,
        shares: Mapping[str, float],
        time: int | None = None,
    ) -> None:
        """Count a decision that preceded the label, or count it again with another label.

        Parameters
        ----------
        number
            Number of the message.
        label
            Its label or labels; None removes the message from the figures.
        decision, shares
            The decision and the probability of each label.
        time
            Time of the message in milliseconds since 1970, or None.
        """
        before = self._counted.get(number)
        if before is not None:
            self._add(before, -1)
        if label is None:
            self._counted.pop(number, None)
            return
        self._counted[number] = _Counted(label, decision, shares)
        self._add(self._counted[number], 1)
        if len(self._counted) > self._most:
            del self._counted[next(iter(self._counted))]
        if number > self._newest:
            self._newest, self._newest_time = number, time
            self._extend_curve(number, label == decision)

    def _add(self, one: _Counted, times: int) -> None:
        self._n_messages += times
        self._n_right += times * (one.label == one.decision)
        for pair in one.pairs():
            self._confusion[pair] += times

    def _extend_curve(self, number: int, right: bool) -> None:
        self._arrived += 1
        if self._alarm.update(not right):
            self._drifts.append((number, self._newest_time))
        recent = self._recent_accuracy() if self._arrived % self._every == 0 else None
        if recent is not None:
            self._curve.append((number, recent, self._newest_time))
            if len(self._curve) > _MOST_POINTS:
                self._every *= 2
                self._curve = self._curve[1::2]

    def _recent_accuracy(self) -> float | None:
        last = itertools.islice(reversed(self._counted.values()), _WINDOW)
        right = [each.label == each.decision for each in last]
        return sum(right) / len(right) if right else None

    def _present_curve(self) -> list[tuple[int, float, int | None]]:
        """Return the curve, whose last point follows corrections as the figures do."""
        recent = self._recent_accuracy()
        earlier = [point for point in self._curve if point[0] != self._newest]
        if not earlier or recent is None:
            return self._curve
        return [*earlier, (self._newest, recent, self._newest_time)]

    def summary(self, pos_label: str | None) -> dict[str, Any]:
        """Return the figures, curve, reliability, confusion, drifts and costs of thresholds.

        `micro_f1` is the F1 of all pairs of a message and a label.

        Parameters
        ----------
        pos_label
            The label that the threshold decides for.
        """
        named = sum(
            n * ((a is not None) + (b is not None)) for (a, b), n in self._confusion.items()
        )
        agreed = sum(n for (label, decision), n in self._confusion.items() if label == decision)
        recent = list(itertools.islice(reversed(self._counted.values()), _RECENT))
        calibration = Calibration(bins=10)
        for each in recent:
            if each.shares:
                likeliest = max(each.shares, key=each.shares.__getitem__)
                calibration.add(each.shares[likeliest], likeliest in label_names(each.label))
        return {
            "messages": self._n_messages,
            "accuracy": self._n_right / self._n_messages if self._n_messages else None,
            "micro_f1": 2 * agreed / named if named else None,
            "recent": self._recent_accuracy(),
            "calibration_error": calibration.error(),
            "curve": self._present_curve(),
            "drifts": list(self._drifts),
            "reliability": [tuple(one) for one in calibration.reliability()],
            "confusion": [
                {"label": label, "decision": decision, "messages": number}
                for (label, decision), number in self._confusion.most_common(_MOST_PAIRS)
                if number
            ],
            "cuts": _costs(recent, pos_label),
        }


def _costs(recent: list[_Counted], pos_label: str | None) -> list[dict[str, float]]:
    """Return the false positives and false negatives of each threshold."""
    scored = [
        (each.shares.get(pos_label or "", 0.0), pos_label in label_names(each.label))
        for each in recent
        if each.shares
    ]
    positives = sorted(share for share, has_label in scored if has_label)
    negatives = sorted(share for share, has_label in scored if not has_label)

    def cost(cut: float) -> dict[str, float]:
        lost = len(negatives) - bisect.bisect_left(negatives, cut)
        return {"cut": cut, "lost": lost, "missed": bisect.bisect_left(positives, cut)}

    return list(map(cost, _CUTS))
