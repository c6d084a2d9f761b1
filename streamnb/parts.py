"""The parts that models are composed of: event models, estimates, dependences between words.

The arithmetic of all is native; here they have their names, their defaults and what they keep.
"""

from __future__ import annotations

import dataclasses

from streamnb.errors import InputError
from streamnb.statistics import Counts, Floats, gain_ratio, qualified_parents


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
    """

    name: str
    prior: str
    unseen: str
    frequencies: bool = False


# The empirical prior and, for Bernoulli, leaving out words that are no attributes yet are what
# river and scikit-learn do. A complement is empty while one class is known: it needs smoothing.
BERNOULLI = Event("bernoulli", prior="empirical", unseen="skip", frequencies=True)
MULTINOMIAL = Event("multinomial", prior="empirical", unseen="smooth")
COMPLEMENT = Event("complement", prior="laplace", unseen="smooth")
ONE_VERSUS_ALL = Event("one-versus-all", prior="laplace", unseen="smooth")


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
class Estimate:
    """How counts become the estimates that an event model reads.

    Attributes
    ----------
    name
        The name by which `ComposedNB` knows it.
    """

    name: str


SMOOTHING = Estimate("additive")
CORRELATION = Estimate("correlation")

INDEPENDENT = Dependence("independent")
HIDDEN = HiddenParents("hidden", max_documents=65_536)
HIDDEN_RATIOS = HiddenRatios("hidden-ratios", max_documents=65_536)
ONE_DEPENDENCE = OneDependence("one-dependence", max_documents=65_536)

EVENTS = {event.name: event for event in (BERNOULLI, MULTINOMIAL, COMPLEMENT, ONE_VERSUS_ALL)}
ESTIMATES = {estimate.name: estimate for estimate in (SMOOTHING, CORRELATION)}
DEPENDENCES = {
    dependence.name: dependence
    for dependence in (INDEPENDENT, HIDDEN, HIDDEN_RATIOS, ONE_DEPENDENCE)
}


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
