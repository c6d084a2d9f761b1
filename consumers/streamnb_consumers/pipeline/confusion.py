"""Confusion matrix of decisions and the labels that arrived later."""

from __future__ import annotations

from collections import deque
from typing import Any

from streamnb.model.threshold import UNSURE

__all__ = ["Confusion"]


class Confusion:
    """Confusion matrix over the whole stream, and accuracy of the last decisions.

    Accuracy excludes `unsure` decisions.

    Examples
    --------
    >>> confusion = Confusion(window_size=2)
    >>> for decided, label in [("ham", "spam"), ("ham", "ham"), ("spam", "spam")]:
    ...     confusion.add(decided, label)
    >>> round(confusion.accuracy(), 3), confusion.rolling_accuracy()
    (0.667, 1.0)
    >>> confusion.correct("ham", "spam", "ham")
    >>> confusion.accuracy()
    1.0
    """

    def __init__(self, window_size: int = 1000) -> None:
        self.counts: dict[tuple[str, str], int] = {}
        self._last: deque[bool] = deque(maxlen=window_size)

    def add(self, decided: str, label: str) -> None:
        """Count a decision and its label."""
        self._count(decided, label, 1)
        if decided != UNSURE:
            self._last.append(decided == label)

    def correct(self, decided: str, before: str, label: str | None) -> None:
        """Move a decision from its previous label to another one; None removes it."""
        self._count(decided, before, -1)
        if label is not None:
            self._count(decided, label, 1)

    def _count(self, decided: str, label: str, times: int) -> None:
        found = self.counts.get((decided, label), 0) + times
        self.counts[decided, label] = found
        if not found:
            del self.counts[decided, label]

    def accuracy(self) -> float | None:
        """Return the share of correct decisions; None before the first one."""
        total = sum(n for (decided, _), n in self.counts.items() if decided != UNSURE)
        right = sum(n for (decided, label), n in self.counts.items() if decided == label)
        return right / total if total else None

    def unsure(self) -> float | None:
        """Return the share of `unsure` decisions."""
        total = sum(self.counts.values())
        unsure = sum(n for (decided, _), n in self.counts.items() if decided == UNSURE)
        return unsure / total if total else None

    def rolling_accuracy(self) -> float | None:
        """Return the accuracy of the last decisions."""
        return sum(self._last) / len(self._last) if self._last else None

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "counts": [[*pair, n] for pair, n in sorted(self.counts.items())],
            "last": "".join(str(int(right)) for right in self._last),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state from `to_json`.

        Raises
        ------
        ValueError, TypeError, KeyError
            If the state is invalid.
        """
        for decided, label, n in state["counts"]:
            if not isinstance(decided, str) or not isinstance(label, str) or not isinstance(n, int):
                raise TypeError("decisions and labels must be strings, their counts integers")
        self.counts = {(decided, label): n for decided, label, n in state["counts"]}
        self._last.clear()
        self._last.extend(each == "1" for each in state["last"])
