"""What travels: records in; decisions, training events and dead letters out."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

__all__ = [
    "Change",
    "DeadLetter",
    "Decision",
    "Features",
    "Feedback",
    "Message",
    "Outputs",
    "Partition",
    "Record",
    "Role",
    "TrainingEvent",
    "is_finite",
]

Features = str | dict[str, float]

Role = Literal["message", "feedback", "training", "window"]


def is_finite(value: object) -> bool:
    """Tell whether a value is a finite number; JSON as Python reads it has others.

    Examples
    --------
    >>> is_finite(1), is_finite(float("nan")), is_finite("1")
    (True, False, False)
    """
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


class Partition(NamedTuple):
    """One ordered part of a source: a topic's partition, or a file (partition 0)."""

    source: str
    number: int


class Record(NamedTuple):
    """One record of a source, unread.

    Attributes
    ----------
    partition
        Where it stands.
    offset
        Its place there, from 0.
    value
        Its bytes; None where a log says that a key was deleted.
    key
        Its key, if the source has keys.
    headers
        Pairs of name and value; a value may be missing.
    timestamp
        Milliseconds since 1970 when it arrived, or None.
    role
        What the source holds: messages (with labels or without), feedback on messages, or what
        filters wrote: training events, and changes of join windows.
    """

    partition: Partition
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int | None = None
    role: Role = "message"

    @property
    def is_input(self) -> bool:
        """Whether it comes from outside, and no filter wrote it."""
        return self.role in ("message", "feedback")


class Message(NamedTuple):
    """A record that was read.

    Attributes
    ----------
    id
        What the message is called.
    features
        What a model takes: a text, or counted words.
    label
        Its label, where the record has one.
    senders
        Who sent it, in lower case: addresses of a mail, the number or name of an SMS.
    """

    id: str
    features: Features
    label: str | None = None
    senders: tuple[str, ...] = ()


class Feedback(NamedTuple):
    """The label of a message that came before, or comes soon."""

    id: str
    label: str


class Decision(NamedTuple):
    """What was decided on one message.

    Attributes
    ----------
    id
        Of the message.
    label
        The decision; None before anything was learned; `unsure` between two cuts.
    probabilities
        Of each label.
    score
        Log odds of the positive label for each word of the message, in nats; None before both
        sides were learned.
    version
        Training events that the model had learned.
    partition, offset
        The record decided on.
    words
        Where asked for: the words that spoke loudest, with what each added to the log odds of
        the decision against the next likely label.
    listed
        `allow` or `deny` where a list of senders decided, and not the model.
    """

    id: str
    label: str | None
    probabilities: Mapping[str, float]
    score: float | None
    version: int
    partition: Partition
    offset: int
    words: tuple[tuple[str, float], ...] | None = None
    listed: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the decision as it is written."""
        plain: dict[str, Any] = {
            "id": self.id,
            "label": self.label,
            "probabilities": dict(self.probabilities),
            "score": self.score,
            "version": self.version,
        }
        if self.words is not None:
            plain["words"] = [{"word": word, "towards": towards} for word, towards in self.words]
        if self.listed is not None:
            plain["listed"] = self.listed
        return plain


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingEvent:
    """One step of the fold that makes the model: unlearn a label, learn a label, or both.

    Attributes
    ----------
    id
        Of the message.
    features
        What the model learns.
    learn
        The label.
    unlearn
        The label learned for it before, where that was wrong.
    score
        The message's score when it was decided on, for the bound of lost ham.
    decided
        The decision that the label is the answer to; None if there was none.
    delay
        Seconds from the message to its label, where both records have timestamps.
    """

    id: str
    features: Features
    learn: str
    unlearn: str | None = None
    score: float | None = None
    decided: str | None = None
    delay: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the training event as it is written to a log of training events."""
        return {
            "id": self.id,
            "features": self.features,
            "learn": self.learn,
            "unlearn": self.unlearn,
            "score": self.score,
            "decided": self.decided,
            "delay": self.delay,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be used, as it came, and why.

    `refused` is a label that came beyond its source's rate: there is nothing wrong with the record.
    """

    record: Record
    error: str
    refused: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the dead letter as one line holds it; bytes are base64."""
        value, key = self.record.value, self.record.key
        return {
            "error": self.error,
            "source": self.record.partition.source,
            "partition": self.record.partition.number,
            "offset": self.record.offset,
            "key": None if key is None else base64.b64encode(key).decode(),
            "value": None if value is None else base64.b64encode(value).decode(),
        }

    def headers(self) -> tuple[tuple[str, bytes | None], ...]:
        """Return the headers under which a topic of dead letters holds the raw value."""
        return (
            *self.record.headers,
            ("error", self.error.encode("utf-8", "replace")),
            ("topic", self.record.partition.source.encode("utf-8", "replace")),
            ("partition", str(self.record.partition.number).encode()),
            ("offset", str(self.record.offset).encode()),
        )


class Change(NamedTuple):
    """A change of the join window of a partition: what a key holds now; None, nothing."""

    number: int
    key: bytes
    value: bytes | None


@dataclasses.dataclass(slots=True)
class Outputs:
    """What handling records gave, in order; `settings` says what wrote the training events."""

    decisions: list[Decision] = dataclasses.field(default_factory=list)
    training: list[TrainingEvent] = dataclasses.field(default_factory=list)
    dead_letters: list[DeadLetter] = dataclasses.field(default_factory=list)
    changes: list[Change] = dataclasses.field(default_factory=list)
    settings: bytes = dataclasses.field(default=b"", compare=False)

    def add(self, other: Outputs) -> None:
        """Append another's outputs."""
        self.decisions += other.decisions
        self.training += other.training
        self.dead_letters += other.dead_letters
        self.changes += other.changes
