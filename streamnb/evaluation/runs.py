"""Evaluation of one model on a shared stream: decisions, time, curve and drift detections."""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from streamnb.active import LabelRequester, self_train
from streamnb.errors import InputError, shown
from streamnb.evaluation.metrics import Tally, largest_label
from streamnb.evaluation.results import Point, Result, WrongDecision
from streamnb.evaluation.scoring import Answers, Classifier
from streamnb.model.drift import DriftAlarm
from streamnb.model.explanation import rival
from streamnb.model.stored import memory_bytes
from streamnb.parameters import Checked, check_flag, check_share, checked, one_of, optional, whole

_MOST_ALARMS = 1000
_MOST_WORDS = 10  # of the explanation of a wrong decision

Step = tuple[Any, Hashable, Hashable]
"""A message, its label, and the label that models learn."""


class Labels:
    """The labels seen so far, and the label that scores refer to.

    Without a chosen positive label, scores refer to the second label of the stream. The scores of
    two classes differ only in sign, so the ROC area is the same for either class. The final
    positive label may therefore be unknown at first.
    """

    def __init__(self, pos_label: Hashable | None) -> None:
        self.chosen = pos_label
        self.counts: Counter[Hashable] = Counter()

    @property
    def scored(self) -> Hashable | None:
        """The label that scores refer to; None if there is no positive label (yet)."""
        if self.chosen is not None or len(self.counts) != 2:
            return self.chosen
        return next(itertools.islice(self.counts, 1, None))

    @property
    def pos_label(self) -> Hashable | None:
        """The positive label of the metrics, if any."""
        if self.chosen is not None or len(self.counts) != 2:
            return self.chosen
        return largest_label(self.counts)

    def both_known(self, learned: set[Hashable]) -> bool:
        """Return whether a model has learned the scored label and another one."""
        return len(learned) > 1 and (self.chosen is None or self.chosen in learned)


class LabelNoise:
    """Wrong labels at random.

    Parameters
    ----------
    share
        Share of wrong labels, 0 to 1.
    seed
        Seed of the random numbers.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share: float = check_share("label_noise", share)
        self._random = random.Random(seed)

    def given(self, y: Hashable, labels: Iterable[Hashable]) -> Hashable:
        """Return the label to learn for a true label, from the labels so far."""
        others = [label for label in labels if label != y] if self.share else []
        if others and self._random.random() < self.share:
            return self._random.choice(others)
        return y


@dataclasses.dataclass(frozen=True)
class Options(Checked):
    """Options of an evaluation; `prequential` describes them.

    Raises
    ------
    InputError
        If a value is invalid or out of range.
    """

    window: int = checked(whole(1))
    label_delay: int = checked(whole(0))
    label_share: float = checked(check_share)
    ask: str = checked(one_of("random", "uncertain"))
    max_labels: int | None = checked(optional(whole(0)))
    self_training: bool = checked(check_flag)
    noise_seed: int = checked(whole(0))
    calibration_skip: int = checked(whole(0))
    explain_errors: int = checked(whole(0))
    drift: str | None = None


class Run:
    """One model on the stream: its decisions, its time and its curve."""

    name: str
    model: Classifier
    labels: Labels
    options: Options
    n_labels: int
    total: Tally
    last: Tally
    unanswered: int
    predict_ns: int
    learn_ns: int

    def __init__(self, name: str, model: Classifier, labels: Labels, options: Options) -> None:
        if options.self_training and not hasattr(model, "class_count_"):
            raise InputError(f"self_training needs models of streamnb, not {shown(model)}")
        self.name, self.model, self.labels, self.options = name, model, labels, options
        is_random = options.ask == "random"
        self.requester: LabelRequester | None = (
            None if is_random else LabelRequester(seed=options.noise_seed)
        )
        self._random = random.Random(options.noise_seed)
        self._requested = 0
        # Messages that wait for their label: the message, the label, whether it is requested.
        self._waiting: deque[tuple[Any, Hashable, bool]] = deque()
        self.learned: set[Hashable] = set()
        self.n_labels = 0
        self.answers: Answers = Answers(model)
        self.total, self.last = Tally(), Tally(window=options.window)
        self.unanswered = 0
        self.predict_ns = self.learn_ns = 0
        self.curve: list[Point] = []
        self.alarm: DriftAlarm | None = None if options.drift is None else DriftAlarm(options.drift)
        self.alarms: deque[int] = deque(maxlen=_MOST_ALARMS)
        self.errors: deque[WrongDecision] = deque(maxlen=options.explain_errors)
        self._taken = 0

    def take(self, steps: list[Step]) -> None:
        """Predict and learn some messages, then count the decisions."""
        clock, predict_one = time.perf_counter_ns, self.model.predict_one
        decided: list[tuple[Any, ...]] = []
        for x, y, given in steps:
            start = clock()
            decision = predict_one(x)
            self.predict_ns += clock() - start
            # Not timed, because users who need decisions only do not compute scores.
            score, probabilities = None, None
            if decision is not None:
                score, probabilities = self.answers.ask(x, self.labels.scored)
                if self.options.explain_errors and decision != y:
                    # Now, because later the model has learned the message.
                    number = self._taken + len(decided) + 1
                    reasons = _reasons(self.model, x, decision, y)
                    self.errors.append(WrongDecision(number, x, y, decision, *reasons))
            both_known = self.labels.both_known(self.learned)
            decided.append((y, decision, score, probabilities, both_known))
            self._waiting.append((x, given, self._requests(x, probabilities)))
            if len(self._waiting) > self.options.label_delay:
                self._learn()
        # Afterwards, because this would empty the caches between two calls of a model.
        for each in decided:
            self._count(*each)

    def finish(self) -> None:
        """Learn the messages that still wait for their labels."""
        while self._waiting:
            self._learn()

    def _requests(self, x: Any, probabilities: Mapping[Any, float] | None) -> bool:
        """Return whether the label of a message is requested, by its predicted probabilities."""
        share, most = self.options.label_share, self.options.max_labels
        wanted = share > 0 and (most is None or self._requested < most)
        if wanted and self.requester is not None:
            wanted = self.requester.ask(x, probabilities or {}, share)
        elif wanted:
            wanted = self._random.random() < share
        self._requested += wanted
        return wanted

    def _count(
        self,
        y: Hashable,
        decision: Hashable,
        score: float | None,
        probabilities: Mapping[Any, float] | None,
        both_known: bool,
    ) -> None:
        self._taken += 1
        if decision is None:
            self.unanswered += 1
            return
        # An error is known only after the label arrives.
        due = self._taken + self.options.label_delay
        if self.alarm is not None and self.alarm.update(decision != y, due):
            self.alarms.append(due)
        scored = self.labels.scored
        true_probability = None if probabilities is None else probabilities.get(y, 0.0)
        for tally in (self.total, self.last):
            tally.add(
                y,
                decision,
                y == scored,
                score,
                both_known=both_known,
                true_probability=true_probability,
            )
        if self._taken > self.options.calibration_skip and probabilities is not None:
            self.total.calibrate(y, scored, probabilities)

    def _learn(self) -> None:
        """Learn the message whose label arrives next, if it was requested."""
        x, y, requested = self._waiting.popleft()
        if not requested and not self.options.self_training:
            return
        start = time.perf_counter_ns()
        if requested:
            self.model.learn_one(x, y)
            self.n_labels += 1
            self.learned.add(y)
        else:
            self_train(self.model, x)
        self.learn_ns += time.perf_counter_ns() - start

    def mark(self, n_messages: int) -> None:
        """Add a point to the curve."""
        scores = (tally.scores(self.labels.pos_label) for tally in (self.total, self.last))
        self.curve.append(Point(n_messages, self.n_labels, *scores))

    def result(self, n_messages: int, overhead_ns: float) -> Result:
        """Return the result of the whole stream."""
        if not self.curve or self.curve[-1].n_messages != n_messages:
            self.mark(n_messages)
        now, pos_label, total = self.curve[-1], self.labels.pos_label, self.total
        calibration = total.of_likeliest if pos_label is None else total.of_positive
        mirrored = pos_label != self.labels.scored

        def seconds(spent: int, calls: int) -> float:
            return max(0.0, spent - overhead_ns * calls) / 1e9

        return Result(
            name=self.name,
            n_messages=n_messages,
            n_labels=self.n_labels,
            n_unanswered=self.unanswered,
            labels=dict(self.labels.counts),
            pos_label=pos_label,
            cumulative=now.cumulative,
            windowed=now.windowed,
            window=self.options.window,
            calibration_skip=self.options.calibration_skip,
            reliability=calibration.reliability(),
            roc=[] if pos_label is None else total.areas.all.curve(mirrored),
            predict_seconds=seconds(self.predict_ns, n_messages),
            learn_seconds=seconds(self.learn_ns, self.n_labels),
            memory_bytes=memory_bytes(self.model),
            curve=self.curve,
            n_alarms=0 if self.alarm is None else self.alarm.count,
            # The last labels arrive at the end of the stream.
            alarms=[min(each, n_messages) for each in self.alarms],
            errors=list(self.errors),
        )


def _reasons(
    model: Any, x: Any, decision: Hashable, y: Hashable
) -> tuple[Hashable | None, list[tuple[str, float]]]:
    """Return the label that a decision is compared with, and the strongest words and pairs."""
    if not hasattr(model, "explain_one"):
        return None, []
    explanation = model.explain_one(x)
    against = rival(explanation.scores(), decision, y)
    if against is None:
        return None, []
    return against, explanation.in_words().towards(decision, against)[:_MOST_WORDS]
