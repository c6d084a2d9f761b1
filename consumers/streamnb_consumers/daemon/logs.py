"""Structured logs on standard error: one JSON object per line, or plain text."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

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


def set_up(level: str, form: str, file: TextIO | None = None) -> None:
    """Send the logs of the consumers to standard error.

    Warnings of the Kafka client appear at DEBUG only: during an outage a client may write ten equal
    lines per second, and the worker itself logs the events that concern an operator.
    """
    handler = logging.StreamHandler(file or sys.stderr)
    handler.setFormatter(
        JsonFormatter()
        if form == "json"
        else logging.Formatter("%(asctime)s %(levelname)s: %(message)s")
    )
    client = "WARNING" if level == "DEBUG" else logging.CRITICAL + 1
    logging.getLogger("streamnb_consumers.kafka.confluent_client.client").setLevel(client)
    for name, least in (("streamnb_consumers", level), ("kafka", client)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(least)
        logger.propagate = False
