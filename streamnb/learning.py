"""What a model does with the messages that it learns, and unlearns."""

from __future__ import annotations

import contextlib
import datetime
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from streamnb.columns import reading as columns
from streamnb.errors import InputError, NotLearnedError, shown
from streamnb.online.schedule import Schedule
from streamnb.online.tuning import Judgement, Tuning
from streamnb.parameters import check_number, is_weight
from streamnb.parts import Forgetting
from streamnb.parts.axes.choice import Scorer
from streamnb.parts.forgetting import seconds_at, times_of
from streamnb.predicting import Message, Predictor
from streamnb.text import inputs
from streamnb.text.labels import Label, check_label

Time = float | datetime.datetime | None


class Learner(Predictor):
    """The side of a model that learns: one thread at a time changes its store."""

    window: int | None
    _forgetting: Forgetting
    _tunings: Sequence[Tuning[Any]]
    _scorer: Scorer
    _schedule: Schedule
    _has_statistics: bool
    # Whether a message of a known label is learned by one call of the core.
    _at_once: bool

    def learn_one(self, x: Message, y: Label, w: float = 1.0, time: Time = None) -> None:
        """Learn one message.

        Parameters
        ----------
        x
            A text, or a mapping of tokens to counts (0 to 2**53).
        y
            Its label: anything hashable but None.
        w
            Its weight, 0 (nothing is learned) to 2**53.
        time
            When it came: seconds since 1970, or a `datetime`. A `half_life` in time alone looks at
            it. The model's clock goes on to it, by one half-life at most; it never goes back. An
            older message, or one without a time, is learned as one of now.

        Raises
        ------
        InputError
            If one of them can't be learned; the model is unchanged.
        """
        if self._columns is None and self._reader is not None:
            x = self._reader(x)
        if self._at_once:
            try:
                handle = self._labels.handles.get(y)
            except TypeError:
                handle = None
            if handle is not None and self._store.learn_known(x, handle, w):
                return
        with self._lock:
            y = check_label(y)
            if self._columns is not None:
                learned = is_weight(w) and w > 0
                x = self._columns.learn(self._store, [x])[0] if learned else self._columns.read(x)
            if self._forgetting.timed:
                self._store.expect_times([seconds_at(time)])
            self._learn_carefully(x, y, w)
            if self._has_statistics and w and self._schedule.tick():
                self._refresh_statistics()

    def _learn_carefully(self, x: Any, y: Label, w: float) -> None:
        """Learn a message whose label may be new, or that is judged before it is learned."""
        class_id = self._labels.ids.get(y)
        judgements: list[Judgement] = []
        if class_id is not None:
            # Whatever can fail comes before learning.
            judged = (
                tuning.judge(self._store, self._scoring, self._labels, x, y)
                for tuning in self._tunings
            )
            judgements = [record for record in judged if record is not None]
            with self._changing():
                self._store.learn(x, class_id, w)
                if self.window is not None:
                    self._rank_labels()
            for record in judgements:
                record(w)
            self._scoring = self._scorer.scoring
            return
        class_id = self._labels.free_id()
        with self._labels.changing():
            self._labels.announce({y: class_id})
            self._store.learn(x, class_id, w)
            if w:
                self._labels.add(y)
                self._rank_labels()

    def _changing(self, new: bool = False) -> contextlib.AbstractContextManager[None]:
        """Mark the time in which labels and classes may differ: some come, or leave the window."""
        changes = new or self.window is not None
        return self._labels.changing() if changes else contextlib.nullcontext()

    def _emptied(self) -> list[int]:
        """Return the classes whose last message left the window since this was asked."""
        return [] if self.window is None else self._store.take_emptied()

    def _rank_labels(self, emptied: list[int] | None = None) -> None:
        """Forget labels whose last message left the window; say in which order the others stand.

        Parameters
        ----------
        emptied
            The classes of the former, where they were asked for already.
        """
        for class_id in self._emptied() if emptied is None else emptied:
            self._labels.remove(self._labels.names[class_id])
        self._store.set_ranks(self._labels.take_ranks())

    def learn_many(
        self,
        X: Any,
        y: Iterable[Label],
        w: float = 1.0,
        vocabulary: Sequence[Any] | None = None,
        time: Any = None,
    ) -> None:
        """Learn many messages, with the same result as one by one.

        Parameters
        ----------
        X
            A list of texts or of mappings, a Series of texts or a DataFrame of counts (of pandas,
            polars or pyarrow), or a scipy sparse matrix of counts.
        y, w
            Their labels, and the weight of each message.
        vocabulary
            The words of a matrix's columns.
        time
            As in `learn_one`, of all of them, or an iterable with that of each.

        Raises
        ------
        InputError
            If one of them can't be learned; the model is unchanged.
        """
        if self._columns is not None:
            X, _ = columns.messages_of(X, vocabulary)
        batch, _ = self._read_batch(X, vocabulary)
        labels = inputs.read_labels(y, len(batch))
        times = times_of(time, len(labels)) if self._forgetting.timed else None
        with self._lock:
            self._learn_batch(X, batch, labels, w, vocabulary, times)

    def _learn_batch(
        self,
        X: Any,
        batch: Any,
        labels: list[Any],
        w: float,
        vocabulary: Sequence[Any] | None,
        times: list[float] | None,
    ) -> None:
        class_ids, new = self._labels.ids_of(labels)
        if not self._at_once or not is_weight(w) or not w:
            # Learning none of them checks the weight, before anything has changed.
            self._store.learn_many(batch, class_ids, w, 0, 0, 1)
        if not (w and labels):
            return
        if self._tunings:
            # Each message's score before it is learned belongs to the record.
            each = itertools.repeat(None) if times is None else times
            for message, label, time in zip(inputs.each(X, vocabulary), labels, each, strict=False):
                self.learn_one(message, label, w, time)
            return
        if times is not None:
            self._store.expect_times(times)
        if self._columns is not None:
            rows = self._columns.learn(self._store, X)
            batch = self._columns.batch(rows)
        due = self._schedule.last_due(len(labels)) if self._has_statistics else None
        threads = self._threads
        with self._changing(bool(new)):
            self._labels.announce(new)
            if new:
                self._store.set_ranks(self._labels.ranks_ahead(new))
            try:
                if due is not None:
                    self._store.learn_many(batch, class_ids, w, 0, due, threads)
                    self._refresh_statistics()
                self._store.learn_many(batch, class_ids, w, due or 0, len(labels), threads)
            finally:
                # Whoever interrupts it has learned the first messages. Of those that were learned
                # a window may have lost some again: their classes were there all the same.
                emptied = self._emptied()
                here = self._store.have_documents([*new.values()])
                came = (has or id_ in emptied for has, id_ in zip(here, new.values(), strict=True))
                self._labels.add_known(new, came)
                self._rank_labels(emptied)

    def fade(self, half_lives: float) -> None:
        """Let all that was learned so far count for less, as if so many half-lives had passed.

        Of each message 2^(−half_lives) is left of what counts of it. Words and classes stay.

        Parameters
        ----------
        half_lives
            0 (nothing changes) or more.

        Raises
        ------
        InputError
            If it is something else, or the model has no `half_life`.

        Examples
        --------
        >>> from streamnb import MNB
        >>> model = MNB(half_life=1_000_000)
        >>> for _ in range(8):
        ...     model.learn_one("win cash", "spam")
        >>> model.fade(2)
        >>> round(model.n_documents, 3)
        2.0
        """
        if self._forgetting.half_life is None:
            raise InputError(
                "only what has a half-life fades: give the model half_life=, a large one where "
                "nothing else is to be forgotten"
            )
        half_lives = check_number("half_lives", half_lives)
        with self._lock:
            self._store.fade(half_lives)

    def unlearn_one(self, x: Message, y: Label, w: float = 1.0) -> None:
        """Unlearn one message: the exact inverse of `learn_one` with the same arguments.

        A document that the bounded index has evicted leaves the counts only. The record of a
        learned threshold is kept: those decisions were taken. With `half_life`, `w` is the weight
        that is left: 2^(−s / half_life) of what was learned s messages ago.

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
        with self._lock:
            class_id = self._labels.ids.get(y)
            if class_id is None:
                known = shown(self.classes_)
                raise NotLearnedError(
                    f"no message was learned with label {shown(y)}; labels are {known}"
                )
            with self._labels.changing():
                if not self._store.unlearn(x, class_id, w):
                    self._labels.remove(y)
                    self._store.set_ranks(self._labels.take_ranks())
            if self._has_statistics and w and self._schedule.tick():
                self._refresh_statistics()

    def _refresh_statistics(self) -> None:
        """Compute what is computed now and then."""
        raise NotImplementedError
