"""The flow that all models share: messages in, counts kept, statistics refreshed, labels out."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from river import base

from streamnb import _core, assembly
from streamnb.columns import reading as columns
from streamnb.columns.store import attributes_of
from streamnb.errors import NotLearnedError
from streamnb.explanation import Explanation
from streamnb.online.correlation_factor import parse_factor
from streamnb.online.package_threshold import Packaging
from streamnb.online.schedule import Schedule
from streamnb.online.threshold import parse_threshold
from streamnb.online.tuning import Note
from streamnb.parameters import (
    check_bound,
    check_number,
    check_tokenizer,
    check_weight_of_words,
    is_weight,
)
from streamnb.parts import (
    CORRELATION,
    INDEPENDENT,
    PACKAGED,
    SMOOTHING,
    TREE,
    UNIFORM,
    UNIFORM_DOCUMENTS,
    WHOLE_STREAM,
    Composition,
    Dependence,
    DocumentWeights,
    Estimate,
    Event,
    Neighbourhood,
    Weights,
    with_settings,
)
from streamnb.persistence import merging, saving
from streamnb.statistics.counts import Counts, Floats
from streamnb.statistics.document_weights import PAPER_ROUNDS
from streamnb.statistics.events import MAX_CANDIDATES, MIN_SAMPLES_LEAF
from streamnb.statistics.refreshing import Statistics
from streamnb.statistics.weights_in_use import WeightsInUse
from streamnb.text import inputs, outputs
from streamnb.text.forms import check_form
from streamnb.text.labels import Label, Labels, check_label

Message = str | Mapping[Any, float]
Tokenize = Callable[[str], Iterable[Any]]


class NaiveBayes(base.MiniBatchClassifier):
    """Base of all models: one count store, read through an event, an estimate and a dependence.

    Parameters
    ----------
    alpha
        Additive smoothing of word counts, above 0; 1 is Laplace's.
    prior
        `"empirical"` (n_c / n), `"laplace"` ((n_c + 1) / (n + s): Equations 4 and 5 of the HMNB
        paper), or `"uniform"` (no prior). None is the event model's own: empirical for Bernoulli
        and multinomial, Laplace's for complement and one-versus-all.
    unseen
        What a word counts for that no class has seen: `"smooth"`, estimated from the smoothing
        alone, or `"skip"`, nothing. None is the event model's own: skip for Bernoulli, else smooth.
    vocabulary_size
        m, where the number of different words is known: 1 or more. None lets it grow.
    tokenizer
        A `Tokenizer`, or any function from a str to its tokens. None is `Tokenizer()`.
    refresh_every
        When statistics are computed anew, for models that have any. An int: after so many
        messages. A float: when the stream has grown by this share.
    threshold
        For two classes. None decides for the class with the highest score. A probability in
        (0, 1) decides for the positive class when its probability is above. `"auto"` uses the cut
        that would have cost least so far.
    positive
        The label of the positive class; None is the last in sorted order (`"spam"` after `"ham"`).
    cost_ratio
        For `threshold="auto"`: what a lost negative (ham) costs, in units of a positive (spam) let
        through; above 0.
    max_words
        Bound of the vocabulary, 1 or more: past it, the quarter of the words with the lowest
        document frequencies is pruned, as if never learned.
    max_documents
        Documents kept in the index, for models that look at past documents; past it, the oldest
        are evicted. 0 or more; None is the own of the dependence or the estimate.
    max_pairs
        Bound of the table of word pairs that speeds hidden parents up, 0 or more: past it,
        predictions walk the documents instead.
    form
        What the count f of a word in a message becomes before it is learned or scored: `"counts"`,
        f itself; `"presence"`, 1 (scikit-learn's `binary=True`); `"log"`, ln(1 + f) (near its
        `sublinear_tf`, which is 1 + ln f); `"unit"`, f divided by the Euclidean length of the
        message (its `norm="l2"`); `"presence-unit"` and `"log-unit"`, one after the other. With a
        unit form use a smaller `alpha`, 0.01 say. Values that are no integers are rounded to
        multiples of 2**-20, and never to 0, which keeps unlearning and merging exact.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    # The parts a model is made of.
    event: ClassVar[Event]
    dependence: ClassVar[Dependence] = INDEPENDENT
    estimate: ClassVar[Estimate] = SMOOTHING
    weights: ClassVar[Weights] = UNIFORM
    document_weights: ClassVar[DocumentWeights] = UNIFORM_DOCUMENTS
    neighbourhood: ClassVar[Neighbourhood] = WHOLE_STREAM
    # The correlation factor, for models whose estimate has one; how columns are read and bags are
    # filled, how often documents are weighed and how many words are searched, for models that do.
    factor: float | str = 0.1
    bins: int = 10
    values: Mapping[str, int] | None = None
    bag_threshold: float | str = 0.0
    max_links: int = 1_000_000
    rounds: int = PAPER_ROUNDS
    max_candidates: int = MAX_CANDIDATES
    # What words weigh that a tree of depths does not test, for models whose words weigh by them.
    untested: float = 1.0
    # How a tree grows and how many documents are near, for models that look at some of them only.
    max_depth: int = TREE.max_depth
    min_samples_leaf: float | None = None
    grow: str = TREE.grow
    delta: float = TREE.delta
    tau: float = TREE.tau
    grace_period: float = TREE.grace_period
    n_neighbors: int = 50
    # Messages of columns have one form.
    form: str = "counts"
    # How weights that minimise a loss are fitted, for models that have any.
    multiclass: str | None = None
    ridge: float | None = None
    leave_one_out: bool = True

    def __init__(
        self,
        alpha: float = 1.0,
        prior: str | None = None,
        unseen: str | None = None,
        vocabulary_size: int | None = None,
        tokenizer: Tokenize | None = None,
        refresh_every: int | float = 0.1,
        threshold: float | str | None = None,
        positive: Any = None,
        cost_ratio: float = 1.0,
        max_words: int = 1_000_000,
        max_documents: int | None = None,
        max_pairs: int = 1_000_000,
        form: str = "counts",
    ) -> None:
        self.alpha = alpha
        self.prior = prior
        self.unseen = unseen
        self.vocabulary_size = vocabulary_size
        self.tokenizer = tokenizer
        self.refresh_every = refresh_every
        self.threshold = threshold
        self.positive = positive
        self.cost_ratio = cost_ratio
        self.max_words = max_words
        self.max_documents = max_documents
        self.max_pairs = max_pairs
        self.form = form
        self._begin(None, Labels())

    def _composition(self) -> Composition:
        """Return the parts, with the settings that are theirs."""
        return Composition(
            self.event,
            self.dependence,
            self.estimate,
            self.weights,
            self.document_weights,
            with_settings(self.neighbourhood, self),
        )

    def _begin(self, snapshot: bytes | None, labels: Labels) -> None:
        """Check the parameters; start from nothing, or from the counts of a snapshot."""
        parts = self._parts = self._composition()
        documents = parts.max_documents if self.max_documents is None else self.max_documents
        bounds = {
            "max_words": check_bound("max_words", self.max_words, least=1),
            "max_documents": check_bound("max_documents", documents, least=0),
            "max_pairs": check_bound("max_pairs", self.max_pairs, least=0),
        }
        weighing = parts.weights.of_attributes(self.multiclass, self.ridge, parts.event.numbers)
        words = parts.weights if weighing is None else UNIFORM
        fit = None
        if not parts.event.numbers:
            fit = parts.weights.of_words(
                self.multiclass, self.ridge, self.leave_one_out, parts.document_weights
            )
        make_scoring, setting = assembly.scoring_of(
            parts, words, fit is not None, self.alpha, self.prior, self.unseen, self.vocabulary_size
        )
        least = MIN_SAMPLES_LEAF if self.min_samples_leaf is None else self.min_samples_leaf
        setting = dataclasses.replace(
            setting,
            max_candidates=check_bound("max_candidates", self.max_candidates, 1),
            max_depth=check_bound("max_depth", self.max_depth, least=0),
            min_samples_leaf=check_number("min_samples_leaf", least),
            untested=check_weight_of_words("untested", self.untested),
        )
        correlated = parts.estimate is CORRELATION
        self._factor = parse_factor(self.factor, make_scoring) if correlated else None
        self._scoring = make_scoring() if self._factor is None else self._factor.scoring
        bags = parts.dependence.hidden == PACKAGED.hidden
        self._packaging = Packaging(self.bag_threshold, self.max_links) if bags else None
        self._threshold = parse_threshold(self.threshold, self.positive, self.cost_ratio)
        self._columns = assembly.columns_of(parts.event, self.bins, self.values)
        self._native_tokenizer, self._tokenize = check_tokenizer(self.tokenizer)
        self._reader: Callable[[Any], Any] | None = None
        if self._columns is not None:
            self._reader = self._columns.read
        elif self._tokenize is not None:
            self._reader = functools.partial(inputs.count_tokens, tokenize=self._tokenize)
        self._schedule = Schedule(self.refresh_every)
        rounds = check_bound("rounds", self.rounds, 0)
        self._weights = WeightsInUse(words, parts.document_weights, rounds, fit)
        self._statistics = Statistics(
            parts, setting, self._weights, self._factor, weighing, self._packaging
        )
        self._has_statistics = self._statistics.periodic
        self._recorders = assembly.recorders_of(self._threshold, self._packaging, self._factor)
        form = check_form(self.form, parts.event)
        self._store = assembly.open_counts(parts, self._native_tokenizer, bounds, form, snapshot)
        if (attributes := attributes_of(self._store)) is not None:
            attributes.halved = make_scoring(alpha=setting.alpha / 2 or setting.alpha)
        if parts.document_weights.online:
            self._store.weigh(self._scoring)
        if self._columns is not None:
            self._store.declare(self._columns.declared)
        parts.neighbourhood.plant(self._store, None)
        self._labels = labels
        self._store.set_ranks(labels.ranks())

    # --- learning -----------------------------------------------------------------------------

    def learn_one(self, x: Message, y: Label, w: float = 1.0) -> None:
        """Learn one message.

        Parameters
        ----------
        x
            A text, or a mapping of tokens to counts (0 to 2**53).
        y
            Its label: anything hashable but None.
        w
            Its weight, 0 (nothing is learned) to 2**53.

        Raises
        ------
        InputError
            If one of them can't be learned; the model is unchanged.
        """
        if self._columns is not None:
            y = check_label(y)
            learned = is_weight(w) and w > 0
            x = self._columns.learn(self._store, [x])[0] if learned else self._columns.read(x)
        elif self._reader is not None:
            x = self._reader(x)
        try:
            class_id = self._labels.ids.get(y)
        except TypeError:
            class_id = None
        if class_id is not None and not self._recorders:
            self._store.learn(x, class_id, w)
        else:
            self._learn_carefully(x, check_label(y), w)
        if self._has_statistics and w and self._schedule.tick():
            self._refresh_statistics()

    def _learn_carefully(self, x: Any, y: Label, w: float) -> None:
        """Learn a message whose label may be new, or that is judged before it is learned."""
        new = y not in self._labels.ids
        notes: list[Note] = []
        if not new:
            # Whatever can fail comes before learning.
            judged = (
                recorder.judge(self._store, self._scoring, self._labels, x, y)
                for recorder in self._recorders
            )
            notes = [note for note in judged if note is not None]
        self._store.learn(x, self._labels.free_id() if new else self._labels.ids[y], w)
        for note in notes:
            note(w)
        if self._factor is not None:
            self._scoring = self._factor.scoring
        if new and w:
            self._labels.add(y)
            self._store.set_ranks(self._labels.ranks())

    def learn_many(
        self,
        X: Any,
        y: Iterable[Label],
        w: float = 1.0,
        vocabulary: Sequence[Any] | None = None,
    ) -> None:
        """Learn many messages, with the same result as one by one.

        Parameters
        ----------
        X
            A list of texts or of mappings, a pandas Series of texts, a pandas DataFrame of counts,
            or a scipy sparse matrix of counts.
        y
            Their labels.
        w
            The weight of each message.
        vocabulary
            The words of a matrix's columns.

        Raises
        ------
        InputError
            If one of them can't be learned; the model is unchanged.
        """
        if self._columns is not None:
            X, _ = columns.messages_of(X, vocabulary)
        batch, _ = self._read_batch(X, vocabulary)
        labels = inputs.read_labels(y, len(batch))
        class_ids, new = self._labels.ids_of(labels)
        if self._recorders or self._has_statistics or self._columns is not None or not w:
            # Learning none of them checks the weight, before anything has changed.
            self._store.learn_many(batch, class_ids, w, 0, 0)
        if not (w and labels):
            return
        if self._recorders:
            # Each message's score before it is learned belongs to the record.
            for message, label in zip(inputs.each(X, vocabulary), labels, strict=True):
                self.learn_one(message, label, w)
            return
        if self._columns is not None:
            rows = self._columns.learn(self._store, X)
            batch = self._columns.batch(self._native_tokenizer, rows)
        due = self._schedule.last_due(len(labels)) if self._has_statistics else None
        if due is not None:
            self._store.learn_many(batch, class_ids, w, 0, due)
            self._refresh_statistics()
        self._store.learn_many(batch, class_ids, w, due or 0, len(labels))
        for label in new:
            self._labels.add(label)
        self._store.set_ranks(self._labels.ranks())

    def unlearn_one(self, x: Message, y: Label, w: float = 1.0) -> None:
        """Unlearn one message: the exact inverse of `learn_one` with the same arguments.

        A document that the bounded index has evicted leaves the counts only. The record of a
        learned threshold is kept: those decisions were taken.

        Raises
        ------
        NotLearnedError
            If this was not learned; the model is unchanged.
        InputError
            If one of the arguments can't be read.
        """
        if self._reader is not None:
            x = self._reader(x)
        y = check_label(y)
        class_id = self._labels.ids.get(y)
        if class_id is None:
            raise NotLearnedError(
                f"no message was learned with label {y!r}; labels are {self.classes_!r}"
            )
        if not self._store.unlearn(x, class_id, w):
            self._labels.remove(y)
            self._store.set_ranks(self._labels.ranks())
        if self._has_statistics and w and self._schedule.tick():
            self._refresh_statistics()

    def merge(self, other: NaiveBayes) -> None:
        """Learn everything that another model of the same kind has learned.

        Counts add up in any order. Of documents in the index, the other model's are the younger.

        Raises
        ------
        InputError
            If the other is of another kind, or tokenises differently.
        """
        merging.merge(self, other)
        self.refresh()

    def subtract(self, other: NaiveBayes) -> None:
        """Unlearn everything that another model of the same kind has learned.

        Raises
        ------
        NotLearnedError
            If this model has not learned all of that; it is unchanged.
        InputError
            If the other is of another kind, or tokenises differently.
        """
        merging.subtract(self, other)
        self.refresh()

    # --- statistics ---------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Return a copy of the counts, by word id and class id, for numpy and scipy."""
        return Counts.of(self._store)

    def refresh(self) -> None:
        """Compute the statistics of the counts anew, aside, and swap them in.

        It happens by itself as `refresh_every` says. Other threads go on predicting with the
        statistics before.
        """
        self._refresh_statistics()
        self._schedule.reset(self._schedule.messages)

    def _refresh_statistics(self) -> None:
        self._statistics.refresh(self._store, self._scoring)
        if self._factor is not None:
            self._scoring = self._factor.scoring

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
            return self._threshold.decide(self.classes_, self._ordered_scores(x))
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
            decided = [decide(names, scores) for scores in self._scores_many(batch).tolist()]
            return outputs.labels(decided, index)
        labels = self._store.predict_many(batch, self._scoring, self._labels.names)
        return outputs.labels(labels, index)

    def predict_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the probabilities of each message: a DataFrame for pandas input, else dicts."""
        batch, index = self._read_batch(X, vocabulary)
        return outputs.probabilities(self._scores_many(batch), self.classes_, index)

    def joint_log_likelihood_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Floats:
        """Return the scores of each message, shape `(messages, classes)`, as `classes_` orders."""
        batch, _ = self._read_batch(X, vocabulary)
        return self._scores_many(batch)

    def _read_batch(self, X: Any, vocabulary: Sequence[Any] | None) -> tuple[_core.Batch, Any]:
        if self._columns is None:
            return inputs.read_batch(X, vocabulary, self._native_tokenizer, self._tokenize)
        messages, index = columns.messages_of(X, vocabulary)
        rows = [self._columns.read(x) for x in messages]
        return self._columns.batch(self._native_tokenizer, rows), index

    def _scores_many(self, batch: _core.Batch) -> Floats:
        scores = np.frombuffer(self._store.scores_many(batch, self._scoring))
        by_id = scores.reshape(len(batch), len(self._labels.names))
        return by_id[:, [class_id for _, class_id in self._labels.order]]

    def _ordered_scores(self, x: Message) -> list[float]:
        scores = self._store.scores(x, self._scoring)
        return [scores[class_id] for _, class_id in self._labels.order]

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

        def by_label(values: list[float]) -> dict[Label, float]:
            return {label: values[class_id] for label, class_id in self._labels.order}

        return Explanation(by_label(baseline), {word: by_label(terms) for word, terms in words})

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
        attributes = attributes_of(self._store)
        if attributes is None:
            return self._weights.by_word(self._store)
        return attributes.in_use.mean()

    @property
    def _multiclass(self) -> bool:
        return True

    def _more_tags(self) -> set[str]:
        return set() if self._columns is not None else {base.tags.POSITIVE_INPUT}

    # --- saving -------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return the model file's bytes: the same for all models that have learned the same.

        Statistics are refreshed first and not written: they follow from the counts.
        """
        self.refresh()
        return saving.dump(self)

    def save(self, path: str | Path) -> None:
        """Write the model to a file, which is replaced as a whole or not at all."""
        saving.write(Path(path), self.to_bytes())

    @classmethod
    def load(
        cls, path: str | Path, tokenizer: Callable[[str], Iterable[Any]] | None = None
    ) -> Self:
        """Return the model that a file holds.

        Parameters
        ----------
        path
            A file that `save` wrote.
        tokenizer
            The function that the model was saved with, if its tokenizer was one.

        Raises
        ------
        ModelFileError
            If the file is truncated, altered, of another version, or holds another model.
        """
        return saving.load(cls, Path(path).read_bytes(), tokenizer)

    @classmethod
    def from_bytes(
        cls, data: bytes, tokenizer: Callable[[str], Iterable[Any]] | None = None
    ) -> Self:
        """Return the model that `to_bytes` wrote."""
        return saving.load(cls, data, tokenizer)

    def __getstate__(self) -> dict[str, Any]:
        return saving.state(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        saving.set_state(self, state)
