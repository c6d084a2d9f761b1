"""Which documents count for a prediction: all, those of a leaf of a tree, or the nearest ones."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError
from streamnb.parameters import check_bound, check_number
from streamnb.statistics.swap import swap_in


@dataclasses.dataclass(frozen=True)
class Neighbourhood:
    """The whole stream: every document counts for every prediction.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows it.
    max_documents
        What `max_documents=None` means: documents kept in the index.
    n_neighbors
        How many documents are near, where that is set.
    """

    name: str
    max_documents: int = 0
    n_neighbors: int = 1

    @property
    def native(self) -> str | None:
        """How the native core knows it; None for the whole stream."""
        return None

    @property
    def prior(self) -> str | None:
        """What `prior=None` means; None is the event model's own."""
        return None

    @property
    def periodic(self) -> bool:
        """Whether there is a tree that is grown now and then."""
        return False

    def plant(self, store: _core.CountStore, tree: tuple[bytes, bytes] | None) -> None:
        """Let a store keep a tree, if there is any: the one given, or one leaf."""

    def refresh(self, store: _core.CountStore) -> None:
        """Give a store a new tree, where there is any."""


@dataclasses.dataclass(frozen=True)
class Local(Neighbourhood):
    """A part of the indexed documents. In it most classes may have none, so P(c) is Laplace's."""

    @property
    def prior(self) -> str | None:
        """Laplace's."""
        return "laplace"


@dataclasses.dataclass(frozen=True)
class LeafOfTree(Local):
    """The documents in the message's leaf of a binary tree over the presence of words.

    A node splits on the word whose presence has the highest information gain for the class, ties
    to the first in the order of bytes. It is a leaf where all documents are of one class, no word
    gains anything, or that split would leave too few documents on one side.

    Attributes
    ----------
    max_depth
        Splits between the root and a leaf.
    min_samples_leaf
        The least weight of documents on either side of a split.
    grow
        `"periodic"`: over the indexed documents, when statistics are refreshed. `"hoeffding"`: as
        documents arrive, by Hoeffding's bound; a refresh grows it anew over the indexed documents
        in their order.
    delta, tau, grace_period
        For Hoeffding's bound: the probability of choosing wrong; the bound, in nats, below which
        gains are as good as equal; and the weight of documents between two looks at a leaf.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    [^2]: P. Domingos, G. Hulten: Mining high-speed data streams. KDD 2000.
    """

    max_depth: int = 64
    min_samples_leaf: float = 50.0
    grow: str = "periodic"
    delta: float = 1e-7
    tau: float = 0.05
    grace_period: float = 200.0

    @property
    def native(self) -> str | None:
        """The leaf of the store's tree."""
        return "leaf"

    @property
    def periodic(self) -> bool:
        """Unless it grows online."""
        return self._online is None

    @property
    def _online(self) -> tuple[float, float, float] | None:
        if self.grow == "periodic":
            return None
        return self.delta, self.tau, self.grace_period

    def plant(self, store: _core.CountStore, tree: tuple[bytes, bytes] | None) -> None:
        """Let a store keep a tree: the one given, or one leaf."""
        array, waited = tree or (b"", b"")
        store.plant(
            np.frombuffer(array, np.int64),
            np.frombuffer(waited),
            self.max_depth,
            self.min_samples_leaf,
            self._online,
        )

    def refresh(self, store: _core.CountStore) -> None:
        """Give a store a new tree over its indexed documents."""
        swap_in(lambda: store.grow_tree(self.max_depth, self.min_samples_leaf, self._online))


@dataclasses.dataclass(frozen=True)
class NearestDocuments(Local):
    """The documents nearest to the message by the cosine of their word counts.

    What a document counts for falls linearly with its distance, 1 − cosine, to 0 at the first
    document that is not near, and is 1 on average. Where the nearest are no nearer than that one,
    all that are as near count for 1. Documents that share no word with the message never count.

    Attributes
    ----------
    n_neighbors
        How many documents.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    """

    n_neighbors: int = 50

    @property
    def native(self) -> str | None:
        """The nearest documents."""
        return "nearest"


WHOLE_STREAM = Neighbourhood("stream")
TREE = LeafOfTree("tree", max_documents=65_536)
NEAREST = NearestDocuments("nearest", max_documents=65_536)

# How trees grow.
GROWTHS = ("periodic", "hoeffding")

NEIGHBOURHOODS = {part.name: part for part in (WHOLE_STREAM, TREE, NEAREST)}


def with_settings(part: Neighbourhood, model: Any) -> Neighbourhood:
    """Return a neighbourhood with those of a model's settings that are its own.

    Raises
    ------
    InputError
        If one of them is out of range, whether it is its own or not.
    """
    depth = check_bound("max_depth", model.max_depth, least=0)
    if model.grow not in GROWTHS:
        raise InputError(f"grow must be one of {', '.join(map(repr, GROWTHS))}, not {model.grow!r}")
    neighbours = check_bound("n_neighbors", model.n_neighbors, least=1)
    own = TREE.min_samples_leaf if model.min_samples_leaf is None else model.min_samples_leaf
    least = _positive("min_samples_leaf", own)
    delta = _positive("delta", model.delta)
    if delta >= 1:
        raise InputError(f"delta must be a probability between 0 and 1, not {model.delta!r}")
    tau = check_number("tau", model.tau)
    if not (tau >= 0 and math.isfinite(tau)):
        raise InputError(f"tau must be a number from 0 on, not {model.tau!r}")
    grace = _positive("grace_period", model.grace_period)
    if isinstance(part, LeafOfTree):
        return dataclasses.replace(
            part,
            max_depth=depth,
            min_samples_leaf=least,
            grow=model.grow,
            delta=delta,
            tau=tau,
            grace_period=grace,
        )
    if isinstance(part, NearestDocuments):
        return dataclasses.replace(part, n_neighbors=neighbours)
    return part


def _positive(name: str, value: Any) -> float:
    number = check_number(name, value)
    if not (number > 0 and math.isfinite(number)):
        raise InputError(f"{name} must be a number above 0, not {value!r}")
    return number
