"""The flow that all models share: messages in, counts kept, statistics refreshed, labels out."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamnb.assembly import Assembly
from streamnb.learning import Learner
from streamnb.online.locks import held
from streamnb.online.schedule import Schedule
from streamnb.online.threshold import parse_threshold
from streamnb.parameters import check_bound, check_jobs, check_tokenizer
from streamnb.parts import Composition, Forgetting
from streamnb.persistence.saved import SavedModel, Tokenize
from streamnb.text import inputs
from streamnb.text.forms import check_form
from streamnb.text.labels import Labels
from streamnb.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from streamnb.persistence.merging import Learned


@dataclasses.dataclass(eq=False, repr=False)
class NaiveBayes(Learner, SavedModel):
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
    oov
        What a word counts for that no class has seen: `"smooth"`, estimated from the smoothing
        alone, or `"skip"`, nothing. None is the event model's own: skip for Bernoulli, else smooth.
    vocabulary_size
        m, where the number of different words is known: 1 or more. None lets it grow.
    tokenizer
        A `Tokenizer`, or any function from a str to its tokens. None is the model's default.
    refresh_every
        When statistics are computed anew: after so many messages (int), or such growth (float).
    threshold
        For two classes. None decides for the class with the highest score. A probability in
        (0, 1) decides for the positive class when its probability is above. `"auto"` uses the cut
        that would have cost least of late; where probabilities are calibrated, that which they
        say costs least.
    pos_label
        The label of the positive class; None is the last in sorted order (`"spam"` after `"ham"`).
    cost_ratio
        For `threshold="auto"`: what a lost negative costs, in positives let through; above 0.
    max_features
        Bound of the vocabulary, 1 or more: past it, words with low document frequencies are pruned,
        a few with each message, as if never learned.
    index_size
        Documents kept in the index, for models that look at past documents; past it, the oldest
        are evicted. 0 or more; None is as many as the parts want.
    max_pairs
        Bound of the table of word pairs that speeds hidden parents up, 0 or more.
    n_jobs
        Threads for each batch that is predicted, for large batches of texts that are learned where
        nothing but whole counts is kept, or by `OnlineNB`, and for statistics of all words that
        meet: packages, and paths of order 2. 1 or more, None is 1, -1 one for each processor.
    half_life
        For models that read counts of words alone, a number above 0: after message t, one of weight
        w that was learned at s counts for w 2^(−(t − s) / half_life). None: for w, for ever. A text
        is a half-life in time, `"90s"`, `"15min"`, `"12h"`, `"30d"` or `"4w"`: then t is the latest
        time that came with a message, and s what it was after this message.
    window
        Only the last so many messages count, 1 or more: with each that comes the oldest is
        unlearned, whatever their weights, which are multiples of 2**-20. None: all of them.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    parts: ClassVar[Composition]
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer()
    # Messages of columns have one form.
    term_weighting = "counts"

    alpha: float = 1.0
    prior: str | None = None
    oov: str | None = None
    vocabulary_size: int | None = None
    tokenizer: Tokenize | None = None
    refresh_every: int | float = 0.1
    threshold: float | str | None = None
    pos_label: Any = None
    cost_ratio: float = 1.0
    max_features: int = 1_000_000
    index_size: int | None = None
    max_pairs: int = 1_000_000
    n_jobs: int | None = None
    half_life: float | str | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        self._begin(None, Labels())

    def _composition(self) -> Composition:
        """Return the parts, with the parameters that are theirs."""
        return self.parts.given(self._parameters())

    def _begin(self, snapshot: bytes | None, labels: Labels) -> None:
        """Check the parameters; start from nothing, or from the counts of a snapshot."""
        parts = self._parts = self._composition()
        self._forgetting = Forgetting(self.half_life, self.window)
        bounds = {
            "max_features": check_bound("max_features", self.max_features, least=1),
            **self._forgetting.bounds(parts, self.index_size, self.max_pairs),
        }
        self._threads = check_jobs("n_jobs", self.n_jobs)
        assembly = Assembly.of(
            parts, self.alpha, self.prior, self.oov, self.vocabulary_size, self._threads
        )
        self._scorer, self._refreshers = assembly.scorer, assembly.refreshers
        self._scoring = self._scorer.scoring
        self._has_statistics = assembly.periodic
        self._calibrates = parts.calibrates
        self._threshold = parse_threshold(
            self.threshold, self.pos_label, self.cost_ratio, self._calibrates
        )
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
        term_weighting = check_form(self.term_weighting, parts.event)
        self._store = assembly.open_store(self._native_tokenizer, bounds, term_weighting, snapshot)
        self._labels = labels
        self._store.set_ranks(labels.take_ranks())
        # One thread changes the model at a time; predictions don't wait.
        self._lock = threading.RLock()
        # Learning a message of a known label is one call of the core, which has a lock of its own.
        careful = self._columns is not None or self._tunings or self.window is not None
        careful = careful or self._forgetting.timed
        self._at_once = not careful and not self._refreshers

    # --- whole models -------------------------------------------------------------------------

    def merge(self, other: NaiveBayes) -> None:
        """Learn everything that another model of the same kind has learned.

        Counts add up in any order. Of documents in the index, the other model's are the younger.
        With `half_life` the last messages of both are of one moment: each counts for as much as in
        its own model.

        Raises
        ------
        InputError
            If the other is of another kind, or tokenises differently.
        """
        from streamnb.persistence import merging

        theirs = merging.alike(self, other)
        with held(self._lock, theirs._lock):
            with self._labels.changing():
                merging.merge(self._learned, theirs._learned)
                self._rank_labels()
            self.refresh()

    def subtract(self, other: NaiveBayes) -> None:
        """Unlearn everything that another model of the same kind has learned.

        Raises
        ------
        NotLearnedError
            If this model has not learned all of that; it is unchanged.
        InputError
            If the other is of another kind, or tokenises differently; or with `half_life`.
        """
        from streamnb.persistence import merging

        theirs = merging.alike(self, other)
        with held(self._lock, theirs._lock):
            with self._labels.changing():
                merging.subtract(self._learned, theirs._learned)
            self.refresh()

    @property
    def _learned(self) -> Learned:
        from streamnb.persistence.merging import Learned

        return Learned(self._store, self._labels, self._columns, self._tunings)

    # --- statistics ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Compute the statistics of the counts anew, aside, and swap them in.

        It happens by itself as `refresh_every` says. Other threads go on predicting with the
        statistics before, and learning; only where the vocabulary nears its bound do they wait with
        what they learn.
        """
        # At the bound, words that are pruned give their ids to others with every few messages: what
        # was computed meanwhile would never fit.
        near = 2 * self._store.n_words > self.max_features
        with self._lock if near else contextlib.nullcontext():
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
    term_weighting
        What the count f of a word in a message becomes before it is learned or scored: `"counts"`,
        f itself; `"presence"`, 1 (scikit-learn's `binary=True`); `"log"`, ln(1 + f) (near its
        `sublinear_tf`, which is 1 + ln f); `"unit"`, f divided by the Euclidean length of the
        message (its `norm="l2"`); `"presence-unit"` and `"log-unit"`, one after the other. With a
        unit form use a smaller `alpha`, 0.01 say. Values that are no integers are rounded to
        multiples of 2**-20, and never to 0, which keeps unlearning and merging exact.

    Notes
    -----
    The other parameters, methods and errors are those of `NaiveBayes`.
    """

    term_weighting: str = "counts"
