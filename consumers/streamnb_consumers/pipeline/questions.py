"""Questions of a partition: messages whose labels are requested, within a daily budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from streamnb.active import LabelRequester
from streamnb_consumers.records import Features

_DAY = 86_400_000.0  # milliseconds
_ADVANCE = 0.5  # share of the budget of a day that may be spent immediately; the day repays it
_UNSPENT = 0.1  # share of the budget of a day that may remain unspent
_LEAST_UNSPENT = 2.0


class Questions:
    """Budget and open questions of one partition.

    The budget grows with the time of the messages, so a replay asks the same number of questions.

    Parameters
    ----------
    per_day
        Number of questions per day, 0 or more.

    Attributes
    ----------
    open
        Questions without an answer, oldest first: the time of each message, in milliseconds.

    Examples
    --------
    >>> questions = Questions(per_day=10)
    >>> [questions.ask(str(at), text, {}, at) for at, text in enumerate(["win cash", "see you"])]
    [True, True]
    >>> questions.ask("again", "win cash", {}, 3)
    False
    """

    def __init__(self, per_day: float) -> None:
        self.open: dict[str, int | None] = {}
        self._per_day = per_day
        unspent = max(_LEAST_UNSPENT, _UNSPENT * per_day)
        self._requester = LabelRequester(unspent, _ADVANCE * per_day)
        self._at: int | None = None  # time of the last message

    def ask(
        self, name: str, features: Features, probabilities: Mapping[str, float], now: int
    ) -> bool:
        """Return whether to request the label of a message at a time in milliseconds."""
        if not self._per_day:
            return False
        elapsed = 0 if self._at is None else max(0, now - self._at)
        self._at = now if self._at is None else max(now, self._at)
        return self._requester.ask(features, probabilities, self._per_day * elapsed / _DAY, name)

    def track(self, name: str, asked: bool, answered: bool, at: int | None) -> None:
        """Follow a message of the join window, which arrived at a time in milliseconds."""
        if not asked:
            self._requester.forget(name)
        self.open.pop(name, None)
        if asked and not answered:
            self.open[name] = at

    def remember(self, name: str, features: Features) -> None:
        """Ask no near-duplicates of a message, which was asked before a restart."""
        self._requester.remember(name, features)

    def to_json(self) -> list[float | None]:
        """Return the budget as plain values."""
        return [self._at, *self._requester.to_json()]

    def restore(self, state: Any) -> None:
        """Restore a budget from `to_json`; an invalid one raises ValueError or TypeError."""
        at, *budget = state
        self._at = msgspec.convert(at, int | None)
        self._requester.restore(budget)
