"""What `streamnb-sms` and `streamnb-spam` do: flags to settings, settings to a loop that runs."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Iterator, Sequence

from streamnb.errors import StreamNBError
from streamnb_consumers.daemon import logs
from streamnb_consumers.daemon.assembly import make_filter, make_loop
from streamnb_consumers.daemon.health import HealthServer
from streamnb_consumers.daemon.kafka_settings import SECRETS, make_cluster
from streamnb_consumers.daemon.loop import Loop, stopping_on_signals
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import PREFIX, Settings, parser, read_settings
from streamnb_consumers.errors import exit_status

__all__ = ["run", "run_sms", "run_spam", "serving"]


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
            f"{metrics.dead_letters:,} dead letters; "
            f"accuracy {loop.worker.learner.tally.accuracy()}",
            file=sys.stderr,
        )
    return 1 if metrics.records and metrics.dead_letters == metrics.records else 0


def run_sms(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-sms` and return its exit status."""
    return run("sms", sys.argv[1:] if arguments is None else arguments)


def run_spam(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-spam` and return its exit status."""
    return run("spam", sys.argv[1:] if arguments is None else arguments)
