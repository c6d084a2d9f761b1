"""Dependences: how the words of a message depend on one another, given the class."""

from __future__ import annotations

import dataclasses

from streamnb import _core
from streamnb.online.package_threshold import Packaging
from streamnb.parts.events import ATTRIBUTES, MULTINOMIAL, Event
from streamnb.statistics.counts import Counts, Floats, gain_ratio, qualified_parents
from streamnb.statistics.documents import Documents
from streamnb.statistics.packaging import (
    attribute_information,
    give_packages,
    word_information,
)


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
        if not give_packages(store, documents.counts.layout, pairs, least):
            return False
        store.set_bag_threshold(packaging.bits)
        return True


INDEPENDENT = Dependence("independent")
HIDDEN = HiddenParents("hidden", max_documents=65_536)
HIDDEN_RATIOS = HiddenRatios("hidden-ratios", max_documents=65_536)
ONE_DEPENDENCE = OneDependence("one-dependence", max_documents=65_536)
PACKAGED = PackagedParents("packaged", max_documents=65_536)

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
