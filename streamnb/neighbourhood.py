"""Which documents count for a prediction: all, those of a leaf of a tree, or the nearest ones."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError
from streamnb.parameters import check_bound, check_number


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
    def grows(self) -> bool:
        """Whether there is a tree, to be grown now and then."""
        return False

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

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    """

    max_depth: int = 64
    min_samples_leaf: float = 50.0

    @property
    def native(self) -> str | None:
        """The leaf of the store's tree."""
        return "leaf"

    @property
    def grows(self) -> bool:
        """It does."""
        return True

    def refresh(self, store: _core.CountStore) -> None:
        """Give a store a new tree over its indexed documents."""
        # Where ids were given to other words or classes meanwhile, it is done again.
        while not store.grow_tree(self.max_depth, self.min_samples_leaf):
            pass


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

NEIGHBOURHOODS = {part.name: part for part in (WHOLE_STREAM, TREE, NEAREST)}

# A tree that is one leaf, as an array.
ONE_LEAF = np.array([-1], dtype=np.int64)


def neighbourhood_named(name: object) -> Neighbourhood:
    """Return a neighbourhood by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if isinstance(name, str) and name in NEIGHBOURHOODS:
        return NEIGHBOURHOODS[name]
    allowed = ", ".join(map(repr, NEIGHBOURHOODS))
    raise InputError(f"neighbourhood must be one of {allowed}, not {name!r}")


def with_settings(
    part: Neighbourhood, max_depth: Any, min_samples_leaf: Any, n_neighbors: Any
) -> Neighbourhood:
    """Return a neighbourhood with those of the settings that are its own.

    Raises
    ------
    InputError
        If one of them is out of range.
    """
    depth = check_bound("max_depth", max_depth, least=0)
    least = check_number("min_samples_leaf", min_samples_leaf)
    if not (least > 0 and math.isfinite(least)):
        raise InputError(f"min_samples_leaf must be a number above 0, not {min_samples_leaf!r}")
    neighbours = check_bound("n_neighbors", n_neighbors, least=1)
    if isinstance(part, LeafOfTree):
        return dataclasses.replace(part, max_depth=depth, min_samples_leaf=least)
    if isinstance(part, NearestDocuments):
        return dataclasses.replace(part, n_neighbors=neighbours)
    return part
