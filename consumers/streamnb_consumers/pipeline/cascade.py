"""The cascade of one partition: which messages go to a teacher, and decisions that wait for it.

`streamnb.cascade.Cascade` chooses the messages, their audits and the threshold. The filter has its
own model, which learns the answers as training events.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from streamnb.audits import Decision as Opinion
from streamnb.cascade import Cascade
from streamnb_consumers.records import Decision, Features

_LOWEST = -1e6  # JSON has no infinite log odds
# Messages after which the words of the novelty detector are written to the log, and the estimates
# if there was neither a question nor an answer.
_WRITE_EVERY = 500
_ESTIMATES, _WORDS = "", "novelty"  # names in the log


@dataclasses.dataclass(frozen=True, slots=True)
class Consulting:
    """How a filter consults a teacher.

    Attributes
    ----------
    parameters
        Parameters of `streamnb.cascade.Cascade` by name: the goal and the audits.
    wait
        How long a decision may wait for the answer, in milliseconds.
    """

    parameters: Mapping[str, Any]
    wait: int = 0

    def shared(self, partitions: int) -> Mapping[str, Any]:
        """Return the parameters for one of several partitions, which share the calls of a day."""
        calls = self.parameters.get("calls_per_day")
        if calls is None:
            return self.parameters
        return {**self.parameters, "calls_per_day": calls / partitions}


class Waiting(msgspec.Struct, array_like=True):
    """A message whose answer has not arrived.

    Attributes
    ----------
    opinion
        The decision of the cascade.
    decision
        The decision to write if no answer comes; None once one was written.
    until
        When it is written, in milliseconds since 1970.
    """

    opinion: Opinion
    decision: Decision | None = None
    until: int = 0


class _FilterModel:
    """Stands for the model of the filter, which predicts and learns elsewhere."""

    def predict_proba_one(self, x: Any) -> Mapping[Any, float]:
        """Return nothing: the probabilities are given with each message."""
        return {}

    def learn_one(self, x: Any, y: Any) -> None:
        """Do nothing: the filter learns training events."""


class PartitionCascade:
    """The cascade of one partition, with the messages that wait for an answer.

    Parameters
    ----------
    consulting
        How to consult the teacher.
    partitions
        Number of partitions that share the calls of a day.
    logged
        Whether `changes` is called for a log.

    Attributes
    ----------
    cascade
        Thresholds, audits and estimates.
    waiting
        Messages without an answer, by id.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition
    >>> cascade = PartitionCascade(Consulting({"agreement": 0.9}, wait=1000))
    >>> decision = Decision("a", None, {}, None, 0, Partition("sms", 0), 0)
    >>> decision = cascade.propose(decision, "win cash", 0.0)
    >>> decision.source, decision.reason, decision.status
    ('model', 'first', 'waiting')
    >>> cascade.hold(decision, until=1000)
    >>> answered = cascade.answer("a", "win cash", "spam")
    >>> answered.label, answered.source, answered.status, cascade.waiting
    ('spam', 'teacher', 'answered', {})
    """

    def __init__(self, consulting: Consulting, partitions: int = 1, logged: bool = False) -> None:
        parameters = consulting.shared(partitions)
        self.cascade = Cascade(_FilterModel(), **parameters, self_training=False)
        self.wait = consulting.wait
        self.waiting: dict[str, Waiting] = {}
        self._held: dict[str, int] = {}  # when decisions are written, the earliest first
        self._logged = logged
        self._changed: dict[str, None] = {}  # messages whose waiting has changed since `changes`
        self._eventful = False  # whether there was a question or an answer since then
        self._written = self._words_written = 0  # number of decisions

    def propose(self, decision: Decision, features: Features, time: float | None) -> Decision:
        """Return the decision with its source; its status is `waiting` if the teacher is asked.

        Parameters
        ----------
        decision
            The decision of the model.
        features
            Features of the message.
        time
            Time of the message in seconds since 1970; None for now.
        """
        opinion = self.cascade.propose_one(features, time, decision.probabilities)
        if opinion.status == "waiting":
            opinion = opinion._replace(log_odds=max(opinion.log_odds, _LOWEST))
            self._set(decision.id, Waiting(opinion))
        return _with(decision, opinion)

    def hold(self, decision: Decision, until: int) -> None:
        """Keep a waiting decision until its answer, or until a time in milliseconds since 1970."""
        self._set(decision.id, Waiting(self.waiting[decision.id].opinion, decision, until))

    @property
    def held(self) -> int:
        """Number of decisions that wait."""
        return len(self._held)

    def waits(self, name: str) -> bool:
        """Return whether a message waits for an answer."""
        return name in self.waiting

    def answer(self, name: str, features: Features | None, label: str | None) -> Decision | None:
        """Learn an answer; return the decision, if it has waited for it.

        Parameters
        ----------
        name
            Id of a message that waits.
        features
            Features of the message; None if they have left the join window.
        label
            The teacher's label; None if it has none.
        """
        found = self.waiting[name]
        self._set(name, None)
        opinion = found.opinion
        if label is None:
            if opinion.status == "waiting":
                opinion = self.cascade.fail_one(opinion, "invalid")
        elif features is None:
            opinion = opinion._replace(
                label=label, source="teacher", status="answered", learned=False
            )
        else:
            written = found.decision is None  # with the model's label
            opinion = self.cascade.answer_one(features, opinion, label, used=written)
        return found.decision and _with(found.decision, opinion)

    def fail(self, name: str, status: str) -> Decision | None:
        """Count that a message has no answer; return its decision, if it has waited.

        An answer that comes later is still learned, unless the status is `invalid`.
        """
        found = self.waiting[name]
        opinion = self.cascade.fail_one(found.opinion, status)
        self._set(name, None if status == "invalid" else Waiting(opinion))
        return found.decision and _with(found.decision, opinion)

    def is_due(self, now: int) -> bool:
        """Return whether a decision has waited long enough, at a time in milliseconds."""
        return any(until <= now for until in itertools.islice(self._held.values(), 1))

    def expire(self, now: int) -> Iterator[Decision]:
        """Yield the decisions that have waited long enough."""
        while self.is_due(now):
            decision = self.fail(next(iter(self._held)), "away")
            if decision is not None:
                yield decision

    def forget(self, name: str) -> None:
        """Forget a message that has left the join window, unless its decision is not written."""
        if name in self.waiting and self.waiting[name].decision is None:
            self._set(name, None)

    def _set(self, name: str, value: Waiting | None) -> None:
        self.put(name, value)
        if self._logged:
            self._changed[name] = None
            self._eventful = True

    def put(self, name: str, value: Waiting | None) -> None:
        """Set or forget a message that waits for its answer, as the log has it."""
        self._held.pop(name, None)
        if value is None:
            self.waiting.pop(name, None)
        else:
            self.waiting[name] = value
            if value.decision is not None:
                self._held[name] = value.until

    # --- log ------------------------------------------------------------------------------------

    def changes(self) -> tuple[dict[str, Waiting | None], dict[str, Any]]:
        """Return the changed messages since the last call, and the estimates if they are due.

        The estimates follow each question and answer. After a restart they may lack some hundreds
        of messages since then, which only widens the interval of the agreement.
        """
        waiting = {name: self.waiting.get(name) for name in self._changed}
        self._changed.clear()
        number = self.cascade.n_decisions
        if not self._eventful and number < self._written + _WRITE_EVERY:
            return waiting, {}
        self._eventful, self._written = False, number
        parts: dict[str, Any] = {_ESTIMATES: self.cascade.estimates()}
        if not self._words_written or number >= self._words_written + _WRITE_EVERY:
            self._words_written = number
            parts[_WORDS] = self.cascade.words()
        return waiting, parts

    def parts(self) -> dict[str, Any]:
        """Return the estimates in two parts, by their names in the log."""
        return {_ESTIMATES: self.cascade.estimates(), _WORDS: self.cascade.words()}

    def restore(self, name: str, part: Any) -> None:
        """Restore one part of the estimates; any error means that it is invalid."""
        if name == _WORDS:
            self.cascade.restore_words(part)
        else:
            self.cascade.restore(part)


def _with(decision: Decision, opinion: Opinion) -> Decision:
    """Return a decision with its source."""
    by_teacher = opinion.source == "teacher"
    return structs.replace(
        decision,
        label=opinion.label if by_teacher else decision.label,
        ask=opinion.status == "waiting",
        source=opinion.source,
        reason=opinion.reason,
        status=opinion.status,
        model_label=opinion.model_label if by_teacher else None,
    )
