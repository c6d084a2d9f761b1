"""What is measured, for Prometheus, where its client is installed."""

from __future__ import annotations

import copy
import math
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from streamnb import __version__
from streamnb.errors import MissingDependencyError
from streamnb_consumers.pipeline.training import ChallengerEvents
from streamnb_consumers.records import Outputs, Partition, Record

if TYPE_CHECKING:
    from streamnb_consumers.pipeline.filter import Filter

__all__ = ["Metrics", "PrometheusMetrics", "table"]


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

    def began(self, worker: Filter, size: int) -> None:
        """Note what a filter holds at its start, from a snapshot of so many bytes; 0: from none."""

    def saved(self, size: int) -> None:
        """Note a snapshot of so many bytes."""

    def lag(self, waiting: Mapping[Partition, int]) -> None:
        """Note how many records wait in each partition of this worker."""


class _Kind(NamedTuple):
    """A metric: all that its client and its documentation need."""

    name: str
    type: str
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


# Seconds: of a batch, from a record's arrival to its decision, and from a message to its label.
_FAST = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_ARRIVAL = (*_FAST, 30.0, 60.0, 300.0, 3600.0)
_LABEL = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0)

_KINDS = (
    _Kind("records", "counter", "Records handled, by role.", ("role",)),
    _Kind("decisions", "counter", "Decisions, by label; empty: nothing learned yet.", ("label",)),
    _Kind("lessons", "counter", "Labels joined to their messages, by label.", ("label",)),
    _Kind("corrections", "counter", "Labels that replaced another one."),
    _Kind("dead_letters", "counter", "Records that could not be used."),
    _Kind("aborted_transactions", "counter", "Transactions that were tried again."),
    _Kind("lag_records", "gauge", "Records that wait in a partition.", ("topic", "partition")),
    _Kind(
        "decision_latency_seconds",
        "histogram",
        "From a message's timestamp to its committed decision.",
        buckets=_ARRIVAL,
    ),
    _Kind("batch_seconds", "histogram", "From a batch's poll to its commit.", buckets=_FAST),
    _Kind(
        "label_delay_seconds",
        "histogram",
        "From a message's timestamp to its label's.",
        buckets=_LABEL,
    ),
    _Kind("windowed_accuracy", "gauge", "Share of right among recent decisions with labels."),
    _Kind("drift_alarms", "counter", "Alarms of drift that were raised since the start."),
    _Kind(
        "drift_timestamp_seconds",
        "gauge",
        "When the label came that raised the last alarm of drift, since 1970.",
    ),
    _Kind("challengers", "counter", "Challengers: started, swapped in, given up.", ("event",)),
    _Kind("challenger_running", "gauge", "1 while a challenger learns beside the model, else 0."),
    _Kind("one_minus_auc_ratio", "gauge", "1 - AUC of the scores against later labels."),
    _Kind("score_cut", "gauge", "Scores must be above it to be positive."),
    _Kind("model_lessons", "gauge", "Labels that the model has learned."),
    _Kind("model_words", "gauge", "Different words that the model knows."),
    _Kind("window_messages", "gauge", "Messages that wait for a label."),
    _Kind("window_bytes", "gauge", "Bytes that they take."),
    _Kind("labels_waiting", "gauge", "Labels that wait for their messages."),
    _Kind("snapshot_age_seconds", "gauge", "Since the last snapshot, or since the start."),
    _Kind("snapshot_bytes", "gauge", "Size of the last snapshot."),
    _Kind("build_info", "gauge", "1, with what runs in its labels.", ("version", "python")),
)


def table() -> str:
    """Return the table of all metrics, as Markdown."""
    lines = ["| metric | type | labels | meaning |", "| --- | --- | --- | --- |"]
    for kind in _KINDS:
        suffix = "_total" if kind.type == "counter" else ""
        labels = ", ".join(f"`{label}`" for label in kind.labels)
        lines.append(
            f"| `streamnb_{kind.name}{suffix}` | {kind.type} | {labels} | {kind.meaning} |"
        )
    return "\n".join(lines)


class _Told:
    """A registry whose samples have one more label, as they are told."""

    def __init__(self, registry: Any, kind: str) -> None:
        self._registry, self._kind = registry, kind

    def restricted_registry(self, names: Iterable[str]) -> _Told:
        """Return only some of it, which Prometheus may ask for."""
        return _Told(self._registry.restricted_registry(names), self._kind)

    def collect(self) -> Iterator[Any]:
        """Yield the metrics."""
        for metric in self._registry.collect():
            told = copy.copy(metric)
            told.samples = [
                sample._replace(labels={"filter": self._kind} | sample.labels)
                for sample in metric.samples
            ]
            yield told


class PrometheusMetrics(Metrics):
    """Measure with `prometheus_client`.

    Parameters
    ----------
    registry
        A registry of it; None is a new one.
    clock
        Seconds since 1970.
    told_as
        What the label `filter` says of everything that Prometheus reads; empty: no label.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """

    def __init__(
        self,
        registry: Any = None,
        clock: Callable[[], float] = time.time,
        told_as: str = "",
    ) -> None:
        super().__init__()
        self._told_as = told_as
        try:
            import prometheus_client as client
        except ImportError as error:
            raise MissingDependencyError(
                "metrics need prometheus_client: pip install 'streamnb[consumers]'"
            ) from error
        self.registry = client.CollectorRegistry() if registry is None else registry
        self._clock = clock
        classes: dict[str, Any] = {
            "counter": client.Counter,
            "gauge": client.Gauge,
            "histogram": client.Histogram,
        }
        self._of: dict[str, Any] = {}
        for kind in _KINDS:
            more = {"buckets": kind.buckets} if kind.buckets else {}
            self._of[kind.name] = classes[kind.type](
                f"streamnb_{kind.name}", kind.meaning, kind.labels, registry=self.registry, **more
            )
        # What has no value yet is not zero.
        for name in (
            "windowed_accuracy",
            "drift_timestamp_seconds",
            "one_minus_auc_ratio",
            "score_cut",
        ):
            self._of[name].set(math.nan)
        self._of["build_info"].labels(__version__, platform.python_version()).set(1)
        # An age that is computed when it is asked for goes on growing when the loop hangs.
        self._saved_at = clock()
        self._alarms = 0  # of the filter that were told
        self._challenges: dict[str, int] = {}  # the same, by what happened
        self._of["snapshot_age_seconds"].set_function(lambda: self._clock() - self._saved_at)

    @property
    def application(self) -> Callable[..., Iterable[bytes]]:
        """The WSGI application that tells all this to Prometheus."""
        import prometheus_client

        told: Any = _Told(self.registry, self._told_as) if self._told_as else self.registry
        application: Callable[..., Iterable[bytes]] = prometheus_client.make_wsgi_app(told)
        return application

    def committed(
        self, records: list[Record], outputs: Outputs, worker: Filter, seconds: float
    ) -> None:
        """Note a committed transaction."""
        super().committed(records, outputs, worker, seconds)
        of, now = self._of, self._clock()
        for role in {record.role for record in records}:
            count = sum(record.role == role for record in records)
            of["records"].labels(role).inc(count)
        # By decisions, not by records: of those that are replayed the decisions were made before.
        arrived = {(record.partition, record.offset): record.timestamp for record in records}
        for decision in outputs.decisions:
            of["decisions"].labels(decision.label or "").inc()
            timestamp = arrived.get((decision.partition, decision.offset))
            if timestamp is not None:
                of["decision_latency_seconds"].observe(max(0.0, now - timestamp / 1000))
        for event in outputs.training:
            of["lessons"].labels(event.learn).inc()
            if event.unlearn is not None:
                of["corrections"].inc()
            if event.delay is not None:
                of["label_delay_seconds"].observe(max(0.0, event.delay))
        of["dead_letters"].inc(len(outputs.dead_letters))
        of["batch_seconds"].observe(seconds)
        self._state(worker)

    def began(self, worker: Filter, size: int) -> None:
        """Note what a filter holds at its start."""
        alarm = worker.learner.alarm
        if alarm is not None and alarm.count:
            self._alarms = alarm.count  # those of the snapshot were raised before
            self._tell_drift(alarm.last)
        reactions = ChallengerEvents.of(worker.learner.model)
        self._challenges = {} if reactions is None else reactions.events
        self._state(worker)
        self._of["snapshot_bytes"].set(size)

    def _tell_drift(self, at: int | None) -> None:
        """Tell when the last alarm was raised: now, if records have no time."""
        self._of["drift_timestamp_seconds"].set(self._clock() if at is None else at / 1000)

    def _state(self, worker: Filter) -> None:
        of = self._of
        alarm = worker.learner.alarm
        # After an aborted transaction the filter goes back, and raises the same alarms again.
        if alarm is not None and alarm.count > self._alarms:
            of["drift_alarms"].inc(alarm.count - self._alarms)
            self._alarms = alarm.count
            self._tell_drift(alarm.last)
        self._tell_challenges(ChallengerEvents.of(worker.learner.model))
        accuracy, area = worker.learner.confusion.rolling_accuracy(), worker.learner.bound.roc_auc()
        of["windowed_accuracy"].set(math.nan if accuracy is None else accuracy)
        of["one_minus_auc_ratio"].set(math.nan if area is None else 1 - area)
        of["score_cut"].set(worker.learner.bound.threshold)
        of["model_lessons"].set(worker.learner.learned)
        of["model_words"].set(getattr(worker.learner.model, "n_words", 0))
        windows = worker.join.windows.values()
        of["window_messages"].set(sum(map(len, windows)))
        of["window_bytes"].set(sum(window.size for window in windows))
        of["labels_waiting"].set(sum(window.waiting for window in windows))

    def _tell_challenges(self, reactions: ChallengerEvents | None) -> None:
        self._of["challenger_running"].set(reactions is not None and reactions.active)
        for event, count in ({} if reactions is None else reactions.events).items():
            told = self._challenges.get(event, 0)
            # As with alarms: after an aborted transaction the same happens again.
            self._of["challengers"].labels(event).inc(max(0, count - told))
            self._challenges[event] = max(count, told)

    def aborted(self) -> None:
        """Note an aborted transaction."""
        self._of["aborted_transactions"].inc()

    def saved(self, size: int) -> None:
        """Note a snapshot."""
        self._saved_at = self._clock()
        self._of["snapshot_bytes"].set(size)

    def lag(self, waiting: Mapping[Partition, int]) -> None:
        """Note how many records wait; partitions that went to other workers are forgotten."""
        gauge = self._of["lag_records"]
        gauge.clear()
        for place, count in waiting.items():
            gauge.labels(place.source, place.number).set(count)
