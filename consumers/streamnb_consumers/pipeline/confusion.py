"""Decisions beside the labels that came later: how often they were right."""

from __future__ import annotations

from collections import deque
from typing import Any

from streamnb.model.threshold import UNSURE

__all__ = ["Confusion"]


class Confusion:
    """Decisions beside the labels that came later, over the stream and over its last messages.

    Accuracy is that of the messages that were decided on: `unsure` is counted apart.

    Examples
    --------
    >>> tally = Confusion(window=2)
    >>> for decided, label in [("ham", "spam"), ("ham", "ham"), ("spam", "spam")]:
    ...     tally.add(decided, label)
    >>> round(tally.accuracy(), 3), tally.rolling_accuracy()
    (0.667, 1.0)
    >>> tally.correct("ham", "spam", "ham")
    >>> tally.accuracy()
    1.0
    """

    def __init__(self, window: int = 1000) -> None:
        self.counts: dict[tuple[str, str], int] = {}
        self._last: deque[bool] = deque(maxlen=window)

    def add(self, decided: str, label: str) -> None:
        """Count one decision and its label."""
        self._count(decided, label, 1)
        if decided != UNSURE:
            self._last.append(decided == label)

    def correct(self, decided: str, before: str, label: str) -> None:
        """Count a decision under another label than before."""
        self._count(decided, before, -1)
        self._count(decided, label, 1)

    def _count(self, decided: str, label: str, times: int) -> None:
        found = self.counts.get((decided, label), 0) + times
        self.counts[decided, label] = found
        if not found:
            del self.counts[decided, label]

    def accuracy(self) -> float | None:
        """Return the share of decisions that were right, of those that were sure."""
        total = sum(n for (decided, _), n in self.counts.items() if decided != UNSURE)
        right = sum(n for (decided, label), n in self.counts.items() if decided == label)
        return right / total if total else None

    def unsure(self) -> float | None:
        """Return the share of messages that were unsure."""
        total = sum(self.counts.values())
        unsure = sum(n for (decided, _), n in self.counts.items() if decided == UNSURE)
        return unsure / total if total else None

    def rolling_accuracy(self) -> float | None:
        """Return the same of the last decisions whose labels came."""
        return sum(self._last) / len(self._last) if self._last else None

    def to_json(self) -> dict[str, Any]:
        """Return the state."""
        return {
            "counts": [[*pair, n] for pair, n in sorted(self.counts.items())],
            "last": "".join(str(int(right)) for right in self._last),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take a state that `to_json` returned.

        Raises
        ------
        ValueError, TypeError, KeyError
            If it is something else.
        """
        for decided, label, n in state["counts"]:
            if not isinstance(decided, str) or not isinstance(label, str) or not isinstance(n, int):
                raise TypeError("decisions and labels must be strings, their counts whole numbers")
        self.counts = {(decided, label): n for decided, label, n in state["counts"]}
        self._last.clear()
        self._last.extend(each == "1" for each in state["last"])
