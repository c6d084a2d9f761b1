"""Structured logs on standard error: one JSON object per line, or plain text."""

from __future__ import annotations

import json
import logging
import math
import sys
from datetime import UTC, datetime
from typing import TextIO

_CLIENTS = ("kafka", "streamnb_consumers.kafka.confluent_client.client")
_LINE_SECONDS = 60.0
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


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


class ClientLines(logging.Filter):
    """Pass one line of the Kafka client per kind and minute, at the level INFO.

    The worker itself logs the events that concern an operator. During an outage a client may write
    ten equal lines per second. Lines of one kind come from the same place in the client's code.

    Examples
    --------
    >>> lines_of_client = ClientLines()
    >>> line = {"name": "kafka.net", "msg": "no node"}
    >>> lines = [logging.makeLogRecord({**line, "created": at}) for at in (0.0, 1.0, 2.0, 60.0)]
    >>> [lines_of_client.filter(line) for line in lines]
    [True, False, False, True]
    >>> lines_of_client.filter(logging.makeLogRecord({"name": "streamnb_consumers.daemon.loop"}))
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[object, tuple[float, int]] = {}  # time, and lines suppressed since

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line passes; it reports the number of suppressed lines."""
        if not record.name.startswith(_CLIENTS):
            return True
        record.levelno, record.levelname = logging.INFO, "INFO"
        # librdkafka logs all lines at one place, with the facility as first argument.
        facility = record.args[:1] if isinstance(record.args, tuple) else ()
        kind = (record.name, record.lineno, facility if record.name == _CLIENTS[1] else ())
        last, hidden = self._last.get(kind, (-math.inf, 0))
        if record.created - last < _LINE_SECONDS:
            self._last[kind] = (last, hidden + 1)
            return False
        self._last[kind] = (record.created, 0)
        if hidden:
            record.msg, record.args = f"{record.getMessage()} (and {hidden} lines before it)", ()
        return True


def set_up(level: str, form: str, file: TextIO | None = None) -> None:
    """Send the logs of the consumers to standard error.

    Warnings of the Kafka client are limited and appear at INFO; at DEBUG all of them appear.
    """
    handler = logging.StreamHandler(file or sys.stderr)
    if level != "DEBUG":
        handler.addFilter(ClientLines())
    handler.setFormatter(
        JsonFormatter()
        if form == "json"
        else logging.Formatter("%(asctime)s %(levelname)s: %(message)s")
    )
    client = "WARNING" if level in ("DEBUG", "INFO") else logging.CRITICAL + 1
    logging.getLogger(_CLIENTS[1]).setLevel(client)
    for name, least in (("streamnb_consumers", level), ("kafka", client)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(least)
        logger.propagate = False
