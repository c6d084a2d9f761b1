"""A challenged model in a filter: what it did so far, and lines in the log of what it does."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from streamnb.challenger import Challenger
from streamnb.online.drift import DriftAlarm

__all__ = ["Challenges", "alarm_of"]

_LOG = logging.getLogger(__name__)


def alarm_of(model: Any, detector: str | None) -> DriftAlarm | None:
    """Return the alarm of drift: that of a challenged model, else a fresh one, else None."""
    if isinstance(model, Challenger):
        return model.alarm
    return None if detector is None else DriftAlarm(detector)


class Challenges(NamedTuple):
    """How often a challenged model raised the alarm, and its challengers began and ended.

    Examples
    --------
    >>> from streamnb import MNB
    >>> Challenges.of(Challenger(MNB()))
    Challenges(alarms=0, started=0, swapped=0, given_up=0)
    >>> Challenges.of(MNB()) is None
    True
    """

    alarms: int
    started: int
    swapped: int
    given_up: int

    @classmethod
    def of(cls, model: Any) -> Challenges | None:
        """Return those of a model; None where nobody challenges it."""
        if not isinstance(model, Challenger):
            return None
        return cls(model.alarm.count, model.n_started, model.n_swaps, model.n_given_up)

    @property
    def events(self) -> dict[str, int]:
        """How often each event of a challenger came, by name."""
        return {"started": self.started, "swapped": self.swapped, "given_up": self.given_up}

    @property
    def running(self) -> bool:
        """Whether a challenger learns beside the model."""
        return self.started > self.swapped + self.given_up

    def tell(self, before: Challenges, told: dict[str, Any]) -> None:
        """Write a line for each thing that happened since `before`, with these fields."""
        lines = {
            "started": "drift: a challenger begins to learn beside the model",
            "swapped": "drift: the challenger was better, and is the model now",
            "given_up": "drift: the challenger was no better, and is given up",
        }
        for event, line in lines.items():
            if self.events[event] > before.events[event]:
                _LOG.warning(line, extra=told)
