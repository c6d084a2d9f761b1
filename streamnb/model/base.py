"""The base of all models: one count store, read through the components of the model."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple

from river import base

from streamnb import _core
from streamnb.columns.reading import messages_of
from streamnb.model import merging
from streamnb.model.choices import Oov, Prior, Threshold
from streamnb.model.composition import (
    EXAMPLE,
    Composition,
    check_term_weighting,
    complete_model,
)
from streamnb.model.explanation import Explanation
from streamnb.model.forgetting import Forgetting, seconds_at, times_of
from streamnb.model.hooks import PeriodicStatistic, Scorer, Tuning
from streamnb.model.labelled_store import LabelledStore
from streamnb.model.message_reader import MessageReader
from streamnb.model.refreshing import Refreshes
from streamnb.model.stored import StoredModel
from streamnb.model.threshold import parse_threshold
from streamnb.parameters import (
    check_bound,
    check_jobs,
    check_tokenizer,
    is_weight,
    optional,
    whole,
)
from streamnb.statistics.counts import Counts, Floats
from streamnb.text import frames, inputs
from streamnb.text.labels import L, Labels, check_label
from streamnb.text.tokenizer import Tokenizer

Message = str | Mapping[Any, Any]
Time = float | datetime.datetime | None
Tokenize = Tokenizer | Callable[[str], Iterable[Any]]


class Prediction(NamedTuple, Generic[L]):
    """The decision on a message: its label, and the scores and probabilities of all labels.

    Attributes
    ----------
    label
        The label; None before any learning.
    scores
        The joint log-likelihood of each label.
    probabilities
        The probability of each label.
    """

    label: L | None
    scores: dict[L, float]
    probabilities: dict[L, float]


@dataclasses.dataclass(eq=False, repr=False)
class NaiveBayes(StoredModel[L], base.MiniBatchClassifier, Generic[L]):
    """Base of all models.

    The type of the labels is a parameter for type checkers: `OnlineNB[str]` predicts a str or None,
    and `OnlineNB` any hashable label.

    A subclass names its components and may add their parameters to the common ones below.

    Parameters
    ----------
    alpha
        Additive smoothing of word counts, above 0; 1 is Laplace's.
    prior
        `"empirical"` (n_c / n), `"laplace"` ((n_c + 1) / (n + s): Equations 4 and 5 of the HMNB
        paper), `"m-estimate"` ((n_c + 1 / s) / (n + 1)), or `"uniform"` (no prior). None is the
        event model's own: empirical for Bernoulli and multinomial, Laplace's for complement and
        one-versus-all, the m-estimate for columns in packages.
    oov
        A word that no class has seen: `"smooth"` estimates it from the smoothing alone, `"skip"`
        ignores it. None is the event model's own: skip for Bernoulli, otherwise smooth.
    vocabulary_size
        m, if the number of different words is known: 1 or more. None counts the learned words.
    tokenizer
        A `Tokenizer`, or any function from a str to its tokens. None is the model's default.
    refresh_every
        When statistics are recomputed: after this number of messages, an int from 1 on; or after
        messages whose weight is this share of the messages that count, a float above 0: of the
        window, of the index if the statistic is computed from it, or of the whole stream.
    threshold
        For two classes. None decides for the class with the highest score. A probability in
        (0, 1): a message is positive if its probability is above. `"auto"`: the threshold with the
        lowest recent cost; with calibrated probabilities, the threshold with the lowest expected
        cost.
    pos_label
        The label of the positive class; None is the last in sorted order (`"spam"` after `"ham"`).
    cost_ratio
        For `threshold="auto"`: the cost of a false positive relative to a false negative; above 0.
    max_features
        Maximum vocabulary, 1 or more. Beyond it, words with low document frequencies are pruned, a
        few with each message, as if never learned.
    index_size
        Documents in the index, for models that use past documents: 0 or more. Beyond it, the oldest
        are evicted. None is the number that the components need.
    n_jobs
        Threads for predicting batches, for learning large batches of texts into whole counts or
        into `OnlineNB`, and for statistics of all pairs of words (packages, and paths of order 2).
        1 or more; None is 1, -1 one for each processor.
    half_life
        For models that read word counts alone, a number above 0: after message t, a message of
        weight w learned at s counts as w 2^(−(t − s) / half_life). None never forgets. A text is a
        half-life in time, `"90s"`, `"15min"`, `"12h"`, `"30d"` or `"4w"`: then t is the latest time
        that came with a message, and s its value after this message.
    window_size
        Number of last messages that count, 1 or more. Each new message unlearns the oldest,
        regardless of weights, which must be multiples of 2**-20. None keeps all messages.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    composition: ClassVar[Composition]
    paper: ClassVar[str] = "Hidden multinomial naive Bayes (HMNB paper)"
    # The example in the docstrings of a family's models, and the arguments of the model in it.
    example: ClassVar[str] = EXAMPLE
    arguments: ClassVar[str] = ""
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer()
    # Models of columns have one term weighting.
    term_weighting = "counts"

    alpha: float = 1.0
    prior: Prior | None = None
    oov: Oov | None = None
    vocabulary_size: int | None = None
    tokenizer: Tokenize | None = None
    refresh_every: int | float = 0.1
    threshold: Threshold | None = None
    pos_label: Any = None
    cost_ratio: float = 1.0
    max_features: int = 1_000_000
    index_size: int | None = None
    n_jobs: int | None = None
    half_life: float | str | None = None
    window_size: int | None = None

    def __init_subclass__(cls, equations: str = "", **components: Any) -> None:
        """Complete a model of a family: its components by axis, and the rest of its docstring.

        For example, `class HCNB(HiddenNB, event="complement", equations="Equations 15 to 18")`.
        """
        super().__init_subclass__()
        if components:
            complete_model(cls, equations, components)

    def _composition(self) -> Composition:
        """Return the components with their parameters."""
        return self.composition.given(self._parameters())

    def _begin(self, snapshot: bytes | None, labels: Labels) -> None:
        """Check the parameters; start from scratch, or from the counts of a snapshot."""
        composition = self._components = self._composition()
        self._forgetting = Forgetting(self.half_life, self.window_size)
        # A window determines the index, but the parameter must still be valid.
        optional(whole(0))("index_size", self.index_size)
        self._threads = check_jobs("n_jobs", self.n_jobs)
        native_tokenizer, tokenize = check_tokenizer(self.tokenizer, self.default_tokenizer)
        store_options = {
            "max_features": check_bound("max_features", self.max_features, least=1),
            **self._forgetting.store_options(composition, self.index_size),
            "term_weighting": check_term_weighting(self.term_weighting, composition.event),
        }
        self._threshold = parse_threshold(
            self.threshold, self.pos_label, self.cost_ratio, composition.calibrates
        )
        columns = composition.event.reader()
        self._messages = MessageReader(columns, self.tokenizer, native_tokenizer, tokenize)
        self._columns, self._reader = columns, self._messages.read
        self._store, hooks = composition.build(
            self._parameters(), self._threads, native_tokenizer, store_options, snapshot
        )
        self._scorer = next(hook for hook in hooks if isinstance(hook, Scorer))
        self._statistics = tuple(hook for hook in hooks if isinstance(hook, PeriodicStatistic))
        self._refreshes = Refreshes(
            self._statistics, self._scorer, self.refresh_every, self._store, store_options
        )
        self._tunings = tuple(
            hook for hook in (self._threshold, *hooks) if isinstance(hook, Tuning)
        )
        self._labels = labels
        windowed = self.window_size is not None
        forget_class = self._refreshes.forget_class
        self._labelled = LabelledStore(self._store, labels, windowed, forget_class)
        self._counts = self._labelled.counts
        self._lock = self._labelled.lock
        # Whether one call of the core, with its own lock, learns a message of a known label.
        self._is_simple = not (
            self._columns is not None
            or self._tunings
            or self._statistics
            or self.window_size is not None
            or self._forgetting.timed
        )

    # --- predicting ---------------------------------------------------------------------------

    # River's labels are bool, int or str.
    def predict_one(  # type: ignore[override]
        self, x: Message, **kwargs: Any
    ) -> L | None:
        """Return the label of one message; None before any learning.

        If several labels have the highest score, it is the first in sorted order.

        Raises
        ------
        InputError
            If the message is invalid, or `threshold` is set and there are three classes.
        """
        if self._reader is not None:
            x = self._reader(x)
        if self._threshold is not None and len(self._labels.order) > 1:
            scores = self._labelled.by_label(self._store.scores, x, self._scoring, True)
            decided: L = self._threshold.decide(list(scores), list(scores.values()))
            return decided
        while (class_id := self._store.predict(x, self._scoring)) is not None:
            label: L | None = self._labels.names[class_id]
            if label is not None:  # else the label was removed meanwhile: predict again
                return label
        return None

    def predict_proba_one(  # type: ignore[override]
        self, x: Message, **kwargs: Any
    ) -> dict[L, float]:
        """Return the probability of each label; empty before any learning."""
        if self._reader is not None:
            x = self._reader(x)
        return self._labelled.by_label(self._store.probabilities, x, self._scoring)

    def joint_log_likelihood_one(self, x: Message) -> dict[L, float]:
        """Return the score of each label: ln P(c) + ln P(x|c), or the model's equivalent."""
        if self._reader is not None:
            x = self._reader(x)
        return self._labelled.by_label(self._store.scores, x, self._scoring, False)

    def predict_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the label of each message: a Series for pandas input, else a list."""
        batch, index = self._messages.batch(X, vocabulary)
        if self._threshold is None or len(self._labels.order) < 2:
            found = self._labelled.predict_many(batch, self._scoring, self._threads)
            return frames.labels(found, index)
        names, scores = self._scores_many(batch, probable=True)
        decide = self._threshold.decide
        return frames.labels([decide(names, row) for row in scores.tolist()], index)

    def predict_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the probabilities of each message: a DataFrame for pandas input, else dicts."""
        batch, index = self._messages.batch(X, vocabulary)
        names, scores = self._scores_many(batch, probable=True)
        return frames.probabilities(scores, names, index)

    def predict_log_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Floats:
        """Return log probabilities, shape `(messages, classes)`, in the order of `classes_`."""
        batch, _ = self._messages.batch(X, vocabulary)
        return frames.log_shares(self._scores_many(batch, probable=True)[1])

    def joint_log_likelihood_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Floats:
        """Return the scores, shape `(messages, classes)`, in the order of `classes_`."""
        batch, _ = self._messages.batch(X, vocabulary)
        return self._scores_many(batch, probable=False)[1]

    def predictions_many(self, X: Any) -> list[Prediction[L]]:
        """Return the label, the scores and the probabilities of each message, in one call.

        They equal `predict_one`, `joint_log_likelihood_one` and `predict_proba_one`, to the last
        bit for models whose batches are summed in the order of one message.
        """
        batch, _ = self._messages.batch(X, None)
        arguments = batch, self._scoring, self._threads
        names, rows = self._labelled.by_message(self._store.predictions_many, *arguments, rows=3)
        threshold = self._threshold if len(names) > 1 else None
        found: list[Prediction[L]] = []
        for scores, probable, probabilities in rows.tolist():
            if threshold is not None:
                label = threshold.decide(names, probable)
            else:
                label = names[probable.index(max(probable))] if names else None
            by_label = [dict(zip(names, row, strict=True)) for row in (scores, probabilities)]
            found.append(Prediction(label, *by_label))
        return found

    def explain_one(self, x: Message) -> Explanation:
        """Return the contribution of each word to the score of each label."""
        found = self._labelled.explain(self._messages.count(x), self._scoring)
        return found.renamed(self._messages.names(x))

    def tokens_one(self, x: Message) -> frozenset[str]:
        """Return the distinct tokens of a message, as `explain_one` names them."""
        return self._messages.tokens(x)

    def _scores_many(self, batch: _core.Batch, probable: bool) -> tuple[list[L], Floats]:
        arguments = batch, self._scoring, self._threads, probable
        return self._labelled.by_message(self._store.scores_many, *arguments)

    # --- learning -----------------------------------------------------------------------------

    def learn_one(  # type: ignore[override]
        self, x: Message, y: L, w: float = 1.0, time: Time = None
    ) -> None:
        """Learn one message.

        Parameters
        ----------
        x
            A text; a record, which is a mapping with its text under a usual name, such as "text" or
            "body", and the fields of the tokenizer; or a mapping of tokens to counts (0 to 2**53).
        y
            Its label: any hashable object except None.
        w
            Its weight, 0 (nothing is learned) to 2**53.
        time
            Time of arrival: seconds since 1970, or a `datetime`. Only a `half_life` in time uses
            it. The model's clock advances to it, by at most one half-life, and never goes back. An
            older message, or one without a time, is learned at the current time.

        Raises
        ------
        InputError
            If an argument is invalid; the model is unchanged.
        """
        if self._columns is None and self._reader is not None:
            x = self._reader(x)
        if self._is_simple:
            try:
                handle = self._labels.handles.get(y)
            except TypeError:
                handle = None
            if handle is not None and self._counts.learn_known(x, handle, w):
                return
        with self._lock:
            y = check_label(y)
            if self._columns is not None:
                learned = is_weight(w) and w > 0
                x = self._columns.learn(self._store, [x])[0] if learned else self._columns.read(x)
            if self._forgetting.timed:
                self._counts.expect_times([seconds_at(time)])
            # Evaluation comes first: its errors must occur before the model changes.
            pending = [
                tuning.judge(self._store, self._scoring, self._labels, x, y)
                for tuning in (self._tunings if y in self._labels.ids else ())
            ]
            self._labelled.learn(x, y, w)
            for update in pending:
                if update is not None:
                    update(w)
            self._refreshes.changed(w)

    def learn_many(
        self,
        X: Any,
        y: Iterable[L],
        w: float = 1.0,
        vocabulary: Sequence[Any] | None = None,
        time: Any = None,
    ) -> None:
        """Learn many messages, with the same result as one by one.

        Parameters
        ----------
        X
            A list of texts or of mappings; a Series of texts, or a DataFrame with a column of texts
            or of counts (of pandas, polars or pyarrow); or a scipy sparse matrix of counts.
        y, w
            Their labels, and the weight of each message.
        vocabulary
            The words of a matrix's columns.
        time
            As in `learn_one`, one for all messages or an iterable with one for each.

        Raises
        ------
        InputError
            If an argument is invalid; the model is unchanged.
        """
        if self._columns is not None:
            X, _ = messages_of(X, vocabulary)
        batch, _ = self._messages.batch(X, vocabulary)
        labels = inputs.read_labels(y, len(batch))
        times = times_of(time, len(labels)) if self._forgetting.timed else None
        with self._lock:
            class_ids, new = self._labels.ids_of(labels)
            if not self._is_simple or not is_weight(w) or not w:
                # Learning no message checks the weight before anything changes.
                self._store.learn_many(batch, class_ids, w, 0, 0, 1)
            if not (w and labels):
                return
            # Tunings evaluate each message before it is learned. A batch of rows would widen its
            # bins before the first of its refreshes.
            has_bins = self._columns is not None and self._store is self._counts
            if self._tunings or (has_bins and self._statistics):
                each = itertools.repeat(None) if times is None else times
                messages = inputs.each(X, vocabulary)
                for message, label, at in zip(messages, labels, each, strict=False):
                    self.learn_one(message, label, w, at)
                return
            if times is not None:
                self._counts.expect_times(times)
            if self._columns is not None:
                rows = self._columns.learn(self._store, X)
                batch = self._columns.batch(rows)
            stops = self._refreshes.stops(len(labels), w)
            self._labelled.learn_many(batch, class_ids, new, w, self._threads, stops)

    def unlearn_one(self, x: Message, y: L, w: float = 1.0) -> None:
        """Unlearn one message: the exact inverse of `learn_one` with the same arguments.

        A document that the index has evicted is removed from the counts only. The record of a
        learned threshold is kept, because its decisions were made. With `half_life`, `w` is the
        remaining weight: 2^(−s / half_life) of the weight that was learned s messages ago.

        Raises
        ------
        NotLearnedError
            If this message was not learned; the model is unchanged.
        InputError
            If an argument is invalid.
        """
        if self._reader is not None:
            x = self._reader(x)
        y = check_label(y)
        with self._lock:
            self._labelled.unlearn(x, y, w)
            self._refreshes.changed(w)

    def merge(self, other: NaiveBayes[Any]) -> None:
        """Learn everything that another model of the same kind has learned.

        The order of merging does not matter for counts. In the index, the other model's documents
        are the younger. With `half_life`, the last messages of both models count as simultaneous,
        and every message keeps its remaining weight.

        Raises
        ------
        InputError
            If the other model is of another kind, or tokenises differently.
        """
        with merging.changing(self, other) as theirs:
            merging.merge(self, theirs)

    def subtract(self, other: NaiveBayes[Any]) -> None:
        """Unlearn everything that another model of the same kind has learned.

        Raises
        ------
        NotLearnedError
            If this model has not learned all of it; it is unchanged.
        InputError
            If the other model is of another kind, or tokenises differently; or with `half_life`.
        """
        with merging.changing(self, other) as theirs:
            merging.subtract(self, theirs)

    def refresh(self) -> None:
        """Recompute the statistics from a copy of the counts, and swap them in.

        `refresh_every` calls it. Other threads continue to learn and to predict with the previous
        statistics. They wait with learning only if the vocabulary nears its bound.
        """
        # At the bound, pruning gives ids to other words with every few messages, so statistics that
        # were computed in the meantime would never fit.
        near = 2 * self._counts.n_words > self.max_features
        with self._lock if near else contextlib.nullcontext():
            self._refreshes.refresh()

    # --- properties ---------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Return a copy of the counts, by word id and class id, for numpy and scipy."""
        return Counts.of(self._counts)

    @property
    def n_documents(self) -> float:
        """Total remaining weight of the learned messages."""
        return self._counts.n_documents

    @property
    def n_cells(self) -> int:
        """Number of nonzero (word, class) counts."""
        return int(self._store.n_cells)

    @property
    def reads_columns(self) -> bool:
        """Whether a message maps attributes to values instead of being a text."""
        return self._columns is not None

    @property
    def threshold_(self) -> float | None:
        """The current threshold as log odds of the positive class; None for the highest score."""
        return None if self._threshold is None else self._threshold.log_odds_threshold

    @property
    def calibrated_(self) -> bool:
        """Whether probabilities are calibrated along the stream."""
        return self._components.calibrates

    @property
    def weights_(self) -> dict[str, float]:
        """Weight of each word, or of each attribute averaged over pairs of classes, if any."""
        return self._refreshes.weights()

    @property
    def _scoring(self) -> _core.ScoringConfig:
        return self._scorer.scoring

    @property
    def _multiclass(self) -> bool:
        return True

    def _more_tags(self) -> set[str]:
        return set() if self._columns is not None else {base.tags.POSITIVE_INPUT}
