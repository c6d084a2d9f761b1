"""What a filter is told, and what it asks of a model."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

from consumers.window import Bounds

__all__ = ["Model", "Options"]


class Model(Protocol):
    """What the filter asks of a model of streamnb."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one message."""

    def unlearn_one(self, x: Any, y: Any) -> None:
        """Unlearn one message."""

    def predict_one(self, x: Any) -> Any:
        """Return the label of a message."""

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label."""

    def joint_log_likelihood_one(self, x: Any) -> dict[Any, float]:
        """Return the score of each label."""

    def explain_one(self, x: Any) -> Any:
        """Return what each word contributes."""

    def to_bytes(self) -> bytes:
        """Return the model file's bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How a filter decides and learns.

    Attributes
    ----------
    positive
        The label of the positive class; scores are its log odds.
    negative
        What is decided instead, where the bound on lost ham forbids the positive label.
    ham_target
        Share of negative messages that may be lost, in (0, 1); None for no bound.
    top_words
        Loudest words that a decision names; 0 for none.
    learn_lessons
        Whether a lesson is learned where it arises. Without, lessons are outputs only, and are
        learned when they come back as records of the role `lesson`: so that all workers of a group
        fold the same log.
    bounds
        Of the join window of each partition.
    """

    positive: str = "spam"
    negative: str = "ham"
    ham_target: float | None = None
    top_words: int = 0
    learn_lessons: bool = True
    bounds: Bounds = dataclasses.field(default_factory=Bounds)
