"""The flow that all models share: messages in, counts kept, statistics refreshed, labels out."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from streamnb.assembly import Assembly
from streamnb.columns import reading as columns
from streamnb.errors import InputError, NotLearnedError
from streamnb.online.schedule import Schedule
from streamnb.online.threshold import parse_threshold
from streamnb.online.tuning import Judgement
from streamnb.parameters import check_bound, check_tokenizer, is_weight
from streamnb.parts import Composition
from streamnb.persistence import merging
from streamnb.persistence.merging import Learned
from streamnb.persistence.saved import SavedModel, Tokenize
from streamnb.predicting import Message, Predictor
from streamnb.statistics.counts import Counts
from streamnb.text import inputs
from streamnb.text.forms import check_form
from streamnb.text.labels import Label, Labels, check_label
from streamnb.text.tokenizer import Tokenizer


@dataclasses.dataclass(eq=False, repr=False)
class NaiveBayes(Predictor, SavedModel):
    """Base of all models: one count store, read through the parts of the model.

    A subclass names its parts, and may have parameters of theirs beside the common ones below.

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
        A `Tokenizer`, or any function from a str to its tokens. None is
        the model's default, which is `Tokenizer()` unless the model says another.
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
        are evicted. 0 or more; None is as many as the parts want.
    max_pairs
        Bound of the table of word pairs that speeds hidden parents up, 0 or more: past it,
        predictions walk the documents instead.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    parts: ClassVar[Composition]
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer()
    # Messages of columns have one form.
    form = "counts"

    alpha: float = 1.0
    prior: str | None = None
    unseen: str | None = None
    vocabulary_size: int | None = None
    tokenizer: Tokenize | None = None
    refresh_every: int | float = 0.1
    threshold: float | str | None = None
    positive: Any = None
    cost_ratio: float = 1.0
    max_words: int = 1_000_000
    max_documents: int | None = None
    max_pairs: int = 1_000_000

    def __post_init__(self) -> None:
        self._begin(None, Labels())

    def _composition(self) -> Composition:
        """Return the parts, with the parameters that are theirs."""
        return self.parts.given(self._parameters())

    def _begin(self, snapshot: bytes | None, labels: Labels) -> None:
        """Check the parameters; start from nothing, or from the counts of a snapshot."""
        parts = self._parts = self._composition()
        documents = parts.max_documents if self.max_documents is None else self.max_documents
        bounds = {
            "max_words": check_bound("max_words", self.max_words, least=1),
            "max_documents": check_bound("max_documents", documents, least=0),
            "max_pairs": check_bound("max_pairs", self.max_pairs, least=0),
        }
        assembly = Assembly.of(parts, self.alpha, self.prior, self.unseen, self.vocabulary_size)
        self._scorer, self._refreshers = assembly.scorer, assembly.refreshers
        self._scoring = self._scorer.scoring
        self._has_statistics = assembly.periodic
        self._threshold = parse_threshold(self.threshold, self.positive, self.cost_ratio)
        tuned = None if self._threshold is None else self._threshold.tuning
        self._tunings = (*([] if tuned is None else [tuned]), *assembly.tunings)
        self._columns = parts.event.reader()
        self._native_tokenizer, self._tokenize = check_tokenizer(
            self.tokenizer, self.default_tokenizer
        )
        self._reader: Callable[[Any], Any] | None = None
        if self._columns is not None:
            self._reader = self._columns.read
        elif self._tokenize is not None:
            self._reader = functools.partial(inputs.count_tokens, tokenize=self._tokenize)
        self._schedule = Schedule(self.refresh_every)
        form = check_form(self.form, parts.event)
        self._store = assembly.open_store(self._native_tokenizer, bounds, form, snapshot)
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
        if class_id is not None and not self._tunings:
            self._store.learn(x, class_id, w)
        else:
            self._learn_carefully(x, check_label(y), w)
        if self._has_statistics and w and self._schedule.tick():
            self._refresh_statistics()

    def _learn_carefully(self, x: Any, y: Label, w: float) -> None:
        """Learn a message whose label may be new, or that is judged before it is learned."""
        new = y not in self._labels.ids
        judgements: list[Judgement] = []
        if not new:
            # Whatever can fail comes before learning.
            judged = (
                tuning.judge(self._store, self._scoring, self._labels, x, y)
                for tuning in self._tunings
            )
            judgements = [record for record in judged if record is not None]
        self._store.learn(x, self._labels.free_id() if new else self._labels.ids[y], w)
        for record in judgements:
            record(w)
        self._scoring = self._scorer.scoring
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
        if self._tunings or self._has_statistics or self._columns is not None or not w:
            # Learning none of them checks the weight, before anything has changed.
            self._store.learn_many(batch, class_ids, w, 0, 0)
        if not (w and labels):
            return
        if self._tunings:
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
        merging.merge(self._learned, self._alike(other)._learned)
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
        merging.subtract(self._learned, self._alike(other)._learned)
        self.refresh()

    @property
    def _learned(self) -> Learned:
        return Learned(self._store, self._labels, self._columns, self._tunings)

    def _alike(self, other: NaiveBayes) -> NaiveBayes:
        """Return the other model, if the two count alike."""
        kind = type(self).__name__
        if not isinstance(other, type(self)) or other._parts != self._parts:
            raise InputError(f"a {kind} takes another {kind}, not {type(other).__name__}")
        if other.tokenizer != self.tokenizer:
            raise InputError("models with different tokenizers count different words")
        if other.form != self.form:
            raise InputError("models with different forms of documents count differently")
        if self._columns and other._columns and self._columns.bins != other._columns.bins:
            raise InputError("models with different bins count different words")
        return other

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
        for refresher in self._refreshers:
            refresher.refresh(self._store, self._scoring)
        self._scoring = self._scorer.scoring


@dataclasses.dataclass(eq=False, repr=False)
class TextNaiveBayes(NaiveBayes):
    """Base of the models that read texts.

    Parameters
    ----------
    form
        What the count f of a word in a message becomes before it is learned or scored: `"counts"`,
        f itself; `"presence"`, 1 (scikit-learn's `binary=True`); `"log"`, ln(1 + f) (near its
        `sublinear_tf`, which is 1 + ln f); `"unit"`, f divided by the Euclidean length of the
        message (its `norm="l2"`); `"presence-unit"` and `"log-unit"`, one after the other. With a
        unit form use a smaller `alpha`, 0.01 say. Values that are no integers are rounded to
        multiples of 2**-20, and never to 0, which keeps unlearning and merging exact.

    The other parameters, methods and errors are those of `NaiveBayes`.
    """

    form: str = "counts"
