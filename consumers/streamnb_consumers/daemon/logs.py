"""Structured logs on standard error: one JSON object per line, or plain text."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

__all__ = ["JsonFormatter", "Seldom", "set_up"]

_CLIENTS = ("kafka", "streamnb_consumers.kafka.confluent_client")
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


class Seldom(logging.Filter):
    """Pass a few lines of the Kafka client, then one per minute.

    During an outage a client may write ten equal lines per second.

    Parameters
    ----------
    burst
        Number of lines that pass immediately.
    every
        Seconds between later lines.
    clock
        Monotonic seconds.

    Examples
    --------
    >>> times = iter([0.0, 1.0, 2.0, 60.0, 61.0])
    >>> seldom = Seldom(burst=1, every=60.0, clock=lambda: next(times))
    >>> line = logging.makeLogRecord({"name": "kafka.net", "msg": "no node"})
    >>> [seldom.filter(line) for _ in range(3)]
    [True, False, False]
    >>> seldom.filter(line), line.getMessage()
    (True, 'no node (and 2 lines before it)')
    >>> seldom.filter(logging.makeLogRecord({"name": "streamnb_consumers.daemon.loop"}))
    True
    """

    def __init__(
        self, burst: int = 5, every: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._burst, self._every, self._clock = burst, every, clock
        self._left, self._since, self._hidden = burst, clock(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line passes; it reports the number of suppressed lines."""
        if not record.name.startswith(_CLIENTS):
            return True
        now = self._clock()
        earned = int((now - self._since) // self._every)
        if self._left < self._burst and earned:
            self._left = min(self._burst, self._left + earned)
        self._since = now if self._left == self._burst else self._since + earned * self._every
        if not self._left:
            self._hidden += 1
            return False
        self._left -= 1
        if self._hidden:
            record.msg = f"{record.getMessage()} (and {self._hidden} lines before it)"
            record.args, self._hidden = (), 0
        return True


def set_up(level: str, form: str, file: TextIO | None = None) -> None:
    """Send the logs of the consumers, and warnings of the Kafka client, to standard error.

    Repeated client warnings are limited, except at the level DEBUG.
    """
    handler = logging.StreamHandler(file or sys.stderr)
    if level != "DEBUG":
        handler.addFilter(Seldom())
    handler.setFormatter(
        JsonFormatter() if form == "json" else logging.Formatter("%(levelname)s: %(message)s")
    )
    for name, least in (
        ("streamnb_consumers", level),
        ("kafka", "ERROR" if level == "ERROR" else "WARNING"),
    ):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(least)
        logger.propagate = False
