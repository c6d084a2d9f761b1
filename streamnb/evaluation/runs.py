"""Evaluation of one model on a shared stream: decisions, time, curve and drift detections."""

from __future__ import annotations

import dataclasses
import random
import sys
import time
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from streamnb.active import LabelRequester, self_train
from streamnb.errors import InputError, shown
from streamnb.evaluation.metrics import Tally, largest_label
from streamnb.evaluation.results import AnswerCounts, Point, Result
from streamnb.evaluation.scoring import Answers, Classifier, memory_bytes
from streamnb.model.drift import DriftAlarm
from streamnb.model.threshold import Cutoffs
from streamnb.parameters import check_bound, check_flag, check_share, one_of, optional, whole

if TYPE_CHECKING:
    from streamnb.evaluation.roc import RocPoint

_MOST_ALARMS = 1000


class Step(NamedTuple):
    """A message, its label, and the message and label that are learned after its prediction."""

    x: Any
    y: Hashable
    is_calibrated: bool  # whether its probabilities count
    due: tuple[Any, Hashable] | None


class Labels:
    """The labels seen so far, and the label that scores refer to.

    Without a chosen positive label, scores refer to the second label of the stream. The scores of
    two classes differ only in sign, so the ROC area is the same for either class. The final
    positive label may therefore be unknown at first.
    """

    def __init__(self, pos_label: Hashable | None) -> None:
        self.chosen = pos_label
        self.counts: dict[Hashable, int] = {}
        self.scored: Hashable | None = pos_label

    def add(self, label: Hashable) -> None:
        """Count a label."""
        if label not in self.counts:
            if self.chosen is None and len(self.counts) == 1:
                self.scored = label
            self.counts[label] = 0
        self.counts[label] += 1

    @property
    def pos_label(self) -> Hashable | None:
        """The positive label of the metrics, if any."""
        if self.chosen is not None:
            return self.chosen
        return largest_label(self.counts) if len(self.counts) == 2 else None

    def both_known(self, learned: set[Hashable]) -> bool:
        """Return whether a model has learned the scored label and another one."""
        return len(learned) > 1 and (self.chosen is None or self.chosen in learned)

    @property
    def may_be_binary(self) -> bool:
        """Whether a positive label is still possible."""
        return self.chosen is not None or len(self.counts) <= 2


class LabelNoise:
    """Wrong labels at random.

    Parameters
    ----------
    share
        Share of wrong labels, 0 to 1, or the share by true label.
    seed
        Seed of the random numbers.
    """

    def __init__(self, share: float | Mapping[Hashable, float], seed: int) -> None:
        self.by_label = dict(share) if isinstance(share, Mapping) else {}
        self.share = 0.0 if isinstance(share, Mapping) else share
        for value in (self.share, *self.by_label.values()):
            check_share("label_noise", value)
        self._random = random.Random(check_bound("noise_seed", seed, 0))

    def given(self, y: Hashable, labels: Iterable[Hashable]) -> Hashable:
        """Return the label to learn for a true label, from the labels so far."""
        share = self.by_label.get(y, self.share)
        others = [label for label in labels if label != y] if share else []
        if others and self._random.random() < share:
            return self._random.choice(others)
        return y


class LabelRequests:
    """The messages whose labels one model learns.

    Parameters
    ----------
    share
        Share of the messages, 0 to 1.
    ask
        `"random"`, or `"uncertain"` for a `LabelRequester`.
    most
        Maximum number of labels; None for no limit.
    seed
        Seed of the random numbers.
    """

    def __init__(self, share: float, ask: str, most: int | None, seed: int) -> None:
        self.share = check_share("label_share", share)
        self.most = optional(whole(0))("max_labels", most)
        one_of("random", "uncertain")("ask", ask)
        self.requester = LabelRequester(seed=seed) if ask == "uncertain" else None
        self._random = random.Random(check_bound("noise_seed", seed, 0))
        self._waiting: deque[bool] = deque()
        self._requested = 0

    def add(self, x: Any, probabilities: Mapping[Any, float] | None) -> None:
        """Decide whether to learn the label of a message, by its predicted probabilities."""
        wanted = self.share > 0 and (self.most is None or self._requested < self.most)
        if wanted and self.requester is not None:
            wanted = self.requester.ask(x, probabilities or {}, self.share)
        elif wanted:
            wanted = self._random.random() < self.share
        self._requested += wanted
        self._waiting.append(wanted)

    def due(self) -> bool:
        """Return whether to learn the oldest message whose label is due."""
        return self._waiting.popleft()


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of an evaluation.

    Raises
    ------
    InputError
        If a number is invalid or out of range.
    """

    window: int
    max_scores: int
    calibration_skip: int
    with_probabilities: bool
    label_delay: int
    drift: str | None
    cutoffs: Cutoffs | None
    self_training: bool

    def __post_init__(self) -> None:
        least = {"window": 1, "max_scores": 0, "calibration_skip": 0, "label_delay": 0}
        for name, bound in least.items():
            # Values above the maximum length of a list mean no limit.
            number = min(check_bound(name, getattr(self, name), bound), sys.maxsize)
            object.__setattr__(self, name, number)
        for flag in ("with_probabilities", "self_training"):
            check_flag(flag, getattr(self, flag))
        if not (self.cutoffs is None or isinstance(self.cutoffs, Cutoffs)):
            raise InputError(
                f"cutoffs must be None or Cutoffs, as in Cutoffs(0.2, 0.9), "
                f"not {shown(self.cutoffs)}"
            )


class Run:
    """One model on the stream: its decisions, its time and its curve."""

    def __init__(
        self,
        name: str,
        model: Classifier,
        labels: Labels,
        options: Options,
        requests: LabelRequests,
    ) -> None:
        if options.self_training and not hasattr(model, "class_count_"):
            raise InputError(f"self_training needs models of streamnb, not {shown(model)}")
        self.name, self.model, self.labels, self.options = name, model, labels, options
        self.requests = requests
        self.learned: set[Hashable] = set()
        self.n_labels = 0
        self.answers = Answers(model)
        self.total, self.last = Tally(max_scores=options.max_scores), Tally(window=options.window)
        self.answered = AnswerCounts(options.cutoffs) if options.cutoffs is not None else None
        self.unanswered = 0
        self.predict_ns = self.learn_ns = 0
        self.curve: list[Point] = []
        self.alarm = None if options.drift is None else DriftAlarm(options.drift)
        self.alarms: deque[int] = deque(maxlen=_MOST_ALARMS)
        self._taken = 0

    def take(self, steps: list[Step]) -> None:
        """Predict and learn some messages, then count the decisions."""
        clock = time.perf_counter_ns
        predict_one, labels = self.model.predict_one, self.labels
        with_probabilities = self.options.with_probabilities or bool(self.requests.requester)
        answers: list[tuple[Any, float | None, Mapping[Any, float] | None, bool]] = []
        predict_ns = 0
        for step in steps:
            start = clock()
            decision = predict_one(step.x)
            spent = clock() - start
            predict_ns += spent
            # Not timed, because users who need decisions only do not compute scores.
            score, probabilities = None, None
            if decision is not None:
                scored = labels.scored if labels.may_be_binary else None
                score, probabilities = self.answers.ask(step.x, scored, with_probabilities)
            answers.append((decision, score, probabilities, labels.both_known(self.learned)))
            self.requests.add(step.x, probabilities)
            if step.due is not None:
                self.learn(*step.due)
        self.predict_ns += predict_ns
        for step, answer in zip(steps, answers, strict=True):
            decision, score, probabilities, both_known = answer
            self._taken += 1
            if self.answered is not None and (pos_label := labels.pos_label) is not None:
                known = probabilities if both_known else None
                self.answered.add(
                    step.y == pos_label, None if known is None else known.get(pos_label, 0.0)
                )
            if decision is None:
                self.unanswered += 1
                continue
            # An error is known only after the label arrives.
            due = self._taken + self.options.label_delay
            if self.alarm is not None and self.alarm.update(decision != step.y, due):
                self.alarms.append(due)
            true_probability = None if probabilities is None else probabilities.get(step.y, 0.0)
            for tally in (self.total, self.last):
                tally.add(
                    step.y,
                    decision,
                    step.y == labels.scored,
                    score,
                    both_known=both_known,
                    true_probability=true_probability,
                )
            if step.is_calibrated and probabilities is not None:
                self.total.calibrate(step.y, labels.scored, probabilities)

    def learn(self, x: Any, y: Hashable) -> None:
        """Learn a message whose label arrives, if it was requested."""
        requested = self.requests.due()
        if not requested and not self.options.self_training:
            return
        learn_one = self.model.learn_one
        start = time.perf_counter_ns()
        if requested:
            learn_one(x, y)
            self.n_labels += 1
            self.learned.add(y)
        else:
            self_train(self.model, x)
        self.learn_ns += time.perf_counter_ns() - start

    def mark(self, n_messages: int) -> None:
        """Add a point to the curve."""
        scores = (tally.scores(self.labels.pos_label) for tally in (self.total, self.last))
        self.curve.append(Point(n_messages, self.n_labels, *scores))

    def result(self, n_messages: int, overhead_ns: float, at_end: bool) -> Result:
        """Return the result so far."""
        if not self.curve or self.curve[-1].n_messages != n_messages:
            self.mark(n_messages)
        now, pos_label, total = self.curve[-1], self.labels.pos_label, self.total
        calibration = total.of_likeliest if pos_label is None else total.of_positive
        roc: list[RocPoint] = []
        if at_end and pos_label is not None:
            roc = total.area.curve(mirrored=pos_label != self.labels.scored)

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
            window=self.last.window or 0,
            calibration_skip=self.options.calibration_skip,
            reliability=calibration.reliability(),
            roc=roc,
            auc_error_bound=total.area.error_bound(),
            predict_seconds=seconds(self.predict_ns, n_messages),
            learn_seconds=seconds(self.learn_ns, self.n_labels),
            memory_bytes=memory_bytes(self.model) if at_end else None,
            curve=list(self.curve),
            answers=self.answered,
            n_alarms=0 if self.alarm is None else self.alarm.count,
            # The last labels arrive at the end of the stream.
            alarms=[min(each, n_messages) for each in self.alarms],
        )
