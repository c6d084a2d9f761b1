"""Decisions, audits, recent answers and the budget of a cascade.

`Audits` estimates the agreement of a cascade with its teacher. `Answers` finds the answer to a
near-duplicate of an earlier message. `CallBudget` bounds the calls.
"""

from __future__ import annotations

import dataclasses
import time as clock
from collections import deque
from typing import Any, NamedTuple

from streamnb import _core
from streamnb.active import Sketch, similarity
from streamnb.risk import uniform, weighted_interval
from streamnb.text.labels import from_json, to_json

WINDOW = 10_000
"""Number of decisions that the estimate of the agreement remembers."""

_SIMILAR = 0.8  # Jaccard similarity of near-duplicates whose answer is reused
_ANSWERS = 1024  # remembered answers
# 99 % of the pairs with a similarity of 0.8 are candidates, and 1 % of those with 0.1.
_ORDERS = [[int(2**32 * uniform(key, order)) for order in range(3)] for key in range(6)]
_ADVANCE = 60.0  # calls that a budget may spend at the beginning, or at once
_DAY = 86_400.0  # seconds


class Decision(NamedTuple):
    """The decision of a cascade about one message.

    Attributes
    ----------
    label
        The decided label; None if neither the model nor the teacher has one.
    probability
        The model's probability of this label, before it learned the message; 0 for a new label.
    source
        `"model"`, or `"teacher"` for its answer or the reused answer of a near-duplicate.
    reason
        Why the message was sent or not: `"confident"`, `"uncertain"`, `"audit"`, `"first"` before
        two labels are known, `"duplicate"`, or `"budget"` if an uncertain message was not sent
        because the budget is spent.
    status
        `"decided"`; or, for a sent message, `"answered"`, `"waiting"` for an answer, `"away"` if
        the teacher could not be reached, and `"invalid"` if its answer is invalid.
    learned
        Whether the model learned the message, with the answer or with its own label.
    model_label
        The label that the model predicted.
    risk
        Estimated probability that the teacher contradicts it.
    propensity
        Probability with which the message was sent: 1 for uncertain messages.
    """

    label: Any
    probability: float
    source: str
    reason: str
    status: str
    learned: bool
    model_label: Any
    risk: float
    propensity: float
    log_odds: float = 0.0
    number: int = 0

    @property
    def asked(self) -> bool:
        """Whether the message was selected for the teacher."""
        return self.status != "decided"


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """The estimated share of decisions that equal the teacher's.

    Attributes
    ----------
    value
        Unbiased estimate; audits that found many errors may bring it below 0.
    low, high
        Interval, 0 to 1.
    n_decisions, n_audits
        Number of decisions and of answered audits that the estimate is based on.
    """

    value: float
    low: float
    high: float
    n_decisions: int
    n_audits: int


class Answers:
    """Recent answers, found by near-duplicates of their messages.

    Messages are candidates if they agree in one of several keys. A key consists of the smallest
    hashes in three orders, so it agrees with a probability of J³ for a Jaccard similarity of J.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Sketch, Any]] = {}
        self._by_key: dict[tuple[int, int, int], list[int]] = {}
        self._next = 0

    def find(self, sketch: Sketch) -> Any:
        """Return the latest answer to a near-duplicate; None without one."""
        numbers = {n for key in self._keys(sketch) for n in self._by_key.get(key, ())}
        for number in sorted(numbers, reverse=True):
            known, answer = self._known[number]
            if similarity(sketch, known) >= _SIMILAR:
                return answer
        return None

    def add(self, sketch: Sketch, answer: Any) -> None:
        """Remember an answer; the oldest is forgotten."""
        self._known[self._next] = sketch, answer
        for key in self._keys(sketch):
            self._by_key.setdefault(key, []).append(self._next)
        self._next += 1
        if len(self._known) > _ANSWERS:
            oldest = next(iter(self._known))
            for key in self._keys(self._known.pop(oldest)[0]):
                self._by_key[key].remove(oldest)
                if not self._by_key[key]:
                    del self._by_key[key]

    def _keys(self, sketch: Sketch) -> list[tuple[int, int, int]]:
        return _core.smallest_in_orders(list(sketch), _ORDERS)

    def to_json(self) -> list[Any]:
        """Return the answers as plain values, oldest first."""
        return [[sorted(sketch), to_json(answer)] for sketch, answer in self._known.values()]

    def restore(self, state: Any) -> None:
        """Restore the answers of `to_json`; any error means that they are invalid."""
        for hashes, answer in state:
            self.add(frozenset(map(int, hashes)), from_json(answer))


class Audits:
    """The audits among the last decisions, for an unbiased estimate of the agreement."""

    def __init__(self) -> None:
        # Number of each decision that was audited, sent for sure or left out; its weight for
        # decisions that were not sent, None if it does not count; whether the answer contradicts
        # the model; and whether the model's label was used before the answer came.
        self._events: deque[tuple[int, float | None, bool, bool]] = deque()

    def follow(self, number: int, propensity: float) -> None:
        """Follow a decision; only those that are sent for sure, or never, leave a trace."""
        if propensity == 1.0:
            self._events.append((number, 0.0, False, False))
        elif propensity == 0.0:
            self._events.append((number, None, False, False))
        while self._events and self._events[0][0] <= number - WINDOW:
            self._events.popleft()

    def add(self, number: int, propensity: float, wrong: bool, used: bool = False) -> None:
        """Add the answer to an audit, or to a decision that was used before its answer came.

        A used decision counts itself, besides those that were not sent.
        """
        if used:
            self._events = deque(each for each in self._events if each[0] != number)
        self._events.append((number, (1.0 - propensity) / propensity, wrong, used))

    def leave_out(self, number: int) -> None:
        """Do not count a decision, because the teacher did not answer."""
        self._events.append((number, None, True, False))

    def take_in(self, number: int) -> None:
        """Count a decision again, because its answer came late."""
        self._events = deque(each for each in self._events if each != (number, None, True, False))

    def estimate(self, n: int, last: int, audit_share: float, confidence: float) -> Agreement:
        """Return the estimate over the last of n decisions."""
        recent = [each for each in self._events if each[0] > n - last]
        audits = [(weight, wrong) for _, weight, wrong, _ in recent if weight]
        unknown = len({number for number, weight, _, _ in recent if weight is None})
        sent = len({number for number, weight, _, _ in recent if weight == 0.0})
        known = sum(wrong and used for _, _, wrong, used in recent)  # wrong decisions
        decided = min(n, last) - unknown
        below = max(0, decided - sent)  # decisions of the model
        if not decided:
            return Agreement(1.0, 0.0, 1.0, 0, 0)
        weights = [weight for weight, wrong in audits if wrong]
        total, squares = sum(weights), sum(each * each for each in weights)
        largest = (1.0 - audit_share) / audit_share if below else 0.0
        low, high = weighted_interval(total, squares, largest, confidence)
        most = float(below - len(audits))
        return Agreement(
            value=1.0 - (known + total) / decided,
            low=1.0 - (known + min(high, most)) / decided,
            high=1.0 - (known + min(low, most)) / decided,
            n_decisions=decided,
            n_audits=len(audits),
        )

    def to_json(self) -> list[Any]:
        """Return the events as plain values."""
        return [list(each) for each in self._events]

    def restore(self, state: Any) -> None:
        """Restore the events of `to_json`; any error means that they are invalid."""
        self._events.clear()
        for number, weight, wrong, used in state:
            given = None if weight is None else float(weight)
            self._events.append((int(number), given, bool(wrong), bool(used)))


class CallBudget:
    """The calls that a cascade may spend: each message adds a share of a call.

    Parameters
    ----------
    share
        Calls per message; None without this bound.
    per_day
        Calls per day; None without this bound. Without both bounds the budget is never spent.
    span
        Number of messages over which the calls that a message adds are averaged.
    """

    def __init__(self, share: float | None, per_day: float | None, span: int) -> None:
        self._share, self._per_day, self._span = share, per_day, span
        self._unspent, self._credit = _ADVANCE, share or 0.0
        self._n = 0
        self._at: float | None = None  # time of the last message

    def gain(self, time: float | None) -> None:
        """Add the calls of a message with a time in seconds since 1970; None for now."""
        if self._per_day is None:
            gained = _ADVANCE if self._share is None else self._share
        else:
            now = clock.time() if time is None else time
            elapsed = 0.0 if self._at is None else max(0.0, now - self._at)
            self._at = now if self._at is None else max(self._at, now)
            gained = self._per_day * elapsed / _DAY
            self._n = min(self._n + 1, self._span)
            self._credit += (gained - self._credit) / self._n
        self._unspent = min(_ADVANCE, self._unspent + gained)

    @property
    def is_spent(self) -> bool:
        """Whether no call is left."""
        return self._unspent < 1.0

    def spend(self) -> None:
        """Spend one call."""
        self._unspent -= 1.0

    def share(self) -> float:
        """Return the share of messages to send: more while much is unspent, and less otherwise."""
        return min(1.0, self._credit * min(2.0, 2.0 * self._unspent / _ADVANCE))

    def to_json(self) -> list[Any]:
        """Return the state as plain values."""
        return [self._unspent, self._credit, self._n, self._at]

    def restore(self, state: Any) -> None:
        """Restore the state of `to_json`; any error means that it is invalid."""
        unspent, credit, n, at = state
        self._unspent, self._credit, self._n = float(unspent), float(credit), int(n)
        self._at = None if at is None else float(at)
        if not self._unspent <= _ADVANCE or not self._credit >= 0.0 or self._n < 0:
            raise ValueError("invalid budget of calls")
