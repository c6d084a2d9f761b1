"""Hidden naive Bayes: HNB and PHNB. Each attribute has a parent mixed from its package."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.columns.reading import Columns
from streamnb.errors import InputError
from streamnb.families.correlation import LearnedFactor
from streamnb.families.independent import Multinomial
from streamnb.model.choices import PackageThreshold
from streamnb.model.composition import (
    WALKED,
    BuildContext,
    Composition,
    Dependence,
    Event,
    parameter,
)
from streamnb.model.hooks import ComponentStatistic, Hook
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import check_bound, check_flag, number_or, optional, whole
from streamnb.statistics.counts import Floats, Integers, rows_of
from streamnb.statistics.documents import Documents, blocks
from streamnb.text.labels import L

# A threshold at the average includes values equal to it up to rounding.
_TIE = 1 - 1e-9
# Losses are multiples of one part in so many: the last bits of a probability depend on the order of
# class ids, which changes when a model is restored.
_STEPS = 2.0**24
# Least probability of a log loss.
_LEAST = 1e-300
# Rounding error of a zero.
_NOTHING = 1e-14
# WEKA's HNB drops terms whose probabilities are smaller.
_DROPPED = 1e-6
# Number of pairs in one block of counting.
_BLOCK = 2_000_000

_check_threshold = number_or(("average", "auto"), "'average', 'auto' or a number of bits")


@dataclasses.dataclass(frozen=True)
class Attributes(Event, name="attributes"):
    """A message maps attributes to values; numbers are binned.

    `HNB` documents the parameters.

    References
    ----------
    [^1]: Packaged hidden naive Bayes (Ji, Yu, Zhang), Equations 4 to 7.
    """

    prior: ClassVar[str] = "m-estimate"
    counts: ClassVar[bool] = False
    columns: ClassVar[bool] = True

    bins: int = dataclasses.field(default=10, compare=False)
    values: Mapping[str, int] | None = dataclasses.field(default=None, compare=False)

    def reader(self) -> Columns | None:
        """Return the reader that turns attributes into words."""
        return Columns(self.bins, self.values)

    def prepare(self, store: _core.CountStore, context: BuildContext) -> None:
        """Declare the numbers of values of attributes."""
        store.declare(Columns(self.bins, self.values).declared)


class BagThreshold(LearnedFactor):
    """The multiple of the average information with the least log loss so far, on a tie 1.

    Each multiple scores each message before it is learned. `costs` are the sums of −ln P(y|x), at
    most 690 for a message. The paper leaves an automatic threshold to future work.
    """

    name = "bags"
    # From hidden to plain naive Bayes.
    grid: ClassVar[tuple[float, ...]] = (0.0, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0, math.inf)

    def __init__(self, make: Callable[..., _core.ScoringConfig]) -> None:
        self.average: float = 0.0
        self._make = make
        super().__init__(make)

    def _candidates(self, make: Callable[..., _core.ScoringConfig]) -> list[_core.ScoringConfig]:
        """Return the scoring of each threshold."""
        finite = (0.0 < factor < math.inf for factor in self.grid)
        return [
            make(bag_threshold=factor * self.average * _TIE if of_average else factor)
            for factor, of_average in zip(self.grid, finite, strict=True)
        ]

    def use(self, average: float) -> None:
        """Use multiples of a new average."""
        self.average = average
        self.candidates: list[_core.ScoringConfig] = self._candidates(self._make)
        self.choose()

    def _costs(self, store: _core.CountStore, x: Any, class_id: int) -> list[float]:
        """Return the log loss of each threshold on a message of a class."""
        shares = [store.probabilities(x, each)[class_id] for each in self.candidates]
        return [round(-math.log(max(share, _LEAST)) * _STEPS) / _STEPS for share in shares]

    def choose(self) -> None:
        """Use the threshold with the least log loss."""
        least = min(self.costs) * (1 + 1e-9)
        ties = [place for place, cost in enumerate(self.costs) if cost <= least]
        average = self.grid.index(1.0)
        self._place = average if average in ties else ties[0]
        self.scoring: _core.ScoringConfig = self.candidates[self._place]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Packages(ComponentStatistic):
    """The packages of a model, with all pairs if `threshold` selects from them."""

    threshold: BagThreshold | None = None

    @property
    def may_wait(self) -> bool:  # type: ignore[override]
        """A learned threshold changes together with the packages."""
        return self.threshold is None and super().may_wait

    def compute(self, sample: _core.Sample) -> tuple[Integers, Integers, Floats, float]:
        """Compute the packages, and the average information of all pairs."""
        documents, packaged = Documents.of(sample), self.component
        if self.context.composition.event.columns:
            pairs = attribute_information(documents, packaged.max_links)
        else:
            # m if it is known, at least the number of learned words.
            words = max(self.context.parameters.vocabulary_size, float(documents.words.shape[1]))
            pairs = word_information(documents, words, packaged.max_links, self.context.threads)
        least = packaged.bag_threshold if self.threshold is None else 0.0
        bits = pairs.average * _TIE if isinstance(least, str) else float(least)
        kept = pairs.bits >= bits
        first, second = pairs.first[kept], pairs.second[kept]
        return first, second, pairs.bits[kept], pairs.average

    def swap(
        self,
        store: _core.CountStore,
        sample: _core.Sample,
        found: tuple[Integers, Integers, Floats, float],
    ) -> bool:
        """Use the packages."""
        *pairs, average = found
        is_used = store.set_packages(sample, *pairs)
        if is_used and self.threshold is not None:
            self.threshold.use(average)
        return is_used

    def state(self, class_ids: list[int]) -> str | None:
        """Return the average information; the snapshot of the store contains the packages."""
        return None if self.threshold is None else self.threshold.average.hex()

    def restore(self, state: Any) -> None:
        """Restore the average information."""
        if self.threshold is not None:
            average = float.fromhex(state)
            if not 0 <= average < math.inf:
                raise ValueError(f"invalid average information: {average}")
            self.threshold.use(average)


@dataclasses.dataclass(frozen=True)
class Packaged(Dependence, name="packaged"):
    """Each attribute has one hidden parent, mixed from the attributes in its package.

    A package contains the attributes whose conditional mutual information with its own attribute
    reaches the threshold. An attribute with an empty package is plain naive Bayes. In texts each
    word is an attribute, and packages contain words that occur together.

    `HNB` and `PHNB` document the parameters.

    References
    ----------
    [^1]: Packaged hidden naive Bayes, Equations 4–11.
    """

    indexed: ClassVar[int] = WALKED
    statistic = Packages

    bag_threshold: PackageThreshold = parameter("average", _check_threshold, compare=False)
    max_links: int = parameter(1_000_000, whole(0), compare=False)
    max_parents: int | None = parameter(None, optional(whole(1)), compare=False)

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic of the packages, and the threshold that is learned."""
        if self.bag_threshold != "auto":
            return super().hooks(context)
        threshold = BagThreshold(context.make_scoring)
        return Packages(self, context, threshold), threshold


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Information:
    """Conditional mutual information of pairs of attributes, in bits.

    Attributes
    ----------
    first, second
        Ids of each pair, first below second. In texts, words that share a document.
    bits
        Information of each pair, above 0.
    average
        Mean information of *all* pairs, Equation 11, listed or not. On columns n counts the class.
    """

    first: Integers
    second: Integers
    bits: Floats
    average: float


def word_information(
    documents: Documents, vocabulary_size: float, most: int, threads: int = 1
) -> Information:
    """Return the information of the presences of words that share a document.

    I(i; j | C) = Σ_c Σ P(w_i, w_j, c) log₂ [P(w_i, w_j | c) / (P(w_i|c) P(w_j|c))] over presence
    and absence of both words: Equation 6. Words that share no document are not listed, but the
    average includes them: it runs over m (m − 1) / 2 pairs, with m the vocabulary size. At most
    `most` pairs are listed, those with the most information.
    """
    documents.presence.sort_indices()
    rows, (n_words, n_classes) = rows_of(documents.presence)[:2], documents.counts.tokens.shape
    *pairs, bits, total = _core.pair_information(
        *rows, documents.classes, documents.weights, n_words, n_classes, most, threads
    )
    first, second = (np.frombuffer(ids, np.int64) for ids in pairs)
    pairs_of_words = vocabulary_size * (vocabulary_size - 1) / 2
    average = total / pairs_of_words if pairs_of_words > 0 else 0.0
    return Information(first, second, np.frombuffer(bits), average)


def attribute_information(documents: Documents, most: int) -> Information:
    """Return the information of pairs of attributes from their values.

    It equals WEKA's HNB: probabilities are not smoothed, and terms with probabilities below 10⁻⁶
    are dropped. Missing values are ignored.

    Parameters
    ----------
    documents
        Documents with at most one value of an attribute.
    most
        Maximum number of listed pairs: those with the most information.
    """
    known = documents.attributes
    slots = int(known.max(initial=-1)) + 1
    n = max(documents.weights.sum(), _NOTHING)
    frequencies = _frequencies(documents) / n
    sizes = np.bincount(documents.classes, documents.weights, minlength=len(frequencies)) / n
    bits = np.zeros(slots * slots)
    for pairs in _meetings(documents):
        for c, (first, second, together) in enumerate(pairs):
            joint = together / n
            above = joint * sizes[c]
            below = frequencies[c][first] * frequencies[c][second]
            kept = (above >= _DROPPED) & (below >= _DROPPED)
            terms = joint[kept] * np.log2(above[kept] / below[kept])
            one, other = known[first[kept]], known[second[kept]]
            keys = np.minimum(one, other) * slots + np.maximum(one, other)
            bits += np.bincount(keys, terms, minlength=len(bits))
    # n of Equation 11 counts the class, as the paper's tables do.
    n_columns = len(np.unique(known[known >= 0])) + 1
    average = bits.sum() / max(n_columns * (n_columns - 1) / 2, 1.0)
    listed = np.flatnonzero(bits > _NOTHING)
    if len(listed) > most:
        listed = listed[np.sort(np.argpartition(-bits[listed], most - 1)[:most])]
    return Information(listed // slots, listed % slots, bits[listed], average)


def _frequencies(documents: Documents) -> Floats:
    """Return the document frequency of each word in each class: shape `(classes, words)`."""
    from scipy import sparse  # importing it at the top would double the import time

    classes = int(documents.classes.max(initial=0)) + 1
    rows = np.arange(len(documents.classes))
    members = sparse.csr_array(
        (documents.weights, (documents.classes, rows)), shape=(classes, len(rows))
    )
    return np.asarray((members @ documents.presence).todense(), dtype=np.float64)


def _meetings(documents: Documents) -> Iterator[list[tuple[Integers, Integers, Floats]]]:
    """Yield pairs of words (ids ascending) that share documents in each class, and how often."""
    width = documents.presence.shape[1]
    classes = int(documents.classes.max(initial=0)) + 1
    by_class = []
    for c in range(classes):
        members = np.flatnonzero(documents.classes == c)
        rows = documents.presence[members]
        by_class.append((rows.tocsc(), rows.multiply(documents.weights[members, None]).tocsr()))
    lengths = np.diff(documents.presence.indptr)
    work = np.append(0.0, np.cumsum(lengths @ documents.presence)) if width else np.zeros(1)
    for block in blocks(work, _BLOCK):
        found = []
        for columns, weighted in by_class:
            together = (columns[:, block].T @ weighted).tocoo()
            first = together.row.astype(np.int64) + block.start
            second = together.col.astype(np.int64)
            kept = first < second
            found.append((first[kept], second[kept], together.data[kept]))
        yield found


@dataclasses.dataclass(eq=False, repr=False)
class PackagedNB(TextNaiveBayes[L]):
    """Naive Bayes in which each attribute has a hidden parent, mixed from its package.

    `HNB` documents the parameters.
    """

    columns: bool = False
    bins: int = Attributes.bins
    values: Mapping[str, int] | None = None
    max_links: int = Packaged.max_links
    max_parents: int | None = Packaged.max_parents

    def _composition(self) -> Composition:
        columns = check_flag("columns", self.columns)
        check_bound("bins", self.bins, least=2)
        if self.values is not None and not columns:
            raise InputError("values= needs messages of columns: leave it out, or set columns=True")
        event = Attributes() if columns else self.composition.event
        return dataclasses.replace(self.composition, event=event).given(self._parameters())


class HNB(PackagedNB[L]):
    """Hidden naive Bayes (HNB).

    Each attribute has one hidden parent, mixed from all other attributes of the message:

        ln P(c) + Σ_i f_i ln P(a_i | a_hpi, c)
        P(a_i | a_hpi, c) = Σ_j W_ij P(a_i | a_j, c),    W_ij = I_ij / Σ_j I_ij
        I_ij = I(A_i; A_j | C) = Σ P(a_i, a_j, c) log₂ [P(a_i, a_j | c) / (P(a_i|c) P(a_j|c))]

    where j runs over the attributes j ≠ i of the message. An attribute that depends on no
    other attribute is plain naive Bayes.

    Text or columns
    ---------------
    By default a message is a text or a mapping of tokens to counts, as with all models. Each word
    is an attribute, present or absent, and those present count:

        P(w_i | w_j, c) = (Σ_d f_di + α m P(w_i|c)) / (Σ_d |d| + α m)

    over the indexed documents d of class c that contain w_j (`index_size`), with P(w_i|c) as in
    `MNB`. Packages contain words that share a document.

    With `columns=True` a message maps attributes to values: a str, a bool or an int is a category,
    a float is a number, and None and NaN are missing and ignored. As in WEKA's HNB, with n_ijc
    documents of c that have both values, v_i values of attribute i and s classes,

        P(a_i | a_j, c) = (n_ijc + α/v_i) / (n_jc + α),    P(c) = (n_c + 1/s) / (n + 1)

    Numbers fall into at most `bins` bins of equal width over the learned range; numbers outside
    the range fall into the outermost bin. The paper has ten such bins over the range of the whole
    collection. The range of a stream grows, so the width here is a power of two and old bins merge
    exactly. Unlearning does not narrow the range.

    Information is refreshed as `refresh_every` says.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    columns
        Whether a message maps attributes to values.
    bins
        Maximum number of bins of a number, 2 or more.
    values
        Attribute → number of its values, 1 or more, if it is known; otherwise the learned values
        are counted.
    max_links
        Maximum number of pairs in packages, 0 or more: those with the most information.
    max_parents
        Maximum number of parents in a text, 1 or more: the words with the most information about
        all others together. It bounds the cost of a long text. None sets no limit, as in the
        paper. Columns ignore it.

    Examples
    --------
    >>> from streamnb import HNB
    >>> weather = HNB(columns=True)
    >>> weather.learn_one({"sky": "sunny", "windy": False, "heat": 29.5}, "play")
    >>> weather.learn_one({"sky": "rainy", "windy": True, "heat": 18.0}, "stay")
    >>> weather.learn_one({"sky": "sunny", "windy": True, "heat": 24.0}, "play")
    >>> weather.predict_one({"sky": "rainy", "windy": True, "heat": 17.0})
    'stay'

    References
    ----------
    [^1]: Packaged hidden naive Bayes (Ji, Yu, Zhang), Equations 4 to 7.
    [^2]: Jiang, Zhang and Cai (2009), A novel Bayes model: hidden naive Bayes.
    """

    composition: ClassVar[Composition] = Composition(
        Multinomial(), dependence=Packaged(bag_threshold=0.0)
    )


@dataclasses.dataclass(eq=False, repr=False)
class PHNB(PackagedNB[L]):
    """Packaged hidden naive Bayes (PHNB).

    Each attribute has one hidden parent, mixed from the other attributes in its package:

        ln P(c) + Σ_i f_i ln P(a_i | a_hpi, c)
        P(a_i | a_hpi, c) = Σ_j W_ij P(a_i | a_j, c),    W_ij = I_ij / Σ_j I_ij,    j in package i
        I_ij = I(A_i; A_j | C) = Σ P(a_i, a_j, c) log₂ [P(a_i, a_j | c) / (P(a_i|c) P(a_j|c))]

    The package of i contains each attribute j whose I_ij reaches the threshold. An attribute whose
    package has no member in the message is plain naive Bayes. An infinite threshold gives `MNB`, or
    naive Bayes on columns, and a threshold of 0 gives `HNB`.

    `HNB` describes texts and columns.

    Packages are refreshed as `refresh_every` says.

    Parameters
    ----------
    bag_threshold
        `"average"`: the mean information of all pairs of attributes, Equation 11. On columns its n
        counts the class too, which reproduces the published figures. A number: that many bits.
        `"auto"`: the multiple of the average (0, 1/2, 1, 2, 4, 16, 64 or infinity) with the least
        log loss so far, where each message is scored before it is learned. Learning then costs
        eight more predictions. The paper leaves such a threshold to future work.
    columns, bins, values, max_links, max_parents
        As in `HNB`.

    Notes
    -----
    `HNB` documents the other parameters, methods and errors.

    Examples
    --------
    >>> from streamnb import PHNB
    >>> model = PHNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Ji, Y., Yu, S. and Zhang, Y.: A novel Naive Bayes model: Packaged Hidden Naive Bayes,
          Equations 6 and 8 to 11.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), dependence=Packaged())

    bag_threshold: PackageThreshold = Packaged.bag_threshold
