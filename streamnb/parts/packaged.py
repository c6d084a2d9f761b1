"""Packages of attributes: each has one hidden parent, mixed from the attributes in its package."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.online.tuning import Judgement
from streamnb.parameters import check_bound, check_most, check_number
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Dependence, Setup
from streamnb.statistics.documents import Documents
from streamnb.statistics.packages import attribute_information, set_packages, word_information
from streamnb.statistics.refreshing import Refresher
from streamnb.text.labels import Label, Labels

GRID = (0.0, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0, math.inf)
"""The thresholds that `"auto"` compares, in averages: from hidden naive Bayes to the plain one."""

# A threshold at the average takes what is equal to it but for rounding.
_TIE = 1 - 1e-9


def check_threshold(name: str, value: Any) -> float | str:
    """Return a threshold of packages.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(value, str):
        if value not in ("average", "auto"):
            raise InputError(
                f"{name} must be 'average', 'auto' or a number of bits, not {shown(value)}"
            )
        return value
    bits = check_number(name, value)
    if math.isnan(bits):
        raise InputError(f"{name} must be 'average', 'auto' or a number of bits, not nan")
    return bits


@dataclasses.dataclass(frozen=True)
class Packaged(Dependence, name="packaged"):
    """Each attribute has one hidden parent, mixed from the attributes in its package.

    A package holds the attributes whose conditional mutual information with its own is at least the
    threshold; an attribute with an empty package is plain naive Bayes. In texts each word is an
    attribute, and packages take words that have met.

    Attributes
    ----------
    bag_threshold
        A number of bits; `"average"`, the mean information of all pairs of attributes; or
        `"auto"`, that multiple of it in `GRID` with the least log loss so far.
    max_links
        The most pairs in packages, 0 or more.
    max_parents
        In texts, how many words of a message may be parents, 1 or more: those with the most
        information about all others together. None is any number, as in the paper; and so it is
        with columns, where a message has no more parents than attributes.

    References
    ----------
    [^1]: Packaged hidden naive Bayes, Equations 4–11.
    """

    hidden: ClassVar[str | None] = "packaged"
    indexed: ClassVar[int] = 65_536

    bag_threshold: float | str = dataclasses.field(default="average", compare=False)
    max_links: int = dataclasses.field(default=1_000_000, compare=False)
    max_parents: int | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._check("bag_threshold", check_threshold)
        self._check("max_links", check_bound, 0)
        self._check("max_parents", check_most, 1)

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for packages, and for no more parents than allowed."""
        return {**super().scoring_options(parts), "max_parents": self.max_parents}

    def in_use(self, setup: Setup) -> InUse:
        """Keep packages and their threshold."""
        threshold = BagThreshold(self.bag_threshold)
        words = None if setup.parts.event.columns else setup.parameters.vocabulary_size
        packages = Packages(threshold, self.max_links, words, setup.threads)
        return InUse(packages, tuning=threshold if threshold.learns else None)


class Packages(Refresher[_core.CountStore]):
    """The packages of a model.

    Parameters
    ----------
    threshold
        The information that a member of a package has at least.
    max_links
        The most pairs in packages.
    vocabulary_size
        In texts m where it is known, at least the number of words learned; None for columns.
    threads
        On how many they are computed, at least 1.
    """

    def __init__(
        self,
        threshold: BagThreshold,
        max_links: int,
        vocabulary_size: float | None,
        threads: int,
    ) -> None:
        self.threshold = threshold
        self.max_links = max_links
        self.vocabulary_size = vocabulary_size
        self.threads = threads

    def swap(self, store: _core.CountStore) -> bool:
        """Fill the packages."""
        documents = Documents.of(store)
        if self.vocabulary_size is None:
            pairs = attribute_information(documents, self.max_links)
        else:
            words = max(self.vocabulary_size, float(store.n_words))
            pairs = word_information(documents, words, self.max_links, self.threads)
        self.threshold.average = pairs.average
        # All pairs are there for a threshold that is learned: it changes between refreshes.
        least = 0.0 if self.threshold.learns else self.threshold.bits
        if not set_packages(store, documents.counts.layout, pairs, least):
            return False
        store.set_package_threshold(self.threshold.bits)
        return True

    def state(self, store: _core.CountStore, class_ids: list[int]) -> float:
        """Return the average information; the packages are in the store's snapshot."""
        return self.threshold.average

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take the average information."""
        self.threshold.average = state


class BagThreshold:
    """The threshold of packages: fixed, at the average, or learned.

    Learned, it is that multiple of the average in `GRID` that would have had the least log loss on
    the messages learned so far, each before it was learned; at first, and of equals, the average
    itself.

    Parameters
    ----------
    choice
        A number of bits, `"average"` or `"auto"`.
    """

    name = "bags"

    def __init__(self, choice: float | str) -> None:
        self.choice = choice
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
    ) -> Judgement | None:
        """Find what a message that is about to be learned costs at each threshold of the grid."""
        if len(labels.order) < 2:
            return None
        losses = store.packaged_losses(x, scoring, labels.ids[y], self.grid())

        def record(weight: float) -> None:
            self.record(losses, weight)
            store.set_package_threshold(self.bits)

        return record

    def record(self, losses: list[float], weight: float) -> None:
        """Note what a message of this weight has cost at each threshold of the grid."""
        self.losses = [old + weight * new for old, new in zip(self.losses, losses, strict=True)]

    def merge(self, other: BagThreshold) -> None:
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
            raise ValueError("the record of the threshold of packages is no such record")
        self.losses = losses
