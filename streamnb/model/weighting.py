"""Weights of words and documents: computed from a copy of the counts and swapped into the store.

A word of weight W counts W f_i times in a message and W N_ci times in a class (deep weighting):

    ln P(c) + Σ_i W_i f_i ln P(w_i|c),   P(w_i|c) = (W_i N_ci + α) / (Σ_j W_j N_cj + α m)

The counts that are multiplied with the weights are always current. A word that appears after a
refresh has weight 1 until the next one, also if it takes the id of a forgotten word.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb import _core
from streamnb.model.hooks import ComponentStatistic
from streamnb.statistics.counts import Floats, rows_of
from streamnb.statistics.documents import Documents

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

    @property
    def reads_index(self) -> bool:  # type: ignore[override]
        """Whether the weights of words or of documents need messages in the index."""
        return bool(self.component.indexed or self.context.composition.document_weights.indexed)

    def compute(self, sample: _core.Sample) -> tuple[Any, ...]:
        """Compute the weights of the words, then the weights of the documents."""
        indexed = Documents.of(sample)
        n_words, n_classes = indexed.counts.tokens.shape
        parameters = self.context.parameters
        # m if it is known, at least the number of learned words.
        m = max(parameters.vocabulary_size, float(n_words))
        parameters = dataclasses.replace(parameters, vocabulary_size=m)
        words = self.component.weigh(indexed, parameters)
        added = self.context.composition.document_weights.added(indexed, parameters, words)
        if added is None:
            from scipy import sparse

            added = InstanceWeights(np.zeros(n_classes), sparse.csr_array((0, n_classes)))
        return (
            np.ones(n_words) if words is None else words.words,
            1.0 if words is None else words.oov,
            1.0 if words is None else words.scale,
            added.documents,
            *rows_of(added.tokens),
        )

    def swap(self, store: _core.CountStore, sample: _core.Sample, found: tuple[Any, ...]) -> bool:
        """Use the weights."""
        return store.set_weights(sample, *found)

    def weights(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each word if words are weighted."""
        current = store.weights() if self.component.periodic else None
        if current is None:
            return {}
        # Weights are in the byte order of the words.
        names = sorted(filter(None, store.words()), key=str.encode)
        return dict(zip(names, np.frombuffer(current[0]).tolist(), strict=True))
