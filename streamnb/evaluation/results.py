"""Results of an evaluation."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any, NamedTuple

from streamnb.evaluation.calibration import ReliabilityBin
from streamnb.evaluation.metrics import Scores
from streamnb.evaluation.roc import RocPoint


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """The metrics after `n_messages` messages, of which `n_labels` were learned."""

    n_messages: int
    n_labels: int
    cumulative: Scores
    windowed: Scores


class WrongDecision(NamedTuple):
    """A wrong decision, explained by the model before it learned the message.

    Attributes
    ----------
    number
        Number of the message in the stream; the first is 1.
    x
        The message.
    label
        The true label.
    decision
        The label that the model predicted.
    against
        The label that `words` compares the decision with: the true label, or the next likely one if
        the model has not learned the true one yet. None without an explanation.
    words
        The words and pairs with the largest contributions to the decision against that label, in
        log units. Empty for models without `explain_one`.
    """

    number: int
    x: Any
    label: Hashable
    decision: Hashable
    against: Hashable | None
    words: list[tuple[str, float]]


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """Result of one model on a stream.

    Attributes
    ----------
    name
        Name of the model.
    n_messages
        Messages of the stream.
    n_labels
        Number of messages that the model has learned.
    n_unanswered
        Messages before the first learned one, which have no decision. The metrics leave them out,
        as river's `progressive_val_score` does.
    labels
        Number of messages of each true label.
    pos_label
        The positive label of binary metrics; None for other streams.
    cumulative, windowed
        Metrics over all messages, and rolling metrics over the last `window` messages.
    window
        Number of messages of the rolling metrics.
    calibration_skip
        First messages that the calibration error leaves out.
    reliability
        For each bin of probabilities: mean, share of true labels, and number of messages. The
        calibration error is computed from them.
    roc
        The ROC curve of all messages, from the strictest threshold; empty without a positive label.
    predict_seconds, learn_seconds
        Time spent in the model's own `predict_one` and `learn_one`.
    memory_bytes
        Size of the model; None if it is unknown.
    curve
        Metrics along the stream.
    n_alarms
        Number of drift detections.
    alarms
        Number of messages at each of the last 1,000 drift detections.
    errors
        The last wrong decisions with their reasons, at most `explain_errors`.
    """

    name: str
    n_messages: int
    n_labels: int
    n_unanswered: int
    labels: dict[Hashable, int]
    pos_label: Hashable | None
    cumulative: Scores
    windowed: Scores
    window: int
    calibration_skip: int
    reliability: list[ReliabilityBin]
    roc: list[RocPoint]
    predict_seconds: float
    learn_seconds: float
    memory_bytes: int | None
    curve: list[Point]
    n_alarms: int = 0
    alarms: list[int] = dataclasses.field(default_factory=list)
    errors: list[WrongDecision] = dataclasses.field(default_factory=list)

    @property
    def messages_per_second(self) -> float | None:
        """Messages predicted and learned per second of the model's own time."""
        seconds = self.predict_seconds + self.learn_seconds
        return self.n_messages / seconds if seconds > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold; labels become strings."""
        values = dataclasses.asdict(self)
        values["reliability"] = [each._asdict() for each in self.reliability]
        values["roc"] = [each._asdict() for each in self.roc]
        values["errors"] = [_error_values(each) for each in self.errors]
        values["labels"] = {str(label): count for label, count in self.labels.items()}
        values["pos_label"] = None if self.pos_label is None else str(self.pos_label)
        values["messages_per_second"] = self.messages_per_second
        return values


def _error_values(error: WrongDecision) -> dict[str, Any]:
    names = ("x", "label", "decision", "against")
    return {
        "number": error.number,
        **{name: None if (one := getattr(error, name)) is None else str(one) for name in names},
        "words": [{"word": word, "towards": towards} for word, towards in error.words],
    }
