"""Run a filter until its input ends, with its loop, HTTP health and lock."""

from __future__ import annotations

import dataclasses
import gc
import logging
import os
import random
import sys
import time
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path

from streamnb import __version__
from streamnb_consumers.daemon.assembly import make_filter, make_loop
from streamnb_consumers.daemon.health import HealthServer
from streamnb_consumers.daemon.kafka_settings import chosen_client, make_cluster, make_topics
from streamnb_consumers.daemon.loop import Loop, stopping_on_signals
from streamnb_consumers.daemon.mail_flags import ERROR
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.operator_log import stopped
from streamnb_consumers.daemon.settings import PREFIX, SECRETS, Settings
from streamnb_consumers.daemon.settings_text import to_toml
from streamnb_consumers.daemon.state_folder import held
from streamnb_consumers.errors import FencedError, exit_status

# Allocations between two runs of the garbage collector. With the default of 700 it took a fourth of
# the time of a message, and found nothing: the objects of a batch are in no reference cycle.
_GC_OBJECTS = 50_000
# Minimum wait of a worker that another one has replaced soon after its start, in seconds; up to
# twice that at random. Older ones end at once: they may have stalled.
FENCED_SECONDS = 10.0
YOUNG_SECONDS = 60.0
_LOG = logging.getLogger(__name__)


def collect_rarely() -> None:
    """Let the garbage collector run rarely, and skip the objects of the start.

    Each full collection would stop the filter for the time that these objects take.
    """
    gc.freeze()
    gc.set_threshold(_GC_OBJECTS)


def serving(loop: Loop, settings: Settings) -> AbstractContextManager[object]:
    """Serve health and metrics of a loop over HTTP, if settings ask for it."""
    if not isinstance(loop.metrics, PrometheusMetrics):
        return nullcontext()
    where = settings.http_host, settings.http_port
    return closing(HealthServer(*where, loop.health, loop.metrics.text))


def check(kind: str, settings: Settings) -> None:
    """Check everything that needs no message, and print the settings as TOML without secrets."""
    make_filter(kind, settings)
    if settings.bootstrap_servers:
        make_cluster(kind, settings, os.environ)
    print(to_toml(settings, kind), end="")
    for name in SECRETS:
        variable = PREFIX + name.upper()
        print(f"# {variable} is {'set' if os.environ.get(variable) else 'not set'}")


def _alone(settings: Settings, dry_run: bool) -> AbstractContextManager[None]:
    """Prevent mails from being learned into a state that a running filter would overwrite.

    Workers on topics take no lock: their folders may lie on file systems without locks.
    """
    if dry_run or settings.bootstrap_servers or not settings.snapshots:
        return nullcontext()
    return held(Path(settings.snapshots), settings.stop_seconds)


def _back_off(loop: Loop, error: FencedError) -> None:
    seconds = FENCED_SECONDS * (1 + random.random())
    _LOG.error(
        "%s. It waits %.0f s before it ends: two workers with one name would otherwise replace "
        "each other at every restart",
        error,
        seconds,
    )
    loop.health.ready(str(error))
    loop.wait(seconds)


def run_loop(kind: str, settings: Settings, dry_run: bool, begun: bytes) -> int:
    """Run a filter until its input ends; return the exit status.

    1: all input was invalid. 3: standard input was empty. Else 0.

    With `dry_run` nothing is written, committed or saved, and a summary is printed. `begun` are the
    bytes already read from standard input.
    """
    _LOG.info("%s", _title(kind, settings))
    loop = make_loop(kind, settings, dry_run, begun=begun)
    collect_rarely()
    try:
        with _alone(settings, dry_run), serving(loop, settings), stopping_on_signals(loop):
            started = time.monotonic()
            try:
                loop.run()
            except FencedError as error:
                if time.monotonic() < started + YOUNG_SECONDS:
                    _back_off(loop, error)
                raise
    except Exception as error:
        stopped(loop.signal, exit_status(error), error)
        raise
    status = _status(kind, settings, loop, dry_run)
    stopped(loop.signal, status)
    return status


def _title(kind: str, settings: Settings) -> str:
    """Return the identity of a worker for the log."""
    title = f"starting streamnb-{kind} {__version__}, model {settings.model or 'of the filter'}"
    if not settings.bootstrap_servers:
        return f"{title}, input {settings.input}"
    topics = make_topics(kind, settings)
    names = (getattr(topics, field.name) for field in dataclasses.fields(topics))
    return (
        f"{title}, client {chosen_client(settings.client)}, "
        f"group {settings.group.replace('{kind}', kind)}, "
        f"instance {settings.instance_id or 'without a name'}, "
        f"brokers {settings.bootstrap_servers}, topics {', '.join(filter(None, names))}"
    )


def _status(kind: str, settings: Settings, loop: Loop, dry_run: bool) -> int:
    metrics = loop.metrics
    if dry_run:
        print(
            f"streamnb-{kind}: {metrics.records:,} records, {metrics.decisions:,} decisions, "
            f"{metrics.dead_letters:,} dead letters; "
            f"accuracy of the last decisions {loop.worker.learner.accuracy()}",
            file=sys.stderr,
        )
    local = settings.input == "-" and not settings.bootstrap_servers
    if local and loop.source.ended and not metrics.records:
        print(f"streamnb-{kind}: error: standard input is empty", file=sys.stderr)
        return ERROR
    return 1 if metrics.records and metrics.dead_letters == metrics.records else 0
