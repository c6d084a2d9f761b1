"""Learn training events: the model, the bound on lost ham, and how often decisions were right."""

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
from streamnb_consumers.records import Features, TrainingEvent, is_finite

__all__ = ["Learner", "Reactions", "alarm_of", "read_training_event"]

_LOG = logging.getLogger(__name__)
# Attributes of models that may have forgotten a message.
_FORGETTING = ("half_life", "window_size", "n_swaps")
_DRIFT = "drift: decisions are less often right than they were"


class Learner:
    """What training events make: whoever learns the same events in the same order has the same.

    Attributes
    ----------
    model
        The model.
    bound
        Scores of labelled messages, and the cut that follows from them.
    tally
        Decisions beside their labels.
    alarm
        The alarm of drift: the model's own, where it has one, on the errors of what it says of
        messages that are learned next; else on the errors of decisions. None where nothing watches.
    learned
        Training events learned so far.
    touched
        How often the model may have changed, or what decides beside it.
    """

    def __init__(self, model: Model, options: Options) -> None:
        self.model = model
        self.bound = FalsePositiveBound(options.ham_target, is_calibrated(model))
        self.confusion = Confusion()
        self.alarm = alarm_of(model, options.drift)
        self.learned = 0
        self.touched = 0
        self._positive = options.pos_label

    def learn(self, event: TrainingEvent, at: int | None = None) -> None:
        """Learn one event, whole or not at all.

        Parameters
        ----------
        event
            The event.
        at
            When its label came, in milliseconds since 1970, where it is known.

        Raises
        ------
        StreamNBError
            If the model refuses it.
        """
        self.touched += 1
        # Counts that fade in time go by the records' own clock: who reads them again gets the same.
        timed = isinstance(getattr(self.model, "half_life", None), str)
        when = {"time": at / 1000} if timed and at is not None else {}
        odds = None
        if self.bound.judges and event.unlearn is None:
            # As the model would decide now: a cut that was raised since the decision counts.
            odds = odds_of(self.model.predict_proba_one(event.features), self._positive)
        taken = event.unlearn is not None and self._take_back(event.features, event.unlearn)
        learn, before = self.model.learn_one, Reactions.of(self.model)
        if event.unlearn is not None:
            # Nobody is judged by a message that was learned before.
            learn = getattr(self.model, "relearn_one", learn)
        try:
            learn(event.features, event.learn, **when)
        except StreamNBError:
            if taken:
                learn(event.features, event.unlearn, **when)
            raise
        self.learned += 1
        if odds is not None:
            self.bound.judge(odds, event.learn == self._positive)
        elif event.unlearn is not None and event.decided == self._positive:
            # What was taken for the positive class, or was it.
            was, now = (each != self._positive for each in (event.unlearn, event.learn))
            self.bound.count(now - was)
        if event.score is not None:
            if event.unlearn is not None:
                self.bound.record(event.score, event.unlearn == self._positive, times=-1)
            self.bound.record(event.score, event.learn == self._positive)
        if event.decided is not None:
            if event.unlearn is None:
                self.confusion.add(event.decided, event.learn)
                self._watch(event.decided, event.learn, at)
            else:
                self.confusion.correct(event.decided, event.unlearn, event.learn)
        if before is not None:
            self._follow(before, at)

    def _take_back(self, features: Features, label: str) -> bool:
        """Unlearn what a message taught with its old label; False where too little is left of it.

        A model that forgets may have forgotten it, in part or whole, and a model that took the
        place of another never learned what that one had: the rest goes by itself, and is no reason
        to refuse the new label.
        """
        try:
            self.model.unlearn_one(features, label)
        except StreamNBError:
            if not any(getattr(self.model, name, None) for name in _FORGETTING):
                raise
            return False
        return True

    def _watch(self, decided: str, label: str, at: int | None) -> None:
        """Show the alarm of drift a decision that was sure, beside its label."""
        if self.alarm is None or decided == UNSURE or Reactions.of(self.model) is not None:
            return  # such a model sees to its own alarm
        if self.alarm.update(decided != label, at):
            _LOG.warning(_DRIFT, extra=self._told(at))

    def _follow(self, before: Reactions, at: int | None) -> None:
        """Tell what a model that reacts to drift did when it learned."""
        after = Reactions.of(self.model)
        if self.alarm is None or after is None or after == before:
            return
        if after.alarms > before.alarms:
            self.alarm.last = at
            _LOG.warning(_DRIFT, extra=self._told(at))
        after.tell(before, self._told(at))

    def _told(self, at: int | None) -> dict[str, Any]:
        """Return the fields of a line about drift."""
        return {
            "detector": None if self.alarm is None else self.alarm.detector,
            "alarms": 0 if self.alarm is None else self.alarm.count,
            "learned": self.learned,
            "at": at,
            "accuracy": self.confusion.rolling_accuracy(),
        }

    def unlearn(self, features: Features, label: str) -> None:
        """Take back one message that was learned without a decision, as if it never had been.

        Raises
        ------
        StreamNBError
            If it was not learned with this label.
        """
        self.touched += 1
        self.model.unlearn_one(features, label)
        self.learned = max(0, self.learned - 1)


_LOG = logging.getLogger(__name__)
_LINES = {
    "started": "drift: a challenger begins to learn beside the model",
    "swapped": "drift: the challenger was better, and is the model now",
    "given_up": "drift: the challenger was no better, and is given up",
}


def alarm_of(model: Any, detector: str | None) -> DriftAlarm | None:
    """Return the alarm of drift: that of a model that has its own, else a fresh one, else None."""
    if isinstance(model, Challenger):
        return model.alarm
    return None if detector is None else DriftAlarm(detector)


class Reactions(NamedTuple):
    """How often a model raised its alarm, and did each of the things that it does then, by name.

    Examples
    --------
    >>> from streamnb import MNB
    >>> from streamnb.challenger import Challenger
    >>> Reactions.of(Challenger(MNB()))
    Reactions(alarms=0, events={'started': 0, 'swapped': 0, 'given_up': 0})
    >>> Reactions.of(MNB()) is None
    True
    """

    alarms: int
    events: dict[str, int]

    @classmethod
    def of(cls, model: Any) -> Reactions | None:
        """Return those of a model; None where it has no alarm of its own."""
        return cls(model.alarm.count, model.events) if isinstance(model, Challenger) else None

    @property
    def challenges(self) -> dict[str, int]:
        """How often each event of a challenger came, by name."""
        return dict(self.events)

    @property
    def challenged(self) -> bool:
        """Whether a challenger learns beside the model."""
        begun, *ended = (self.events.get(event, 0) for event in _LINES)
        return begun > sum(ended)

    def tell(self, before: Reactions, told: dict[str, Any]) -> None:
        """Write a line for each thing that happened since `before`, with these fields."""
        for event, count in self.events.items():
            if count > before.events[event]:
                _LOG.warning(_LINES[event], extra=told)


def read_training_event(value: bytes | None) -> TrainingEvent:
    """Return the training event that a record of their log holds.

    Raises
    ------
    BadRecordError
        If it holds anything else.

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
        and isinstance(event.learn, str)
        and isinstance(event.unlearn, (str, type(None)))
        and (event.score is None or is_finite(event.score))
        and isinstance(event.decided, (str, type(None)))
        and (event.delay is None or is_finite(event.delay))
    ):
        raise BadRecordError("not a training event: its fields have other types")
    return event
