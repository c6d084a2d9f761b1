"""Evaluation of cascades: the calls that they need, and their agreement with the teacher.

The labels of the stream are the teacher's answers. `plot_calls` draws the calls against the
agreement.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from streamnb.audits import Agreement
from streamnb.cascade import Cascade
from streamnb.errors import InputError
from streamnb.evaluation.runs import LabelNoise
from streamnb.parameters import check_bound, check_from_zero

FIRST = 1000
"""Messages before the first window of `CascadeResult.lowest`."""

_MOST_POINTS = 400


@dataclasses.dataclass(frozen=True, slots=True)
class CascadePoint:
    """Calls after `n_messages` messages, and the agreement over the last `window` of them."""

    n_messages: int
    n_calls: int
    agreement: float


@dataclasses.dataclass(frozen=True, slots=True)
class CascadeResult:
    """Result of one cascade on a stream.

    Attributes
    ----------
    name
        Name of the cascade.
    goal
        Its goal, as in `"agreement=0.99"`.
    n_messages, n_calls, n_audits
        Number of messages, of calls, and of audits among the calls.
    n_reused, n_alarms
        Number of reused answers, and of alarms.
    agreement
        Share of decisions that equal the teacher's answers. The teacher also answers the messages
        that were not sent, but the cascade does not receive these answers.
    lowest
        Lowest agreement over `window` consecutive messages after the first 1,000; None for a
        shorter stream.
    window
        Number of messages of a window.
    accuracy, teacher_accuracy
        Share of decisions, and of the teacher's answers, that equal the labels of the stream.
    estimate
        The agreement that the cascade estimates from its audits, over the last 10,000 decisions.
    cost
        Price of all calls.
    seconds
        Time of the cascade, without the teacher.
    curve
        Calls and agreement along the stream.
    """

    name: str
    goal: str
    n_messages: int
    n_calls: int
    n_audits: int
    n_reused: int
    n_alarms: int
    agreement: float
    lowest: float | None
    window: int
    accuracy: float
    teacher_accuracy: float
    estimate: Agreement
    cost: float
    seconds: float
    curve: list[CascadePoint]

    @property
    def call_share(self) -> float:
        """Share of the messages that were sent."""
        return self.n_calls / self.n_messages

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold."""
        return {**dataclasses.asdict(self), "call_share": self.call_share}


class _Run:
    """One cascade on the stream."""

    def __init__(self, name: str, cascade: Cascade, window: int) -> None:
        if cascade.n_decisions or cascade.teacher is not None:
            raise InputError(
                f"{name}: give a new cascade without a teacher; the labels of the stream answer"
            )
        self.name, self.cascade, self.window = name, cascade, window
        self.n_messages = self.agreed = self.right = self.teacher_right = 0
        self.lowest: int | None = None
        self.recent: deque[bool] = deque(maxlen=window)
        self.recent_agreed = 0
        self.curve: list[CascadePoint] = []
        self.step = max(1, window // 10)
        self.ns = 0

    def take(self, x: Any, answer: Hashable, y: Hashable) -> None:
        """Decide one message; `answer` is the teacher's, `y` the label of the stream."""
        start = time.perf_counter_ns()
        decision = self.cascade.propose_one(x)
        if decision.asked:
            decision = self.cascade.answer_one(x, decision, answer)
        self.ns += time.perf_counter_ns() - start
        agreed = decision.label == answer
        if len(self.recent) == self.window:
            self.recent_agreed -= self.recent[0]
        self.recent.append(agreed)
        self.n_messages += 1
        self.agreed += agreed
        self.recent_agreed += agreed
        self.right += decision.label == y
        self.teacher_right += answer == y
        if self.n_messages >= FIRST + self.window:
            self.lowest = min(
                self.recent_agreed, self.window if self.lowest is None else self.lowest
            )
        if self.n_messages % self.step == 0:
            self.mark()

    def mark(self) -> None:
        """Add a point to the curve; a long curve keeps every second point."""
        agreement = self.recent_agreed / len(self.recent)
        self.curve.append(CascadePoint(self.n_messages, self.cascade.n_calls, agreement))
        if len(self.curve) >= _MOST_POINTS:
            self.curve = self.curve[1::2]
            self.step *= 2

    def result(self, call_price: float) -> CascadeResult:
        """Return the result of the whole stream."""
        if not self.curve or self.curve[-1].n_messages != self.n_messages:
            self.mark()
        made, n = self.cascade, self.n_messages
        goals = ("agreement", "budget", "calls_per_day", "call_price", "error_price")
        given = {name: getattr(made, name) for name in goals}
        return CascadeResult(
            name=self.name,
            goal=", ".join(f"{key}={value:g}" for key, value in given.items() if value is not None),
            n_messages=n,
            n_calls=made.n_calls,
            n_audits=made.n_audits,
            n_reused=made.n_reused,
            n_alarms=made.n_alarms,
            agreement=self.agreed / n,
            lowest=None if self.lowest is None else self.lowest / self.window,
            window=self.window,
            accuracy=self.right / n,
            teacher_accuracy=self.teacher_right / n,
            estimate=made.agreement_estimate(),
            cost=call_price * made.n_calls,
            seconds=self.ns / 1e9,
            curve=self.curve,
        )


def evaluate_cascades(
    cascades: Mapping[str, Cascade],
    stream: Iterable[tuple[Any, Hashable]],
    *,
    window: int = 2000,
    label_noise: float = 0.0,
    noise_seed: int = 42,
    call_price: float = 0.0,
) -> list[CascadeResult]:
    """Evaluate cascades side by side; the labels of the stream are the teacher's answers.

    Parameters
    ----------
    cascades
        New cascades without a teacher, by name.
    stream
        Pairs of a message and its label.
    window
        Number of messages of the rolling agreement, 1 or more.
    label_noise
        Share of wrong answers, 0 to 1: a random other label of the messages so far. All cascades
        receive the same answers.
    noise_seed
        Seed of the wrong answers, 0 or more.
    call_price
        Price of a call, 0 or more.

    Returns
    -------
    The result of each cascade, in the given order; nothing for a stream without messages.

    Raises
    ------
    InputError
        If a parameter is out of range, there is no cascade, a message has no label, or a cascade
        is not new.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> from streamnb.datasets import stream
    >>> cascades = {"OnlineNB": Cascade(OnlineNB(), agreement=0.95)}
    >>> (found,) = evaluate_cascades(cascades, stream("synthetic-sms", limit=1500), window=100)
    >>> found.goal, found.n_messages, found.agreement > 0.95, found.call_share < 0.1
    ('agreement=0.95', 1500, True, True)
    """
    window = check_bound("window", window, 1)
    call_price = check_from_zero("call_price", call_price)
    noise = LabelNoise(label_noise, check_bound("noise_seed", noise_seed, 0))
    runs = [_Run(name, cascade, window) for name, cascade in cascades.items()]
    if not runs:
        raise InputError("no cascade to evaluate")
    labels: Counter[Hashable] = Counter()
    for number, (x, y) in enumerate(stream, 1):
        if y is None:
            raise InputError(f"message {number} of the stream has no label")
        labels[y] += 1
        answer = noise.given(y, labels)
        for run in runs:
            run.take(x, answer, y)
    return [run.result(call_price) for run in runs] if labels else []
