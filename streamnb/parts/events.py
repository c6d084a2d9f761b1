"""Event models: how a class gives a word its probability."""

from __future__ import annotations

import dataclasses


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
    numbers
        Whether numbers of columns stay numbers; else they fall into bins.
    """

    name: str
    prior: str
    unseen: str
    frequencies: bool = False
    columns: bool = False
    counts: bool = True
    numbers: bool = False


# The empirical prior and, for Bernoulli, leaving out words that are no attributes yet are what
# river and scikit-learn do. A complement is empty while one class is known: it needs smoothing.
BERNOULLI = Event("bernoulli", prior="empirical", unseen="skip", frequencies=True, counts=False)
MULTINOMIAL = Event("multinomial", prior="empirical", unseen="smooth")
COMPLEMENT = Event("complement", prior="laplace", unseen="smooth")
ONE_VERSUS_ALL = Event("one-versus-all", prior="laplace", unseen="smooth")
ATTRIBUTES = Event("attributes", prior="m-estimate", unseen="smooth", columns=True, counts=False)
GAUSSIAN = Event(
    "gaussian", prior="empirical", unseen="smooth", columns=True, counts=False, numbers=True
)

EVENTS = {
    event.name: event
    for event in (BERNOULLI, MULTINOMIAL, COMPLEMENT, ONE_VERSUS_ALL, ATTRIBUTES, GAUSSIAN)
}
