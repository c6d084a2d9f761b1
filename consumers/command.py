"""What `streamnb-sms` and `streamnb-spam` do: settings to parts, parts to a running loop."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from consumers import logs, sms, spam
from consumers.breaker import Breaker
from consumers.errors import SettingsError
from consumers.files import FileSink, FileSource
from consumers.filtering import Filter
from consumers.loop import Limits, Loop, stopping_on_signals
from consumers.memory import MemoryLog, MemorySink
from consumers.metrics import Metrics, PrometheusMetrics
from consumers.options import Options
from consumers.ports import Sink, Source
from consumers.reading import Format
from consumers.settings import Settings, parser, read_settings
from consumers.snapshots import Snapshots
from consumers.stdio import StdinSource, StdoutSink
from consumers.window import Bounds
from streamnb.cli.model_specs import build, model_spec
from streamnb.errors import StreamNBError

__all__ = ["make_filter", "make_loop", "run"]

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
        bounds=bounds,
    )
    return Filter(model, reader, options)


def make_loop(kind: str, settings: Settings, dry_run: bool = False) -> Loop:
    """Return the loop that settings describe, ready to run."""
    source: Source
    sink: Sink
    worker = make_filter(kind, settings)
    dead_letters = Path(settings.dead_letters) if settings.dead_letters else None
    files = None
    if dry_run:
        sink = MemorySink(MemoryLog())
    elif settings.output == "-":
        sink = StdoutSink(dead_letters=dead_letters)
    else:
        sink = files = FileSink(Path(settings.output), dead_letters)
    longest = worker.reader.max_bytes
    if settings.input == "-":
        source = StdinSource(max_bytes=longest)
    else:
        source = FileSource(Path(settings.input), files, max_bytes=longest)
    keep = settings.snapshots and not dry_run
    return Loop(
        source,
        sink,
        worker,
        snapshots=Snapshots(settings.snapshots, settings.snapshots_kept) if keep else None,
        limits=Limits(
            batch=settings.batch,
            poll=settings.poll_seconds,
            commit=settings.commit_seconds,
            stop=settings.stop_seconds,
            snapshot=settings.snapshot_seconds,
        ),
        breaker=Breaker(settings.breaker_share, settings.breaker_records),
        metrics=_metrics(settings),
    )


def _metrics(settings: Settings) -> Metrics:
    if not settings.metrics_port:
        return Metrics()
    metrics = PrometheusMetrics()
    import prometheus_client

    prometheus_client.start_http_server(
        settings.metrics_port, settings.metrics_host, metrics.registry
    )
    return metrics


def run(kind: str, arguments: Sequence[str]) -> int:
    """Run a filter until its input ends; return the exit status.

    0: done. 1: the run failed, most of the input was bad, or none of it could be used. 2: a
    setting is wrong. 70: a call hung, and the watchdog ended the process. 141: the reader of the
    output went away.
    """
    program = f"streamnb-{kind}"
    try:
        flags = parser(program).parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            make_filter(kind, settings)
            for name, value in dataclasses.asdict(settings).items():
                print(f"{name} = {value!r}")
            return 0
        loop = make_loop(kind, settings, flags.dry_run)
        with stopping_on_signals(loop):
            loop.run()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (StreamNBError, OSError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, SettingsError) else 1
    metrics = loop.metrics
    if flags.dry_run:
        print(
            f"{program}: {metrics.records:,} records, {metrics.decisions:,} decisions, "
            f"{metrics.dead_letters:,} dead letters; accuracy {loop.worker.tally.accuracy()}",
            file=sys.stderr,
        )
    return 1 if metrics.records and metrics.dead_letters == metrics.records else 0
