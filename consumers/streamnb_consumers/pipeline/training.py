"""Learn training events: update model, decision threshold, confusion matrix and drift alarm."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from streamnb.challenger import Challenger
from streamnb.errors import StreamNBError
from streamnb.model.drift import DriftAlarm
from streamnb.model.threshold import UNSURE
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.pipeline.confusion import Confusion
from streamnb_consumers.pipeline.options import Model, Options
from streamnb_consumers.pipeline.reading import read_object
from streamnb_consumers.pipeline.threshold import FalsePositiveBound, is_calibrated, odds_of
from streamnb_consumers.records import TrainingEvent, is_finite

__all__ = ["ChallengerEvents", "Learner", "alarm_of", "read_training_event"]

_LOG = logging.getLogger(__name__)
# Parameters of models that may have forgotten a message.
_FORGETTING = ("half_life", "window_size", "n_swaps")
_DRIFT = "drift: the accuracy of decisions has dropped"
_LINES = {
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
    confusion
        Confusion matrix of decisions and labels.
    alarm
        Drift alarm. A challenged model has its own, on the errors of its predictions. Otherwise it
        watches the errors of decisions. None without drift detection.
    learned
        Number of training events that were learned.
    revision
        Number of possible changes of the model or the threshold.
    """

    def __init__(self, model: Model, options: Options) -> None:
        self.model: Any = model
        self.bound = FalsePositiveBound(options.max_fpr, is_calibrated(model))
        self.confusion = Confusion()
        self.alarm = alarm_of(model, options.drift)
        self.learned = 0
        self.revision = 0
        self._pos_label = options.pos_label

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
        odds = None
        if self.bound.observes and event.unlearn is None:
            # With the current threshold, which may have changed since the decision.
            odds = odds_of(self.model.predict_proba_one(event.features), self._pos_label)
        removed = event.unlearn is not None and self._unlearn(event)
        before = ChallengerEvents.of(self.model)
        if event.learn is not None:
            self._learn_one(event, removed, when)
        self.learned += 1
        self._update_bound(event, odds)
        if event.decided is not None:
            if event.unlearn is not None:
                self.confusion.correct(event.decided, event.unlearn, event.learn)
            elif event.learn is not None:
                self.confusion.add(event.decided, event.learn)
                self._watch(event.decided, event.learn, at)
        if before is not None:
            self._log_challenger(before, at)

    def _learn_one(self, event: TrainingEvent, removed: bool, when: dict[str, Any]) -> None:
        """Learn the label; if the model refuses it, learn the unlearned label again."""
        learn = self.model.learn_one
        if event.unlearn is not None:
            # A message that was learned before says nothing about the quality of the model.
            learn = getattr(self.model, "relearn_one", learn)
        try:
            learn(event.features, event.learn, **when)
        except StreamNBError:
            if removed:
                learn(event.features, event.unlearn, **when)
            raise

    def _unlearn(self, event: TrainingEvent) -> bool:
        """Unlearn the previous label of a message; return False if the model has forgotten it.

        A model with a half-life or a window may have forgotten the message, and a challenger that
        became the model may never have learned it. A new label is learned all the same.
        """
        try:
            self.model.unlearn_one(event.features, event.unlearn)
        except StreamNBError:
            if event.learn is None or not any(
                getattr(self.model, name, None) for name in _FORGETTING
            ):
                raise
            return False
        return True

    def _update_bound(self, event: TrainingEvent, odds: float | None) -> None:
        if odds is not None:
            self.bound.observe(odds, event.learn == self._pos_label)
        elif event.unlearn is not None and event.decided == self._pos_label:
            # A corrected label adds or removes a false positive.
            was, now = (
                each not in (None, self._pos_label) for each in (event.unlearn, event.learn)
            )
            self.bound.add_excess(now - was)
        if event.score is not None:
            if event.unlearn is not None:
                self.bound.record(event.score, event.unlearn == self._pos_label, times=-1)
            if event.learn is not None:
                self.bound.record(event.score, event.learn == self._pos_label)

    def _watch(self, decided: str, label: str, at: int | None) -> None:
        """Update the drift alarm with a decision and its label."""
        if self.alarm is None or decided == UNSURE or isinstance(self.model, Challenger):
            return  # a challenged model updates its own alarm
        if self.alarm.update(decided != label, at):
            _LOG.warning(_DRIFT, extra=self._drift_fields(at))

    def _log_challenger(self, before: ChallengerEvents, at: int | None) -> None:
        """Log the events of a challenged model since `before`."""
        after = ChallengerEvents.of(self.model)
        if self.alarm is None or after is None or after == before:
            return
        if after.alarms > before.alarms:
            self.alarm.last = at
            _LOG.warning(_DRIFT, extra=self._drift_fields(at))
        for event, count in after.events.items():
            if count > before.events[event]:
                _LOG.warning(_LINES[event], extra=self._drift_fields(at))

    def _drift_fields(self, at: int | None) -> dict[str, Any]:
        return {
            "detector": None if self.alarm is None else self.alarm.detector,
            "alarms": 0 if self.alarm is None else self.alarm.count,
            "learned": self.learned,
            "at": at,
            "accuracy": self.confusion.rolling_accuracy(),
        }


def alarm_of(model: Any, detector: str | None) -> DriftAlarm | None:
    """Return the drift alarm of a challenged model, a new one, or None without a detector."""
    if isinstance(model, Challenger):
        return model.alarm
    return None if detector is None else DriftAlarm(detector)


class ChallengerEvents(NamedTuple):
    """Number of drift alarms of a challenged model, and of each event of its challengers.

    Examples
    --------
    >>> from streamnb import MNB
    >>> ChallengerEvents.of(Challenger(MNB()))
    ChallengerEvents(alarms=0, events={'started': 0, 'swapped': 0, 'given_up': 0})
    >>> ChallengerEvents.of(MNB()) is None
    True
    """

    alarms: int
    events: dict[str, int]

    @classmethod
    def of(cls, model: Any) -> ChallengerEvents | None:
        """Return the counts of a model; None if it is not a challenged model."""
        return cls(model.alarm.count, model.events) if isinstance(model, Challenger) else None

    @property
    def active(self) -> bool:
        """Whether a challenger learns now."""
        started, *ended = (self.events[event] for event in _LINES)
        return started > sum(ended)


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
    >>> read_training_event(canonical(event.to_json())) == event
    True
    """
    fields = read_object(value or b"")
    try:
        event = TrainingEvent(**fields)
    except TypeError as error:
        raise BadRecordError(f"not a training event: {error}") from None
    if not (
        isinstance(event.id, str)
        and isinstance(event.features, (str, dict))
        and isinstance(event.learn, (str, type(None)))
        and isinstance(event.unlearn, (str, type(None)))
        and (event.learn is not None or event.unlearn is not None)
        and (event.score is None or is_finite(event.score))
        and isinstance(event.decided, (str, type(None)))
        and (event.delay is None or is_finite(event.delay))
    ):
        raise BadRecordError("not a training event: a field has a wrong type")
    return event
