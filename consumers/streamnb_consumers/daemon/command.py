"""The commands `streamnb-sms` and `streamnb-spam`: flags, settings and logs of a filter.

Imports that only a running filter needs are local, so that `--help` and invalid settings answer
quickly.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TextIO

from streamnb.errors import StreamNBError, needed_for, printable
from streamnb_consumers.daemon.mail_flags import ERROR, asks_for_mail, mail_status
from streamnb_consumers.daemon.settings import AUTO, Settings, read_settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import exit_status

_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LISTEN = (
    "Answer requests in the protocol of SpamAssassin's spamd and over HTTP, and learn the labels "
    "that clients send."
)


class JsonFormatter(logging.Formatter):
    """Format a log record as one line of JSON, with whatever `extra=` gave.

    Examples
    --------
    >>> record = logging.makeLogRecord({"msg": "starting", "levelname": "INFO", "created": 0.0,
    ...                                 "name": "streamnb_consumers.loop", "snapshot": None})
    >>> print(JsonFormatter().format(record))
    {"time": "1970-01-01T00:00:00+00:00", "level": "INFO", "logger": "streamnb_consumers.loop",
     "message": "starting", "snapshot": null}
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _USUAL},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """Format a log record as a line of text; control characters are escaped."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - of the base
        """Return the line without an exception, whose lines are kept."""
        return printable(super().formatMessage(record))


def set_up_logs(level: str, form: str, file: TextIO | None = None) -> None:
    """Send the logs of the consumers to standard error.

    Warnings of the Kafka client appear at DEBUG only: during an outage a client may write ten equal
    lines per second, and the worker itself logs the events that concern an operator.
    """
    handler = logging.StreamHandler(file or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    client = "WARNING" if level == "DEBUG" else logging.CRITICAL + 1
    logging.getLogger("streamnb_consumers.kafka.confluent_client.client").setLevel(client)
    for name, least in (("streamnb_consumers", level), ("kafka", client)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(least)
        logger.propagate = False


def _set_up_logs(settings: Settings) -> None:
    level = "INFO" if settings.bootstrap_servers else "WARNING"
    level = level if settings.log_level == AUTO else settings.log_level
    set_up_logs(level, settings.log_format)


def run_command(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    work: Callable[[argparse.Namespace, Settings], int],
) -> int:
    """Run a command with its flags and settings; return its exit status, also for an error."""
    flags = parser.parse_args(arguments)
    try:
        settings = read_settings(flags)
        _set_up_logs(settings)
        return work(flags, settings)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (StreamNBError, OSError) as error:
        print(f"{parser.prog}: error: {printable(error)}", file=sys.stderr)
        return exit_status(error)


def run_one_mail(arguments: Sequence[str], begun: bytes = b"") -> int:
    """Handle one mail; an error never returns a status that means a decision."""
    try:
        flags = parser("streamnb-spam").parse_args(list(arguments))
        settings = read_settings(flags)
        _set_up_logs(settings)
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
            print(f"streamnb-spam: error: {printable(error)}", file=sys.stderr)
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
            with needed_for("listen", "consumers,web"):
                from streamnb_consumers.daemon.listen import server
            return server.listen(kind, settings)
        from streamnb_consumers.daemon.assembly import first_bytes, recognised
        from streamnb_consumers.daemon.running import run_loop

        begun = first_bytes(kind, settings)
        if begun and recognised(kind, settings, begun) == "mail":
            return run_one_mail(arguments, begun)
        return run_loop(kind, settings, flags.dry_run, begun)

    if listens:
        return run_command(parser(f"{program} listen", _LISTEN), arguments[1:], start)
    if kind == "spam" and asks_for_mail(arguments):
        return run_one_mail(arguments)
    return run_command(parser(program), arguments, start)


def run_sms(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-sms` and return its exit status."""
    return run("sms", sys.argv[1:] if arguments is None else arguments)


def run_spam(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-spam` and return its exit status."""
    return run("spam", sys.argv[1:] if arguments is None else arguments)
