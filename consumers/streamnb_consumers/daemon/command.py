"""What `streamnb-sms` and `streamnb-spam` do: settings to parts, parts to a running loop."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamnb.cli.model_specs import build, model_spec
from streamnb.errors import StreamNBError
from streamnb_consumers.daemon import logs
from streamnb_consumers.daemon.breaker import Breaker
from streamnb_consumers.daemon.health import Health, HealthServer
from streamnb_consumers.daemon.loop import Limits, Loop, stopping_on_signals
from streamnb_consumers.daemon.metrics import Metrics, PrometheusMetrics
from streamnb_consumers.daemon.settings import PREFIX, Settings, parser, read_settings
from streamnb_consumers.daemon.snapshots import Snapshots
from streamnb_consumers.errors import SettingsError, exit_status, needing_kafka
from streamnb_consumers.filter.filtering import Filter
from streamnb_consumers.filter.options import Options
from streamnb_consumers.filter.window import Bounds
from streamnb_consumers.kafka.cluster import SECRETS, make_cluster, make_topics
from streamnb_consumers.messages import sms, spam
from streamnb_consumers.messages.reading import Format
from streamnb_consumers.ports.files import FileSink, FileSource
from streamnb_consumers.ports.memory import MemoryLog, MemorySink
from streamnb_consumers.ports.protocols import Sink, Source
from streamnb_consumers.ports.stdio import StdinSource, StdoutSink

__all__ = ["make_filter", "make_loop", "run", "serving"]

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
    reader: Format
    if kind == "sms":
        reader = sms.Sms(settings.labels, **size)
    else:
        reader = spam.Spam(settings.labels, **size)
    bounds = Bounds(
        count=settings.window_count,
        age=round(settings.window_age * 1000) or None,
        size=settings.window_bytes,
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
        snapshots=Snapshots(settings.snapshots, settings.snapshots_kept) if keep else None,
        limits=limits,
        breaker=Breaker(settings.breaker_share, settings.breaker_records),
        metrics=PrometheusMetrics() if settings.http_port else Metrics(),
        # As long as the watchdog gives one round of the loop, and then a little: the watchdog's
        # message is the better one.
        health=Health(limit=limits.poll + 4 * limits.commit + 30.0),
    )


def _topics(
    kind: str, settings: Settings, dry_run: bool, environment: Mapping[str, str]
) -> tuple[Source, Sink]:
    cluster, topics = make_cluster(kind, settings, environment), make_topics(kind, settings)
    with needing_kafka():
        from streamnb_consumers.kafka.opening import create_topics, open_kafka
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


@contextlib.contextmanager
def serving(loop: Loop, settings: Settings) -> Iterator[None]:
    """Serve health and metrics of a loop over HTTP, if settings ask for it."""
    if not isinstance(loop.metrics, PrometheusMetrics):
        yield
        return
    server = HealthServer(
        settings.http_host, settings.http_port, loop.health, loop.metrics.application
    )
    try:
        yield
    finally:
        server.close()


def _check(kind: str, settings: Settings) -> None:
    """Check what can be checked without reading a message, and print it; no secret is printed."""
    make_filter(kind, settings)
    if settings.bootstrap_servers:
        make_cluster(kind, settings, os.environ)
    for name, value in dataclasses.asdict(settings).items():
        shown = value.replace("{kind}", kind) if isinstance(value, str) else value
        print(f"{name} = {shown!r}")
    for name in SECRETS:
        variable = PREFIX + name.upper()
        print(f"# {variable} is {'set' if os.environ.get(variable) else 'not set'}")


def run(kind: str, arguments: Sequence[str]) -> int:
    """Run a filter until its input ends; return the exit status.

    0: done. 1: the run failed, most of the input was bad, or none of it could be used. 2: a
    setting is wrong. 3: another worker has taken this one's place. 70: a call hung, and the
    watchdog ended the process. 141: the reader of the output went away.
    """
    program = f"streamnb-{kind}"
    try:
        flags = parser(program).parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            _check(kind, settings)
            return 0
        loop = make_loop(kind, settings, flags.dry_run)
        with serving(loop, settings), stopping_on_signals(loop):
            loop.run()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (StreamNBError, OSError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return exit_status(error)
    metrics = loop.metrics
    if flags.dry_run:
        print(
            f"{program}: {metrics.records:,} records, {metrics.decisions:,} decisions, "
            f"{metrics.dead_letters:,} dead letters; accuracy {loop.worker.tally.accuracy()}",
            file=sys.stderr,
        )
    return 1 if metrics.records and metrics.dead_letters == metrics.records else 0
