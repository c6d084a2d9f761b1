"""The records that filters read, and the decisions, training events and dead letters they write."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from streamnb.text.labels import MessageLabel

Features = str | dict[str, float | str | bool | None]
Label = MessageLabel
Headers = tuple[tuple[str, bytes | None], ...]

UNREADABLE = "unreadable"
"""Header of a dead letter for a batch of unreadable records, with its first and last offset."""
TEACHER = "teacher"
"""Header of an answer by a program, which never replaces the label of a person."""
ASSUMED = 0.125
"""Weight of a decision that nobody has corrected, as a label."""

Role = Literal["message", "feedback", "training", "window"]


def is_finite(value: object) -> bool:
    """Return whether a value is a finite number; Python also reads NaN and infinity from JSON.

    Examples
    --------
    >>> is_finite(1), is_finite(float("nan")), is_finite("1")
    (True, False, False)
    """
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


class Partition(NamedTuple):
    """One ordered part of a source: a partition of a topic, or a file (partition 0)."""

    source: str
    number: int


class Record(NamedTuple):
    """One record of a source, before it is read.

    Attributes
    ----------
    partition, offset
        Position; offsets begin at 0.
    value
        The bytes; None for a deleted key.
    key
        The key; None if the source has no keys.
    headers
        Pairs of name and value; a value may be None.
    timestamp
        Time of arrival in milliseconds since 1970, or None.
    role
        Content of the source: messages with or without labels, feedback on messages, training
        events, or changes of join windows. Filters write the last two.
    """

    partition: Partition
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int | None = None
    role: Role = "message"

    @property
    def is_input(self) -> bool:
        """Whether it is a message or feedback, and not written by a filter."""
        return self.role in ("message", "feedback")


class Message(NamedTuple):
    """The message in a record.

    Attributes
    ----------
    id
        Id of the message.
    features
        Features for the model: a text, word counts, or the attributes of a row.
    label
        The label or labels; None if they are unknown.
    senders
        The senders in lower case: addresses of a mail, number or name of an SMS.
    """

    id: str
    features: Features
    label: Label | None = None
    senders: tuple[str, ...] = ()


class Feedback(NamedTuple):
    """The label of another message, which may arrive before or after it; None unlearns it."""

    id: str
    label: Label | None


class Decision(msgspec.Struct, frozen=True):
    """The decision on one message.

    Attributes
    ----------
    id
        Id of the message.
    label
        The decision; None before anything was learned; `unsure` between two cutoffs. For a model of
        several labels, those above its threshold.
    probabilities
        Probability of each label.
    score
        Log odds of the positive label per word of the message, in nats (of the whole message if
        the model is calibrated); None before both classes were learned.
    version
        Number of training events that the model had learned.
    partition, offset
        Position of the record.
    words
        Top contributing words, each with its contribution to the log odds of the decision against
        the next likely label; None unless requested.
    listed
        `allow` or `deny` if a sender list decided.
    ask
        Whether the label of the message is requested.
    source
        `model` or `teacher`; None without a teacher.
    reason, status
        Why the message was sent to the teacher or not, and the state of its answer, as in
        `streamnb.audits.Decision`; None if it was not considered.
    model_label
        The label of the model if the label is the teacher's, else None.
    """

    id: str
    label: Label | None
    probabilities: Mapping[str, float]
    score: float | None
    version: int
    partition: Partition
    offset: int
    words: tuple[tuple[str, float], ...] | None = None
    listed: str | None = None
    ask: bool = False
    source: Literal["model", "teacher"] | None = None
    reason: str | None = None
    status: str | None = None
    model_label: Label | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the decision as plain values."""
        plain: dict[str, Any] = {
            "id": self.id,
            "labels" if isinstance(self.label, tuple) else "label": self.label,
            "probabilities": dict(self.probabilities),
            "score": self.score,
            "version": self.version,
        }
        if self.words is not None:
            plain["words"] = [{"word": word, "towards": towards} for word, towards in self.words]
        if self.listed is not None:
            plain["listed"] = self.listed
        if self.ask:
            plain["ask"] = True
        for name in ("source", "reason", "status", "model_label"):
            if (value := getattr(self, name)) is not None:
                plain[name] = value
        return plain


class Question(NamedTuple):
    """A request for the label of a message: its decision and its features."""

    decision: Decision
    features: Features

    def to_json(self) -> dict[str, Any]:
        """Return the question as plain values."""
        place = {"partition": self.decision.partition.number, "offset": self.decision.offset}
        return self.decision.to_json() | place | {"features": self.features}


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingEvent:
    """One update of the model: learn a label, after unlearning a previous one if necessary.

    Attributes
    ----------
    id
        Id of the message.
    features
        Features for the model.
    learn
        The label to learn; None only unlearns.
    unlearn
        The previous label to unlearn; None if the message was not learned before.
    score
        Score of the message when it was decided on, for the decision threshold.
    decided
        The decision; None without a decision.
    delay
        Seconds between message and label, if both records have timestamps.
    weight
        Weight of the message: 1 with a user's label, less with the filter's own.
    unlearn_weight
        Weight that the previous label was learned with.
    """

    id: str
    features: Features
    learn: Label | None
    unlearn: Label | None = None
    score: float | None = None
    decided: Label | None = None
    delay: float | None = None
    weight: float = 1.0
    unlearn_weight: float = 1.0

    @property
    def corrected(self) -> Label | None:
        """The label of a user that this one replaces or withdraws; None if there is none."""
        return self.unlearn if self.unlearn_weight == 1.0 else None

    @property
    def is_assumed(self) -> bool:
        """Whether the label is a decision that nobody has corrected."""
        return self.weight == ASSUMED

    @property
    def is_own(self) -> bool:
        """Whether the label is the filter's own, not a user's."""
        return self.weight != 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be used, and the reason.

    `refused` marks a valid label that exceeded the rate of its source. `after` is the offset after
    a batch of unreadable records, of which the record is the first one; 0 for one record.
    """

    record: Record
    error: str
    refused: bool = False
    after: int = 0

    @classmethod
    def unreadable(cls, place: Partition, first: int, after: int, error: str) -> DeadLetter:
        """Return the dead letter for a batch whose records cannot be read."""
        return cls(Record(place, first, None), error, after=after)

    def to_json(self) -> dict[str, Any]:
        """Return the dead letter as plain values, for a line of a file; bytes become base64."""
        record = self.record
        plain = {
            "error": self.error,
            "source": record.partition.source,
            "partition": record.partition.number,
            "offset": record.offset,
            "key": record.key,
            "value": record.value,
        }
        return dict(msgspec.to_builtins(plain))

    def headers(self) -> Headers:
        """Return the record headers of a dead letter in a topic, whose value is the raw value."""
        return (
            *self.record.headers,
            ("error", self.error.encode("utf-8", "replace")),
            ("topic", self.record.partition.source.encode("utf-8", "replace")),
            ("partition", str(self.record.partition.number).encode()),
            ("offset", str(self.record.offset).encode()),
            *([(UNREADABLE, f"{self.record.offset}-{self.after - 1}".encode())] * bool(self.after)),
        )


Result = Literal[
    "learned", "learned_before", "corrected", "unlearned", "not_learned", "too_old", "unknown"
]


class LabelResult(NamedTuple):
    """The result of a user's label, or of a request to unlearn one.

    Attributes
    ----------
    offset
        Offset of its record.
    result
        `learned`, `corrected` (another label was unlearned before) and `unlearned` changed the
        model. `learned_before` and `not_learned` had nothing to do. `too_old`: the text that was
        learned before has left the join window, so it was not unlearned; a new label is learned if
        it came with its text. `unknown`: the label waits for its message.
    kept
        With `too_old` the earlier label, which stays in the model; else None.
    """

    offset: int
    result: Result
    kept: Label | None = None


class Change(NamedTuple):
    """A change of the join window of a partition; the value None deletes the key."""

    number: int
    key: bytes
    value: bytes | None


@dataclasses.dataclass(slots=True)
class Outputs:
    """The outputs of processed records, in order.

    `answers` are the seconds from questions to their first labels; None without timestamps.
    `results` are the results of labels.
    `settings` are the settings of the worker that wrote the training events (`Identity.header`).
    `unwritten` counts records that the sink left out because they are too large.
    """

    decisions: list[Decision] = dataclasses.field(default_factory=list)
    training: list[TrainingEvent] = dataclasses.field(default_factory=list)
    dead_letters: list[DeadLetter] = dataclasses.field(default_factory=list)
    changes: list[Change] = dataclasses.field(default_factory=list)
    questions: list[Question] = dataclasses.field(default_factory=list)
    answers: list[float | None] = dataclasses.field(default_factory=list)
    results: list[LabelResult] = dataclasses.field(default_factory=list)
    settings: bytes = dataclasses.field(default=b"", compare=False)
    unwritten: int = dataclasses.field(default=0, compare=False)

    def refuses(self, record: Record) -> bool:
        """Return whether a record is a dead letter."""
        return any(each.record is record for each in self.dead_letters)
