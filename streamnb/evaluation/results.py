"""What an evaluation finds out about one model."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from streamnb.evaluation.metrics import Scores

__all__ = ["Point", "Result"]


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """The metrics at one place of the stream, `n_messages` after its start."""

    n_messages: int
    cumulative: Scores
    windowed: Scores


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """What one model did on the stream so far.

    Attributes
    ----------
    name
        Name of the model.
    n_messages
        Messages of the stream so far.
    n_unanswered
        Messages for which the model had no decision (none was learned before); the metrics leave
        them out, as river's `progressive_val_score` does.
    labels
        Number of messages of each true label.
    positive
        The positive label of the metrics of two classes; None where there is none.
    cumulative, windowed
        Metrics over all messages, and over the last `window` ones.
    window
        Number of messages that `windowed` looks back.
    auc_error_bound
        The most by which the cumulative ROC area can be off; 0 while it is exact.
    predict_seconds, learn_seconds
        Time spent in the model's own `predict_one` and `learn_one`.
    memory_bytes
        What the model occupies; None where it cannot say.
    curve
        Metrics along the stream.
    """

    name: str
    n_messages: int
    n_unanswered: int
    labels: dict[Hashable, int]
    positive: Hashable | None
    cumulative: Scores
    windowed: Scores
    window: int
    auc_error_bound: float
    predict_seconds: float
    learn_seconds: float
    memory_bytes: int | None
    curve: list[Point]

    @property
    def messages_per_second(self) -> float | None:
        """Messages predicted and learned in a second of the model's own time."""
        seconds = self.predict_seconds + self.learn_seconds
        return self.n_messages / seconds if seconds > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold; labels become strings."""
        values = dataclasses.asdict(self)
        values["labels"] = {str(label): count for label, count in self.labels.items()}
        values["positive"] = None if self.positive is None else str(self.positive)
        values["messages_per_second"] = self.messages_per_second
        return values
