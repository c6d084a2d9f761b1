"""Several labels for each message: MultiLabelNB."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, ClassVar, Generic

import numpy as np
from river import base

from streamnb import _core
from streamnb.errors import InputError, NotLearnedError, shown
from streamnb.families.online_weights import OnlineNB, OnlineWeights
from streamnb.model import docstrings, merging
from streamnb.model.base import Message, Time, Tokenize
from streamnb.model.choices import OnlineLoss, Output
from streamnb.model.explanation import Explanation, LabelExplanation
from streamnb.model.forgetting import Forgetting, seconds_at, times_of
from streamnb.model.labelled_store import LabelledStore
from streamnb.model.message_reader import MessageReader
from streamnb.model.stored import StoredModel
from streamnb.parameters import (
    check_above_zero,
    check_bound,
    check_jobs,
    check_share,
    check_tokenizer,
    one_of,
    within,
)
from streamnb.statistics.counts import Floats
from streamnb.text import frames, inputs
from streamnb.text.labels import EVERY, L, Label, Labels, check_label, from_json, to_json
from streamnb.text.records import read_each
from streamnb.text.tokenizer import Tokenizer

LabelSet = Iterable[Label] | Mapping[Label, bool]
_check_threshold = within("a probability between 0 and 1", lambda number: 0 < number < 1)
_check_output = one_of("sets", "dicts")


class _LabelSets(Labels):
    """Labels whose first class has every message and is not a label."""

    def __init__(self, names: Iterable[Label] = ()) -> None:
        super().__init__()
        self.add(EVERY)
        for name in names:
            self.add(name)

    @property
    def order(self) -> list[tuple[Any, int]]:
        """The sorted labels with their class ids."""
        return super().order[1:]


def read_label_set(y: Any) -> list[Label]:
    """Return the labels of a message: those of a set, list or tuple, or the true ones of a mapping.

    Raises
    ------
    InputError
        If `y` has another form, or contains an invalid label.

    Examples
    --------
    >>> read_label_set(["wheat", "corn"]), read_label_set({"wheat": True, "corn": False})
    (['wheat', 'corn'], ['wheat'])
    >>> read_label_set("wheat")
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: the labels of a message must be a set, a list or a tuple, or a \
mapping from labels to True or False, not str: 'wheat'; a single label is {'wheat'}
    """
    if isinstance(y, Mapping):
        for label, given in y.items():
            if not isinstance(given, (bool, np.bool_)) and given not in (0, 1):
                raise InputError(
                    f"the label {shown(label)} must be True or False, not {shown(given)}"
                )
        return [check_label(label) for label, given in y.items() if given]
    if isinstance(y, np.ndarray) and y.ndim == 1:
        y = y.tolist()
    if not isinstance(y, (Set, list, tuple)):
        one = (
            ""
            if isinstance(y, (Iterable, type(None))) and not isinstance(y, str)
            else (f"; a single label is {{{shown(y)}}}")
        )
        raise InputError(
            "the labels of a message must be a set, a list or a tuple, or a mapping from labels "
            f"to True or False, not {type(y).__name__}: {shown(y)}{one}"
        )
    return [check_label(label) for label in y]


def _read_label_sets(y: Any, messages: int) -> list[Any]:
    """Return the labels of each message of a batch, in any form of one message."""
    if hasattr(y, "columns"):
        y = frames.rows(y)
    if isinstance(y, Mapping) or not inputs.is_batch(y):
        raise InputError(
            "the labels of a batch must be a list with the labels of each message, or a DataFrame "
            f"with a column of True and False for each label, not {type(y).__name__}: {shown(y)}"
        )
    sets = list(frames.column(y))
    if len(sets) != messages:
        raise InputError(
            f"{messages} messages and {len(sets)} sets of labels: give one set for each message"
        )
    return sets


def _probability(odds: float) -> float:
    e = math.exp(-abs(odds))
    return 1 / (1 + e) if odds >= 0 else e / (1 + e)


@dataclasses.dataclass(eq=False, repr=False)
class MultiLabelNB(StoredModel[L], base.MultiLabelClassifier, Generic[L]):
    """Naive Bayes with online weights for messages with any number of labels.

    It classifies the texts of a stream into topics, tags or intents, of which a message may have
    none or several. It learns each message with its labels in one step, and a label may appear at
    any time. `predict_one` returns the labels above `threshold`.

    Parameters
    ----------
    alpha
        Additive smoothing of word counts, above 0.
    tokenizer
        A `Tokenizer`, or any function from a str to its tokens. None is the default: words by
        Unicode's rules, and the subject of a mail. Pairs of words, `words=(1, 2)`, are better and
        take two to three times as long.
    threshold
        In (0, 1): a message has the labels whose probability is above.
    output
        `"sets"`: `predict_one` returns a set of labels, and `predict_proba_one` a probability for
        each label. `"dicts"`: they return river's `{label: bool}` and `{label: {bool: float}}`,
        with every label that was learned or named.
    nb_weight, learning_rate, bias_rate, rate_decay, damping, margin, warm_up, calibrated
        As in `OnlineNB`. Each label has its own scores, against all others.
    forgetting_factor, undo_size, loss
        As in `OnlineNB`.
    max_df
        0 to 1: words in a larger share of the messages, and in more than 20 messages, have no part
        in scores. They say little about labels, and take most of the time.
    max_features
        Maximum vocabulary, 1 or more. Beyond it, words with low frequencies are pruned.
    n_jobs
        Threads for predicting batches: 1 or more; None is 1, -1 one for each processor.
    half_life
        Messages, a number above 0, or a time such as `"30d"`, after which a message counts half.
        None never forgets.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> from streamnb import MultiLabelNB
    >>> model = MultiLabelNB()
    >>> for _ in range(4):
    ...     model.learn_one("wheat and corn prices fall", {"wheat", "corn"})
    ...     model.learn_one("corn harvest begins", {"corn"})
    ...     model.learn_one("bank raises rates", {"interest"})
    ...     model.learn_one("see you at noon", set())
    >>> sorted(model.predict_one("prices of wheat and corn"))
    ['corn', 'wheat']
    >>> {label: round(p, 1) for label, p in model.predict_proba_one("corn harvest").items()}
    {'corn': 1.0, 'interest': 0.0, 'wheat': 0.0}
    >>> river_style = MultiLabelNB(output="dicts")
    >>> river_style.learn_one("wheat prices", {"wheat": True, "corn": False})
    >>> river_style.predict_one("wheat")
    {'corn': False, 'wheat': True}

    Notes
    -----
    Each label has the score of `OnlineNB`, one against all, with a prior. All labels share one
    count store and one tokenisation of the message:

        s_k  = b_k + ln (n_k + 1) / (n − n_k + 1) + c Σ_i l_ik / Σ_i x_i + Σ_i w_ik u_i
        l_ik = ln P(w_i | k) / P(w_i | k̄)

    where n_k of n messages have the label k, and k̄ are all messages without it, whatever other
    labels they have, and i are the words in at most a share `max_df` of the messages. So a label
    that comes late counts the earlier messages as negative. The corrections w_ik and the biases b_k
    take the steps of `OnlineNB` against g = [k in y] − 1 / (1 + exp −s_k). Each label has its own
    calibration of the score, by Platt scaling, which learns from every message.

    `unlearn_one` takes counts and steps back exactly, and keeps the calibration. `merge` is as in
    `OnlineNB`. The shares of wrong labels are not estimated.
    """

    term_weighting: ClassVar[str] = "presence"
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer(boundaries="unicode", subject=True)
    reads_columns: ClassVar[bool] = False
    label_sets: ClassVar[bool] = True
    _columns: ClassVar[None] = None
    _tunings: ClassVar[tuple[()]] = ()

    alpha: float = OnlineNB.alpha
    tokenizer: Tokenize | None = None
    threshold: float = 0.5
    output: Output = "sets"
    nb_weight: float = OnlineNB.nb_weight
    learning_rate: float = 16.0
    bias_rate: float = OnlineNB.bias_rate
    rate_decay: float = 16.0
    damping: float = OnlineNB.damping
    margin: float = OnlineNB.margin
    warm_up: int = OnlineNB.warm_up
    calibrated: bool = OnlineNB.calibrated
    forgetting_factor: float = OnlineNB.forgetting_factor
    undo_size: int = OnlineNB.undo_size
    loss: OnlineLoss = OnlineNB.loss
    max_df: float = 0.2
    max_features: int = 1_000_000
    n_jobs: int | None = None
    half_life: float | str | None = None

    def _begin(self, snapshot: bytes | None, labels: Labels) -> None:
        """Check the parameters; start from scratch, or from the counts of a snapshot."""
        weights = OnlineWeights().given(self._parameters())
        scoring = {
            "alpha": check_above_zero("alpha", self.alpha),
            **{name: getattr(weights, name) for name in _ONLINE},
            "max_df": check_share("max_df", self.max_df),
        }
        self._odds_threshold = _log_odds(_check_threshold("threshold", self.threshold))
        _check_output("output", self.output)
        self._threads = check_jobs("n_jobs", self.n_jobs)
        self._forgetting = Forgetting(self.half_life)
        native_tokenizer, tokenize = check_tokenizer(self.tokenizer, self.default_tokenizer)
        store_options = {
            "max_features": check_bound("max_features", self.max_features, least=1),
            "term_weighting": self.term_weighting,
            "label_sets": True,
            **self._forgetting.store_options(OnlineNB.composition, None),
        }
        self._messages = MessageReader(None, self.tokenizer, native_tokenizer, tokenize)
        self._reader = self._messages.read
        # Models whose scores agree merge.
        self._components = scoring
        self._scoring = _core.ScoringConfig(
            event="one-versus-all", weights="online", prior="uniform", oov="skip", **scoring
        )
        if snapshot is None:
            self._store = _core.CountStore(native_tokenizer, **store_options)
        else:
            self._store = _core.CountStore.restore(native_tokenizer, snapshot)
        self._store.correct_labels(self._scoring)
        self._counts = self._store
        self._labels = _LabelSets(label for label, _ in labels.order)
        # Labels that mappings named, but no message has.
        self._absent: set[Label] = set()
        self._labelled = LabelledStore(self._store, self._labels, False, lambda class_id: None)
        self._lock = self._labelled.lock

    # --- predicting ---------------------------------------------------------------------------

    def predict_one(self, x: Message, **kwargs: Any) -> Any:
        """Return the labels of one message: a set, or a mapping to bools with `output="dicts"`.

        Raises
        ------
        InputError
            If the message is invalid.
        """
        if self.output == "dicts":
            return self._decided(self._odds(x, probable=True))
        if self._reader is not None:
            x = self._reader(x)

        def above() -> set[Label | None]:
            found = self._store.labels_above(x, self._scoring, self._odds_threshold)
            return {self._labels.names[class_id] for class_id in found}

        return self._labelled.settled(above)

    def predict_proba_one(self, x: Message, **kwargs: Any) -> dict[Any, Any]:
        """Return the probability of each label; with `output="dicts"`, of True and of False."""
        found = self._odds(x, probable=True)
        return self._shown({label: _probability(odds) for label, odds in found.items()})

    def joint_log_likelihood_one(self, x: Message) -> dict[Label, float]:
        """Return the score of each label, before calibration."""
        return self._odds(x, probable=False)

    def predict_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the labels of each message: a Series for pandas input, else a list."""
        names, odds, index = self._odds_many(X, vocabulary)
        rows = (dict(zip(names, row, strict=True)) for row in odds.tolist())
        found: list[Any] = [self._decided(row) for row in rows]
        return frames.labels(found, index)

    def predict_proba_many(self, X: Any, vocabulary: Sequence[Any] | None = None) -> Any:
        """Return the probability of each label: a DataFrame for pandas input, else dicts."""
        names, odds, index = self._odds_many(X, vocabulary)
        probabilities = [[_probability(each) for each in row] for row in odds.tolist()]
        if index is None:
            rows = (dict(zip(names, row, strict=True)) for row in probabilities)
            return [self._shown(row) for row in rows]
        import pandas as pd

        columns = pd.Index(names, tupleize_cols=False)
        return pd.DataFrame(probabilities, index=index, columns=columns)

    def explain_one(self, x: Message) -> Explanation:
        """Return the contribution of each word to the score of each label."""
        found = self._labelled.explain(self._messages.count(x), self._scoring)
        found = found.renamed(self._messages.names(x))
        return LabelExplanation(found.baseline, found.words, found.corrections)

    def tokens_one(self, x: Message) -> frozenset[str]:
        """Return the distinct tokens of a message, as `explain_one` names them."""
        return self._messages.tokens(x)

    def _odds(self, x: Message, probable: bool) -> dict[Label, float]:
        """Return the log odds of each label."""
        if self._reader is not None:
            x = self._reader(x)
        return self._labelled.by_label(self._store.scores, x, self._scoring, probable)

    def _odds_many(self, X: Any, vocabulary: Sequence[Any] | None) -> tuple[list[Any], Floats, Any]:
        batch, index = self._messages.batch(X, vocabulary)
        arguments = batch, self._scoring, self._threads, True
        return *self._labelled.by_message(self._store.scores_many, *arguments), index

    def _decided(self, odds: Mapping[Label, float]) -> Any:
        """Return the labels above the threshold, in the form of the output."""
        above = self._odds_threshold
        if self.output == "sets":
            return {label for label, each in odds.items() if each > above}
        return {**dict.fromkeys(self._absent, False), **{k: v > above for k, v in odds.items()}}

    def _shown(self, probabilities: Mapping[Label, float]) -> dict[Any, Any]:
        """Return probabilities in the form of the output."""
        if self.output == "sets":
            return dict(probabilities)
        absent = dict.fromkeys(self._absent, 0.0)
        return {label: {False: 1 - p, True: p} for label, p in {**absent, **probabilities}.items()}

    # --- learning -----------------------------------------------------------------------------

    def learn_one(self, x: Message, y: LabelSet, w: float = 1.0, time: Time = None) -> None:
        """Learn one message.

        Parameters
        ----------
        x
            A text, a record or a mapping of tokens to counts, as in `OnlineNB`.
        y
            Its labels: a set, list or tuple of hashable objects, which may be empty, or a mapping
            from labels to True or False. Labels that are not given are negative.
        w
            Its weight, 0 (nothing is learned) to 2**53.
        time
            Time of arrival, for a `half_life` in time, as in `OnlineNB`.

        Raises
        ------
        InputError
            If an argument is invalid; the model is unchanged.
        """
        if self._reader is not None:
            x = self._reader(x)
        labels = read_label_set(y)
        with self._lock:
            if self._forgetting.timed:
                self._store.expect_times([seconds_at(time)])
            class_ids, new = self._labels.ids_of(labels)
            with self._adding(new):
                self._store.learn_labels(x, list(class_ids), w, self._scoring)
            if isinstance(y, Mapping):
                self._name([y])

    def learn_many(
        self,
        X: Any,
        y: Any,
        w: float = 1.0,
        vocabulary: Sequence[Any] | None = None,
        time: Any = None,
    ) -> None:
        """Learn many messages, with the same result as one by one.

        Parameters
        ----------
        X, vocabulary, time
            As in `OnlineNB.learn_many`.
        y
            The labels of each message, each as in `learn_one`; or a DataFrame of True and False
            with a column for each label.
        w
            The weight of each message.

        Raises
        ------
        InputError
            If an argument is invalid; the model is unchanged.
        """
        batch, _ = self._messages.batch(X, vocabulary)
        given = _read_label_sets(y, len(batch))
        sets = read_each(given, read_label_set, "label")
        times = times_of(time, len(sets)) if self._forgetting.timed else None
        ends = array("q", itertools.accumulate(map(len, sets), initial=0))
        with self._lock:
            class_ids, new = self._labels.ids_of(list(itertools.chain.from_iterable(sets)))
            if times is not None:
                self._store.expect_times(times)
            with self._adding(new):
                self._store.learn_labels_many(batch, ends, class_ids, w, self._scoring)
            self._name(each for each in given if isinstance(each, Mapping))

    def unlearn_one(self, x: Message, y: LabelSet, w: float = 1.0) -> None:
        """Unlearn one message: the inverse of `learn_one`, except for the calibration.

        With `half_life`, `w` is the remaining weight, as in `OnlineNB`.

        Raises
        ------
        NotLearnedError
            If this message was not learned with these labels; the model is unchanged.
        InputError
            If an argument is invalid.
        """
        if self._reader is not None:
            x = self._reader(x)
        labels = read_label_set(y)
        with self._lock:
            for label in labels:
                if label not in self._labels.ids:
                    raise NotLearnedError(
                        f"no message was learned with label {shown(label)}; labels are "
                        f"{shown(self.classes_)}"
                    )
            class_ids = [self._labels.ids[label] for label in labels]
            with self._labels.changing():
                self._store.unlearn_labels(x, class_ids, w)
                have = self._store.have_documents(class_ids)
                emptied = dict(zip(class_ids, have, strict=True))
                self._labelled.rank_labels([each for each, left in emptied.items() if not left])

    def merge(self, other: MultiLabelNB[Any]) -> None:
        """Learn everything that another model with the same parameters has learned.

        Raises
        ------
        InputError
            If the other model is of another kind, or tokenises differently.
        """
        with merging.changing(self, other) as theirs:
            merging.merge(self, theirs)
            self._absent = (self._absent | theirs._absent) - self._labels.ids.keys()

    def refresh(self) -> None:
        """Do nothing: no statistic of this model is computed periodically."""

    @contextlib.contextmanager
    def _adding(self, new: Mapping[Label, int]) -> Any:
        """Add the new labels that have messages after the body."""
        if not new:
            yield
            return
        with self._labels.changing():
            self._labels.announce(new)
            try:
                yield
            finally:
                present = self._store.have_documents([*new.values()])
                for label, has_documents in zip(new, present, strict=True):
                    if has_documents:
                        self._labels.add(label)
                        self._absent.discard(label)
                self._labelled.rank_labels([])

    def _name(self, mappings: Iterable[Mapping[Label, bool]]) -> None:
        """Keep the names of labels that no message has."""
        for labels in mappings:
            self._absent.update(check_label(label) for label in labels)
        self._absent -= self._labels.ids.keys()

    # --- properties ---------------------------------------------------------------------------

    @property
    def n_documents(self) -> float:
        """Total remaining weight of the learned messages."""
        return next(iter(self._store.class_documents), 0.0)

    def _more_tags(self) -> set[str]:
        return {base.tags.POSITIVE_INPUT}

    # --- model files --------------------------------------------------------------------------

    def _complete_statistics(self) -> None:
        pass  # it has none

    def _statistics_state(self) -> dict[str, Any]:
        return {"absent": sorted(map(to_json, self._absent), key=repr)}

    def _restore_statistics(self, state: Mapping[str, Any]) -> None:
        self._absent = {from_json(label) for label in state["absent"]}

    def _has_labels_of_counts(self) -> bool:
        # A store without messages has no classes, not even the first.
        classes = len(self._store.class_documents)
        return len(self._labels.names) == max(classes, 1)


docstrings.complete(MultiLabelNB, StoredModel.known)

_ONLINE = (
    *("nb_weight", "learning_rate", "bias_rate", "rate_decay", "damping", "margin", "warm_up"),
    *("calibrated", "forgetting_factor", "undo_size", "loss"),
)
"""The parameters that the core knows under the same names."""


def _log_odds(probability: float) -> float:
    return math.log(probability) - math.log1p(-probability)
