"""What `streamnb-sms` and `streamnb-spam` do: flags to settings, settings to a filter that runs.

What only a filter that runs needs is imported when one does: the help and a wrong setting do not
wait for it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence

from streamnb.errors import StreamNBError
from streamnb_consumers.daemon import logs
from streamnb_consumers.daemon.formats import first_bytes, recognised
from streamnb_consumers.daemon.mail_flags import ERROR, MailFlags, asks_for_mail, mail_status
from streamnb_consumers.daemon.settings import parser, read_settings
from streamnb_consumers.errors import exit_status

__all__ = ["run", "run_sms", "run_spam"]


def _run_mail(arguments: Sequence[str], begun: bytes = b"") -> int:
    """Handle one mail; whatever goes wrong, the exit status is no answer."""
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
