"""Weights of words and documents: computed from a copy of the counts and swapped into the store.

A word of weight W counts W f_i times in a message and W N_ci times in a class (deep weighting):

    ln P(c) + Σ_i W_i f_i ln P(w_i|c),   P(w_i|c) = (W_i N_ci + α) / (Σ_j W_j N_cj + α m)

The counts that are multiplied with the weights are always current. A word that appears after a
refresh has weight 1 until the next one.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb import _core
from streamnb.model.hooks import ComponentStatistic
from streamnb.statistics.counts import Floats, rows_of
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters

if TYPE_CHECKING:
    from scipy import sparse


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class WordWeights:
    """The weight of each word.

    Attributes
    ----------
    words
        Weights of at least 0 by word id: shape `(words,)`.
    oov
        Weight of a word that no class has seen.
    scale
        Factor of all weights and of the prior, if the weights are exponents of the score alone.
    """

    words: Floats
    oov: float
    scale: float = 1.0


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class InstanceWeights:
    """Counts that instance weights add to the counts of the indexed messages.

    Attributes
    ----------
    documents
        By class id: shape `(classes,)`.
    tokens
        Of each word in each class: sparse, shape `(words, classes)`.
    """

    documents: Floats
    tokens: sparse.csr_array


class CurrentWeights(ComponentStatistic):
    """The current weights of words and documents; the component is the `Weights`."""

    def swap(self, store: _core.CountStore) -> bool:
        """Compute the weights of the words, then the weights of the documents."""
        document_weights = self.context.composition.document_weights
        ordered = self.component.ordered or document_weights.periodic
        indexed = Documents.of(store, ordered=ordered)
        parameters = with_learned_words(self.context.parameters, store)
        words = self.component.weigh(indexed, parameters)
        added = document_weights.added(indexed, parameters, words)
        n_words, n_classes = indexed.counts.tokens.shape
        if added is None:
            from scipy import sparse

            added = InstanceWeights(np.zeros(n_classes), sparse.csr_array((0, n_classes)))
        return store.set_weights(
            indexed.counts.layout,
            np.ones(n_words) if words is None else words.words,
            1.0 if words is None else words.oov,
            1.0 if words is None else words.scale,
            added.documents,
            *rows_of(added.tokens),
        )

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the current weights, or None before the first refresh."""
        return store.weights()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Restore the weights that `state` returned."""
        if state is not None:
            store.set_weights(store.layout, *state)

    def weights(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each word if words are weighted."""
        current = store.weights() if self.component.periodic else None
        if current is None:
            return {}
        # Weights are in the byte order of the words.
        names = sorted(filter(None, store.words()), key=str.encode)
        return dict(zip(names, np.frombuffer(current[0]).tolist(), strict=True))


def with_learned_words(parameters: ScoringParameters, store: _core.CountStore) -> ScoringParameters:
    """Return the parameters with m raised to the number of learned words."""
    words = max(parameters.vocabulary_size, float(store.n_words))
    return dataclasses.replace(parameters, vocabulary_size=words)
