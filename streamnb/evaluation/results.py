"""Results of an evaluation."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from streamnb.model.threshold import Answer, Cutoffs

if TYPE_CHECKING:
    from streamnb.evaluation.calibration import ReliabilityBin
    from streamnb.evaluation.metrics import Scores
    from streamnb.evaluation.roc import RocPoint


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerCounts:
    """Answers of a model with two thresholds on the probability of the positive label.

    Messages before both labels were learned count as unsure.

    Parameters
    ----------
    cutoffs
        The thresholds.
    positives, negatives
        Answer → number of positive and of negative messages.

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
        """Count a message by the probability of the positive label, if the model has one."""
        answer = "unsure" if probability is None else self.cutoffs.answer(probability)
        (self.positives if is_positive else self.negatives)[answer] += 1

    @property
    def unsure(self) -> float | None:
        """Share of messages without a decision; None before the first message."""
        unsure = self.positives["unsure"] + self.negatives["unsure"]
        return _share(unsure, self.positives.total() + self.negatives.total())

    @property
    def accuracy(self) -> float | None:
        """Share of correct decisions, without the unsure messages."""
        right = self.positives["positive"] + self.negatives["negative"]
        return _share(right, right + self.positives["negative"] + self.negatives["positive"])

    @property
    def hm(self) -> float | None:
        """False-positive rate: share of negative messages (ham) that were decided positive."""
        return _share(self.negatives["positive"], self.negatives.total())

    @property
    def sm(self) -> float | None:
        """False-negative rate: share of positive messages (spam) that were decided negative."""
        return _share(self.positives["negative"], self.positives.total())

    def to_dict(self) -> dict[str, Any]:
        """Return the thresholds, the counts and the shares as plain values."""
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


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """The metrics after `n_messages` messages, of which `n_labels` were learned."""

    n_messages: int
    n_labels: int
    cumulative: Scores
    windowed: Scores


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """Result of one model on the stream so far.

    Attributes
    ----------
    name
        Name of the model.
    n_messages
        Messages of the stream so far.
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
        The ROC curve of all messages, from the strictest threshold; empty before the end of the
        stream.
    auc_error_bound
        Maximum error of the cumulative ROC area; 0 if it is exact.
    predict_seconds, learn_seconds
        Time spent in the model's own `predict_one` and `learn_one`.
    memory_bytes
        Size of the model; None if it is unknown.
    curve
        Metrics along the stream.
    answers
        Counts of "positive", "negative" and "unsure" for two thresholds, if they were given.
    n_alarms
        Number of drift detections.
    alarms
        Number of messages at each of the last 1,000 drift detections.
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
    auc_error_bound: float
    predict_seconds: float
    learn_seconds: float
    memory_bytes: int | None
    curve: list[Point]
    answers: AnswerCounts | None = None
    n_alarms: int = 0
    alarms: list[int] = dataclasses.field(default_factory=list)

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
        values["labels"] = {str(label): count for label, count in self.labels.items()}
        values["pos_label"] = None if self.pos_label is None else str(self.pos_label)
        values["answers"] = None if self.answers is None else self.answers.to_dict()
        values["messages_per_second"] = self.messages_per_second
        return values
