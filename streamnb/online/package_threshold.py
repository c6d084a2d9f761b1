"""The threshold of attribute packages: given, at the average, or chosen along the stream."""

from __future__ import annotations

import math
from typing import Any

from streamnb import _core
from streamnb.errors import InputError
from streamnb.online.tuning import Note
from streamnb.parameters import check_bound, check_number
from streamnb.text.labels import Label, Labels

# A threshold at the average takes what is equal to it but for rounding.
_TIE = 1 - 1e-9

# The thresholds that "auto" compares, in averages: from hidden naive Bayes to the plain one.
GRID = (0.0, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0, math.inf)


class Packaging:
    """The threshold of a model's attribute packages: fixed, at the average, or learned.

    Learned, it is that multiple of the average in `GRID` that would have had the least log loss on
    the messages learned so far, each before it was learned; at first, and of equals, the average
    itself.

    Parameters
    ----------
    choice
        A number of bits, `"average"` or `"auto"`.
    max_links
        The most pairs in packages.

    Raises
    ------
    InputError
        If one of them is out of range.
    """

    name = "bags"

    def __init__(self, choice: float | str, max_links: int) -> None:
        if isinstance(choice, str):
            if choice not in ("average", "auto"):
                raise InputError(
                    f"bag_threshold must be 'average', 'auto' or a number of bits, not {choice!r}"
                )
        elif math.isnan(check_number("bag_threshold", choice)):
            raise InputError("bag_threshold must be 'average', 'auto' or a number of bits, not nan")
        self.choice = choice
        self.max_links = check_bound("max_links", max_links, least=0)
        self.average = 0.0
        self.losses = [0.0] * len(GRID)

    @property
    def learns(self) -> bool:
        """Whether it is learned."""
        return self.choice == "auto"

    @property
    def factor(self) -> float:
        """The best multiple of the average so far."""
        least = min(self.losses) * (1 + 1e-9)
        ties = [f for f, loss in zip(GRID, self.losses, strict=True) if loss <= least]
        return 1.0 if 1.0 in ties else ties[0]

    @property
    def bits(self) -> float:
        """The threshold in use."""
        if isinstance(self.choice, str):
            return self._times(self.factor if self.learns else 1.0)
        return float(self.choice)

    def _times(self, factor: float) -> float:
        if factor in (0.0, math.inf):
            return factor
        return factor * self.average * _TIE

    def grid(self) -> list[float]:
        """Return the thresholds to compare, ascending."""
        return [self._times(factor) for factor in GRID]

    def judge(
        self, store: _core.CountStore, scoring: _core.Scoring, labels: Labels, x: Any, y: Label
    ) -> Note | None:
        """Find what a message that is about to be learned costs at each threshold of the grid."""
        if len(labels.order) < 2:
            return None
        losses = store.packaged_losses(x, scoring, labels.ids[y], self.grid())

        def note(weight: float) -> None:
            self.record(losses, weight)
            store.set_bag_threshold(self.bits)

        return note

    def record(self, losses: list[float], weight: float) -> None:
        """Note what a message of this weight has cost at each threshold of the grid."""
        self.losses = [old + weight * new for old, new in zip(self.losses, losses, strict=True)]

    def merge(self, other: Packaging) -> None:
        """Add what another model has noted."""
        self.record(other.losses, 1.0)

    def state(self) -> dict[str, Any]:
        """Return what a model file holds of it."""
        return {"losses": [loss.hex() for loss in self.losses]}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned.

        Raises
        ------
        ValueError
            If it is something else.
        """
        losses = [float.fromhex(loss) for loss in state["losses"]]
        if len(losses) != len(GRID) or not all(0 <= loss < math.inf for loss in losses):
            raise ValueError("the record of the threshold of bags is no such record")
        self.losses = losses
