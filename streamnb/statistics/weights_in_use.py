"""The weights of words and documents of a model: computed aside, and swapped into its store."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np

from streamnb import _core
from streamnb.statistics.document_weights import InstanceWeights
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.refreshing import Refresher
from streamnb.statistics.weighting import WordWeights
from streamnb.statistics.word_fits import WordFit


class WeighsWords(Protocol):
    """Gives words their weights."""

    @property
    def periodic(self) -> bool:
        """Whether they have any that are statistics."""

    @property
    def ordered(self) -> bool:
        """Whether the order of the words' bytes is needed."""

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> WordWeights | None:
        """Return them."""


class WeighsDocuments(Protocol):
    """Gives indexed documents their weights."""

    @property
    def periodic(self) -> bool:
        """Whether they have any that are statistics."""

    def added(
        self, indexed: Documents, parameters: ScoringParameters, words: WordWeights | None
    ) -> InstanceWeights | None:
        """Return the weights of the messages."""


@dataclasses.dataclass(frozen=True)
class WeightsInUse(Refresher[_core.CountStore]):
    """What words and documents of a model weigh.

    Attributes
    ----------
    words, documents
        Give them their weights.
    parameters
        Of the scores; m is at least the number of words learned.
    """

    words: WeighsWords
    documents: WeighsDocuments
    parameters: ScoringParameters

    def swap(self, store: _core.CountStore) -> bool:
        """Weigh the words, and with them the documents."""
        indexed = Documents.of(store, ordered=self.words.ordered or self.documents.periodic)
        parameters = _with_words(self.parameters, store)
        words = self.words.weigh(indexed, parameters)
        added = self.documents.added(indexed, parameters, words)
        n_words, n_classes = indexed.counts.tokens.shape
        if added is None:
            documents, cells = np.zeros(n_classes), (np.zeros(1), np.zeros(0), np.zeros(0))
        else:
            table = added.tokens
            documents, cells = added.documents, (table.indptr, table.indices, table.data)
        return store.set_weights(
            indexed.counts.layout,
            np.ones(n_words) if words is None else np.ascontiguousarray(words.words),
            1.0 if words is None else words.oov,
            np.ascontiguousarray(documents),
            cells[0].astype(np.int64),
            cells[1].astype(np.int64),
            cells[2].astype(np.float64),
        )

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the weights in use, if there are any yet."""
        return store.weights()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take the weights of a copy."""
        if state is None:
            return
        words, oov, documents, indptr, class_ids, tokens = state
        store.set_weights(
            store.layout,
            np.frombuffer(words),
            oov,
            np.frombuffer(documents),
            np.frombuffer(indptr, np.int64),
            np.frombuffer(class_ids, np.int64),
            np.frombuffer(tokens),
        )

    def weights(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each word, where words have weights."""
        kept = store.weights() if self.words.periodic else None
        return {} if kept is None else _by_word(store, kept[0])


@dataclasses.dataclass(frozen=True)
class FittedWords(Refresher[_core.CountStore]):
    """What words of a model weigh in the score alone.

    Attributes
    ----------
    fit
        How the weights are fitted.
    parameters
        Of the scores; m is at least the number of words learned.
    """

    fit: WordFit
    parameters: ScoringParameters

    def swap(self, store: _core.CountStore) -> bool:
        """Fit the weights to the indexed messages."""
        indexed = Documents.of(store, ordered=True)
        fitted = self.fit.weights(indexed, _with_words(self.parameters, store))
        return store.set_fitted_weights(indexed.counts.layout, fitted.words, fitted.scale)

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the weights in use, if there are any yet."""
        return store.fitted_weights()

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take the weights of a copy."""
        if state is not None:
            words, scale = state
            store.set_fitted_weights(store.layout, np.frombuffer(words), scale)

    def weights(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each word."""
        kept = store.fitted_weights()
        return {} if kept is None else _by_word(store, kept[0])


def _with_words(parameters: ScoringParameters, store: _core.CountStore) -> ScoringParameters:
    words = max(parameters.vocabulary_size, float(store.n_words))
    return dataclasses.replace(parameters, vocabulary_size=words)


def _by_word(store: _core.CountStore, weights: bytes) -> dict[str, float]:
    """Return weights in the order of the words' bytes by their words."""
    names = sorted(filter(None, store.words()), key=str.encode)
    return dict(zip(names, np.frombuffer(weights).tolist(), strict=True))
