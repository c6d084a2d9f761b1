"""The commands `streamnb-sms` and `streamnb-spam`: parse flags, read settings, run a filter.

Imports that only a running filter needs are local, so that `--help` and invalid settings answer
quickly.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence

from streamnb.errors import MissingDependencyError, StreamNBError
from streamnb_consumers.daemon import logs
from streamnb_consumers.daemon.mail_flags import ERROR, MailFlags, asks_for_mail, mail_status
from streamnb_consumers.daemon.settings import read_settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import exit_status

_LISTEN = (
    "Answer requests in the protocol of SpamAssassin's spamd and over HTTP, and learn the labels "
    "that clients send."
)


def _run_mail(arguments: Sequence[str], begun: bytes = b"") -> int:
    """Handle one mail; an error never returns a status that means a decision."""
    try:
        flags = parser("streamnb-spam").parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            from streamnb_consumers.daemon.running import check

            check("spam", settings)
            return 0
        from streamnb_consumers.daemon.mail_mode import run_mail

        return run_mail(MailFlags.of(flags), settings, begun)
    except SystemExit as error:  # of the parser, which ends with 2 for a wrong flag
        return ERROR if error.code else 0
    except Exception as error:
        if not isinstance(error, (StreamNBError, OSError)):
            logging.getLogger(__name__).exception("this mail ended the filter")
        with contextlib.suppress(OSError):
            print(f"streamnb-spam: error: {error}", file=sys.stderr)
        return mail_status(error)


def _listen(kind: str, arguments: Sequence[str]) -> int:
    """Run a resident filter until SIGTERM."""
    program = f"streamnb-{kind} listen"
    try:
        flags = parser(program, _LISTEN).parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        if flags.check_config:
            from streamnb_consumers.daemon.running import check

            check(kind, settings)
            return 0
        try:
            from streamnb_consumers.daemon.listen.server import listen
        except ModuleNotFoundError as error:
            if error.name not in ("starlette", "uvicorn"):
                raise
            raise MissingDependencyError(
                f"listen needs {error.name}: pip install 'streamnb[consumers,web]'"
            ) from error
        return listen(kind, settings)
    except (StreamNBError, OSError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return exit_status(error)


def run(kind: str, arguments: Sequence[str]) -> int:
    """Run a filter until its input ends; return the exit status.

    0: finished. 1: the run failed, most of the input was invalid, or all of it. 2: a setting is
    invalid. 3: standard input was empty, or another worker has replaced this one. 70: a call hung,
    and the watchdog ended the process. 141: the reader of the output closed it. 143: SIGTERM ended
    the process before the start, or the shutdown took longer than `stop_seconds`; the state is that
    of a kill.
    """
    if list(arguments[:1]) == ["listen"]:
        return _listen(kind, arguments[1:])
    if kind == "spam" and asks_for_mail(arguments):
        return _run_mail(arguments)
    program = f"streamnb-{kind}"
    try:
        flags = parser(program).parse_args(list(arguments))
        settings = read_settings(flags)
        logs.set_up(settings.log_level, settings.log_format)
        from streamnb_consumers.daemon.assembly import first_bytes, recognised
        from streamnb_consumers.daemon.running import check, run_loop

        if flags.check_config:
            check(kind, settings)
            return 0
        begun = first_bytes(kind, settings)
        if begun and recognised(kind, settings, begun) == "mail":
            return _run_mail(arguments, begun)
        return run_loop(kind, settings, flags.dry_run, begun)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (StreamNBError, OSError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return exit_status(error)


def run_sms(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-sms` and return its exit status."""
    return run("sms", sys.argv[1:] if arguments is None else arguments)


def run_spam(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-spam` and return its exit status."""
    return run("spam", sys.argv[1:] if arguments is None else arguments)
