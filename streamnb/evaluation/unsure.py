"""How often a model answers "unsure", where two cuts on its probabilities allow it to."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from streamnb.model.threshold import Answer, Cutoffs

__all__ = ["AnswerCounts"]


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerCounts:
    """Answers of a model by two cuts on the probability of the positive label.

    A message that came before both labels were learned is unsure too.

    Parameters
    ----------
    cutoffs
        The cuts.
    positives, negatives
        How many messages that are positive, and that are not, had each answer.

    Examples
    --------
    >>> counts = AnswerCounts(Cutoffs(ham=0.2, spam=0.9))
    >>> for is_positive, probability in [(True, 0.95), (True, 0.1), (False, 0.5), (False, None)]:
    ...     counts.add(is_positive, probability)
    >>> counts.unsure, counts.accuracy, counts.hm, counts.sm
    (0.5, 0.5, 0.0, 0.5)
    """

    cutoffs: Cutoffs
    positives: Counter[Answer] = dataclasses.field(default_factory=Counter)
    negatives: Counter[Answer] = dataclasses.field(default_factory=Counter)

    def add(self, is_positive: bool, probability: float | None) -> None:
        """Count a message by the probability of the positive label; None where there is none."""
        answer = "unsure" if probability is None else self.cutoffs.answer(probability)
        (self.positives if is_positive else self.negatives)[answer] += 1

    @property
    def unsure(self) -> float | None:
        """The share of messages without a decision; None before there were any."""
        unsure = self.positives["unsure"] + self.negatives["unsure"]
        return _share(unsure, self.positives.total() + self.negatives.total())

    @property
    def accuracy(self) -> float | None:
        """The share of right decisions among those that were made."""
        right = self.positives["positive"] + self.negatives["negative"]
        return _share(right, right + self.positives["negative"] + self.negatives["positive"])

    @property
    def hm(self) -> float | None:
        """The share of messages that are not positive, and were called so: ham that is lost."""
        return _share(self.negatives["positive"], self.negatives.total())

    @property
    def sm(self) -> float | None:
        """The share of positive messages that were called negative: spam that came through."""
        return _share(self.positives["negative"], self.positives.total())

    def to_dict(self) -> dict[str, Any]:
        """Return the cuts, the counts and the shares as plain values."""
        shares = ("unsure", "accuracy", "hm", "sm")
        return {
            "ham_cutoff": self.cutoffs.ham,
            "spam_cutoff": self.cutoffs.spam,
            "positives": dict(self.positives),
            "negatives": dict(self.negatives),
            **{name: getattr(self, name) for name in shares},
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
