"""A model that reacts to drift in a filter: what it did so far, and lines in the log of it."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from streamnb.online.drift import DriftAlarm
from streamnb.watched import Watched

__all__ = ["Reactions", "alarm_of"]

_LOG = logging.getLogger(__name__)
_CHALLENGES = {
    "started": "drift: a challenger begins to learn beside the model",
    "swapped": "drift: the challenger was better, and is the model now",
    "given_up": "drift: the challenger was no better, and is given up",
}
_LINES = _CHALLENGES | {"shortened": "drift: the model forgets faster for a while"}


def alarm_of(model: Any, detector: str | None) -> DriftAlarm | None:
    """Return the alarm of drift: that of a model that has its own, else a fresh one, else None."""
    if isinstance(model, Watched):
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
        return cls(model.alarm.count, model.events) if isinstance(model, Watched) else None

    @property
    def challenges(self) -> dict[str, int]:
        """How often each event of a challenger came, by name."""
        return {event: count for event, count in self.events.items() if event in _CHALLENGES}

    @property
    def challenged(self) -> bool:
        """Whether a challenger learns beside the model."""
        begun, *ended = (self.events.get(event, 0) for event in _CHALLENGES)
        return begun > sum(ended)

    def tell(self, before: Reactions, told: dict[str, Any]) -> None:
        """Write a line for each thing that happened since `before`, with these fields."""
        for event, count in self.events.items():
            if count > before.events[event]:
                _LOG.warning(_LINES[event], extra=told)
