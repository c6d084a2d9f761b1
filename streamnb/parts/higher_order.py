"""Higher-order paths: chains of words through several documents, in the place of documents."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.parameters import check_bound, check_flag
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Estimate, Setup
from streamnb.statistics.documents import Documents
from streamnb.statistics.paths import as_arrays, count_paths
from streamnb.statistics.refreshing import Refresher

# By order and purity: documents that paths go through, and words. Pure paths and higher orders
# have dense matrices, words × words and documents × documents of a class: both are bounded.
_BOUNDS: dict[tuple[int, bool], tuple[int, int | None]] = {
    (2, False): (16_384, None),
    (2, True): (16_384, 2_000),
    (3, False): (2_000, 2_000),
    (4, False): (1_000, 1_000),
}


@dataclasses.dataclass(frozen=True)
class HigherOrderPaths(
    Estimate,
    names={
        "paths": {"order": 2, "pure": False},
        "pure-paths": {"order": 2, "pure": True},
        "paths-3": {"order": 3, "pure": False},
        "paths-4": {"order": 4, "pure": False},
    },
):
    """Paths through the indexed documents in the place of documents (`streamnb.statistics.paths`).

    Attributes
    ----------
    order
        Documents of a path: 2, 3 or 4.
    pure
        Whether only paths between words that never stand in one document count; order 2.
    max_path_words
        Words that paths go through, those in most indexed documents, 1 or more; None is all for
        order 2, else 2,000 and 1,000, and 2,000 for pure paths. Without a bound, memory does not
        depend on the number of words for plain second-order paths only.

    References
    ----------
    [^1]: Higher-order paper (HONB), Theorems 1 to 3, Equations 8 to 10.
    """

    order: int = 2
    pure: bool = False
    max_path_words: int | None = None

    def __post_init__(self) -> None:
        self._check("pure", check_flag)
        whole = isinstance(self.order, int) and not isinstance(self.order, bool)
        if not whole or (self.order, self.pure) not in _BOUNDS:
            allowed = "2 for pure paths" if self.pure else "2, 3 or 4"
            raise InputError(f"order must be {allowed}, not {shown(self.order)}")
        if self.max_path_words is not None:
            self._check("max_path_words", check_bound, 1)

    @property
    def index_size(self) -> int:
        """Documents that paths go through, where `index_size` is None."""
        return _BOUNDS[self.order, self.pure][0]

    @property
    def words(self) -> int | None:
        """Words that paths go through; None for all."""
        if self.max_path_words is not None:
            return self.max_path_words
        return _BOUNDS[self.order, self.pure][1]

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for no histogram of document frequencies and no pairs: paths are counted."""
        return {"frequencies": False, "max_pairs": 0}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for scores on the paths."""
        return {"effective": True}

    def in_use(self, setup: Setup) -> InUse:
        """Keep the paths."""
        return InUse(Paths(self, setup.parameters.alpha, setup.threads))


@dataclasses.dataclass(frozen=True)
class Paths(Refresher[_core.CountStore]):
    """The paths that contain each word, by class, and all paths of each class.

    Attributes
    ----------
    estimate
        Which paths count.
    alpha
        The smoothing.
    threads
        On how many paths of order 2 are counted, at least 1.
    """

    estimate: HigherOrderPaths
    alpha: float
    threads: int

    def swap(self, store: _core.CountStore) -> bool:
        """Count the paths."""
        order, pure, words = self.estimate.order, self.estimate.pure, self.estimate.words
        documents = Documents.of(store, ordered=words is not None)
        paths = count_paths(documents, order, pure, words, self.threads)
        return store.set_effective(documents.counts.layout, self.alpha, *as_arrays(paths))

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the paths in use."""
        return store.effective()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take the paths of a copy."""
        totals, indptr, classes, counts = state
        store.set_effective(
            store.layout,
            self.alpha,
            np.frombuffer(totals),
            np.frombuffer(indptr, np.int64),
            np.frombuffer(classes, np.int64),
            np.frombuffer(counts),
        )
