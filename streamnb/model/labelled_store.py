"""A count store whose classes have labels, consistent while other threads add or remove labels."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from streamnb import _core
from streamnb.columns.table import AttributeTable
from streamnb.errors import NotLearnedError, shown
from streamnb.model.explanation import Explanation
from streamnb.processes import fork_safe_lock
from streamnb.statistics.counts import Floats
from streamnb.text.labels import Label, Labels

Answer = TypeVar("Answer")
Saved = tuple[dict[str, Any], bytes]


class LabelledStore:
    """Counts by label. One thread changes them at a time; predictions do not wait.

    Attributes
    ----------
    store
        The learned messages, by class id: texts in the core, or an attribute table.
    counts
        The core's counts of words or categories.
    labels
        The labels of the class ids.
    windowed
        Whether old messages leave the store, and labels with them.
    lock
        Held by the thread that changes the store or the labels.
    copying
        Held by the thread that saves, before `lock`.
    forget_class
        Called with the id of each class that has lost all its messages.
    """

    def __init__(
        self,
        store: _core.CountStore | AttributeTable,
        labels: Labels,
        windowed: bool,
        forget_class: Callable[[int], None],
    ) -> None:
        self.store = store
        self.counts: _core.CountStore = (
            store.categories if isinstance(store, AttributeTable) else store
        )
        self.labels = labels
        self.windowed = windowed
        self.forget_class = forget_class
        self.lock: Any = fork_safe_lock()
        self.copying: Any = fork_safe_lock()
        store.set_ranks(labels.take_ranks())

    def begin(self, header: Callable[[], dict[str, Any]]) -> Callable[[], Saved | None]:
        """Begin to save this moment; return the function that completes it, in any thread.

        Meanwhile other threads learn and predict: they wait only for the header, and for each
        piece of a copy of the store. The function returns the header and the snapshot, or None if
        the copy was abandoned: another one has begun, or the store has replaced its arrays. Begin
        again then.
        """
        with self.lock:
            found = header()
            if isinstance(self.store, AttributeTable):
                table = self.store.snapshot(statistics=True)
                return lambda: (found, table)
            copy = self.store.begin_copy()

        def complete() -> Saved | None:
            snapshot = self.counts.copy_snapshot(copy, statistics=True)
            return None if snapshot is None else (found, snapshot)

        return complete

    def save(self, header: Callable[[], dict[str, Any]]) -> Saved:
        """Return a header and the snapshot of the same moment; see `begin`."""
        with self.copying:
            while (saved := self.begin(header)()) is None:
                pass
            return saved

    # --- predictions --------------------------------------------------------------------------

    def settled(self, ask: Callable[[], Answer]) -> Answer:
        """Return an answer from a time without a change of labels."""
        before = self.labels.changes
        try:
            answer = ask()
        except IndexError:
            pass
        else:
            if self.labels.changes == before and not before & 1:
                return answer
        with self.lock:  # another thread adds or removes a label: ask again
            return ask()

    def by_label(self, ask: Callable[..., Sequence[float]], *arguments: Any) -> dict[Any, float]:
        """Return one number for each label, from a method of the store with these arguments."""

        def answer() -> dict[Any, float]:
            values = ask(*arguments)
            return {label: values[class_id] for label, class_id in self.labels.order}

        return self.settled(answer)

    def by_message(
        self,
        ask: Callable[..., bytes],
        batch: _core.Batch,
        *arguments: Any,
        rows: int | None = None,
    ) -> tuple[list[Any], Floats]:
        """Return the labels, and one number or several rows for each message, by label."""
        values, order = self.settled(lambda: (ask(batch, *arguments), self.labels.order.copy()))
        # Without values there are no messages, or no classes.
        classes = -1 if values else 0 if len(batch) else len(self.labels.names)
        shape = (len(batch), classes) if rows is None else (len(batch), rows, classes)
        by_id = np.frombuffer(values).reshape(shape)
        return [label for label, _ in order], by_id[..., [class_id for _, class_id in order]]

    def predict_many(
        self, batch: _core.Batch, scoring: _core.ScoringConfig, threads: int
    ) -> list[Any]:
        """Return the label of each message."""
        return self.settled(
            lambda: self.store.predict_many(batch, scoring, self.labels.names, threads)
        )

    def explain(self, counts: Mapping[Any, float], scoring: _core.ScoringConfig) -> Explanation:
        """Return the contribution of each word to the score of each label."""

        def by_label(values: list[float]) -> dict[Label, float]:
            return {label: values[class_id] for label, class_id in order}

        with self.lock:
            order = self.labels.order
            baseline, words, corrections = self.store.explain(counts, scoring)
            return Explanation(
                by_label(baseline),
                {word: by_label(terms) for word, terms in words},
                {word: by_label(terms) for word, terms in corrections},
            )

    # --- learning -----------------------------------------------------------------------------

    def learn(self, x: Any, label: Label, weight: Any) -> None:
        """Learn one message; its label may be new."""
        class_id = self.labels.ids.get(label)
        if class_id is not None and not self.windowed:
            self.store.learn(x, class_id, weight)
            return
        with self.labels.changing():
            is_new = class_id is None
            if class_id is None:
                class_id = self.labels.free_id()
                self.labels.announce({label: class_id})
            self.store.learn(x, class_id, weight)
            if is_new and weight:
                self.labels.add(label)
            self.rank_labels(self.store.take_emptied() if self.windowed else [])

    def learn_many(
        self,
        batch: Any,
        class_ids: array[int],
        new: Mapping[Label, int],
        weight: float,
        threads: int,
        stops: Iterable[int],
    ) -> None:
        """Learn a batch of messages with these class ids; `new` has the ids of the new labels.

        `stops` yields the numbers of messages after which it wants to work, the last one at the
        end. The weight of each message is above 0.
        """
        changes = new or self.windowed
        with self.labels.changing() if changes else contextlib.nullcontext():
            self.labels.announce(new)
            if new:
                self.store.set_ranks(self.labels.ranks_ahead(new))
            try:
                start = 0
                for stop in stops:
                    self.store.learn_many(batch, class_ids, weight, start, stop, threads)
                    start = stop
            finally:
                # After an interrupt, the first messages are learned. Some may have left the window
                # again, but their labels did exist.
                emptied = self.store.take_emptied() if self.windowed else []
                present = self.counts.have_documents([*new.values()])
                for (label, class_id), has_documents in zip(new.items(), present, strict=True):
                    if has_documents or class_id in emptied:
                        self.labels.add(label)
                self.rank_labels(emptied)

    def unlearn(self, x: Any, label: Label, weight: Any) -> None:
        """Unlearn one message, and its label without messages left. An error changes nothing."""
        class_id = self.labels.ids.get(label)
        if class_id is None:
            known = shown([each for each, _ in self.labels.order])
            raise NotLearnedError(
                f"no message was learned with label {shown(label)}; labels are {known}"
            )
        with self.labels.changing():
            if not self.store.unlearn(x, class_id, weight):
                self.rank_labels([class_id])

    def rank_labels(self, emptied: list[int]) -> None:
        """Remove the labels of emptied classes, and tell the store the order of the others."""
        for class_id in emptied:
            self.labels.remove(self.labels.names[class_id])
            self.forget_class(class_id)
        self.store.set_ranks(self.labels.take_ranks())
