"""What `streamnb-sms` and `streamnb-spam` do: flags to settings, settings to a loop that runs."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamnb.errors import StreamNBError
from streamnb_consumers.daemon import logs
from streamnb_consumers.daemon.assembly import make_filter, make_loop
from streamnb_consumers.daemon.collecting import collecting_seldom
from streamnb_consumers.daemon.formats import first_bytes, recognised
from streamnb_consumers.daemon.health import HealthServer
from streamnb_consumers.daemon.kafka_settings import SECRETS, make_cluster
from streamnb_consumers.daemon.loop import Loop, stopping_on_signals
from streamnb_consumers.daemon.mail_flags import MailFlags, asks_for_mail
from streamnb_consumers.daemon.mail_mode import ERROR, mail_status, run_mail
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import PREFIX, Settings, parser, read_settings, to_toml
from streamnb_consumers.daemon.state_folder import held
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
    """Check what can be checked without reading a message, and print it as TOML, but no secret."""
    make_filter(kind, settings)
    if settings.bootstrap_servers:
        make_cluster(kind, settings, os.environ)
    print(to_toml(settings, kind), end="")
    for name in SECRETS:
        variable = PREFIX + name.upper()
        print(f"# {variable} is {'set' if os.environ.get(variable) else 'not set'}")


@contextlib.contextmanager
def _alone(settings: Settings, dry_run: bool) -> Iterator[None]:
    """Let no mail be learned into a state that a filter of files holds and would write over.

    Workers on topics take no lock: their folders may lie where there are none.
    """
    if dry_run or settings.bootstrap_servers or not settings.snapshots:
        yield
        return
    with held(Path(settings.snapshots), settings.stop_seconds):
        yield


def _run_mail(arguments: Sequence[str], begun: bytes = b"") -> int:
    """Handle one mail; whatever goes wrong, the exit status is no answer."""
    try:
        flags = parser("streamnb-spam").parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            _check("spam", settings)
            return 0
        return run_mail(MailFlags.of(flags), settings, begun)
    except SystemExit as error:  # of the parser, which ends with 2 for a wrong flag
        return ERROR if error.code else 0
    except Exception as error:
        if not isinstance(error, (StreamNBError, OSError)):
            logging.getLogger(__name__).exception("this mail ended the filter")
        with contextlib.suppress(OSError):
            print(f"streamnb-spam: error: {error}", file=sys.stderr)
        return mail_status(error)


def run(kind: str, arguments: Sequence[str]) -> int:
    """Run a filter until its input ends; return the exit status.

    0: done. 1: the run failed, most of the input was bad, or none of it could be used. 2: a
    setting is wrong. 3: another worker has taken this one's place. 70: a call hung, and the
    watchdog ended the process. 141: the reader of the output went away.
    """
    if kind == "spam" and asks_for_mail(arguments):
        return _run_mail(arguments)
    program = f"streamnb-{kind}"
    try:
        flags = parser(program).parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            _check(kind, settings)
            return 0
        begun = first_bytes(kind, settings)
        if begun and recognised(kind, settings, begun) == "mail":
            return _run_mail(arguments, begun)
        loop = make_loop(kind, settings, flags.dry_run, begun=begun)
        with (
            _alone(settings, flags.dry_run),
            serving(loop, settings),
            stopping_on_signals(loop),
            collecting_seldom(),
        ):
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
            f"accuracy {loop.worker.learner.tally.accuracy()}, "
            f"unsure {loop.worker.learner.tally.unsure()}",
            file=sys.stderr,
        )
    return 1 if metrics.records and metrics.dead_letters == metrics.records else 0


def run_sms(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-sms` and return its exit status."""
    return run("sms", sys.argv[1:] if arguments is None else arguments)


def run_spam(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-spam` and return its exit status."""
    return run("spam", sys.argv[1:] if arguments is None else arguments)
