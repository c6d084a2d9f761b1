"""What a model says: labels, probabilities, scores, explanations, and what it knows."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from streamnb import _core, views
from streamnb.columns import reading as columns
from streamnb.columns.reading import Columns
from streamnb.online.threshold import DecisionThreshold
from streamnb.parameters import is_default
from streamnb.parts.axes.composition import Composition
from streamnb.statistics.counts import Counts, Floats
from streamnb.statistics.refreshing import Refresher
from streamnb.statistics.store import AnyStore
from streamnb.text import inputs, outputs
from streamnb.text.labels import Label, Labels

if TYPE_CHECKING:
    from streamnb.explanation import Explanation

Message = str | Mapping[Any, float]


class Predictor(base.MiniBatchClassifier):
    """The side of a model that predicts: it reads a store, and changes nothing."""

    _parts: Composition
    _parameters: Callable[[], dict[str, Any]]
    _store: AnyStore
    _scoring: _core.Scoring
    _labels: Labels
    _lock: threading.RLock
    _threads: int
    _calibrates: bool
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
            scores = self._by_label(self._store.probable_scores, x)
            return self._threshold.decide(list(scores), list(scores.values()))
        class_id = self._store.predict(x, self._scoring)
        if class_id is None:
            return None
        label = self._labels.names[class_id]
        # A label that went in this moment is predicted no more.
        return self.predict_one(x) if label is None else label

    def predict_proba_one(self, x: Message, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label; nothing before anything was learned."""
        if self._reader is not None:
            x = self._reader(x)
        return self._by_label(self._store.probabilities, x)

    def joint_log_likelihood_one(self, x: Message) -> dict[Label, float]:
        """Return the score of each label: ln P(c) + ln P(x|c), or what the model has for it."""
        if self._reader is not None:
            x = self._reader(x)
        return self._by_label(self._store.scores, x)

    def _by_label(self, ask: Callable[[Any, Any], Sequence[float]], x: Any) -> dict[Label, float]:
        """Ask the store for something of each class, and return it by label."""
        labels = self._labels
        before = labels.changes
        try:
            values = ask(x, self._scoring)
            found = {label: values[class_id] for label, class_id in labels.order}
        except IndexError:
            pass
        else:
            if labels.changes == before and not before & 1:
                return found
        # Another thread brings a label, or takes one away: what was asked may not be of these.
        with self._lock:
            values = ask(x, self._scoring)
            return {label: values[class_id] for label, class_id in labels.order}

    def predict_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the label of each message: a Series for pandas input, else a list."""
        batch, index = self._read_batch(X, vocabulary)
        if self._threshold is not None and len(self._labels.order) > 1:
            decide = self._threshold.decide
            names, probable = self._by_message(self._store.probable_scores_many, batch)
            decided = [decide(names, scores) for scores in probable.tolist()]
            return outputs.labels(decided, index)
        before, threads = self._labels.changes, self._threads
        labels = self._store.predict_many(batch, self._scoring, self._labels.names, threads)
        if self._labels.changes != before or before & 1:
            with self._lock:
                labels = self._store.predict_many(batch, self._scoring, self._labels.names, threads)
        return outputs.labels(labels, index)

    def predict_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the probabilities of each message: a DataFrame for pandas input, else dicts."""
        batch, index = self._read_batch(X, vocabulary)
        names, scores = self._by_message(self._store.probable_scores_many, batch)
        return outputs.probabilities(scores, names, index)

    def predict_log_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Floats:
        """Return log probabilities, shape `(messages, classes)`, as `classes_` orders."""
        batch, _ = self._read_batch(X, vocabulary)
        return outputs.log_shares(self._by_message(self._store.probable_scores_many, batch)[1])

    def joint_log_likelihood_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Floats:
        """Return the scores of each message, shape `(messages, classes)`, as `classes_` orders."""
        batch, _ = self._read_batch(X, vocabulary)
        return self._by_message(self._store.scores_many, batch)[1]

    def predictions_many(
        self, X: Any
    ) -> list[tuple[Label | None, dict[Label, float], dict[Label, float]]]:
        """Return the label, the scores and the probabilities of each message, in one call.

        They are those of `predict_one`, `joint_log_likelihood_one` and `predict_proba_one`. Where a
        model's batch adds up in the order of one message, they are so to the last bit.

        Examples
        --------
        >>> from streamnb import MNB
        >>> model = MNB()
        >>> for x, y in [("win cash now", "spam"), ("see you at noon", "ham")]:
        ...     model.learn_one(x, y)
        >>> [(label, scores, shares)] = model.predictions_many(["win at noon"])
        >>> label, shares == model.predict_proba_one("win at noon")
        ('ham', True)
        """
        batch, _ = self._read_batch(X, None)
        with self._lock:  # no label comes or goes meanwhile
            said = self._store.predictions_many(batch, self._scoring, self._threads)
            order, classes = list(self._labels.order), len(self._labels.names)
        names, ids = [label for label, _ in order], [class_id for _, class_id in order]
        by_id = np.frombuffer(said).reshape(len(batch), 3, -1 if said else classes)
        threshold = self._threshold if len(names) > 1 else None
        found = []
        for scores, probable, shares in by_id[:, :, ids].tolist():
            if threshold is not None:
                label = threshold.decide(names, probable)
            else:
                label = names[probable.index(max(probable))] if names else None
            found.append(
                (
                    label,
                    dict(zip(names, scores, strict=True)),
                    dict(zip(names, shares, strict=True)),
                )
            )
        return found

    def _read_batch(self, X: Any, vocabulary: Sequence[Any] | None) -> tuple[_core.Batch, Any]:
        if self._columns is None:
            return inputs.read_batch(X, vocabulary, self._tokenize)
        messages, index = columns.messages_of(X, vocabulary)
        rows = [self._columns.read(x) for x in messages]
        return self._columns.batch(rows), index

    def _by_message(
        self, ask: Callable[[Any, Any, int], bytes], batch: _core.Batch
    ) -> tuple[list[Label], Floats]:
        """Ask the store for something of each message and class; return the labels, and it."""
        labels, threads = self._labels, self._threads
        before = labels.changes
        scores, order = ask(batch, self._scoring, threads), labels.order.copy()
        if labels.changes != before or before & 1:
            with self._lock:
                scores, order = ask(batch, self._scoring, threads), labels.order.copy()
        by_id = np.frombuffer(scores).reshape(len(batch), -1 if scores else len(labels.names))
        return [label for label, _ in order], by_id[:, [class_id for _, class_id in order]]

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
        from streamnb.explanation import Explanation

        counts: Mapping[Any, float]
        tokenize = self._tokenize or self._native_tokenizer.tokens
        if self._columns is not None:
            counts = self._columns.read(x)
        else:
            counts = Counter(tokenize(x)) if isinstance(x, str) else inputs.as_dict(x)

        def by_label(values: list[float]) -> dict[Label, float]:
            return {label: values[class_id] for label, class_id in self._labels.order}

        # No label may come or go meanwhile.
        with self._lock:
            baseline, words = self._store.explain(counts, self._scoring)
            corrections = self._store.corrections(counts, self._scoring)
            return Explanation(
                by_label(baseline),
                {word: by_label(terms) for word, terms in words},
                {word: by_label(terms) for word, terms in corrections},
            )

    # --- what is known ------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Label]:
        """Labels with messages, in sorted order."""
        return [label for label, _ in self._labels.order.copy()]

    def counts(self) -> Counts:
        """Return a copy of the counts, by word id and class id, for numpy and scipy."""
        return Counts.of(self._store)

    @property
    def n_documents(self) -> float:
        """Weight of all messages learned, or of what is left of them."""
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

    def _changed(self) -> dict[str, Any]:
        """Return the parameters that are not the defaults."""
        defaults = {field.name: field.default for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {
            name: value
            for name, value in self._parameters().items()
            if not is_default(value, defaults[name])
        }

    def __repr__(self) -> str:
        learned = self.n_documents, self.n_words, self.classes_
        return views.model_text(type(self).__name__, self._changed(), learned)

    def _repr_html_(self) -> str:
        """Return the model for notebooks."""
        learned = self.n_documents, self.n_words, self.classes_
        return views.model_html(type(self).__name__, self._parameters(), self._changed(), learned)

    @property
    def reads_columns(self) -> bool:
        """Whether a message maps attributes to values, and is no text."""
        return self._columns is not None

    @property
    def threshold_(self) -> float | None:
        """The cut in use, as log odds of the positive class; None decides by the highest score."""
        return None if self._threshold is None else self._threshold.cut

    @property
    def calibrated_(self) -> bool:
        """Whether probabilities are calibrated along the stream."""
        return self._calibrates

    @property
    def computes_statistics(self) -> bool:
        """Whether anything is computed now and then: no function of the messages learned alone."""
        return bool(self._refreshers)

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
