"""The weights of a model: computed aside, and swapped into its store."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb import _core
from streamnb.statistics.documents import Documents
from streamnb.statistics.swap import swap_in

if TYPE_CHECKING:
    from streamnb.parts import DocumentWeights, Weights
    from streamnb.statistics.events import ScoringParameters
    from streamnb.statistics.word_fits import WordFit


@dataclasses.dataclass(frozen=True)
class WeightsInUse:
    """What words and documents of a model weigh.

    Attributes
    ----------
    words, documents
        The parts.
    rounds
        How often documents are weighed.
    fit
        How weights that minimise a loss are fitted, where words have any.
    """

    words: Weights
    documents: DocumentWeights
    rounds: int
    fit: WordFit | None = None

    @property
    def periodic(self) -> bool:
        """Whether there is anything to refresh."""
        return self.words.periodic or self.documents.periodic or self.fit is not None

    @property
    def ordered(self) -> bool:
        """Whether the order of all words is needed."""
        return self.words.ordered or self.documents.periodic or self.fit is not None

    def refresh(self, store: _core.CountStore, setting: ScoringParameters) -> None:
        """Compute the weights of a store with messages anew, and swap them in.

        Parameters
        ----------
        store
            The store.
        setting
            How its messages are scored; m is at least the number of words learned.
        """
        swap_in(lambda: self._refresh(store, setting))

    def _refresh(self, store: _core.CountStore, setting: ScoringParameters) -> bool:
        indexed = Documents.of(store, ordered=self.ordered)
        size = max(setting.vocabulary_size, float(store.n_words))
        used = dataclasses.replace(setting, vocabulary_size=size, chi_square=self.words.chi_square)
        if self.fit is not None:
            fitted = self.fit.weights(indexed, used)
            return store.set_exponents(indexed.counts.layout, fitted.words, fitted.scale)
        words = self.words.weigh(indexed, used)
        extra = self.documents.extra(indexed, used, words, self.rounds)
        n_words, n_classes = indexed.counts.tokens.shape
        if extra is None:
            documents, cells = np.zeros(n_classes), (np.zeros(1), np.zeros(0), np.zeros(0))
        else:
            table = extra.tokens
            documents, cells = extra.documents, (table.indptr, table.indices, table.data)
        return store.set_weights(
            indexed.counts.layout,
            np.ones(n_words) if words is None else np.ascontiguousarray(words.words),
            1.0 if words is None else words.unseen,
            np.ascontiguousarray(documents),
            cells[0].astype(np.int64),
            cells[1].astype(np.int64),
            cells[2].astype(np.float64),
        )

    def by_word(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each word; nothing where words have none of their own."""
        kept = store.exponents() if self.fit is not None else store.weights()
        if not (self.words.periodic or self.fit is not None) or kept is None:
            return {}
        names = sorted(word for word in store.words() if word)
        weights = np.frombuffer(kept[0]).tolist()
        return dict(zip(sorted(names, key=str.encode), weights, strict=True))


def restore_weights(store: _core.CountStore, kept: Any, exponents: Any) -> None:
    """Give a store that was restored the weights and exponents that it had, if it had any."""
    if exponents is not None:
        words, scale = exponents
        store.set_exponents(store.layout, np.frombuffer(words), scale)
    if kept is None:
        return
    words, unseen, documents, indptr, class_ids, tokens = kept
    store.set_weights(
        store.layout,
        np.frombuffer(words),
        unseen,
        np.frombuffer(documents),
        np.frombuffer(indptr, np.int64),
        np.frombuffer(class_ids, np.int64),
        np.frombuffer(tokens),
    )
