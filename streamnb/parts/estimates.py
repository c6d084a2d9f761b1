"""Estimates: what stands in the place of counts, and how it is smoothed."""

from __future__ import annotations

import dataclasses

from streamnb import _core
from streamnb.errors import InputError
from streamnb.statistics.documents import Documents
from streamnb.statistics.paths import as_arrays, count_paths


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What an event model takes its probabilities from: the counts as they are.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows it.
    max_documents
        What `max_documents=None` means: documents kept in the index.
    """

    name: str
    max_documents: int = 0

    @property
    def substitutes(self) -> bool:
        """Whether other counts stand in the place of those that were counted."""
        return False

    def refresh(self, store: _core.CountStore, alpha: float) -> bool:
        """Give a store new counts to take instead; False if ids changed their meaning meanwhile."""
        return True


@dataclasses.dataclass(frozen=True)
class HigherOrderPaths(Estimate):
    """Paths through the indexed documents in the place of documents (`streamnb.statistics.paths`).

    Attributes
    ----------
    order
        Documents of a path: 2, 3 or 4.
    pure
        Whether only paths between words that never stand in one document count; order 2.
    max_words
        Words that paths go through, those in most indexed documents; None is all, with memory
        that does not depend on their number for plain second-order paths only.

    References
    ----------
    [^1]: Higher-order paper (HONB), Theorems 1 to 3, Equations 8 to 10.
    """

    order: int = 2
    pure: bool = False
    max_words: int | None = None

    @property
    def substitutes(self) -> bool:
        """Paths stand in the place of documents."""
        return True

    def refresh(self, store: _core.CountStore, alpha: float) -> bool:
        """Give a store the paths that contain each word, by class, and all paths of each class."""
        documents = Documents.of(store, ordered=self.max_words is not None)
        paths = count_paths(documents, self.order, self.pure, self.max_words)
        return store.set_effective(documents.counts.layout, alpha, *as_arrays(paths))


SMOOTHING = Estimate("additive")
CORRELATION = Estimate("correlation")
# Pure paths and higher orders have dense matrices, words × words and documents × documents of a
# class: both are bounded.
PATHS = HigherOrderPaths("paths", max_documents=16_384)
PURE_PATHS = HigherOrderPaths("pure-paths", max_documents=16_384, pure=True, max_words=2_000)
PATHS_3 = HigherOrderPaths("paths-3", max_documents=2_000, order=3, max_words=2_000)
PATHS_4 = HigherOrderPaths("paths-4", max_documents=1_000, order=4, max_words=1_000)

ESTIMATES = {
    estimate.name: estimate
    for estimate in (SMOOTHING, CORRELATION, PATHS, PURE_PATHS, PATHS_3, PATHS_4)
}


def paths_of(order: object, pure: object) -> HigherOrderPaths:
    """Return the higher-order paths of an order.

    Raises
    ------
    InputError
        If there are none of this order, or none that are pure.
    """
    if not isinstance(pure, bool):
        raise InputError(f"pure must be True or False, not {pure!r}")
    for part in (PURE_PATHS,) if pure else (PATHS, PATHS_3, PATHS_4):
        if order == part.order and not isinstance(order, bool):
            return part
    allowed = "2 for pure paths" if pure else "2, 3 or 4"
    raise InputError(f"order must be {allowed}, not {order!r}")
