"""The parts that models are composed of: event models, estimates, dependences, weights.

Their arithmetic for each message is native; here they have their names, their defaults and what
they keep.
"""

from __future__ import annotations

import dataclasses

from streamnb import _core
from streamnb.document_weights import ExtraCounts, discriminative
from streamnb.documents import Documents
from streamnb.errors import InputError
from streamnb.packaging import (
    Packaging,
    attribute_information,
    give_bags,
    word_information,
)
from streamnb.paths import as_arrays, count_paths
from streamnb.statistics import Counts, Floats, gain_ratio, qualified_parents
from streamnb.weighting import (
    Setting,
    WordWeights,
    correlation_based,
    relative_gain_ratios,
    selection,
)


@dataclasses.dataclass(frozen=True)
class Event:
    """How a class gives a word its probability.

    Attributes
    ----------
    name
        The name by which `ComposedNB` and the native core know it.
    prior, unseen
        What `prior=None` and `unseen=None` mean.
    frequencies
        Whether it needs each class's histogram of document frequencies.
    columns
        Whether a message maps attributes to values, and is no text.
    counts
        Whether it matters how often a word is in a message.
    """

    name: str
    prior: str
    unseen: str
    frequencies: bool = False
    columns: bool = False
    counts: bool = True


# The empirical prior and, for Bernoulli, leaving out words that are no attributes yet are what
# river and scikit-learn do. A complement is empty while one class is known: it needs smoothing.
BERNOULLI = Event("bernoulli", prior="empirical", unseen="skip", frequencies=True, counts=False)
MULTINOMIAL = Event("multinomial", prior="empirical", unseen="smooth")
COMPLEMENT = Event("complement", prior="laplace", unseen="smooth")
ONE_VERSUS_ALL = Event("one-versus-all", prior="laplace", unseen="smooth")
ATTRIBUTES = Event("attributes", prior="m-estimate", unseen="smooth", columns=True, counts=False)


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
    """Paths through the indexed documents in the place of documents (`streamnb.paths`).

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


@dataclasses.dataclass(frozen=True)
class Dependence:
    """How the words of a message depend on one another.

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
    def hidden(self) -> str | None:
        """What the parents of words mix; None where words have none."""
        return None

    @property
    def own_pairs(self) -> bool:
        """Whether the pair table also holds each word with itself: words are their own parents."""
        return False

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats | None:
        """Return the weight of each word as a parent, where there are any: shape `(words,)`."""
        return None

    def refresh(
        self, store: _core.CountStore, vocabulary_size: float, packaging: Packaging | None
    ) -> bool:
        """Give a store new statistics; False if its words changed their ids meanwhile."""
        counts = Counts.of(store)
        weights = self.parents(counts, vocabulary_size)
        return weights is None or store.set_parents(counts.layout, weights)


@dataclasses.dataclass(frozen=True)
class HiddenParents(Dependence):
    """Each word has one hidden parent, mixed from the qualified other words of the message.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 10–18.
    """

    @property
    def hidden(self) -> str | None:
        """What they mix: probabilities."""
        return "probabilities"

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats:
        """Return each word's gain ratio where it is at least the average, else 0."""
        return qualified_parents(counts, vocabulary_size)


@dataclasses.dataclass(frozen=True)
class HiddenRatios(HiddenParents):
    """Each word has one hidden parent for the ratio of the two sides of one-versus-all.

    It reproduces the published table of HOVA to its last digit; the formula as printed, which
    `HOVA` follows, does not, and classifies better. In place of Equation 16's quotient of two
    hidden means, this is the mean of the quotients: the score is

        ln P(c) − ln P(c̄) − Σ_i f_i ln( Σ_t W_t P(w_i|w_t,c̄) / P(w_i|w_t,c) / Σ_t W_t ), t ≠ i,

    where a word without a qualified parent in the message has P(w_i|c̄) alone in the logarithm, not
    a ratio. The published figures are without the priors: `prior="uniform"`.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Table 4; Equation 16 is the formula printed.
    """

    @property
    def hidden(self) -> str | None:
        """What they mix: ratios of probabilities."""
        return "ratios"


@dataclasses.dataclass(frozen=True)
class OneDependence(Dependence):
    """Each word of the message is in turn the one parent of all its words; the mean decides.

    With a_t = ∏_i P(w_i|w_t,c)^f_i, the estimator whose parent is t, the score is
    ln P(c) + ln Σ_t W_t a_t / Σ_t W_t, where W_t is the gain ratio of t and every word of the
    message takes part, as a parent (no threshold) and as its own child. The complement mixes
    ∏_i P(w_i|w_t,c̄)^f_i, one-versus-all the quotients of the two. These readings reproduce the
    published tables. A message with no word of positive gain ratio has no parent: its words are
    taken as independent.

    Estimators are of word counts, P(w_i|w_t,c) of a word's tokens beside those of its parent. The
    Bernoulli model has presences and, for each estimator, the absence of every other word of the
    vocabulary: that is another model (weighted AODE), not this one with another event.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.5 and Equation 12.
    """

    @property
    def hidden(self) -> str | None:
        """What they mix: estimators of the whole message."""
        return "estimators"

    @property
    def own_pairs(self) -> bool:
        """Words are their own parents."""
        return True

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats:
        """Return each word's gain ratio."""
        return gain_ratio(counts)


@dataclasses.dataclass(frozen=True)
class PackagedParents(Dependence):
    """Each attribute has one hidden parent, mixed from the attributes in its bag.

    A bag holds the attributes whose conditional mutual information with its own is at least the
    threshold; an attribute with an empty bag is plain naive Bayes. In texts each word is an
    attribute, and bags take words that have met.

    Attributes
    ----------
    columns
        Whether messages are columns.

    References
    ----------
    [^1]: Packaged hidden naive Bayes, Equations 4–11.
    """

    columns: bool = False

    @property
    def hidden(self) -> str | None:
        """What they mix: probabilities, by the bags of attributes."""
        return "packaged"

    def refresh(
        self, store: _core.CountStore, vocabulary_size: float, packaging: Packaging | None
    ) -> bool:
        """Give a store new bags; False if its attributes changed their ids meanwhile."""
        assert packaging is not None
        documents = Documents.of(store)
        if self.columns:
            pairs = attribute_information(documents, packaging.max_links)
        else:
            pairs = word_information(documents, vocabulary_size, packaging.max_links)
        packaging.average = pairs.average
        least = 0.0 if packaging.learns else packaging.bits
        if not give_bags(store, documents.counts.layout, pairs, least):
            return False
        store.set_bag_threshold(packaging.bits)
        return True


INDEPENDENT = Dependence("independent")
HIDDEN = HiddenParents("hidden", max_documents=65_536)
HIDDEN_RATIOS = HiddenRatios("hidden-ratios", max_documents=65_536)
ONE_DEPENDENCE = OneDependence("one-dependence", max_documents=65_536)
PACKAGED = PackagedParents("packaged", max_documents=65_536)


@dataclasses.dataclass(frozen=True)
class Weights:
    """How much each word counts, in the estimate and in the score: all the same.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows them.
    chi_square
        Whether P(w|c) is multiplied by max(R_wc, 1), which follows from the counts: never stale.
    max_documents
        What `max_documents=None` means: documents kept in the index.
    periodic
        Whether they are statistics, computed at each refresh.
    ordered
        Whether they need the order of the words' bytes.
    """

    name: str
    chi_square: bool = False
    max_documents: int = 0
    periodic: bool = False
    ordered: bool = False

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights | None:
        """Return the weight of each word, where they are statistics."""
        return None


@dataclasses.dataclass(frozen=True)
class GainRatioWeights(Weights):
    """Each word weighs its gain ratio relative to the mean (GRW)."""

    periodic: bool = True

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights:
        """Return the gain ratios over their mean."""
        return relative_gain_ratios(indexed.counts, setting.vocabulary_size)


@dataclasses.dataclass(frozen=True)
class Selection(Weights):
    """Words count or not: the share of them by gain ratio that leave-one-out chooses (GRS)."""

    periodic: bool = True

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights:
        """Return 1 for the words selected, 0 for the others."""
        return selection(indexed, setting)


@dataclasses.dataclass(frozen=True)
class CorrelationWeights(Weights):
    """Words that correlation-based selection takes weigh 2, the others 1 (DFW)."""

    periodic: bool = True
    ordered: bool = True

    def weigh(self, indexed: Documents, setting: Setting) -> WordWeights:
        """Return the weights 2 and 1."""
        return correlation_based(indexed, setting)


@dataclasses.dataclass(frozen=True)
class DocumentWeights:
    """How much each document counts when it is learned: as much as it was given to.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows them.
    max_documents
        What `max_documents=None` means: documents kept in the index.
    periodic
        Whether they are statistics, computed at each refresh.
    """

    name: str
    max_documents: int = 0
    periodic: bool = False

    def extra(
        self,
        indexed: Documents,
        setting: Setting,
        words: WordWeights | None,
        rounds: int,
    ) -> ExtraCounts | None:
        """Return what the indexed documents count for besides, where they do."""
        return None


@dataclasses.dataclass(frozen=True)
class Discriminative(DocumentWeights):
    """A document weighs the more, the less probable its class is where it was learned (DW)."""

    periodic: bool = True

    def extra(
        self,
        indexed: Documents,
        setting: Setting,
        words: WordWeights | None,
        rounds: int,
    ) -> ExtraCounts:
        """Return what they count for after so many rounds."""
        return discriminative(indexed, setting, words, rounds)


SMOOTHING = Estimate("additive")
CORRELATION = Estimate("correlation")
# Pure paths and higher orders have dense matrices, words × words and documents × documents of a
# class: both are bounded.
PATHS = HigherOrderPaths("paths", max_documents=16_384)
PURE_PATHS = HigherOrderPaths("pure-paths", max_documents=16_384, pure=True, max_words=2_000)
PATHS_3 = HigherOrderPaths("paths-3", max_documents=2_000, order=3, max_words=2_000)
PATHS_4 = HigherOrderPaths("paths-4", max_documents=1_000, order=4, max_words=1_000)

UNIFORM = Weights("uniform")
CHI_SQUARE = Weights("chi-square", chi_square=True)
GAIN_RATIO = GainRatioWeights("gain-ratio")
SELECTION = Selection("selection", max_documents=65_536)
CORRELATION_BASED = CorrelationWeights("correlation-based", max_documents=65_536)

UNIFORM_DOCUMENTS = DocumentWeights("uniform")
DISCRIMINATIVE = Discriminative("discriminative", max_documents=65_536)

WEIGHTS = {
    weights.name: weights
    for weights in (UNIFORM, CHI_SQUARE, GAIN_RATIO, SELECTION, CORRELATION_BASED)
}
DOCUMENT_WEIGHTS = {weights.name: weights for weights in (UNIFORM_DOCUMENTS, DISCRIMINATIVE)}

EVENTS = {
    event.name: event for event in (BERNOULLI, MULTINOMIAL, COMPLEMENT, ONE_VERSUS_ALL, ATTRIBUTES)
}
ESTIMATES = {
    estimate.name: estimate
    for estimate in (SMOOTHING, CORRELATION, PATHS, PURE_PATHS, PATHS_3, PATHS_4)
}
DEPENDENCES = {
    dependence.name: dependence
    for dependence in (INDEPENDENT, HIDDEN, HIDDEN_RATIOS, ONE_DEPENDENCE, PACKAGED)
}


def packaged(columns: bool) -> Dependence:
    """Return the packaged parents of columns, or of texts."""
    return dataclasses.replace(PACKAGED, columns=columns)


def packaged_parts(columns: object) -> tuple[Event, Dependence]:
    """Return the event model and the dependence of packaged parents, of columns or of texts."""
    return ATTRIBUTES if columns else MULTINOMIAL, packaged(bool(columns))


def event_named(name: object) -> Event:
    """Return an event model by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if isinstance(name, str) and name in EVENTS:
        return EVENTS[name]
    raise InputError(f"event must be one of {', '.join(map(repr, EVENTS))}, not {name!r}")


def estimate_named(name: object) -> Estimate:
    """Return an estimate by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if isinstance(name, str) and name in ESTIMATES:
        return ESTIMATES[name]
    raise InputError(f"estimate must be one of {', '.join(map(repr, ESTIMATES))}, not {name!r}")


def dependence_named(name: object) -> Dependence:
    """Return a dependence by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if isinstance(name, str) and name in DEPENDENCES:
        return DEPENDENCES[name]
    raise InputError(f"dependence must be one of {', '.join(map(repr, DEPENDENCES))}, not {name!r}")


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


def weights_named(name: object) -> Weights:
    """Return weights of words by their name.

    Raises
    ------
    InputError
        If there are none of this name.
    """
    if isinstance(name, str) and name in WEIGHTS:
        return WEIGHTS[name]
    raise InputError(f"weights must be one of {', '.join(map(repr, WEIGHTS))}, not {name!r}")


def document_weights_named(name: object) -> DocumentWeights:
    """Return weights of documents by their name.

    Raises
    ------
    InputError
        If there are none of this name.
    """
    if isinstance(name, str) and name in DOCUMENT_WEIGHTS:
        return DOCUMENT_WEIGHTS[name]
    names = ", ".join(map(repr, DOCUMENT_WEIGHTS))
    raise InputError(f"document_weights must be one of {names}, not {name!r}")
