"""What an evaluation finds out about one model."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from streamnb.evaluation.calibration import ReliabilityBin
    from streamnb.evaluation.metrics import Scores
    from streamnb.evaluation.roc import RocPoint
    from streamnb.evaluation.unsure import AnswerCounts

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
    pos_label
        The positive label of the metrics of two classes; None where there is none.
    cumulative, windowed
        Metrics over all messages, and over the last `window` ones.
    window
        Number of messages that `windowed` looks back.
    calibration_skip
        Messages at the beginning that the calibration error leaves out.
    reliability
        Of each bin of probabilities its mean, the share that came true, and its messages: what
        the calibration error is made of.
    roc
        The ROC curve of all messages, from the strictest threshold on; empty where there is none,
        and before the end of the stream.
    auc_error_bound
        The most by which the cumulative ROC area can be off; 0 while it is exact.
    predict_seconds, learn_seconds
        Time spent in the model's own `predict_one` and `learn_one`.
    memory_bytes
        What the model occupies; None where it cannot say.
    curve
        Metrics along the stream.
    answers
        Counts of "positive", "negative" and "unsure" by two cuts; None where none were given.
    n_alarms
        Alarms of drift that were raised.
    alarms
        How many messages had come when each of the last 1,000 of them was raised.
    """

    name: str
    n_messages: int
    n_unanswered: int
    labels: dict[Hashable, int]
    pos_label: Hashable | None
    cumulative: Scores
    windowed: Scores
    window: int
    calibration_skip: int
    reliability: list[ReliabilityBin]
    roc: list[RocPoint]
    auc_error_bound: float
    predict_seconds: float
    learn_seconds: float
    memory_bytes: int | None
    curve: list[Point]
    answers: AnswerCounts | None = None
    n_alarms: int = 0
    alarms: list[int] = dataclasses.field(default_factory=list)

    def lowest_cost(self, ratio: float) -> float | None:
        """Return what the best threshold would have cost a message, had it been known before.

        Parameters
        ----------
        ratio
            What a lost negative message (ham) costs, where a missed positive one (spam) costs 1;
            above 0.

        Returns
        -------
        The mean cost of a message; None where there is no ROC curve.

        References
        ----------
        C. Drummond and R. C. Holte (2006). Cost curves. Machine Learning 65.
        """
        if not self.roc:
            return None
        positives = self.labels.get(self.pos_label, 0)
        share = positives / self.n_messages
        return min(ratio * (1 - share) * lost + share * missed for lost, missed in self.roc)

    @property
    def messages_per_second(self) -> float | None:
        """Messages predicted and learned in a second of the model's own time."""
        seconds = self.predict_seconds + self.learn_seconds
        return self.n_messages / seconds if seconds > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold; labels become strings."""
        values = dataclasses.asdict(self)
        values["reliability"] = [each._asdict() for each in self.reliability]
        values["roc"] = [each._asdict() for each in self.roc]
        values["labels"] = {str(label): count for label, count in self.labels.items()}
        values["pos_label"] = None if self.pos_label is None else str(self.pos_label)
        values["answers"] = None if self.answers is None else self.answers.to_dict()
        values["messages_per_second"] = self.messages_per_second
        return values
