"""Metrics for Prometheus, and the totals of a run."""

from __future__ import annotations

import copy
import math
import platform
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from streamnb import __version__
from streamnb.errors import InvalidAnswerError, TeacherError, needed_for
from streamnb.model.threshold import UNSURE
from streamnb.text.labels import label_names
from streamnb_consumers.io.partition_table import RUNNING, PartitionTable
from streamnb_consumers.records import Outputs, Partition, Record

if TYPE_CHECKING:
    from streamnb_consumers.pipeline.filter import Filter


OTHER_LABELS = "(other labels)"
"""Value of the label `label` for names beyond the bound."""


class Metrics:
    """Totals of a run and the last error; subclasses export more."""

    def __init__(self) -> None:
        self.last_error = ""
        self.records = 0
        self.decisions = 0
        self.dead_letters = 0

    def committed(
        self, records: list[Record], outputs: Outputs, worker: Filter, seconds: float
    ) -> None:
        """Count a committed transaction and its duration."""
        self.records += len(records)
        self.decisions += len(outputs.decisions)
        self.dead_letters += len(outputs.dead_letters)
        if outputs.dead_letters:
            self.last_error = outputs.dead_letters[-1].error

    def aborted(self) -> None:
        """Count an aborted transaction."""

    def missing(self, counts: Mapping[Partition, int]) -> None:
        """Count records that were deleted before they were read."""

    def started(self, worker: Filter, size: int) -> None:
        """Set the state after a start from a snapshot of `size` bytes; 0 for no snapshot."""

    def saved(self, size: int | None) -> None:
        """Set age and size of the newest snapshot; None for one that could not be written."""

    def lag(self, waiting: Mapping[Partition, int]) -> None:
        """Set the number of unread records of each assigned partition."""

    def watched(self, differences: int, misplaced: int) -> None:
        """Set the numbers of topic settings that differ, and of labels in other partitions."""

    def watch(self, problem: Callable[[], str], table: PartitionTable) -> None:
        """Set the function that returns why the worker is not ready, and its partitions."""


class Metric(NamedTuple):
    """Name, type, description, labels and buckets of a metric."""

    name: str
    type: str
    description: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


# Seconds: batch duration, decision latency, label delay.
_FAST = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_LATENCY = (*_FAST, 30.0, 60.0, 300.0, 3600.0)
_DELAY = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0)

_SOURCE = ("source", "reason", "status")
_COST = Metric("teacher_cost", "gauge", "Cost of the requests to the teacher since the start.")
_ESTIMATE_EVERY = 10.0  # seconds between two estimates of the agreement

METRICS = (
    Metric("records", "counter", "Records handled, by role.", ("role",)),
    Metric(
        "decisions", "counter", "Decisions, by label; empty: the model has no data.", ("label",)
    ),
    Metric("training_events", "counter", "Labels joined to their messages.", ("label",)),
    Metric("labels", "counter", "Labels of users and requests to unlearn, by result.", ("result",)),
    Metric("corrections", "counter", "Labels that replaced another label."),
    Metric("dead_letters", "counter", "Invalid records."),
    Metric("questions", "counter", "Decisions that request a label."),
    Metric("self_trained", "counter", "Messages learned without a user's label.", ("label",)),
    Metric("assumed_labels", "counter", "Decisions that nobody corrected, learned.", ("label",)),
    Metric(
        "answer_delay_seconds",
        "histogram",
        "Time from a requested message's timestamp to its first label's.",
        buckets=_DELAY,
    ),
    Metric("open_questions", "gauge", "Requested labels that have not arrived."),
    Metric("oldest_question_seconds", "gauge", "Age of the oldest of them; 0 if there is none."),
    Metric("unwritten_records", "counter", "Outputs that exceed the record limit of their topic."),
    Metric("tombstones", "counter", "Input records without a value, which are skipped."),
    Metric("aborted_transactions", "counter", "Transactions that were retried."),
    Metric("missing_records", "counter", "Records that were deleted before they were read."),
    Metric("ready", "gauge", "1 if the worker decides on messages, else 0."),
    Metric(
        "partition_waiting_seconds",
        "gauge",
        "Time since a partition does not advance; 0 if it is running.",
        ("topic", "partition", "state", "reason"),
    ),
    Metric("lag_records", "gauge", "Unread records of a partition.", ("topic", "partition")),
    Metric(
        "decision_latency_seconds",
        "histogram",
        "Time from a message's timestamp to its committed decision.",
        buckets=_LATENCY,
    ),
    Metric("batch_seconds", "histogram", "Time from a batch's poll to its commit.", buckets=_FAST),
    Metric(
        "label_delay_seconds",
        "histogram",
        "Time from a message's timestamp to its label's.",
        buckets=_DELAY,
    ),
    Metric("rolling_accuracy", "gauge", "Accuracy of recent decisions with labels."),
    Metric("drift_alarms", "counter", "Drift alarms since the start."),
    Metric("drift_timestamp_seconds", "gauge", "Unix time of the last drift alarm."),
    Metric("challengers", "counter", "Challengers: started, swapped in, given up.", ("event",)),
    Metric("challenger_running", "gauge", "1 while a challenger trains, else 0."),
    Metric("roc_auc", "gauge", "Area under the ROC curve of the scores of labelled messages."),
    Metric("decision_threshold", "gauge", "Scores above it are positive."),
    Metric("model_training_events", "gauge", "Training events that the model has learned."),
    Metric("model_ready", "gauge", "1 if two labels have `ready_after` messages, else 0."),
    Metric("model_messages", "gauge", "Messages in the model, by label.", ("label",)),
    Metric("unsure_ratio", "gauge", "Share of unsure decisions among the last 1,000."),
    Metric("model_words", "gauge", "Distinct words in the model."),
    Metric(
        "left_out_words",
        "counter",
        "Words pruned at max_features, or refused from messages with too many new ones.",
        ("reason",),
    ),
    Metric("join_window_messages", "gauge", "Messages that wait for a label."),
    Metric("join_window_bytes", "gauge", "Bytes of these messages."),
    Metric("pending_labels", "gauge", "Messages that have not come, and whose labels wait."),
    Metric("snapshot_age_seconds", "gauge", "Time since the last snapshot, or the start."),
    Metric("snapshot_failures", "counter", "Snapshots that could not be written."),
    Metric("snapshot_bytes", "gauge", "Size of the last snapshot."),
    Metric("misplaced_labels", "gauge", "Latest labels whose message is in another partition."),
    Metric("contract_differences", "gauge", "Settings of topics that differ from the needs."),
    Metric("start_timestamp_seconds", "gauge", "Unix time of the start of the process."),
    Metric("teacher_decisions", "counter", "Decisions, by source and status.", _SOURCE),
    Metric("teacher_call_share", "gauge", "Share of messages that were sent.", ("partition",)),
    Metric(
        "teacher_agreement",
        "gauge",
        "Estimated share of decisions that equal the teacher's: `value`, and the interval.",
        ("partition", "bound"),
    ),
    Metric("waiting_decisions", "gauge", "Decisions that wait for the teacher."),
    _COST,
    Metric("build_info", "gauge", "1, with the versions as labels.", ("version", "python")),
)

TEACHER_METRICS = (
    Metric("teacher_answers", "counter", "Results of requests: label, invalid, away.", ("result",)),
    Metric("teacher_written", "counter", "Answers that were written to feedback_topic."),
    _COST,
    Metric("teacher_open_questions", "gauge", "Questions that were not read yet."),
)
"""Metrics of `streamnb-teacher`."""


def _registered(metrics: Iterable[Metric], registry: Any) -> dict[str, Any]:
    """Return the metrics of a registry by name."""
    import prometheus_client as client

    classes = {"counter": client.Counter, "gauge": client.Gauge, "histogram": client.Histogram}
    found: dict[str, Any] = {}
    for metric in metrics:
        more = {"buckets": metric.buckets} if metric.buckets else {}
        found[metric.name] = classes[metric.type](
            f"streamnb_{metric.name}",
            metric.description,
            metric.labels,
            registry=registry,
            **more,
        )
    return found


def _exported(registry: Any, kind: str) -> Iterator[Any]:
    """Yield the metrics of a registry with the label `filter`."""
    for metric in registry.collect():
        labelled = copy.copy(metric)
        labelled.samples = [
            sample._replace(labels={"filter": kind} | sample.labels) for sample in metric.samples
        ]
        yield labelled


class TeacherMetrics:
    """Metrics of `streamnb-teacher` in `prometheus_client`.

    Parameters
    ----------
    kind
        Value of the label `filter` of all exported metrics.
    """

    def __init__(self, kind: str) -> None:
        with needed_for("http_port", "consumers"):
            import prometheus_client as client
        self._kind, self.registry = kind, client.CollectorRegistry()
        self._metrics = _registered(TEACHER_METRICS, self.registry)

    def asked(self, answers: Iterable[Any], cost: float) -> None:
        """Count the results of requests, and set the cost since the start."""
        for answer in answers:
            result = "label"
            if isinstance(answer, TeacherError):
                result = "invalid" if isinstance(answer, InvalidAnswerError) else "away"
            self._metrics["teacher_answers"].labels(result).inc()
        self._metrics["teacher_cost"].set(cost)

    def committed(self, answers: int) -> None:
        """Count answers that were written."""
        self._metrics["teacher_written"].inc(answers)

    def waiting(self, questions: int) -> None:
        """Set the number of questions that were not read yet."""
        self._metrics["teacher_open_questions"].set(questions)

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        import prometheus_client

        exported: Any = SimpleNamespace(collect=lambda: _exported(self.registry, self._kind))
        return prometheus_client.generate_latest(exported)


class PrometheusMetrics(Metrics):
    """Metrics in `prometheus_client`.

    Parameters
    ----------
    clock
        Unix time in seconds.
    kind
        Value of the label `filter` of all exported metrics.

    Raises
    ------
    MissingDependencyError
        If `prometheus_client` is not installed.
    """

    def __init__(self, clock: Callable[[], float] = time.time, kind: str = "") -> None:
        super().__init__()
        self._kind, self._clock = kind, clock
        self._table = PartitionTable()
        with needed_for("http_port", "consumers"):
            import prometheus_client as client
        self.registry = client.CollectorRegistry()
        self._metrics = _registered(METRICS, self.registry)
        # Without a value a gauge would be zero, which is a valid value of these.
        unknown = (
            "rolling_accuracy",
            "unsure_ratio",
            "drift_timestamp_seconds",
            "roc_auc",
            "decision_threshold",
        )
        for name in unknown:
            self._metrics[name].set(math.nan)
        self._metrics["build_info"].labels(__version__, platform.python_version()).set(1)
        self._metrics["start_timestamp_seconds"].set(clock())
        # The age is computed at each scrape, so it also grows while the loop hangs.
        self._saved_at = clock()
        self._metrics["snapshot_age_seconds"].set_function(lambda: self._clock() - self._saved_at)
        # Alarms and challenges that are already counted: an aborted transaction repeats them.
        self._drift_events: dict[str, int] = {}
        self._estimated = -math.inf  # time of the last estimate of the agreement
        self._left_out: dict[str, int] = {}  # words, as the model counted them last
        self._unsure: deque[bool] = deque(maxlen=1000)
        self._revision = -1  # of the learner, at the last computation of its quality
        self._series_names: set[str] = set()

    def watch(self, problem: Callable[[], str], table: PartitionTable) -> None:
        """Set the function that returns why the worker is not ready, and its partitions."""
        self._metrics["ready"].set_function(lambda: float(not problem()))
        self._table = table

    def _series(self, label: Any, worker: Filter) -> str:
        """Return the name of the series of a label.

        Labels of strangers come and go: beyond `max_classes` names, all others share one series.
        """
        # "unsure" and the decisions of a model without data also have names.
        most = max(worker.options.max_classes, len(worker.reader.labels)) + 2
        name = str(label)
        if name not in self._series_names:
            if len(self._series_names) >= most:
                return OTHER_LABELS
            self._series_names.add(name)
        return name

    def _set_partitions(self) -> None:
        gauge, now = self._metrics["partition_waiting_seconds"], self._table.clock()
        gauge.clear()
        for place, row in self._table.rows():
            state, reason = (row.reason.state, row.reason.label) if row else (RUNNING, "")
            seconds = now - row.since if row else 0.0
            gauge.labels(*place, state, reason).set(seconds)

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        import prometheus_client

        exported: Any = SimpleNamespace(collect=self._labelled)
        return prometheus_client.generate_latest(exported)

    def _labelled(self) -> Iterator[Any]:
        """Yield the metrics with the label `filter`."""
        self._set_partitions()
        yield from _exported(self.registry, self._kind)

    def committed(
        self, records: list[Record], outputs: Outputs, worker: Filter, seconds: float
    ) -> None:
        """Count a committed transaction and its duration."""
        super().committed(records, outputs, worker, seconds)
        metrics, now = self._metrics, self._clock()
        for role, count in Counter(record.role for record in records).items():
            metrics["records"].labels(role).inc(count)
        # Replayed records have no decision here: theirs was committed earlier.
        arrived = {(record.partition, record.offset): record.timestamp for record in records}
        for decision in outputs.decisions:
            for name in label_names(decision.label) or ("",):
                metrics["decisions"].labels(self._series(name, worker)).inc()
            if decision.source is not None:
                metrics["teacher_decisions"].labels(
                    decision.source, decision.reason or "", decision.status or ""
                ).inc()
            self._unsure.append(decision.label == UNSURE)
            timestamp = arrived.get((decision.partition, decision.offset))
            if timestamp is not None:
                metrics["decision_latency_seconds"].observe(max(0.0, now - timestamp / 1000))
        for event in outputs.training:
            if event.is_assumed:
                metrics["assumed_labels"].labels(self._series(event.learn, worker)).inc()
            elif event.is_own:
                metrics["self_trained"].labels(self._series(event.learn, worker)).inc()
            elif event.learn is not None:
                for name in label_names(event.learn) or ("",):
                    metrics["training_events"].labels(self._series(name, worker)).inc()
            if event.corrected is not None:
                metrics["corrections"].inc()
            if event.delay is not None:
                metrics["label_delay_seconds"].observe(max(0.0, event.delay))
        for result in outputs.results:
            metrics["labels"].labels(result.result).inc()
        metrics["questions"].inc(len(outputs.questions))
        for delay in outputs.answers:
            metrics["answer_delay_seconds"].observe(delay or 0.0)
        metrics["dead_letters"].inc(len(outputs.dead_letters))
        metrics["unwritten_records"].inc(outputs.unwritten)
        metrics["tombstones"].inc(sum(each.is_input and each.value is None for each in records))
        metrics["batch_seconds"].observe(seconds)
        if self._unsure:
            metrics["unsure_ratio"].set(sum(self._unsure) / len(self._unsure))
        self._set_state(worker)

    def started(self, worker: Filter, size: int) -> None:
        """Set the state after a start; earlier alarms and challenges do not count."""
        alarm = worker.learner.alarm
        if alarm is not None and alarm.count:
            self._set_drift(alarm.last)
        self._drift_events = worker.learner.drift_events()
        self._set_state(worker)
        self._metrics["snapshot_bytes"].set(size)

    def _set_drift(self, at: int | None) -> None:
        """Set the time of the last alarm: now, if the record has no timestamp."""
        self._metrics["drift_timestamp_seconds"].set(self._clock() if at is None else at / 1000)

    def _set_state(self, worker: Filter) -> None:
        metrics, learner = self._metrics, worker.learner
        metrics["challenger_running"].set(getattr(learner.model, "challenger", None) is not None)
        for event, count in learner.drift_events().items():
            known = self._drift_events.get(event, 0)
            self._drift_events[event] = max(count, known)
            if event != "alarms":
                metrics["challengers"].labels(event).inc(max(0, count - known))
            elif count > known and learner.alarm is not None:
                metrics["drift_alarms"].inc(count - known)
                self._set_drift(learner.alarm.last)
        if learner.revision != self._revision:
            self._revision = learner.revision
            accuracy, auc = learner.accuracy(), learner.bound.roc_auc()
            metrics["rolling_accuracy"].set(math.nan if accuracy is None else accuracy)
            metrics["roc_auc"].set(math.nan if auc is None else auc)
        metrics["decision_threshold"].set(learner.bound.threshold)
        metrics["model_training_events"].set(learner.learned)
        readiness = learner.readiness
        metrics["model_ready"].set(readiness.ready)
        metrics["model_messages"].clear()
        for label, messages in readiness.labels.items():
            metrics["model_messages"].labels(str(label)).set(messages)
        metrics["model_words"].set(getattr(learner.model, "n_words", 0))
        for reason, count in getattr(learner.model, "left_out_words_", {}).items():
            # A model that was restored counts from 0.
            known = self._left_out.get(reason, 0)
            metrics["left_out_words"].labels(reason).inc(count - known if count >= known else count)
            self._left_out[reason] = count
        windows = worker.join.windows.values()
        metrics["join_window_messages"].set(sum(map(len, windows)))
        metrics["join_window_bytes"].set(sum(window.size for window in windows))
        metrics["pending_labels"].set(sum(window.waiting for window in windows))
        metrics["open_questions"].set(sum(len(window.questions.open) for window in windows))
        oldest = [next(iter(window.questions.open.values()), None) for window in windows]
        since = min((each / 1000 for each in oldest if each is not None), default=self._clock())
        metrics["oldest_question_seconds"].set(max(0.0, self._clock() - since))
        self._set_teacher(worker)

    def _set_teacher(self, worker: Filter) -> None:
        """Set the estimates of the cascades."""
        metrics, now = self._metrics, self._clock()
        cascades = {n: each.cascade for n, each in worker.join.windows.items() if each.cascade}
        metrics["waiting_decisions"].set(sum(each.held for each in cascades.values()))
        if worker.asker is not None:
            metrics["teacher_cost"].set(worker.asker.cost)
        metrics["teacher_call_share"].clear()
        for number, each in cascades.items():
            metrics["teacher_call_share"].labels(number).set(each.cascade.call_share)
        if not cascades or now < self._estimated + _ESTIMATE_EVERY:
            return
        self._estimated = now
        metrics["teacher_agreement"].clear()
        for number, each in cascades.items():
            found = each.cascade.agreement_estimate()
            for bound in ("value", "low", "high"):
                metrics["teacher_agreement"].labels(number, bound).set(getattr(found, bound))

    def missing(self, counts: Mapping[Partition, int]) -> None:
        """Count records that were deleted before they were read."""
        self._metrics["missing_records"].inc(sum(counts.values()))

    def aborted(self) -> None:
        """Count an aborted transaction."""
        self._metrics["aborted_transactions"].inc()

    def saved(self, size: int | None) -> None:
        """Set age and size of the newest snapshot; None for one that could not be written."""
        if size is None:
            self._metrics["snapshot_failures"].inc()
            return
        self._saved_at = self._clock()
        self._metrics["snapshot_bytes"].set(size)

    def lag(self, waiting: Mapping[Partition, int]) -> None:
        """Set the number of unread records; drop partitions that moved to other workers."""
        gauge = self._metrics["lag_records"]
        gauge.clear()
        for place, count in waiting.items():
            gauge.labels(place.source, place.number).set(count)

    def watched(self, differences: int, misplaced: int) -> None:
        """Set the numbers of topic settings that differ, and of labels in other partitions."""
        self._metrics["contract_differences"].set(differences)
        self._metrics["misplaced_labels"].set(misplaced)
