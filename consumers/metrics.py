"""What is measured: counters and gauges for Prometheus, where its client is installed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from consumers.records import Outputs, Record
from streamnb.errors import MissingDependencyError

if TYPE_CHECKING:
    from consumers.filtering import Filter

__all__ = ["Metrics", "PrometheusMetrics"]


class Metrics:
    """Measure nothing; remember the last error and the sums that a summary needs."""

    def __init__(self) -> None:
        self.last_error = ""
        self.records = 0
        self.decisions = 0
        self.dead_letters = 0

    def committed(
        self, records: list[Record], outputs: Outputs, worker: Filter, seconds: float
    ) -> None:
        """Note a committed transaction that took so many seconds."""
        self.records += len(records)
        self.decisions += len(outputs.decisions)
        self.dead_letters += len(outputs.dead_letters)
        if outputs.dead_letters:
            self.last_error = outputs.dead_letters[-1].error

    def aborted(self) -> None:
        """Note an aborted transaction."""

    def saved(self, size: int) -> None:
        """Note a snapshot of so many bytes."""


class PrometheusMetrics(Metrics):
    """Measure with `prometheus_client`.

    Parameters
    ----------
    registry
        A registry of it; None is a new one.
    clock
        Seconds since 1970.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """

    def __init__(self, registry: Any = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        try:
            import prometheus_client as client
        except ImportError as error:
            raise MissingDependencyError(
                "metrics need prometheus_client: pip install 'streamnb[consumers]'"
            ) from error
        self.registry = client.CollectorRegistry() if registry is None else registry
        self._clock = clock

        def counter(name: str, text: str, *labels: str) -> Any:
            return client.Counter(f"streamnb_{name}", text, labels, registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Any:
            return client.Gauge(f"streamnb_{name}", text, labels, registry=self.registry)

        self._records = counter("records", "Records handled, by role.", "role")
        self._decisions = counter("decisions", "Decisions, by label.", "label")
        self._lessons = counter("lessons", "Labels learned or corrected, by label.", "label")
        self._dead = counter("dead_letters", "Records that could not be used.")
        self._aborts = counter("aborted_transactions", "Transactions that were tried again.")
        self._seconds = client.Histogram(
            "streamnb_batch_seconds",
            "From a batch's poll to its commit.",
            registry=self.registry,
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
        )
        self._age = counter("message_delay_seconds", "Sum of seconds from record to decision.")
        self._accuracy = gauge("windowed_accuracy", "Share of right among recent decisions.")
        self._area = gauge("one_minus_auc_percent", "(1-AUC)% of scores against later labels.")
        self._cut = gauge("score_cut", "Scores above it may be positive.")
        self._words = gauge("model_words", "Different words that the model knows.")
        self._waiting = gauge("labels_waiting", "Labels that wait for their messages.")
        self._saved = gauge("snapshot_timestamp_seconds", "When the last snapshot was taken.")
        self._size = gauge("snapshot_bytes", "Size of the last snapshot.")

    def committed(
        self, records: list[Record], outputs: Outputs, worker: Filter, seconds: float
    ) -> None:
        """Note a committed transaction."""
        super().committed(records, outputs, worker, seconds)
        now = self._clock()
        for record in records:
            self._records.labels(record.role).inc()
            if record.timestamp is not None and record.role == "message":
                self._age.inc(max(0.0, now - record.timestamp / 1000))
        for decision in outputs.decisions:
            self._decisions.labels(decision.label or "").inc()
        for lesson in outputs.lessons:
            self._lessons.labels(lesson.learn).inc()
        self._dead.inc(len(outputs.dead_letters))
        self._seconds.observe(seconds)
        accuracy, area = worker.tally.windowed_accuracy(), None
        if accuracy is not None:
            self._accuracy.set(accuracy)
            area = worker.bound.area()
        if area is not None:
            self._area.set(100 * (1 - area))
        self._cut.set(worker.bound.cut)
        self._words.set(getattr(worker.model, "n_words", 0))
        self._waiting.set(sum(window.waiting for window in worker.windows.values()))

    def aborted(self) -> None:
        """Note an aborted transaction."""
        self._aborts.inc()

    def saved(self, size: int) -> None:
        """Note a snapshot."""
        self._saved.set(self._clock())
        self._size.set(size)
