"""The refreshes of a model's periodic statistics: due by the log alone, also within batches."""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from streamnb.model.hooks import PeriodicStatistic, Scorer
from streamnb.model.schedule import Schedule

# Weights that are multiples of 1 / STEPS, with a sum below MOST, are added without rounding.
STEPS = 2.0**20
MOST = 2.0**32


# A refresh of no more words, and words of indexed messages, than this takes effect immediately.
SMALL = 4_096

# A refresh is assumed to take so many times as long as the one before it.
LONGER = 1.25
LONGEST_WAIT = 0.005  # seconds that one message waits for a refresh that is not due yet


class Pending:
    """A refresh that has begun: another thread computes it while the model goes on learning.

    The statistics are computed from a copy of this moment, and then follow the changes of the
    store until they are used. Their values do not depend on the time that this takes. The copy is
    made piece by piece, so that beginning a refresh takes microseconds.

    Parameters
    ----------
    statistics
        The statistics, in the order in which they are computed; none if the store has them already.
    store
        The counts.
    until
        They are used as soon as so much is left until the next refresh, or less.
    left
        What is left now.
    expected
        Seconds that the thread probably takes.
    """

    def __init__(
        self,
        statistics: Sequence[PeriodicStatistic],
        store: Any,
        until: float,
        left: float,
        expected: float = 0.0,
    ) -> None:
        self.until = until
        self.seconds = expected / LONGER
        self._store = store
        self._left = left
        self._expected = expected
        self._begun = time.monotonic()
        self._work = list(statistics)
        self._copy: Any = None
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        if statistics:
            self._copy = store.begin_refresh(any(each.reads_index for each in statistics))
            self._thread = threading.Thread(target=self._compute, daemon=True)
            self._thread.start()

    def keep_pace(self, left: float) -> None:
        """Wait a little if the stream is too fast for the thread, with so much left.

        Otherwise the message that needs the statistics would do all the waiting.
        """
        if self._expected and self._thread is not None and self._thread.is_alive():
            share = (self._left - left) / (self._left - self.until)
            ahead = share * self._expected - (time.monotonic() - self._begun)
            if ahead > 0:
                self._thread.join(min(ahead, LONGEST_WAIT))

    def complete(self) -> None:
        """Wait until the store has the statistics."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        self._compute()  # what is left in the child of a fork, which has no such thread

    def _compute(self) -> None:
        try:
            sample = self._store.complete_sample(self._copy) if self._work else None
            # There is no copy if the refresh was dropped meanwhile.
            while self._work and sample is not None:
                statistic = self._work[0]
                statistic.swap(self._store, sample, statistic.compute(sample))
                self._work.pop(0)
                self.seconds = time.monotonic() - self._begun
            self._copy = None
        except BaseException as error:
            self._error = error


class Refreshes:
    """The periodic statistics of a model, with their schedule.

    Parameters
    ----------
    statistics
        The statistics, in the order in which they are computed.
    scorer
        The scoring in use, which the statistics may read.
    every
        `refresh_every` of the model.
    store
        The counts: a `_core.CountStore` or an `AttributeTable`.
    store_options
        The options of the store.
    """

    def __init__(
        self,
        statistics: Sequence[PeriodicStatistic],
        scorer: Scorer,
        every: int | float,
        store: Any,
        store_options: dict[str, Any],
    ) -> None:
        self.statistics = statistics
        self.schedule: Schedule = Schedule(every)
        self._scorer = scorer
        self._store = store
        self._reads_index = any(statistic.reads_index for statistic in statistics)
        self._index_size: int = store_options["index_size"]
        self._windowed: bool = store_options.get("windowed", False)
        self._decays = "half_life" in store_options
        self._may_wait = bool(statistics) and all(statistic.may_wait for statistic in statistics)
        self._pending: Pending | None = None
        self._seconds = 0.0  # duration of the last refresh that another thread computed
        if statistics:
            # Importing it takes as long as a hundred messages: not within one of them.
            import scipy.sparse  # noqa: F401

    def changed(self, weight: float) -> None:
        """Count one change by a message of this weight; begin a refresh if this is due.

        Statistics of a refresh that has begun are used after half of the messages until the next.
        """
        if not (self.statistics and weight):
            return
        is_due = self.schedule.tick(weight)
        pending = self._pending
        if pending is not None and (is_due or self.schedule.left <= pending.until):
            self._use(pending)
        elif pending is not None:
            pending.keep_pace(self.schedule.left)
        if is_due:
            self._begin()

    def refresh(self) -> None:
        """Compute the statistics from a copy of the counts, and swap them in."""
        if self._pending is not None:
            self._pending = None
            self._store.end_refresh(False)
        for statistic in self.statistics:
            statistic.refresh(self._store, self._scorer.scoring)
        self.schedule.reset(self._weight_that_counts())

    def complete(self) -> None:
        """Wait for a refresh that has begun; its statistics are used no earlier than without it."""
        if (pending := self._pending) is not None:
            pending.complete()

    def stops(self, messages: int, weight: float) -> Iterator[int]:
        """Yield how many messages of a batch to learn before the next refresh, all at the end.

        Refreshes take place in between. A refresh that others follow within the batch only moves
        the schedule.
        """
        done = 0
        while self.statistics and done < messages:
            if (pending := self._pending) is not None:
                step = self.schedule.reach(pending.until, messages - done, weight)
                if step:
                    done += step
                    yield done
                    self._use(pending)
                    continue
            ahead = self._weight_after(weight)
            # The last refresh but one is in use until the last one has been computed.
            step, is_due = self.schedule.advance(
                messages - done, weight, ahead, spare=int(self._may_wait)
            )
            done += step
            yield done
            if is_due:
                if (pending := self._pending) is not None:
                    self._use(pending)
                self.schedule.reset(self._weight_that_counts())
                if self._may_wait or not self.schedule.is_due_within(messages - done, weight):
                    self._begin()
        if done < messages:
            yield messages

    def _begin(self) -> None:
        """Begin a refresh, which takes effect later unless there is little to compute."""
        self.schedule.reset(self._weight_that_counts())
        wait = self._wait()
        if not wait:
            self.refresh()
            return
        left = self.schedule.left
        self._pending = Pending(
            self.statistics, self._store, left - wait, left, LONGER * self._seconds
        )

    def _wait(self) -> float:
        """Return the messages, or weight of messages, until a refresh takes effect."""
        left = self.schedule.left
        if not self._may_wait or left < 2 or not self._store.n_documents:
            return 0.0
        if self._store.refresh_work(self._reads_index) <= SMALL:
            return 0.0
        return left // 2 if isinstance(self.schedule.every, int) else left / 2

    def _use(self, pending: Pending) -> None:
        pending.complete()
        self._pending = None
        self._seconds = pending.seconds
        self._store.end_refresh(True)

    def forget_class(self, class_id: int) -> None:
        """Forget a class without messages: its id may belong to another class later."""
        for statistic in self.statistics:
            statistic.forget_class(class_id)

    def state(self, class_ids: list[int]) -> dict[str, Any]:
        """Return the schedule, and the statistics that the snapshot of the store lacks."""
        if not self.statistics:
            return {}
        state: dict[str, Any] = {
            "schedule": self.schedule.left.hex(),
            "statistics": [each.state(class_ids) for each in self.statistics],
        }
        if (pending := self._pending) is not None:
            pending.complete()
            state["pending"] = pending.until.hex()
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned; any error means that it is invalid."""
        if self.statistics:
            left = float.fromhex(state["schedule"])
            if not -math.inf < left < math.inf:
                raise ValueError(f"invalid schedule: {left}")
            self.schedule.left = left
            for statistic, kept in zip(self.statistics, state["statistics"], strict=True):
                statistic.restore(kept)
            if "pending" in state:
                until = float.fromhex(state["pending"])
                if not 0 <= until <= left:
                    raise ValueError(f"invalid end of a refresh: {until}")
                self._pending = Pending((), self._store, until, left)

    def weights(self) -> dict[str, float]:
        """Return the weight of each word or attribute, if a statistic is one."""
        weights: dict[str, float] = {}
        for statistic in self.statistics:
            weights |= statistic.weights(self._store)
        return weights

    def _weight_that_counts(self) -> float:
        indexed = math.fsum(self._store.indexed_weights) if self._reads_index else 0.0
        # The order of class ids changes when a model is restored, so the sum is exact.
        return self._weight_of(math.fsum(self._store.class_documents), indexed)

    def _weight_of(self, documents: float, indexed: float) -> float:
        """Return the weight of the messages that the statistics are computed from.

        These are the messages of the index, if a statistic reads it, or all that count.
        """
        return min(documents, indexed) if self._reads_index and indexed else documents

    def _weight_after(self, weight: float) -> Callable[[int], float | None]:
        """Return the weight that will count after a number of messages of this weight.

        It is unknown, None, if sums of weights are rounded: they depend on the order of additions.
        """
        weight = float(weight)

        @functools.cache
        def leaving() -> tuple[float, np.ndarray[Any, np.dtype[np.float64]], bool]:
            by_class, indexed = self._store.class_documents, self._store.indexed_weights
            steps = np.array([*by_class, *indexed, weight]) * STEPS
            left = np.concatenate([[0.0], np.cumsum(indexed)])
            return math.fsum(by_class), left, not (self._decays or (steps % 1).any())

        def weight_after(learned: int) -> float | None:
            documents, left, is_exact = leaving()
            added = learned * weight
            if not (is_exact and documents + float(left[-1]) + added < MOST):
                return None
            surplus = max(0, len(left) - 1 + learned - self._index_size)
            old = min(surplus, len(left) - 1)
            evicted = float(left[old]) + (surplus - old) * weight
            all_of_them = documents + added - (evicted if self._windowed else 0.0)
            return self._weight_of(all_of_them, float(left[-1]) + added - evicted)

        return weight_after
