"""Tuning by progressive validation: each message is judged before it is learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

from streamnb import _core
from streamnb.statistics.store import Store
from streamnb.text.labels import Label, Labels

Judgement = Callable[[float], None]
"""Writes a judgement into the record, given the weight of the message."""


class Tuning(Protocol[Store]):
    """A parameter that is chosen along the stream: a threshold, a factor.

    Attributes
    ----------
    name
        The name of its record in a model file.
    """

    name: str

    def judge(
        self, store: Store, scoring: _core.Scoring, labels: Labels, x: Any, y: Label
    ) -> Judgement | None:
        """Judge a message of a known label that is about to be learned; the record stays as it is.

        Whatever can fail does so here. What it returns is called once the message is learned; None
        says that there is nothing to record.
        """

    def merge(self, other: Self) -> None:
        """Add the record of another."""

    def state(self) -> Any:
        """Return the record, for `restore`, as JSON can hold it."""

    def restore(self, state: Any) -> None:
        """Take a record that `state` returned.

        Raises
        ------
        ValueError
            If it is none.
        """
