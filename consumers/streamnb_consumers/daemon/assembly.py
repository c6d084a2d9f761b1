"""Build the components of a daemon from its settings, and a loop from the components."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import math
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from streamnb.challenger import Challenger
from streamnb.errors import StreamNBError
from streamnb.families import TEXT_MODELS
from streamnb.model.drift import NO_DETECTOR
from streamnb.model.readiness import READY_AFTER
from streamnb.model.threshold import Cutoffs
from streamnb.model_specs import (
    CHALLENGER,
    MODELS,
    TABLE_MODELS,
    ModelSpec,
    build,
    model_spec,
    with_fields,
    with_tokenizer,
)
from streamnb.parameters import check_jobs
from streamnb_consumers.daemon.backoff import Breaker
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.metrics import Metrics, PrometheusMetrics
from streamnb_consumers.daemon.settings import AUTO, Settings, goals
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.shared import SharedSnapshots
from streamnb_consumers.daemon.snapshots.stores import open_store
from streamnb_consumers.daemon.teacher_settings import consulting, make_asker
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.io.files import FileSink, FileSource
from streamnb_consumers.io.protocols import BufferedSink, Sink, Source, TrainingLog
from streamnb_consumers.io.stdio import StdinSource, StdoutSink
from streamnb_consumers.pipeline import mail_reading, reading
from streamnb_consumers.pipeline.assumptions import AssumeAfter
from streamnb_consumers.pipeline.filter import Filter, FollowingFilter, LocalFilter, SharedFilter
from streamnb_consumers.pipeline.options import Options, SenderLists, read_senders
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.pipeline.threshold import is_calibrated
from streamnb_consumers.pipeline.window import Bounds
from streamnb_consumers.records import Partition

_BLOCK = 65_536  # bytes of a read
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
# The format of topic records is detected.
_FORMS: dict[str, Literal["either", "raw", "json"]] = {"auto": "either", "jsonl": "json"}
_MAX_FPR = 0.01
# At most 2 % of mails that have nothing to do with the labels reach it (`strength_of(0.02)`).
# SMS are so short that spam itself has little evidence: 5 % of the spam of the SMS collection is
# below 1.3, and 10 % below 2.2.
_MIN_EVIDENCE = 2.8
_DAY = 86_400_000  # milliseconds
_ASSUME_AFTER = AssumeAfter(messages=25)
# Threads that read and predict the messages of a batch; more would hardly be faster.
_JOBS = min(4, check_jobs("n_jobs", -1))
# Transactions that are polled together: three of four commits take no time of the loop.
_POLLED = 4
_LOG = logging.getLogger(__name__)
_MODELS = {"sms": reading.DEFAULT_MODEL, "spam": mail_reading.DEFAULT_MODEL}


def make_filter(kind: str, settings: Settings, listens: bool = False) -> Filter:
    """Return the filter that the settings describe, with an untrained model.

    `listens` means that its messages are requests, and its labels come from people. With topics it
    then only decides, because a group joins and trains. Without topics, decisions that nobody
    corrects count as labels.

    Raises
    ------
    SettingsError
        If the model is unknown.
    """
    model, parameters = _model(kind, settings)
    sizes = ("max_bytes", "max_text")
    size = {name: value for name in sizes if (value := getattr(settings, name))}
    reader: MessageReader
    if model.reads_columns:
        if kind != "sms":
            raise SettingsError(
                f"model: {settings.model} reads rows of attributes, not mail: use streamnb-sms, or "
                f"a model of texts: {', '.join(TEXT_MODELS)}"
            )
        reader = reading.RowReader(
            settings.labels, size.get("max_bytes", 65_536), settings.categories
        )
    elif settings.categories:
        raise SettingsError(
            f"categories is set, and the model reads texts: leave categories empty, or choose a "
            f"model of tables: {', '.join(TABLE_MODELS)}"
        )
    elif kind == "sms":
        reader = reading.SmsReader(
            settings.labels,
            tokenizer=parameters.get("tokenizer"),
            label_sets=has_label_sets(model),
            **size,
        )
    else:
        reader = mail_reading.MailReader(
            settings.labels,
            record_format=_FORMS.get(settings.format, "raw"),
            status_header=settings.status_header,
            # Models without a tokenizer parameter receive words.
            texts="tokenizer" in parameters,
            threads=_JOBS,
            tokenizer=parameters.get("tokenizer"),
            **size,
        )
    past = settings.past_label_days if listens and not settings.bootstrap_servers else 0.0
    bounds = Bounds(
        count=settings.join_window_count,
        age=round(settings.join_window_age * 1000) or None,
        size=settings.join_window_bytes,
        future=round(settings.join_window_future * 1000) or None,
        labels=settings.labels_per_hour or None,
        questions=settings.ask_per_day,
        consulting=consulting(settings),
        past=round(past * _DAY),
    )
    if listens and bounds.consulting and not settings.bootstrap_servers:
        raise SettingsError(
            "the teacher applies to files and topics, not to `listen`: leave out its settings"
        )
    cutoffs = Cutoffs(settings.ham_cutoff, settings.spam_cutoff) if settings.spam_cutoff else None
    options = Options(
        pos_label=settings.pos_label,
        negative=settings.negative,
        max_fpr=_max_fpr(settings, model),
        explain_top_k=settings.explain_top_k,
        adopt=settings.training_log_adopt,
        bounds=bounds,
        cutoffs=cutoffs,
        senders=_lists(settings),
        label_source_header=settings.label_source_header,
        drift=None if settings.drift == NO_DETECTOR else settings.drift,
        self_training=settings.self_training,
        max_classes=settings.max_classes,
        ready_after=_ready_after(settings, model, listens),
        min_evidence=_min_evidence(kind, settings, model, listens),
        assume_after=_assume_after(settings, model, listens),
    )
    shared = FollowingFilter if listens else SharedFilter
    kind_of = shared if settings.bootstrap_servers else LocalFilter
    return kind_of(model, reader, options)


def _lists(settings: Settings) -> SenderLists:
    return SenderLists(*map(read_senders, (settings.allow_senders, settings.deny_senders)))


def reload_lists(worker: Filter, settings: Settings) -> None:
    """Read the lists of senders again; if they are invalid, the old ones remain."""
    try:
        worker.options = dataclasses.replace(worker.options, senders=_lists(settings))
    except (StreamNBError, OSError) as error:
        _LOG.error("the lists of senders remain as they were: %s", error)
    else:
        _LOG.info("the lists of senders were read again")


def _model(kind: str, settings: Settings) -> tuple[Any, dict[str, Any]]:
    """Return an untrained model and its parameters.

    For a model that reacts to drift these are the parameters of the inner model; without one, the
    default model of the kind is used.
    """
    text = settings.model or _MODELS[kind]
    try:
        spec = model_spec(text)
        if spec.name == CHALLENGER:
            named = {"model": model_spec(_MODELS[kind])} | spec.parameters
            spec = dataclasses.replace(spec, parameters=named)
        spec = with_fields(spec, settings.fields, settings.per_field or None, settings.numbers)
        if settings.hashed_words:
            spec = with_tokenizer(spec, hashed=True)
        model: Any = build(_with_jobs(spec))
    except (argparse.ArgumentTypeError, StreamNBError) as error:
        raise SettingsError(f"model: {error}") from error
    if has_label_sets(model):
        _check_label_sets(kind, settings, model)
    if not hasattr(model, "to_bytes"):
        raise SettingsError(f"model: {text} has no model file, so there are no snapshots")
    if not isinstance(model, Challenger):
        return model, spec.parameters
    if settings.drift != NO_DETECTOR:
        raise SettingsError(
            f"drift is {settings.drift}, and a {spec.name} has a detector already: leave drift at "
            f"{NO_DETECTOR}, and name it there, as in {spec.name}(detector={settings.drift!r})"
        )
    return model, spec.parameters["model"].parameters


def has_label_sets(model: Any) -> bool:
    """Return whether a model decides on any number of labels for each message."""
    return bool(getattr(model, "label_sets", False))


def _check_label_sets(kind: str, settings: Settings, model: Any) -> None:
    """Refuse settings of one positive label, and of questions for one label."""
    name = type(model).__name__
    if kind != "sms":
        raise SettingsError(
            f"model: {name} decides on sets of labels, and a filter of mail on one label for each "
            f"mail: use a model of one label, such as {_MODELS[kind]}, or streamnb-sms with the "
            "texts of the mails"
        )
    if model.output != "sets":
        raise SettingsError(f"model: leave the output of {name} at 'sets', not {model.output!r}")
    given = {
        "max_fpr": settings.max_fpr not in (AUTO, "0"),
        "spam_cutoff": bool(settings.spam_cutoff),
        "allow_senders": bool(settings.allow_senders),
        "deny_senders": bool(settings.deny_senders),
        "ready_after": settings.ready_after not in (AUTO, "0"),
        "min_evidence": settings.min_evidence not in (AUTO, "0"),
        "assume_after": settings.assume_after not in (AUTO, "0"),
        "ask_per_day": bool(settings.ask_per_day),
        "self_training": settings.self_training,
        "teacher": consulting(settings) is not None,
    }
    wrong = [setting for setting, is_given in given.items() if is_given]
    if wrong:
        raise SettingsError(
            f"{', '.join(wrong)}: {name} decides on sets of labels, and these settings apply to "
            "one label for each message: leave them out"
        )


def _with_jobs(spec: ModelSpec) -> ModelSpec:
    """Return the specification of a model that predicts batches on several threads."""
    inner = spec.parameters.get("model")
    if isinstance(inner, ModelSpec):
        return dataclasses.replace(spec, parameters=spec.parameters | {"model": _with_jobs(inner)})
    if spec.name not in MODELS:
        return spec
    return dataclasses.replace(spec, parameters={"n_jobs": _JOBS} | spec.parameters)


def _assume_after(settings: Settings, model: Any, listens: bool) -> AssumeAfter | None:
    """Return when decisions count as labels: never if the labels come with the messages."""
    if settings.assume_after == AUTO:
        one_label = not has_label_sets(model)
        return _ASSUME_AFTER if listens and one_label and not settings.bootstrap_servers else None
    return None if settings.assume_after == "0" else AssumeAfter.read(settings.assume_after)


def _ready_after(settings: Settings, model: Any, listens: bool) -> float:
    """Return the messages of each of two labels from which the model decides."""
    if settings.ready_after != AUTO:
        return float(settings.ready_after)
    return READY_AFTER if listens and not has_label_sets(model) else 0.0


def _min_evidence(kind: str, settings: Settings, model: Any, listens: bool) -> float:
    """Return the least strength of evidence for a positive decision."""
    if settings.min_evidence != AUTO:
        least = float(settings.min_evidence)
        if least and not hasattr(model, "evidence_one"):
            raise SettingsError(
                f"min_evidence is {least:g}, but {type(model).__name__} reads no words: set it to 0"
            )
        return least
    return _MIN_EVIDENCE if listens and kind == "spam" and is_calibrated(model) else 0.0


def _max_fpr(settings: Settings, model: Any) -> float | None:
    """Return the maximum false-positive rate; by default it depends on the cutoffs."""
    if settings.max_fpr != AUTO:
        return float(settings.max_fpr) or None
    if goals(settings):
        return None  # the goal bounds the errors
    return _MAX_FPR if is_calibrated(model) and not settings.spam_cutoff else None


def make_loop(
    kind: str,
    settings: Settings,
    dry_run: bool = False,
    environment: Mapping[str, str] | None = None,
    begun: bytes = b"",
) -> Loop:
    """Return the loop that the settings describe, ready to run.

    Parameters
    ----------
    kind
        `"sms"` or `"spam"`.
    settings
        All settings.
    dry_run
        Whether nothing is written, committed or saved.
    environment
        Source of secrets; None for the environment of this process.
    begun
        Bytes already read from standard input.
    """
    environment = os.environ if environment is None else environment
    if not settings.bootstrap_servers:
        settings = structs.replace(settings, format=recognised(kind, settings, begun))
    worker = make_filter(kind, settings)
    log = shared = None
    if not settings.bootstrap_servers and not dry_run:
        worker.asker = make_asker(settings, environment)
    if settings.bootstrap_servers:
        source, sink, log = _topics(kind, settings, dry_run, environment)
        shared = shared_snapshots(kind, settings, log, dry_run)
    else:
        source, sink = _files(settings, worker.reader.max_bytes, dry_run, begun)
    limits = limits_of(settings)
    return Loop(
        source,
        sink,
        worker,
        snapshots=None if dry_run else own_snapshots(settings),
        shared=shared,
        log=log,
        limits=limits,
        breaker=Breaker(settings.circuit_breaker_ratio, settings.circuit_breaker_records),
        metrics=PrometheusMetrics(kind=kind) if settings.http_port else Metrics(),
        # A little longer than the watchdog's limit for one round, because its message is better.
        health=Health(
            limit=limits.poll + 4 * limits.commit + 30.0,
            session=settings.session_seconds if settings.bootstrap_servers else math.inf,
        ),
    )


def limits_of(settings: Settings) -> Limits:
    """Return the limits of the loop."""
    return Limits(
        batch=settings.batch,
        authorization=settings.authorization_seconds,
        transaction=settings.transaction_seconds if settings.bootstrap_servers else math.inf,
        polled=_POLLED if settings.bootstrap_servers else 1,
        gather=settings.linger_seconds if settings.bootstrap_servers else 0.0,
        poll=settings.poll_seconds,
        commit=settings.commit_seconds,
        stop=settings.stop_seconds,
        snapshot=settings.snapshot_seconds,
    )


def own_snapshots(settings: Settings) -> Snapshots | None:
    """Return the snapshots of one worker; None without a setting."""
    if not settings.snapshots:
        return None
    return Snapshots(settings.snapshots, settings.snapshots_kept, settings.snapshot_bytes)


def shared_snapshots(
    kind: str, settings: Settings, log: TrainingLog, dry_run: bool = False
) -> SharedSnapshots | None:
    """Return the shared snapshots of a group; None without a setting."""
    if not settings.shared_snapshots:
        return None

    def truncate(offsets: Mapping[Partition, int]) -> None:
        log.truncate(offsets, settings.commit_seconds)

    return SharedSnapshots(
        open_store(settings.shared_snapshots.replace("{kind}", kind)),
        settings.snapshots_kept,
        settings.snapshot_bytes,
        math.inf if dry_run else settings.shared_snapshot_seconds,
        truncate if settings.training_log_truncate and not dry_run else None,
    )


def _topics(
    kind: str, settings: Settings, dry_run: bool, environment: Mapping[str, str]
) -> tuple[Source, Sink, TrainingLog]:
    cluster, topics = make_cluster(kind, settings, environment), make_topics(kind, settings)
    from streamnb_consumers.kafka.drivers import open_kafka

    if dry_run:
        # A separate group: in the group of the filter it would take partitions from the workers.
        aside = f"{cluster.transactional_id}-dry-run"
        cluster = dataclasses.replace(
            cluster, group=aside, instance_id=None, create_topics=0, reads_only=True
        )
    source, sink = open_kafka(cluster, topics, settings.commit_seconds)
    return source, BufferedSink() if dry_run else sink, source


def _files(settings: Settings, longest: int, dry_run: bool, begun: bytes) -> tuple[Source, Sink]:
    dead_letters = Path(settings.dead_letters) if settings.dead_letters else None
    sink: Sink
    files = None
    if dry_run:
        sink = BufferedSink()
    elif settings.output == "-":
        sink = StdoutSink(dead_letters=dead_letters)
    else:
        sink = files = FileSink(Path(settings.output), dead_letters)
    if settings.input == "-" and settings.format == "jsonl":
        return StdinSource(max_bytes=longest, begun=begun), sink
    path = Path(settings.input)
    return FileSource(path, files, max_bytes=longest, format=settings.format), sink


def first_bytes(kind: str, settings: Settings) -> bytes:
    """Wait for the first bytes of standard input if they decide the format.

    They do unless a setting names the format. A service with a health port always reads lines.
    """
    named = settings.format != "auto" or settings.input != "-"
    if kind != "spam" or named or settings.bootstrap_servers or settings.http_port:
        return b""
    begun = b""
    while not begun.strip() and (block := os.read(sys.stdin.fileno(), _BLOCK)):
        begun += block
    return begun


def recognised(kind: str, settings: Settings, begun: bytes = b"") -> str:
    r"""Return the format of the input, of which `begun` are the first bytes on standard input.

    Raises
    ------
    SettingsError
        If such messages cannot have the format.

    Examples
    --------
    >>> recognised("spam", Settings(), b'{"id"'), recognised("spam", Settings(), b"From: ann")
    ('jsonl', 'mail')
    """
    if kind != "spam" and settings.format not in ("auto", "jsonl"):
        raise SettingsError(f"format is {settings.format}, but {kind} is read from JSON lines")
    if settings.format != "auto":
        return settings.format
    if kind != "spam" or settings.bootstrap_servers:
        return "jsonl"
    if settings.input == "-":
        return "mail" if begun.strip() and not _JSON.match(begun) else "jsonl"
    from streamnb.datasets.mail import mail_format

    return mail_format(settings.input) or "jsonl"  # whoever opens it says what is wrong
