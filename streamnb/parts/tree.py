"""The leaf of a tree: messages count for a prediction that fall into the same leaf."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.errors import InputError
from streamnb.parameters import check_above_zero, check_bound, check_from_zero, check_one_of
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Neighbourhood, Setup
from streamnb.statistics.refreshing import Refresher

GROWTHS = ("periodic", "hoeffding")
"""How trees grow."""


@dataclasses.dataclass(frozen=True)
class Tree(Neighbourhood, name="tree"):
    """The messages in the message's leaf of a binary tree over the presence of words.

    A node splits on the word whose presence has the highest information gain for the class, ties
    to the first in the order of bytes. It is a leaf where all messages are of one class, no word
    gains anything, or that split would leave too few messages on one side. Most classes may have
    no message in a leaf, so P(c) is Laplace's.

    Attributes
    ----------
    max_depth
        Splits between the root and a leaf, 0 or more.
    min_samples_leaf
        The least weight of messages on either side of a split, above 0.
    grow
        `"periodic"`: over the indexed messages, when statistics are refreshed. `"hoeffding"`: as
        messages arrive, by Hoeffding's bound; a refresh grows it anew over the indexed messages
        in their order.
    delta, tau, grace_period
        For Hoeffding's bound: the probability of choosing wrong, between 0 and 1; the bound, in
        nats, below which gains are as good as equal, 0 or more; and the weight of messages between
        two looks at a leaf, above 0.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    [^2]: P. Domingos, G. Hulten: Mining high-speed data streams. KDD 2000.
    """

    prior: ClassVar[str | None] = "laplace"
    indexed: ClassVar[int] = 65_536

    max_depth: int = 64
    min_samples_leaf: float = 50.0
    grow: str = "periodic"
    delta: float = 1e-7
    tau: float = 0.05
    grace_period: float = 200.0

    def __post_init__(self) -> None:
        self._check("max_depth", check_bound, 0)
        self._check("grow", check_one_of, GROWTHS)
        self._check("min_samples_leaf", check_above_zero)
        self._check("delta", check_above_zero)
        if self.delta >= 1:
            raise InputError(f"delta must be a probability between 0 and 1, not {self.delta!r}")
        self._check("tau", check_from_zero)
        self._check("grace_period", check_above_zero)

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for no table of pairs."""
        return {"max_pairs": 0}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for the leaf of the store's tree."""
        return {"neighbourhood": "leaf"}

    @property
    def online(self) -> tuple[float, float, float] | None:
        """The parameters of Hoeffding's bound, where the tree grows by it."""
        return None if self.grow == "periodic" else (self.delta, self.tau, self.grace_period)

    def prepare(self, store: _core.CountStore, setup: Setup) -> None:
        """Let a store keep a tree of one leaf."""
        self.plant(store, (b"", b""))

    def plant(self, store: _core.CountStore, tree: tuple[bytes, bytes]) -> None:
        """Let a store keep this tree: its nodes, and the messages that its leaves wait for."""
        nodes, waited = tree
        store.plant(
            np.frombuffer(nodes, np.int64),
            np.frombuffer(waited),
            self.max_depth,
            self.min_samples_leaf,
            self.online,
        )

    def in_use(self, setup: Setup) -> InUse:
        """Keep the tree."""
        return InUse(GrownTree(self))


class GrownTree(Refresher[_core.CountStore]):
    """The tree over the indexed messages of a store.

    Parameters
    ----------
    tree
        How it grows.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.periodic = tree.online is None

    def refresh(self, store: _core.CountStore, scoring: _core.Scoring) -> None:
        """Grow the tree anew; one that grows online, too."""
        # Where ids were given to other words or classes meanwhile, it is done again.
        while not store.grow_tree(
            self.tree.max_depth, self.tree.min_samples_leaf, self.tree.online
        ):
            pass

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the tree in use."""
        return store.tree()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take the tree of a copy."""
        self.tree.plant(store, state)
