"""Slow literal versions of the models that use only some past documents.

The documents are selected again for each message: the tree is grown along the path of the message,
or the nearest documents are sorted by their cosine. Then the literal event model of
`references.independent` scores the message, with weight 0 for the other documents. Nothing is
imported from streamnb.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from references.documents import Array, Documents
from references.independent import Reference
from references.relevance import in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

# Numbers this close differ only by rounding.
TIE = 1e-12


class _Slice(Reference):
    """An event model on some documents, with all classes and words of the stream."""

    def _log_prior(self, docs: Documents, members: NDArray[np.bool_]) -> float:
        if self.prior != "empirical":
            return super()._log_prior(docs, members)
        # A class without documents gets weight 1.
        weight = {c: float(docs.weights[docs.of(c)].sum()) or 1.0 for c in docs.classes}
        inside = {c for c, member in zip(docs.labels, members, strict=True) if member}
        if not inside:
            return 0.0
        return math.log(sum(weight[c] for c in inside) / sum(weight.values()))


class NeighbourhoodReference:
    """Scores of one model given past documents.

    Parameters
    ----------
    name
        An event of `references.independent.PRIORS`, with the suffix "Tree" or the prefix "LWW"; or
    the
        event alone, with `neighbourhood`.
    neighbourhood
        `"tree"` or `"nearest"`; None follows the name.
    max_depth, min_samples_leaf
        Limits of the tree.
    n_neighbors
        Number of nearest documents.
    index_size
        Number of most recent documents that are known; None for all.
    parameters
        Parameters of `references.independent.Reference`.
    """

    def __init__(
        self,
        name: str,
        neighbourhood: str | None = None,
        max_depth: int = 64,
        min_samples_leaf: float = 50.0,
        n_neighbors: int = 50,
        index_size: int | None = None,
        prior: str | None = None,
        **parameters: Any,
    ) -> None:
        event = name.replace("Tree", "").replace("LWW", "")
        self.neighbourhood = neighbourhood or ("tree" if "Tree" in name else "nearest")
        self.event = _Slice(event, prior=prior or "laplace", **parameters)
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.n_neighbors = n_neighbors
        self.index_size = index_size
        self._splits: tuple[Documents | None, dict[Any, Any]] = None, {}

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`."""
        if not docs.labels:
            return {}
        kept = len(docs.labels) if self.index_size is None else self.index_size
        known = np.arange(len(docs.labels)) >= len(docs.labels) - kept
        find = self._leaf if self.neighbourhood == "tree" else self._nearest
        weights = find(docs, known, {word: count for word, count in x.items() if count > 0})
        local = Documents(docs.words, docs.counts, docs.labels, docs.weights * weights)
        return self.event.joint_log_likelihood(local, x)

    # --- trees --------------------------------------------------------------------------------

    def _leaf(self, docs: Documents, known: NDArray[np.bool_], x: Mapping[Any, float]) -> Array:
        """Return 1 for the documents in the leaf of `x`, else 0."""
        if self._splits[0] is not docs:
            self._splits = docs, {}
        members, path = known, ()
        while (word := self._split(docs, members, path)) is not None:
            contains = docs.counts[:, docs.words[word]] > 0
            members = members & (contains if word in x else ~contains)
            path = (*path, (word, word in x))
        return members.astype(float)

    def _split(self, docs: Documents, members: NDArray[np.bool_], path: Any) -> Any:
        """Return the word that splits the node at the end of a path; None in a leaf."""
        splits = self._splits[1]
        if path not in splits:
            splits[path] = None if len(path) >= self.max_depth else self._best(docs, members)
        return splits[path]

    def _best(self, docs: Documents, members: NDArray[np.bool_]) -> Any:
        """Return the word to split on, or None."""
        found = self._two_best(docs, members)
        return None if found is None else found[0]

    def _two_best(self, docs: Documents, members: NDArray[np.bool_]) -> Any:
        """Return the word to split on, its gain and the gain of the next one; or None."""
        weights = docs.weights * members
        if len({c for c, member in zip(docs.labels, members, strict=True) if member}) < 2:
            return None
        presence = docs.counts > 0
        of_class = np.array([weights * docs.of(c) for c in docs.classes])
        present = weights @ presence
        absent = weights.sum() - present
        gain = (
            _entropy(of_class.sum(axis=1)[:, None])[0]
            - (present * _entropy(of_class @ presence) + absent * _entropy(of_class @ ~presence))
            / weights.sum()
        )
        most = gain.max(initial=0.0)
        if most <= TIE:
            return None
        ties = [word for word, j in docs.words.items() if gain[j] >= most - TIE]
        best = min(ties, key=in_bytes)
        j = docs.words[best]
        if min(present[j], absent[j]) < self.min_samples_leaf:
            return None
        others = [gain[other] for word, other in docs.words.items() if word != best]
        return best, float(gain[j]), float(max(others, default=0.0))

    # --- nearest ------------------------------------------------------------------------------

    def _nearest(self, docs: Documents, known: NDArray[np.bool_], x: Mapping[Any, float]) -> Array:
        """Return the weights of the nearest documents, 0 for others."""
        row = np.zeros(len(docs.words))
        for word, count in x.items():
            if word in docs.words:
                row[docs.words[word]] = count
        length = math.hypot(*x.values())
        lengths = np.array([math.hypot(*counts) for counts in docs.counts])
        products = np.where(known, docs.counts @ row, 0.0)
        shares = products > 0
        cosines = np.divide(products, length * lengths, out=np.zeros_like(products), where=shares)
        distances = np.sort(1 - cosines[known])
        # The distance of the first document outside; others have infinite distance.
        far = distances[self.n_neighbors] if len(distances) > self.n_neighbors else 1.0
        near = shares & (1 - cosines < far - TIE)
        if not near.any():
            return (shares & (1 - cosines <= far + TIE)).astype(float)
        linear = np.where(near, 1 - (1 - cosines) / (far or 1.0), 0.0)
        return linear / linear[near].mean()


class OnlineTreeReference(NeighbourhoodReference):
    """Scores of a tree that grows by Hoeffding's bound, document by document.

    Parameters
    ----------
    name, parameters
        As in `NeighbourhoodReference`.
    grow
        `"hoeffding"`.
    delta, tau, grace_period
        As in `streamnb.MNBTree`.
    """

    def __init__(
        self, name: str, grow: str, delta: float, tau: float, grace_period: float, **parameters: Any
    ) -> None:
        super().__init__(name, **parameters)
        self.delta, self.tau, self.grace_period = delta, tau, grace_period
        self.stream: list[tuple[Mapping[Any, float], Any, float]] = []
        # The word of each split, and the weight since the last check of each leaf, by path.
        self.splits: dict[Any, Any] = {}
        self.waited: dict[Any, float] = {}

    def _reached(self, x: Mapping[Any, float]) -> tuple[Documents, NDArray[np.bool_], Any]:
        """Return all documents, which of them are in the leaf of `x`, and the path of the leaf."""
        docs = Documents.from_list(self.stream)
        kept = len(docs.labels) if self.index_size is None else self.index_size
        members, path = np.arange(len(docs.labels)) >= len(docs.labels) - kept, ()
        while path in self.splits:
            word = self.splits[path]
            contains = docs.counts[:, docs.words[word]] > 0
            has = x.get(word, 0.0) > 0
            members = members & (contains if has else ~contains)
            path = (*path, (word, has))
        return docs, members, path

    def scores(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class."""
        if not self.stream:
            return {}
        docs, members, _ = self._reached(x)
        local = Documents(docs.words, docs.counts, docs.labels, docs.weights * members)
        return self.event.joint_log_likelihood(local, x)

    def learn(self, x: Mapping[Any, float], y: Any, w: float) -> None:
        """Learn a document, and split its leaf if a word is certain enough."""
        self.stream.append((x, y, w))
        docs, members, path = self._reached(x)
        self.waited[path] = self.waited.get(path, 0.0) + w
        if self.waited[path] < self.grace_period:
            return
        self.waited[path] = 0.0
        found = None if len(path) >= self.max_depth else self._two_best(docs, members)
        if found is None:
            return
        word, best, second = found
        n = float((docs.weights * members).sum())
        classes = len({c for c, member in zip(docs.labels, members, strict=True) if member})
        bound = math.log(classes) * math.sqrt(math.log(1 / self.delta) / (2 * n))
        if best - second > bound + TIE or bound < self.tau:
            # The side without the word keeps the leaf, whose weight is 0 now.
            self.splits[path] = word


def _entropy(of_class: Array) -> Array:
    """Return −Σ p ln p of each column of weights, 0 if they are all 0."""
    total = of_class.sum(axis=0)
    shares = np.divide(of_class, total, out=np.zeros_like(of_class), where=total > 0)
    return -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=0)
