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
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.families.independent import Bernoulli
from streamnb.model.composition import Composition, Estimate, parameter
from streamnb.model.hooks import ComponentStatistic
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import check_flag, optional, whole
from streamnb.statistics.counts import Floats, rows_of
from streamnb.statistics.documents import Documents
from streamnb.statistics.long_paths import all_paths
from streamnb.text.labels import L

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


class Paths(ComponentStatistic):
    """The number of paths that contain each word, by class, and of all paths of each class."""

    def compute(self, sample: _core.Sample) -> tuple[Any, ...]:
        """Count the paths."""
        totals, counts = count_paths(Documents.of(sample), self.component, self.context.threads)
        counts.sort_indices()
        return totals, *rows_of(counts)

    def swap(self, store: _core.CountStore, sample: _core.Sample, found: tuple[Any, ...]) -> bool:
        """Use the paths."""
        return store.set_effective(sample, self.context.parameters.alpha, *found)


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

    statistic: ClassVar[type[ComponentStatistic] | None] = Paths
    store: ClassVar[Mapping[str, Any]] = {"frequencies": False}
    scoring: ClassVar[Mapping[str, Any]] = {"estimate": "effective"}

    order: int = parameter(2, whole(2))
    pure: bool = parameter(False, check_flag)
    max_path_words: int | None = parameter(None, optional(whole(1)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.order, self.pure) not in _BOUNDS:
            allowed = "2 for pure paths" if self.pure else "2, 3 or 4"
            raise InputError(f"order must be {allowed}, not {shown(self.order)}")

    @property
    def indexed(self) -> int:  # type: ignore[override]
        """Documents that paths may contain if `index_size` is None."""
        return _BOUNDS[self.order, self.pure][0]

    @property
    def words(self) -> int | None:
        """Words that paths may contain; None for all."""
        return self.max_path_words or _BOUNDS[self.order, self.pure][1]

    def count(
        self, presence: sparse.csr_array, weights: Floats, threads: int
    ) -> tuple[float, Floats]:
        """Return the number of all paths of a class, and of those that contain each word.

        `presence` is 1 where a document contains a word: shape `(documents, words)`.
        """
        if self.order > 2:
            return all_paths(presence, weights, self.order)
        if self.pure:
            return _pure_second_order(presence, weights)
        return _second_order(presence, weights, threads)


def count_paths(
    documents: Documents, estimate: HigherOrderPaths, threads: int = 1
) -> tuple[Floats, sparse.csr_array]:
    """Return the number of all paths of each class, and of those that contain each word.

    The second number is sparse, of shape `(words, classes)`.

    Parameters
    ----------
    documents
        The documents of the paths.
    estimate
        The kind of paths, and the number of words to consider.
    threads
        Threads that count paths of order 2, except pure ones.

    Examples
    --------
    >>> from streamnb import HONB
    >>> model = HONB()
    >>> for x in ("free cash", "cash prize", "prize now"):
    ...     model.learn_one(x, "spam")
    >>> totals, counts = count_paths(Documents.of(model._store.sample(True)), HigherOrderPaths())
    >>> totals, counts.toarray().ravel()      # cash, free, now, prize
    (array([2.]), array([2., 1., 1., 2.]))
    """
    from scipy import sparse  # importing it at the top would double the import time

    presence = documents.presence
    if estimate.words is not None:
        presence = _most_frequent(documents, estimate.words)
    classes = int(documents.classes.max(initial=-1)) + 1
    totals = np.zeros(classes)
    rows, columns, values = [], [], []
    for class_id in np.unique(documents.classes):
        members = np.flatnonzero(documents.classes == class_id)
        inside = presence[members]
        words = np.unique(inside.indices)
        inside, weights = inside[:, words], documents.weights[members]
        total, counts = estimate.count(inside, weights, threads)
        # With fractional weights the counts are polynomials, which may leave the range.
        totals[class_id] = max(total, 0.0)
        counts = np.clip(counts, 0.0, totals[class_id])
        some = np.flatnonzero(counts)
        rows.append(words[some])
        columns.append(np.full(len(some), class_id))
        values.append(counts[some])
    shape = (presence.shape[1], classes)
    if not rows:
        return totals, sparse.csr_array(shape)
    cells = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return totals, sparse.csr_array(cells, shape=shape)


def _most_frequent(documents: Documents, max_features: int) -> sparse.csr_array:
    """Return the presence of the words that occur in most documents."""
    from scipy import sparse

    presence = documents.presence
    frequency = presence.T @ documents.weights
    if np.count_nonzero(frequency) <= max_features:
        return presence
    # A stable sort keeps words of equal frequency in byte order.
    ranked = np.argsort(-frequency, kind="stable")
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
        _core.cooccurrence_squares(*rows_of(presence)[:2], weights, presence.shape[1], threads)
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
    weighted = presence.multiply(weights[:, np.newaxis]).tocsr()
    together = (presence.T @ weighted).toarray()
    np.fill_diagonal(together, 0.0)
    adjacent = (together > 0).astype(np.float64)
    neighbours = together.sum(axis=1)
    squares = (together**2).sum(axis=1)
    middle = (neighbours**2 - squares - (together * (together @ adjacent)).sum(axis=1)) / 2
    end = together @ neighbours - squares - ((together @ together) * adjacent).sum(axis=1)
    return float(middle.sum()), middle + end


@dataclasses.dataclass(eq=False, repr=False)
class HONB(TextNaiveBayes[L]):
    """Higher-order naive Bayes (HONB).

    The Bernoulli model with paths instead of documents. A path of second order,
    w_1 ~ d_x ~ w_2 ~ d_y ~ w_3, joins three different words through two different documents of a
    class, so words that never occur together support one another. The model suits few labelled
    documents. With ñ_wc the paths of class c that contain w, and h_c all of them,

        ln P(c) + Σ_{w in d} ln p_wc + Σ_{w not in d} ln(1 − p_wc)      (Equation 11)
        p_wc = (ñ_wc + α) / (h_c + 2α)                                  (Equation 8)
        P(c) = h_c / Σ_c h_c                                            (Equation 10)

    Paths are never enumerated: they have a closed form (Theorem 1, summed), and paths of 3 or 4
    documents are sums over partitions (Theorems 2 and 3). A class without paths counts as one with
    a single path in the empirical prior.

    Paths are counted over the indexed documents when statistics are refreshed. A newer word or
    class has no path and is estimated from the smoothing alone: a new class has p = 1/2 for every
    word and is hardly ever predicted. With `refresh_every=1` the paths are always current.

    A prediction costs the words of the message. A refresh costs Σ |d|² over the indexed documents
    d, with memory that does not depend on the pairs of words. Pure paths and orders 3 and 4 have
    dense matrices, words × words, and are for small collections: 1,000 messages of 20 words out of
    1,000 take 0.8 s in order 3 and 5 s in order 4.

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

    composition: ClassVar[Composition] = Composition(Bernoulli(), estimate=HigherOrderPaths())

    order: int = 2
    pure: bool = False
    max_path_words: int | None = None
