"""Learn training events: the model, the bound on lost ham, and how often decisions were right."""

from __future__ import annotations

from streamnb.errors import StreamNBError
from streamnb_consumers.filter.bound import HamBound
from streamnb_consumers.filter.options import Model, Options
from streamnb_consumers.filter.tally import Tally
from streamnb_consumers.records import TrainingEvent

__all__ = ["Learner"]


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
    learned
        Training events learned so far.
    """

    def __init__(self, model: Model, options: Options) -> None:
        self.model = model
        self.bound = HamBound(options.ham_target)
        self.tally = Tally()
        self.learned = 0
        self._positive = options.positive

    def learn(self, event: TrainingEvent) -> None:
        """Learn one event, whole or not at all.

        Raises
        ------
        StreamNBError
            If the model refuses it.
        """
        if event.unlearn is not None:
            self.model.unlearn_one(event.features, event.unlearn)
        try:
            self.model.learn_one(event.features, event.learn)
        except StreamNBError:
            if event.unlearn is not None:
                self.model.learn_one(event.features, event.unlearn)
            raise
        self.learned += 1
        if event.score is not None:
            if event.unlearn is not None:
                self.bound.record(event.score, event.unlearn == self._positive, times=-1)
            self.bound.record(event.score, event.learn == self._positive)
        if event.decided is not None:
            if event.unlearn is None:
                self.tally.add(event.decided, event.learn)
            else:
                self.tally.correct(event.decided, event.unlearn, event.learn)
