"""The commands `streamnb-sms` and `streamnb-spam`: parse flags, read settings, run a filter.

Imports that only a running filter needs are local, so that `--help` and invalid settings answer
quickly.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Sequence

from streamnb.errors import MissingDependencyError, StreamNBError
from streamnb_consumers.daemon import logs
from streamnb_consumers.daemon.mail_flags import ERROR, asks_for_mail, mail_status
from streamnb_consumers.daemon.settings import Settings, read_settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import exit_status

_LISTEN = (
    "Answer requests in the protocol of SpamAssassin's spamd and over HTTP, and learn the labels "
    "that clients send."
)


def run_command(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    work: Callable[[argparse.Namespace, Settings], int],
) -> int:
    """Run a command with its flags and settings; return its exit status, also for an error."""
    flags = parser.parse_args(arguments)
    try:
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        return work(flags, settings)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (StreamNBError, OSError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return exit_status(error)


def _run_mail(arguments: Sequence[str], begun: bytes = b"") -> int:
    """Handle one mail; an error never returns a status that means a decision."""
    try:
        flags = parser("streamnb-spam").parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            return _check("spam", settings)
        from streamnb_consumers.daemon.mail_mode import run_mail

        return run_mail(flags, settings, begun)
    except SystemExit as error:  # of the parser, which ends with 2 for a wrong flag
        return ERROR if error.code else 0
    except Exception as error:
        if not isinstance(error, (StreamNBError, OSError)):
            logging.getLogger(__name__).exception("this mail ended the filter")
        with contextlib.suppress(OSError):
            print(f"streamnb-spam: error: {error}", file=sys.stderr)
        return mail_status(error)


def _check(kind: str, settings: Settings) -> int:
    from streamnb_consumers.daemon.running import check

    check(kind, settings)
    return 0


def run(kind: str, arguments: Sequence[str]) -> int:
    """Run a filter until its input ends; return the exit status.

    0: finished. 1: the run failed, most of the input was invalid, or all of it. 2: a setting is
    invalid. 3: standard input was empty, or another worker has replaced this one. 70: a call hung,
    and the watchdog ended the process. 141: the reader of the output closed it. 143: SIGTERM ended
    the process before the start, or the shutdown took longer than `stop_seconds`; the state is that
    of a kill.
    """
    program, listens = f"streamnb-{kind}", list(arguments[:1]) == ["listen"]

    def start(flags: argparse.Namespace, settings: Settings) -> int:
        if flags.check_config:
            return _check(kind, settings)
        if listens:
            try:
                from streamnb_consumers.daemon.listen import server
            except ModuleNotFoundError as error:
                if error.name not in ("starlette", "uvicorn"):
                    raise
                raise MissingDependencyError(
                    f"listen needs {error.name}: pip install 'streamnb[consumers,web]'"
                ) from error
            return server.listen(kind, settings)
        from streamnb_consumers.daemon.assembly import first_bytes, recognised
        from streamnb_consumers.daemon.running import run_loop

        begun = first_bytes(kind, settings)
        if begun and recognised(kind, settings, begun) == "mail":
            return _run_mail(arguments, begun)
        return run_loop(kind, settings, flags.dry_run, begun)

    if listens:
        return run_command(parser(f"{program} listen", _LISTEN), arguments[1:], start)
    if kind == "spam" and asks_for_mail(arguments):
        return _run_mail(arguments)
    return run_command(parser(program), arguments, start)


def run_sms(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-sms` and return its exit status."""
    return run("sms", sys.argv[1:] if arguments is None else arguments)


def run_spam(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-spam` and return its exit status."""
    return run("spam", sys.argv[1:] if arguments is None else arguments)
