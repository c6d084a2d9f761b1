"""Higher-order naive Bayes: HONB. It counts chains of words and documents instead of documents.

A path of order k is w_0 ~ d_1 ~ w_1 ~ … ~ d_k ~ w_k: k documents and k + 1 words, all different,
each document containing the words on both sides of it. A path and its reverse are one path. A
document of weight w is w equal documents.

References
----------
[^1]: Higher-order paper (HONB), sections III and IV: Theorems 1 to 3, Equations 8 to 10.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.families.independent import Bernoulli
from streamnb.model.base import TextNaiveBayes
from streamnb.model.composition import BuildContext, Composition, Estimate
from streamnb.model.hooks import Hook, PeriodicStatistic
from streamnb.parameters import Check, check_flag, optional, whole
from streamnb.statistics.counts import Floats
from streamnb.statistics.documents import Documents

if TYPE_CHECKING:
    from scipy import sparse

# Maximum documents and words by order and purity. Pure paths and higher orders have dense matrices,
# words × words and documents × documents of a class, so both are bounded.
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
    """Paths through the indexed documents instead of documents.

    `HONB` documents the parameters.

    References
    ----------
    [^1]: Higher-order paper (HONB), Theorems 1 to 3, Equations 8 to 10.
    """

    store: ClassVar[Mapping[str, Any]] = {"frequencies": False}
    scoring: ClassVar[Mapping[str, Any]] = {"estimate": "effective"}

    constraints: ClassVar[Mapping[str, Check]] = {
        "pure": check_flag,
        "max_path_words": optional(whole(1)),
    }

    order: int = 2
    pure: bool = False
    max_path_words: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.order, int) and not isinstance(self.order, bool)
        if not whole or (self.order, self.pure) not in _BOUNDS:
            allowed = "2 for pure paths" if self.pure else "2, 3 or 4"
            raise InputError(f"order must be {allowed}, not {shown(self.order)}")

    @property
    def index_size(self) -> int:
        """Documents that paths may contain if `index_size` is None."""
        return _BOUNDS[self.order, self.pure][0]

    @property
    def words(self) -> int | None:
        """Words that paths may contain; None for all."""
        if self.max_path_words is not None:
            return self.max_path_words
        return _BOUNDS[self.order, self.pure][1]

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic of the paths."""
        return (Paths(self, context.parameters.alpha, context.threads),)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Paths(PeriodicStatistic):
    """The number of paths that contain each word, by class, and of all paths of each class.

    `threads` count paths of order 2.
    """

    estimate: HigherOrderPaths
    alpha: float
    threads: int

    def swap(self, store: _core.CountStore) -> bool:
        """Count the paths."""
        order, pure, words = self.estimate.order, self.estimate.pure, self.estimate.words
        documents = Documents.of(store, ordered=words is not None)
        paths = count_paths(documents, order, pure, words, self.threads)
        counts = paths.counts.tocsr()
        counts.sort_indices()
        return store.set_effective(
            documents.counts.layout,
            self.alpha,
            np.ascontiguousarray(paths.totals, dtype=np.float64),
            np.ascontiguousarray(counts.indptr, dtype=np.int64),
            np.ascontiguousarray(counts.indices, dtype=np.int64),
            np.ascontiguousarray(counts.data, dtype=np.float64),
        )

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the current paths."""
        return store.effective()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Restore the paths that `state` returned."""
        totals, indptr, classes, counts = state
        store.set_effective(
            store.layout,
            self.alpha,
            np.frombuffer(totals),
            np.frombuffer(indptr, np.int64),
            np.frombuffer(classes, np.int64),
            np.frombuffer(counts),
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Effective:
    """Numbers of paths: `counts` of each word and class, and `totals` of each class.

    `counts` is sparse, of shape `(words, classes)`.
    """

    totals: Floats
    counts: sparse.csr_array


def count_paths(
    documents: Documents,
    order: int = 2,
    pure: bool = False,
    max_features: int | None = None,
    threads: int = 1,
) -> Effective:
    """Count the paths that contain each word, and all paths, class by class.

    Parameters
    ----------
    documents
        The documents of the paths.
    order, pure
        As in `HONB`.
    max_features
        Number of words to consider, those in most documents, ties in byte order. None is all.
    threads
        Threads that count plain paths of order 2.

    Examples
    --------
    >>> from streamnb import HONB
    >>> model = HONB()
    >>> for x in ("free cash", "cash prize", "prize now"):
    ...     model.learn_one(x, "spam")
    >>> paths = count_paths(Documents.of(model._store))   # free~cash~prize, cash~prize~now
    >>> paths.totals, paths.counts.toarray().ravel()      # free, cash, prize, now
    (array([2.]), array([1., 2., 2., 1.]))
    """
    from scipy import sparse  # importing it at the top would double the import time

    presence = documents.presence
    if max_features is not None:
        presence = _most_frequent(documents, max_features)
    classes = int(documents.classes.max(initial=-1)) + 1
    totals = np.zeros(classes)
    rows, columns, values = [], [], []
    for class_id in np.unique(documents.classes):
        members = np.flatnonzero(documents.classes == class_id)
        inside = presence[members]
        words = np.unique(inside.indices)
        inside, weights = inside[:, words], documents.weights[members]
        if order > 2:
            total, counts = all_paths(inside, weights, order)
        elif pure:
            total, counts = _pure_second_order(inside, weights)
        else:
            total, counts = _second_order(inside, weights, threads)
        # With fractional weights the counts are polynomials, which may leave the range.
        totals[class_id] = max(total, 0.0)
        counts = np.clip(counts, 0.0, totals[class_id])
        some = np.flatnonzero(counts)
        rows.append(words[some])
        columns.append(np.full(len(some), class_id))
        values.append(counts[some])
    shape = (presence.shape[1], classes)
    if not rows:
        return Effective(totals, sparse.csr_array(shape))
    cells = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return Effective(totals, sparse.csr_array(cells, shape=shape))


def _most_frequent(documents: Documents, max_features: int) -> sparse.csr_array:
    """Return the presence of the words that occur in most documents."""
    from scipy import sparse

    presence = documents.presence
    frequency = presence.T @ documents.weights
    if np.count_nonzero(frequency) <= max_features:
        return presence
    # A stable sort keeps words of equal frequency in byte order.
    ranked = documents.word_order[np.argsort(-frequency[documents.word_order], kind="stable")]
    kept = np.zeros(presence.shape[1])
    kept[ranked[:max_features]] = 1.0
    left = sparse.csr_array(presence.multiply(kept[np.newaxis, :]))
    left.eliminate_zeros()
    return left


def _second_order(
    presence: sparse.csr_array, weights: Floats, threads: int
) -> tuple[float, Floats]:
    """Return all second-order paths of a class, and those with each word: Theorem 1, summed.

    With A the co-occurrences of words (zero diagonal), s = A 1 and q = (A ∘ A) 1, word j is in the
    middle of (s_j² − q_j) / 2 − Σ_{d ∋ j} C(|d| − 1, 2) paths, and word i at the end of
    (A s)_i − q_i − Σ_{d ∋ i} (|d| − 1)(|d| − 2). Only q needs A, one row at a time, so memory does
    not depend on the nonzeros of A.
    """
    lengths = np.diff(presence.indptr).astype(np.float64)
    transposed = presence.T.tocsr()
    frequency = transposed @ weights
    neighbours = transposed @ (weights * (lengths - 1))
    presence.sort_indices()
    squares = np.frombuffer(
        _core.cooccurrence_squares(
            presence.indptr.astype(np.int64),
            presence.indices.astype(np.int64),
            np.ascontiguousarray(weights),
            presence.shape[1],
            threads,
        )
    )
    beyond = transposed @ (weights * (presence @ neighbours)) - frequency * neighbours
    same = transposed @ (weights * (lengths - 1) * (lengths - 2))
    middle = (neighbours**2 - squares - same) / 2
    return float(middle.sum()), middle + beyond - squares - same


def _pure_second_order(presence: sparse.csr_array, weights: Floats) -> tuple[float, Floats]:
    """Return the second-order paths of a class whose ends share no document, and each word's.

    No document contains all three words of such a path, so Theorem 1 is a product. With
    I = [A > 0] and B = A A, word j is in the middle of (s_j² − q_j − Σ_k A_jk (A I)_jk) / 2, and
    word i at the end of (A s)_i − q_i − Σ_k B_ik I_ik. The matrices are dense.
    """
    together = cooccurrences(presence, weights)
    np.fill_diagonal(together, 0.0)
    adjacent = (together > 0).astype(np.float64)
    neighbours = together.sum(axis=1)
    squares = (together**2).sum(axis=1)
    middle = (neighbours**2 - squares - (together * (together @ adjacent)).sum(axis=1)) / 2
    end = together @ neighbours - squares - ((together @ together) * adjacent).sum(axis=1)
    return float(middle.sum()), middle + end


# --- paths of any order ---------------------------------------------------------------------------

# Theorems 1 to 3 count the choices of different *documents* by inclusion and exclusion: a signed
# sum over the ways to let documents coincide. The same over the ways to let *words* coincide leaves
# sums in which every word and document is chosen freely. Each such sum is a small graph (which
# words must occur in which documents). It is computed by products of matrices that eliminate one
# vertex at a time. Graphs that differ only in names are computed once.

# A graph: for each word, the bits of the documents that must contain it. The paths of the first
# word are counted.
Graph = tuple[int, ...]


def cooccurrences(presence: sparse.csr_array, weights: Floats) -> Floats:
    """Return Xᵀ W X as a dense matrix: the weight of the documents that two words share."""
    weighted = presence.multiply(weights[:, np.newaxis])
    return (presence.T @ weighted.tocsr()).toarray()


def all_paths(presence: sparse.csr_array, weights: Floats, order: int) -> tuple[float, Floats]:
    """Return the number of all paths of an order, 1 to 4, and of those that contain each word.

    `presence` is 1 where a document contains a word: shape `(documents, words)`. Up to order 4,
    each eliminated vertex has at most two neighbours.
    """
    summed = _Sums(presence, weights)
    counts = np.zeros(presence.shape[1])
    total = 0.0
    for place, graphs in enumerate(path_graphs(order)):
        # Both directions are counted: a path once at this place, and reversed at the opposite one.
        at_place = np.zeros_like(counts)
        for graph, sign in graphs.items():
            at_place += sign * summed.of(graph)
        counts += at_place / 2 if 2 * place == order else at_place
        if place == 0:
            total = float(at_place.sum()) / 2
    return total, counts


@functools.cache
def path_graphs(order: int) -> tuple[dict[Graph, int], ...]:
    """Return the signed graphs that count the words at each place up to the middle."""
    places: list[Counter[Graph]] = [Counter() for _ in range(order // 2 + 1)]
    for words in _partitions(order + 1):
        for documents in _partitions(order):
            masks = [0] * (max(words) + 1)
            for place, document in enumerate(documents):
                masks[words[place]] |= 1 << document
                masks[words[place + 1]] |= 1 << document
            sign = _sign(words) * _sign(documents)
            for place, counter in enumerate(places):
                first = masks[words[place]]
                others = masks[: words[place]] + masks[words[place] + 1 :]
                counter[_canonical(first, others, max(documents) + 1)] += sign
    return tuple(
        {graph: sign for graph, sign in counter.items() if sign != 0} for counter in places
    )


def _partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of n items as block numbers, in order of first appearance."""
    for blocks in itertools.product(*(range(place + 1) for place in range(n))):
        if all(block <= max(blocks[:place], default=-1) + 1 for place, block in enumerate(blocks)):
            yield blocks


def _sign(blocks: tuple[int, ...]) -> int:
    """Return the inclusion-exclusion coefficient: Π (−1)^(b−1) (b−1)! over the blocks."""
    return math.prod((-1) ** (b - 1) * math.factorial(b - 1) for b in Counter(blocks).values())


def _canonical(first: int, others: list[int], documents: int) -> Graph:
    """Return the representative of all graphs that differ only in names."""

    def renamed(names: tuple[int, ...]) -> Graph:
        def rename(mask: int) -> int:
            return sum(1 << names[bit] for bit in range(documents) if mask >> bit & 1)

        return (rename(first), *sorted(map(rename, others)))

    return min(map(renamed, itertools.permutations(range(documents))))


# Describes a vector or a matrix. Vertices are words "w0" (whose paths are counted), "w1" … and
# documents "d0" …
_Key = tuple[object, ...]


class _Sums:
    """The sums of graphs over one class, with a cache of shared intermediate results."""

    def __init__(self, presence: sparse.csr_array, weights: Floats) -> None:
        self._presence = presence.toarray()
        self._ones = np.ones(presence.shape[1])
        self._weights = weights
        self._known: dict[_Key, Floats] = {}

    def of(self, graph: Graph) -> Floats:
        """Return the weight of all choices of the other words, for each first word."""
        vectors: dict[str, _Key] = {}
        edges: dict[str, dict[str, _Key]] = {}
        for number, mask in enumerate(graph):
            word = f"w{number}"
            vectors[word] = ("ones",)
            edges.setdefault(word, {})
            for bit in range(mask.bit_length()):
                if mask >> bit & 1:
                    document = f"d{bit}"
                    vectors[document] = ("weights",)
                    edges[word][document] = ("presence", True)
                    edges.setdefault(document, {})[word] = ("presence", False)
        while len(vectors) > 1:
            vertex = min(
                (vertex for vertex in vectors if vertex != "w0"),
                key=lambda vertex: (len(edges[vertex]), vertex),
            )
            self._eliminate(vertex, vectors, edges)
        return self._value(vectors["w0"])

    def _eliminate(
        self, vertex: str, vectors: dict[str, _Key], edges: dict[str, dict[str, _Key]]
    ) -> None:
        """Sum over all choices of a vertex with one or two neighbours."""
        vector, around = vectors.pop(vertex), sorted(edges.pop(vertex))
        sides = [edges[other].pop(vertex) for other in around]
        if len(around) == 1:
            (one,) = around
            vectors[one] = ("scale", *sorted((vectors[one], ("sum", sides[0], vector)), key=repr))
            return
        one, other = around
        # A matrix and its transpose share one description.
        product: _Key = ("chain", sides[0], vector, sides[1])
        for start, end, key in ((one, other, product), (other, one, _reversed(product))):
            present = edges[start].get(end)
            edges[start][end] = (
                key if present is None else ("times", *sorted((present, key), key=repr))
            )

    def _value(self, key: _Key) -> Floats:
        """Return the vector or matrix of a description."""
        if key not in self._known:
            # Reuse the transposed product if it is cached.
            turned = self._known.get(_reversed(key)) if key[0] == "chain" else None
            self._known[key] = self._computed(*key) if turned is None else turned.T
        return self._known[key]

    def _computed(self, kind: object, *parts: object) -> Floats:
        if kind == "ones":
            return self._ones
        if kind == "weights":
            return self._weights
        if kind == "presence":
            return self._presence.T if parts[0] else self._presence
        first, *rest = (self._value(part) for part in parts)  # type: ignore[arg-type]
        if kind == "chain":
            # Descriptions of matrices begin with the rows of the neighbour.
            vector, last = rest
            result: Floats = (first * vector) @ last.T
        elif kind == "sum":
            result = first @ rest[0]
        else:
            result = first * rest[0]
        return result


def _reversed(key: _Key) -> _Key:
    """Return the description of the transposed product."""
    kind, first, vector, last = key
    return kind, last, vector, first


@dataclasses.dataclass(eq=False, repr=False)
class HONB(TextNaiveBayes):
    """Higher-order naive Bayes (HONB).

    The Bernoulli model with paths instead of documents. A path of second order,
    w_1 ~ d_x ~ w_2 ~ d_y ~ w_3, joins three different words through two different documents of a
    class, so words that never occur together support one another. The model suits few labelled
    documents. With ñ_wc the paths of class c that contain w, and h_c all of them,

        ln P(c) + Σ_{w in d} ln p_wc + Σ_{w not in d} ln(1 − p_wc)      (Equation 11)
        p_wc = (ñ_wc + α) / (h_c + 2α)                                  (Equation 8)
        P(c) = h_c / Σ_c h_c                                            (Equation 10)

    Paths are never enumerated: second order has a closed form, orders 3 and 4 are sums over
    partitions. A class without paths counts as one with a single path in the empirical prior.

    Paths are counted over the indexed documents when statistics are refreshed. A newer word or
    class has no path and is estimated from the smoothing alone: a new class has p = 1/2 for every
    word and is hardly ever predicted. With `refresh_every=1` the paths are always current.

    A prediction costs the words of the message. A refresh of order 2 costs Σ |d|² over the indexed
    documents d, with memory that does not depend on the pairs of words. Pure paths and orders 3 and
    4 have dense matrices, words × words and documents × documents of a class, and are for small
    collections.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    order
        Documents of a path: 2, 3 or 4.
    pure
        Whether only paths between words that share no document of the class count; order 2 only.
    max_path_words
        Words that paths may contain, 1 or more: those in most indexed documents, ties in byte
        order; others have no path. None means all for order 2, 2,000 for pure paths and order 3,
        and 1,000 for order 4.
    index_size
        Recent documents that paths may contain, 0 or more. None is 16,384 for order 2, 2,000 for
        order 3 and 1,000 for order 4.

    Examples
    --------
    >>> from streamnb import HONB
    >>> model = HONB(refresh_every=1, prior="uniform")
    >>> spam, ham = ("win cash", "cash prize"), ("lunch noon", "noon train")
    >>> for x, y in [*((text, "spam") for text in spam), *((text, "ham") for text in ham)]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("win a prize")      # win ~ cash ~ prize
    'spam'

    References
    ----------
    [^1]: Ganiz, George and Pottenger (2011), Higher order naive Bayes: a novel non-IID approach to
          text classification. Equations 8 to 11, Theorems 1 to 3.
    """

    composition = Composition(Bernoulli(), estimate=HigherOrderPaths())

    order: int = 2
    pure: bool = False
    max_path_words: int | None = None
