"""Learn training events: update model, decision threshold, accuracy and drift alarm."""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

import msgspec

from streamnb.challenger import Challenger
from streamnb.errors import StreamNBError
from streamnb.model.drift import DriftAlarm
from streamnb.model.readiness import Readiness
from streamnb.model.threshold import UNSURE
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import read_object
from streamnb_consumers.pipeline.threshold import bound_of, odds_of
from streamnb_consumers.records import Features, Label, TrainingEvent, is_finite

_LOG = logging.getLogger(__name__)
# Parameters of models that may have forgotten a message.
_FORGETTING = ("half_life", "window_size", "n_swaps")
_RECENT = 1000  # decisions that the accuracy covers
_LINES = {
    "alarms": "drift: the accuracy of decisions has dropped",
    "started": "drift: a challenger starts to learn in parallel",
    "swapped": "drift: the challenger was better and replaces the model",
    "given_up": "drift: the challenger was not better and is dropped",
}


class Learner:
    """State that follows from training events: the same events in order give the same state.

    Attributes
    ----------
    model
        The model.
    bound
        Scores of labelled messages, and the decision threshold.
    recent
        Whether each of the last decisions with a label was right; `unsure` does not count.
    alarm
        Drift alarm. A challenged model has its own, on the errors of its predictions. Otherwise it
        watches the errors of decisions. None without drift detection.
    learned
        Number of training events that were learned.
    revision
        Number of possible changes of the model or the threshold.
    """

    def __init__(self, model: Any, options: Options) -> None:
        self.model: Any = model
        self.bound = bound_of(options, model)
        self.recent: deque[bool] = deque(maxlen=_RECENT)
        self.alarm = alarm_of(model, options.drift)
        self.learned = 0
        self.revision = 0
        self._pos_label = options.pos_label
        self._ready_after, self._min_evidence = options.ready_after, options.min_evidence
        self._readiness: tuple[int, Readiness] | None = None

    def learn(self, event: TrainingEvent, at: int | None = None) -> None:
        """Learn one event completely or not at all.

        Parameters
        ----------
        event
            The event.
        at
            Arrival of the label, in milliseconds since 1970; None if unknown.

        Raises
        ------
        StreamNBError
            If the model refuses it.
        """
        self.revision += 1
        # Half-lives in time use the clock of the records, so a replay gives the same model.
        timed = isinstance(getattr(self.model, "half_life", None), str)
        when = {"time": at / 1000} if timed and at is not None else {}
        odds, is_unsure = None, False
        if event.is_own:
            when["w"] = event.weight
        if self.bound.observes and event.unlearn is None and event.is_own <= event.is_assumed:
            # With the current threshold, which may have changed since the decision.
            odds = odds_of(self.model.predict_proba_one(event.features), self._pos_label)
            is_unsure = self.is_unsure(event.features, odds is not None and odds > 0)
        removed = event.unlearn is not None and self._unlearn(event)
        before = self.drift_events()
        if event.learn is not None:
            self._learn_one(event, removed, when)
        self.learned += 1
        self._readiness = None
        self._update_bound(event, odds, is_unsure)
        is_first = event.corrected is None and not event.is_own
        if event.decided not in (None, UNSURE) and is_first:
            self._watch(event.decided == event.learn, at)
        for name, count in self.drift_events().items():
            if count > before[name] and self.alarm is not None:
                if name == "alarms":
                    self.alarm.last = at
                _LOG.warning(_LINES[name], extra=self._drift_fields(self.alarm, at))

    def _learn_one(self, event: TrainingEvent, removed: bool, when: dict[str, Any]) -> None:
        """Learn the label; if the model refuses it, learn the unlearned label again."""
        learn = self.model.learn_one
        if event.unlearn is not None or event.is_own:
            # A message that was learned before, or with the filter's own label, says nothing about
            # the quality of the model.
            learn = getattr(self.model, "relearn_one", learn)
        try:
            learn(event.features, event.learn, **when)
        except StreamNBError:
            if removed:
                learn(event.features, event.unlearn, **when | {"w": event.unlearn_weight})
            raise

    def _unlearn(self, event: TrainingEvent) -> bool:
        """Unlearn the previous label of a message; return False if the model has forgotten it.

        A model with a half-life or a window may have forgotten the message, and a challenger that
        became the model may never have learned it. A new label is learned all the same.
        """
        try:
            self.model.unlearn_one(event.features, event.unlearn, w=event.unlearn_weight)
        except StreamNBError:
            if event.learn is None or not any(
                getattr(self.model, name, None) for name in _FORGETTING
            ):
                raise
            return False
        return True

    def _update_bound(self, event: TrainingEvent, odds: float | None, is_unsure: bool) -> None:
        if odds is not None:
            self.bound.observe(odds, event.learn == self._pos_label, is_unsure)
        elif event.unlearn is not None and event.decided == self._pos_label:
            # A corrected label adds or removes a false positive.
            was, now = (
                each not in (None, self._pos_label) for each in (event.unlearn, event.learn)
            )
            self.bound.add_excess(now - was)
        if event.score is not None:
            if event.corrected is not None:
                self.bound.record(event.score, event.corrected == self._pos_label, times=-1)
            if event.learn is not None:
                self.bound.record(event.score, event.learn == self._pos_label)

    def find_readiness(self) -> Readiness:
        """Return whether two labels have enough messages for decisions other than `unsure`."""
        counts = getattr(self.model, "class_count_", {})
        if self._ready_after and hasattr(self.model, "class_count_"):
            return Readiness.of(counts, self._ready_after)
        return Readiness(counts, True)

    @property
    def readiness(self) -> Readiness:
        """The readiness of the current model."""
        if self._readiness is None or self._readiness[0] != self.revision:
            self._readiness = (self.revision, self.find_readiness())
        return self._readiness[1]

    def is_unsure(self, features: Features, positive: bool) -> bool:
        """Return whether the model has too few labels, or too little evidence for a positive label.

        A negative decision needs no evidence, because it loses no message.
        """
        if not self.readiness.ready:
            return True
        if not (positive and self._min_evidence):
            return False
        return bool(self.model.evidence_one(features).strength < self._min_evidence)

    def accuracy(self) -> float | None:
        """Return the accuracy of the last decisions; None without any."""
        return sum(self.recent) / len(self.recent) if self.recent else None

    def _watch(self, right: bool, at: int | None) -> None:
        """Count a decision with its first label, and update the drift alarm."""
        self.recent.append(right)
        # A challenged model updates its own alarm.
        if self.alarm is not None and not isinstance(self.model, Challenger):
            self.alarm.update(not right, at)

    def drift_events(self) -> dict[str, int]:
        """Return the number of drift alarms, and of each event of a challenged model."""
        alarms = {} if self.alarm is None else {"alarms": self.alarm.count}
        return {**alarms, **self.model.events} if isinstance(self.model, Challenger) else alarms

    def _drift_fields(self, alarm: DriftAlarm, at: int | None) -> dict[str, Any]:
        return {
            "detector": alarm.detector,
            "alarms": alarm.count,
            "learned": self.learned,
            "at": at,
            "accuracy": self.accuracy(),
        }

    def undo(self, features: Features, label: Label) -> None:
        """Unlearn a message that was learned without a decision, as if it had never been learned.

        Raises
        ------
        StreamNBError
            If it was not learned with this label.
        """
        self.revision += 1
        self.model.unlearn_one(features, label)
        self.learned = max(0, self.learned - 1)


def alarm_of(model: Any, detector: str | None) -> DriftAlarm | None:
    """Return the drift alarm of a challenged model, a new one, or None without a detector."""
    if isinstance(model, Challenger):
        return model.alarm
    return None if detector is None else DriftAlarm(detector)


def read_training_event(value: bytes | None) -> TrainingEvent:
    """Return the training event in a record of the training log.

    Raises
    ------
    BadRecordError
        If the record is invalid.

    Examples
    --------
    >>> from streamnb_consumers.jsons import canonical
    >>> event = TrainingEvent("7", {"free": 1.0}, "spam", None, 0.5)
    >>> read_training_event(canonical(event)) == event
    True
    """
    try:
        event = msgspec.convert(read_object(value or b""), TrainingEvent)
    except msgspec.ValidationError as error:
        raise BadRecordError(f"not a training event: {error}") from None
    if event.learn is None and event.unlearn is None:
        raise BadRecordError("not a training event: learn and unlearn are missing")
    if not all(is_finite(each or 0) for each in (event.score, event.delay, event.weight)):
        raise BadRecordError("not a training event: a number is not finite")
    return event
