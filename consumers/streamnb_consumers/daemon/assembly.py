"""Settings to the parts of a daemon, and the parts to a loop that is ready to run."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamnb.errors import StreamNBError
from streamnb.model_specs import build, model_spec
from streamnb_consumers.daemon.breaker import Breaker
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
from streamnb_consumers.daemon.loop import Limits, Loop
from streamnb_consumers.daemon.metrics import Metrics, PrometheusMetrics
from streamnb_consumers.daemon.settings_fields import Settings
from streamnb_consumers.daemon.snapshots import Snapshots
from streamnb_consumers.errors import SettingsError, needing_kafka
from streamnb_consumers.filter.filtering import Filter
from streamnb_consumers.filter.options import Options
from streamnb_consumers.filter.window import Bounds
from streamnb_consumers.messages import sms, spam
from streamnb_consumers.messages.reading import MessageReader
from streamnb_consumers.ports.files import FileSink, FileSource
from streamnb_consumers.ports.memory import MemoryLog, MemorySink
from streamnb_consumers.ports.protocols import Sink, Source
from streamnb_consumers.ports.stdio import StdinSource, StdoutSink

__all__ = ["make_filter", "make_loop"]

_MODELS = {"sms": sms.DEFAULT_MODEL, "spam": spam.DEFAULT_MODEL}


def make_filter(kind: str, settings: Settings) -> Filter:
    """Return the filter that settings describe, with a model that has learned nothing.

    Raises
    ------
    SettingsError
        If there is no such model.
    """
    text = settings.model or _MODELS[kind]
    try:
        spec = model_spec(text)
        model: Any = build(spec)
    except (argparse.ArgumentTypeError, StreamNBError) as error:
        raise SettingsError(f"model: {error}") from error
    if not hasattr(model, "to_bytes"):
        raise SettingsError(f"model: {text} is river's own, which has no snapshots")
    size = {"max_bytes": settings.max_bytes} if settings.max_bytes else {}
    reader: MessageReader
    if kind == "sms":
        reader = sms.Sms(settings.labels, **size)
    else:
        reader = spam.Spam(settings.labels, **size)
    bounds = Bounds(
        count=settings.window_count,
        age=round(settings.window_age * 1000) or None,
        size=settings.window_bytes,
        future=round(settings.window_future * 1000) or None,
    )
    options = Options(
        positive=settings.positive,
        negative=settings.negative,
        ham_target=settings.ham_target or None,
        top_words=settings.top_words,
        shared=bool(settings.bootstrap_servers),
        bounds=bounds,
    )
    return Filter(model, reader, options)


def make_loop(
    kind: str,
    settings: Settings,
    dry_run: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Loop:
    """Return the loop that settings describe, ready to run.

    Parameters
    ----------
    kind
        sms or spam.
    settings
        Everything that can be set.
    dry_run
        Whether to write, commit and keep nothing.
    environment
        Where secrets are; None is the environment of this process.

    Raises
    ------
    SettingsError
        If settings, secrets or files don't fit together.
    MissingDependencyError
        If something is asked for that is not installed.
    """
    environment = os.environ if environment is None else environment
    worker = make_filter(kind, settings)
    if settings.bootstrap_servers:
        source, sink = _topics(kind, settings, dry_run, environment)
    else:
        source, sink = _files(settings, worker.reader.max_bytes, dry_run)
    keep = settings.snapshots and not dry_run
    limits = Limits(
        batch=settings.batch,
        poll=settings.poll_seconds,
        commit=settings.commit_seconds,
        stop=settings.stop_seconds,
        snapshot=settings.snapshot_seconds,
    )
    return Loop(
        source,
        sink,
        worker,
        snapshots=_snapshots(settings) if keep else None,
        limits=limits,
        breaker=Breaker(settings.breaker_share, settings.breaker_records),
        metrics=PrometheusMetrics() if settings.http_port else Metrics(),
        # As long as the watchdog gives one round of the loop, and then a little: the watchdog's
        # message is the better one.
        health=Health(limit=limits.poll + 4 * limits.commit + 30.0),
    )


def _snapshots(settings: Settings) -> Snapshots:
    return Snapshots(settings.snapshots, settings.snapshots_kept, settings.snapshot_bytes)


def _topics(
    kind: str, settings: Settings, dry_run: bool, environment: Mapping[str, str]
) -> tuple[Source, Sink]:
    cluster, topics = make_cluster(kind, settings, environment), make_topics(kind, settings)
    with needing_kafka():
        from streamnb_consumers.kafka.opening import open_kafka
        from streamnb_consumers.kafka.topics import create_topics
    if dry_run:
        # A group of its own: in the filter's it would take partitions away from who works.
        aside = f"{cluster.transactional_id}-dry-run"
        cluster = dataclasses.replace(cluster, group=aside, instance_id=None)
    elif settings.create_topics:
        create_topics(cluster, topics.layouts(settings.create_topics), settings.commit_seconds)
    source, sink = open_kafka(cluster, topics, settings.commit_seconds)
    return source, MemorySink(MemoryLog()) if dry_run else sink


def _files(settings: Settings, longest: int, dry_run: bool) -> tuple[Source, Sink]:
    dead_letters = Path(settings.dead_letters) if settings.dead_letters else None
    sink: Sink
    files = None
    if dry_run:
        sink = MemorySink(MemoryLog())
    elif settings.output == "-":
        sink = StdoutSink(dead_letters=dead_letters)
    else:
        sink = files = FileSink(Path(settings.output), dead_letters)
    if settings.input == "-":
        return StdinSource(max_bytes=longest), sink
    return FileSource(Path(settings.input), files, max_bytes=longest), sink
