"""What a model says: labels, probabilities, scores, explanations, and what it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from river import base

from streamnb import _core
from streamnb.columns import reading as columns
from streamnb.columns.reading import Columns
from streamnb.explanation import Explanation
from streamnb.online.threshold import DecisionThreshold
from streamnb.statistics.counts import Floats
from streamnb.statistics.refreshing import Refresher
from streamnb.statistics.store import AnyStore
from streamnb.text import inputs, outputs
from streamnb.text.labels import Label, Labels

Message = str | Mapping[Any, float]


class Predictor(base.MiniBatchClassifier):
    """The side of a model that predicts: it reads a store, and changes nothing."""

    _store: AnyStore
    _scoring: _core.Scoring
    _labels: Labels
    _threshold: DecisionThreshold | None
    _refreshers: Sequence[Refresher[Any]]
    # How columns are read, and what reads a message before the core does, where either is needed.
    _columns: Columns | None
    _reader: Callable[[Any], Any] | None
    _native_tokenizer: _core.NativeTokenizer
    _tokenize: Callable[[str], Iterable[Any]] | None

    # --- predicting ---------------------------------------------------------------------------

    def predict_one(self, x: Message, **kwargs: Any) -> Any:
        """Return the label of one message; None before anything was learned.

        Of labels with equal scores it is the first in sorted order.

        Raises
        ------
        InputError
            If the message can't be read, or `threshold` is set and there are three classes.
        """
        if self._reader is not None:
            x = self._reader(x)
        if self._threshold is not None and len(self._labels.order) > 1:
            scores = self._store.probable_scores(x, self._scoring)
            ordered = [scores[class_id] for _, class_id in self._labels.order]
            return self._threshold.decide(self.classes_, ordered)
        class_id = self._store.predict(x, self._scoring)
        return None if class_id is None else self._labels.names[class_id]

    def predict_proba_one(self, x: Message, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label; nothing before anything was learned."""
        if self._reader is not None:
            x = self._reader(x)
        shares = self._store.probabilities(x, self._scoring)
        return {label: shares[class_id] for label, class_id in self._labels.order}

    def joint_log_likelihood_one(self, x: Message) -> dict[Label, float]:
        """Return the score of each label: ln P(c) + ln P(x|c), or what the model has for it."""
        if self._reader is not None:
            x = self._reader(x)
        scores = self._store.scores(x, self._scoring)
        return {label: scores[class_id] for label, class_id in self._labels.order}

    def predict_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the label of each message: a Series for pandas input, else a list."""
        batch, index = self._read_batch(X, vocabulary)
        if self._threshold is not None and len(self._labels.order) > 1:
            decide, names = self._threshold.decide, self.classes_
            probable = self._by_message(
                self._store.probable_scores_many(batch, self._scoring), len(batch)
            )
            decided = [decide(names, scores) for scores in probable.tolist()]
            return outputs.labels(decided, index)
        labels = self._store.predict_many(batch, self._scoring, self._labels.names)
        return outputs.labels(labels, index)

    def predict_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the probabilities of each message: a DataFrame for pandas input, else dicts."""
        batch, index = self._read_batch(X, vocabulary)
        scores = self._by_message(
            self._store.probable_scores_many(batch, self._scoring), len(batch)
        )
        return outputs.probabilities(scores, self.classes_, index)

    def joint_log_likelihood_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Floats:
        """Return the scores of each message, shape `(messages, classes)`, as `classes_` orders."""
        batch, _ = self._read_batch(X, vocabulary)
        return self._by_message(self._store.scores_many(batch, self._scoring), len(batch))

    def _read_batch(self, X: Any, vocabulary: Sequence[Any] | None) -> tuple[_core.Batch, Any]:
        if self._columns is None:
            return inputs.read_batch(X, vocabulary, self._native_tokenizer, self._tokenize)
        messages, index = columns.messages_of(X, vocabulary)
        rows = [self._columns.read(x) for x in messages]
        return self._columns.batch(self._native_tokenizer, rows), index

    def _by_message(self, scores: bytes, messages: int) -> Floats:
        by_id = np.frombuffer(scores).reshape(messages, len(self._labels.names))
        return by_id[:, [class_id for _, class_id in self._labels.order]]

    def explain_one(self, x: Message) -> Explanation:
        """Return each word's contribution to the score of each label.

        Examples
        --------
        >>> from streamnb import MNB
        >>> model = MNB()
        >>> for x, y in [("win cash now", "spam"), ("see you at noon", "ham")]:
        ...     model.learn_one(x, y)
        >>> model.explain_one("win at noon").top("ham", n=1)
        [('at', 0.59...)]
        """
        counts: Mapping[Any, float]
        tokenize = self._tokenize or self._native_tokenizer.tokens
        if self._columns is not None:
            counts = self._columns.read(x)
        else:
            counts = Counter(tokenize(x)) if isinstance(x, str) else inputs.as_dict(x)
        baseline, words = self._store.explain(counts, self._scoring)
        corrections = self._store.corrections(counts, self._scoring)

        def by_label(values: list[float]) -> dict[Label, float]:
            return {label: values[class_id] for label, class_id in self._labels.order}

        return Explanation(
            by_label(baseline),
            {word: by_label(terms) for word, terms in words},
            {word: by_label(terms) for word, terms in corrections},
        )

    # --- what is known ------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Label]:
        """Labels with messages, in sorted order."""
        return [label for label, _ in self._labels.order]

    @property
    def n_documents(self) -> float:
        """Weight of all messages learned."""
        return self._store.n_documents

    @property
    def n_words(self) -> int:
        """Different words learned."""
        return self._store.n_words

    @property
    def n_cells(self) -> int:
        """Nonzero (word, class) counts."""
        return self._store.n_cells

    @property
    def memory_bytes(self) -> int:
        """Bytes that the counts take."""
        return self._store.__sizeof__()

    @property
    def reads_columns(self) -> bool:
        """Whether a message maps attributes to values, and is no text."""
        return self._columns is not None

    @property
    def threshold_(self) -> float | None:
        """The cut in use, as log odds of the positive class; None decides by the highest score."""
        return None if self._threshold is None else self._threshold.cut

    @property
    def weights_(self) -> dict[str, float]:
        """Weight of each word, or on average over pairs of classes of each attribute, if any."""
        weights: dict[str, float] = {}
        for refresher in self._refreshers:
            weights |= refresher.weights(self._store)
        return weights

    @property
    def _multiclass(self) -> bool:
        return True

    def _more_tags(self) -> set[str]:
        return set() if self._columns is not None else {base.tags.POSITIVE_INPUT}
